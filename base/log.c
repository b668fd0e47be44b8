#include "base/log.h"

#include "base/clock.h"
#include "base/columns.h"
#include "base/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum lwp_log_level log_level = LWP_LOG_NOTE;
static bool log_progress_shown;
static pthread_mutex_t log_progress_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t log_progress_ms; /* when it was last written */

void lwp_log_set_level(enum lwp_log_level level)
{
    log_level = level;
}

static void log_tame(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

void lwp_log(enum lwp_log_level level, const char *format, ...)
{
    static const char *const prefix[] = {"lwp: ", "lwp: warning: ", "lwp: ", "lwp: debug: "};
    if (level > log_level)
        return;
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_tame(text);
    lwp_log_progress(NULL);
    fprintf(stderr, "%s%s\n", prefix[level], text);
}

static int64_t log_now_ms(void)
{
    return (int64_t)(lwp_clock(CLOCK_MONOTONIC) / 1000000);
}

static bool log_shows_progress(void)
{
    return log_level >= LWP_LOG_NOTE && isatty(STDERR_FILENO);
}

bool lwp_log_progress_due(void)
{
    enum { OLD_MS = 250 };
    return log_now_ms() - atomic_load(&log_progress_ms) >= OLD_MS && log_shows_progress();
}

void lwp_log_progress(const char *format, ...)
{
    if (!log_shows_progress())
        return;
    pthread_mutex_lock(&log_progress_lock);
    atomic_store(&log_progress_ms, log_now_ms());
    if (log_progress_shown)
        fputs("\r\033[K", stderr);
    log_progress_shown = format != NULL;
    if (format) {
        char text[256];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        char *fits = lwp_visible(text, false, (size_t)lwp_columns(stderr) - 1); /* a line that wraps could not be erased */
        fputs(fits ? fits : "", stderr);
        free(fits);
    }
    fflush(stderr);
    pthread_mutex_unlock(&log_progress_lock);
}
