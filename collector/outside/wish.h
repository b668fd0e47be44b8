/* What is to be sampled from outside, how often and how long. */
#ifndef LWP_COLLECTOR_OUTSIDE_WISH_H
#define LWP_COLLECTOR_OUTSIDE_WISH_H

#include <stdbool.h>
#include <sys/types.h>

struct lwp_outside_wish {
    pid_t pid;
    bool children;              /* its child processes, too */
    const char *only;           /* patterns (base/pattern.h) of the programs that are wanted; NULL: all */
    bool region;                /* nothing is recorded before a process says LWP_BEGIN() */
    double frequency;           /* samples a second of a thread's CPU time; 0: automatic */
    double max_overhead;        /* percent of the process's CPU time, which the frequency is kept below */
    double delay_s, duration_s; /* duration 0: until it ends */
    void (*begin)(
        void *of); /* lets a program begin that lwp holds: signals are for that, too, and do not end the sampling; NULL: it runs */
    void *of;
};

#endif
