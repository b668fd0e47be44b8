#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static enum lwp_log_level log_level = LWP_LOG_NOTE;
static bool log_progress_shown;

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

void lwp_log_progress(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (log_progress_shown)
        fputs("\r\033[K", stderr);
    log_progress_shown = format != NULL;
    if (format) {
        char text[256];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        log_tame(text);
        fputs(text, stderr);
    }
    fflush(stderr);
}
