/* Checks of what lwp needs from a machine: each a sentence, and the one command that would fix it. */
#ifndef LWP_DOCTOR_CHECKS_H
#define LWP_DOCTOR_CHECKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct lwp_check {
    const char *name;
    const char *engine; /* NULL: not a way to sample. Those come first, in the order in which lwp collect tries them */
    bool good;
    bool needed;                /* lwp cannot sample without */
    char found[LWP_ERROR_TEXT]; /* one sentence */
    const char *remedy;         /* a command or a sentence; NULL: nothing to fix */
};

enum { LWP_CHECKS = 16 };

/* Fills in LWP_CHECKS of them. Takes about half a second of CPU time. */
void lwp_checks_make(struct lwp_check *checks);

/* The way lwp collect samples here; NULL: none, or something needed is missing. */
const struct lwp_check *lwp_checks_chosen(const struct lwp_check *checks);

int lwp_probe_sigtrap(const void *unused); /* the timer's flavours: perf's task-clock, synchronous */
int lwp_probe_async(const void *unused);
int lwp_probe_posix(const void *unused); /* thread CPU timers */
int lwp_probe_kernel_breakpoint(const void *unused);
int lwp_probe_pmu(const void *unused); /* counts cycles */
int lwp_probe_unwind(const void *unused);
int lwp_probe_zydis(const void *unused);

#endif
