/* The process as a whole: its file, the lock on it, its options. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_PROCESS_H
#define LWP_COLLECTOR_LIGHT_OWN_PROCESS_H

#include "base/clock.h"
#include "format/paths.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

struct lwp_process {
    int lock;                 /* lwp_process_try_lock */
    bool active;              /* between start and finish */
    pid_t pid;                /* whose it is: the child of a vfork shares it */
    struct lwps_writer file;  /* process.lwps */
    struct lwps_paths contexts; /* of allocations */
    enum lwps_weight_unit unit;
    uint64_t heap_threshold;
    uint64_t start_own_ns;    /* what starting cost */
    void (*wake)(const uint64_t *frame);      /* begins recording, if it has not begun: process/dormant.c. `frame`: as in heap/early.h */
    uint64_t sample_from_ns, sample_until_ns; /* CLOCK_MONOTONIC: LWP_DELAY, LWP_DURATION */
    bool outside_region;                      /* of LWP_BEGIN and LWP_END (lwp.h) */
};

extern struct lwp_process lwp_process;

/* process.lwps and its contexts have one user at a time. Never waits: a caller that fails does without, since the
 * holder may be the very thread that a handler interrupted. */
bool lwp_process_try_lock(void);
/* Not for handlers: waits for another thread, but not long. */
bool lwp_process_lock_soon(void);
void lwp_process_unlock(void);

/* Makes the memory that all of the process's files are written to (own_spool.h), and opens process.lwps. */
bool lwp_process_begin(const char *directory);

/* Opens the file of a thread, 0: process.lwps. */
bool lwp_process_open(struct lwps_writer *file, uint32_t tid);

/* Whether this is the process that is recorded, and not the child of a vfork, which runs on its memory. */
static inline bool lwp_process_is_ours(void)
{
    return lwp_process.active && getpid() == lwp_process.pid;
}

/* Likewise, mostly without a system call; true in the child of a vfork, too. For what is done often, and not by such children. */
bool lwp_process_has_memory(void);

/* Whether samples are wanted now: by the program (LWP_BEGIN, LWP_END) and by lwp collect (lwp start, lwp stop). */
bool lwp_process_records(void);

/* With the lock held. */
static inline void lwp_process_note(const char *text)
{
    lwps_put_note(&lwp_process.file, &(struct lwps_note){text});
}

/* To the standard error, if LWP_DEBUG is 1. */
void lwp_process_debug(const char *what);

#endif
