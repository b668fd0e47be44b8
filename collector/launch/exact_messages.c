/* One log a process, mostly empty. Lines begin with "==PID== " or "--PID-- ", some with neither. */
#include "collector/launch/exact.h"

#include "base/log.h"
#include "collector/launch/run_json.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_MOST = 64, CALLS_NAMED = 8, SENTENCE = 512 };

struct messages {
    json_t *sentences;
    pid_t program;
    bool failed;            /* Valgrind gave up in `program` */
    int calls[CALLS_MOST];  /* numbers of unknown system calls */
    unsigned call_count;
};

/* What has been read of one process's log. */
struct message_log {
    struct messages *all;
    pid_t pid;
    char bytes[64];   /* of the instruction that Valgrind could not decode, "" when none */
    char signal[32];  /* that ends the process; its first frame is yet to come */
};

__attribute__((format(printf, 3, 4))) static void message_put(struct messages *all, bool warn, const char *format, ...)
{
    char text[SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t i;
    json_t *said;
    json_array_foreach(all->sentences, i, said)
        if (strcmp(json_string_value(said), text) == 0)
            return;
    json_array_append_new(all->sentences, lwp_run_json_text(text));
    if (warn)
        lwp_log(LWP_LOG_WARNING, "%s", text);
}

static void message_bytes(struct message_log *log, const char *rest)
{
    snprintf(log->bytes, sizeof log->bytes, "%s", rest + strspn(rest, " "));
}

/* "Unrecognised instruction at address 0x...": it comes after the bytes, or without them for what is invalid by design. */
static void message_instruction(struct message_log *log, const char *rest)
{
    (void)rest;
    if (strncmp(log->bytes, "0x62 ", 5) == 0) /* EVEX */
        message_put(log->all, true,
                    "The program executed an AVX-512 instruction (%s...), which Valgrind does not know, and was sent SIGILL: build it "
                    "without (-mno-avx512f, or -march=x86-64-v3 in place of native), or use -e timer.", log->bytes);
    else if (log->bytes[0])
        message_put(log->all, true,
                    "The program executed an instruction that Valgrind does not know (%s...), and was sent SIGILL: build it for an "
                    "older processor (-march=x86-64-v3), or use -e timer.", log->bytes);
    else
        message_put(log->all, true, "The program executed an invalid instruction, and was sent SIGILL.");
    log->bytes[0] = '\0';
}

static void message_call(struct message_log *log, const char *rest)
{
    struct messages *all = log->all;
    int number = (int)strtol(rest, NULL, 10);
    for (unsigned i = 0; i < all->call_count; i++)
        if (all->calls[i] == number)
            return;
    if (all->call_count < CALLS_MOST)
        all->calls[all->call_count++] = number;
}

static void message_calls(struct messages *all)
{
    char numbers[CALLS_NAMED * 12 + 32] = "";
    size_t used = 0;
    for (unsigned i = 0; i < all->call_count && i < CALLS_NAMED; i++)
        used += (size_t)snprintf(numbers + used, sizeof numbers - used, "%s%d", i ? ", " : "", all->calls[i]);
    if (all->call_count > CALLS_NAMED)
        snprintf(numbers + used, sizeof numbers - used, " and %u more", all->call_count - CALLS_NAMED);
    if (all->call_count)
        message_put(all, true, "Valgrind does not know %s %s: to the program it failed as if the kernel had no such call (ENOSYS).",
                    all->call_count == 1 ? "system call" : "the system calls", numbers);
}

static void message_gave_up(struct message_log *log, const char *why)
{
    log->all->failed |= log->pid == log->all->program;
    message_put(log->all, true, "%s, and the program was ended; what was traced until then is kept.", why);
}

static void message_unread(struct message_log *log, const char *rest)
{
    (void)rest;
    log->all->failed |= log->pid == log->all->program;
    message_put(log->all, true,
                "Valgrind cannot read the debug information of the program or of a library of its, and ended it. Older versions cannot "
                "read what -gsplit-dwarf makes: build it without that, or with -gdwarf-4, or use -e timer.");
}

static void message_signal(struct message_log *log, const char *rest)
{
    const char *name = strchr(rest, '(');
    snprintf(log->signal, sizeof log->signal, "%.*s", name ? (int)strcspn(name + 1, ")") : 0, name ? name + 1 : "");
}

/* In no file: what the program wrote itself, into plain memory or a file in memory that it has mapped twice. */
static bool message_is_made_code(const char *place)
{
    return strcmp(place, "???") == 0 || strncmp(place, "??? (in /memfd:", 15) == 0;
}

/* "   at 0x109236: main (hostile.c:52)", the innermost frame of what the signal ended. */
static void message_frame(struct message_log *log, const char *rest)
{
    const char *place = strstr(rest, ": ");
    if (!log->signal[0] || !place)
        return;
    if (message_is_made_code(place + 2))
        message_put(log->all, true,
                    "A process of the program (%d) was ended by %s in code that it had made itself. Valgrind does not run all such "
                    "programs: where it ends well without lwp, use -e timer.", (int)log->pid, log->signal);
    else if (log->pid == log->all->program)
        message_put(log->all, false, "The program was ended by %s in %s.", log->signal, place + 2);
    else
        message_put(log->all, false, "A process of the program (%d) was ended by %s in %s.", (int)log->pid, log->signal,
                    place + 2);
    log->signal[0] = '\0';
}

static void message_line(struct message_log *log, const char *line)
{
    static const struct {
        const char *words;
        void (*take)(struct message_log *log, const char *rest); /* what follows the words, or `why` */
        const char *why;
    } known[] = {{"unhandled instruction bytes:", message_bytes, NULL},
                 {"Unrecognised instruction at address", message_instruction, NULL},
                 {"unhandled amd64-linux syscall:", message_call, NULL},
                 {"memory management: out of memory:", message_gave_up,
                  "There was no memory left for tracing beside the program (is there a limit, ulimit -v?)"},
                 {"the 'impossible' happened:", message_gave_up, "Valgrind failed"},
                 {"debuginfo reader: Possibly corrupted", message_unread, NULL},
                 {"Process terminating with default action of signal", message_signal, NULL},
                 {"   at 0x", message_frame, NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *found = strstr(line, known[i].words);
        if (found) {
            known[i].take(log, known[i].why ? known[i].why : found + strlen(known[i].words));
            return;
        }
    }
    if ((strncmp(line, "==", 2) == 0 || strncmp(line, "--", 2) == 0) && strchr(line, ' '))
        line = strchr(line, ' ') + 1;
    if (strstr(line, "valgrind:") || strncmp(line, "cannot", 6) == 0)
        message_put(log->all, true, "Valgrind: %s", line);
}

json_t *lwp_exact_messages(const char *dir, pid_t program, bool *failed)
{
    struct messages all = {.sentences = json_array(), .program = program};
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[PATH_MAX], line[SENTENCE];
        if (strncmp(entry->d_name, LWP_EXACT_LOG, strlen(LWP_EXACT_LOG)) ||
            (size_t)snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) >= sizeof path)
            continue;
        struct message_log log = {.all = &all, .pid = (pid_t)strtol(entry->d_name + strlen(LWP_EXACT_LOG), NULL, 10)};
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file)) {
            line[strcspn(line, "\n")] = '\0';
            message_line(&log, line);
        }
        if (file)
            fclose(file);
        unlink(path);
    }
    if (folder)
        closedir(folder);
    message_calls(&all);
    *failed = all.failed;
    return all.sentences;
}
