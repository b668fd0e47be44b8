/* One sampled thread: its file, its calling-context tree, its counters. Owned by that thread; the handler that
 * interrupts it is the only other user, so nothing here is locked. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_THREAD_H
#define LWP_COLLECTOR_LIGHT_OWN_THREAD_H

#include "collector/light/own/budget.h"
#include "format/paths.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { LWP_THINNING_MOST = 1023 /* of heap_thinning */ };
enum { LWP_HOOKS_TIMED = 509 /* a prime: programs do the same again and again */ };

struct lwp_thread {
    pid_t tid;
    bool attached;           /* file open, sampling possible */
    volatile int busy;       /* nesting guard: inside the collector, samples are counted as lost */
    uint32_t heap_thinning;  /* 2^n - 1: of so many and one allocations one is recorded, on average */
    uint64_t heap_left_out;  /* small blocks that were not recorded, as that costs too much; with those to come (heap/thinning.h) */
    uint64_t heap_charged;   /* of these: they are charged */
    uint32_t heap_drawn;     /* heap_thinning at the last draw: so many are not recorded for one that is, on average */
    uint32_t heap_larger;    /* blocks that may yet be recorded out of turn (heap/thinning.h) */
    uint32_t hooks_left;     /* around the allocator's functions, until one is timed for LWP_HOOKS_TIMED */
    uint64_t hooks_ns;       /* what all cost by that, not charged yet */
    uint64_t heap_unreviewed_ns; /* went into recording since that was last compared with what may (heap/thinning.h) */
    uint64_t heap_cpu_ns;    /* CPU time then */
    uint64_t heap_spent_ns;  /* on recording, until then */
    struct lwps_writer file; /* t<TID>.lwps */
    struct lwps_paths contexts;
    uint64_t stack_low, stack_high;
    uint64_t last_cpu_ns;    /* CLOCK_THREAD_CPUTIME_ID at the last sample */
    uint64_t samples, samples_with_address, samples_lost;
    struct lwp_time_budget budget;
    uint64_t told_cpu_ns, told_spent_ns; /* to the run's account (run.h) */
    uint32_t calls;          /* system calls of the program that may have used any memory, when the handler began */
    uint32_t random;         /* state of the dither */
    uint64_t begun_ns;       /* CLOCK_MONOTONIC */
    double stands_for;       /* threads that began as it did, with itself, as long as not all are set up (process/late_threads.h); 0: one */
    struct lwp_sampler *sampler; /* sampling.h */
    struct lwp_thread *next; /* of all threads */
    int used;                /* 0: free for a new thread */
};

/* The calling thread's, or NULL when it is not sampled. Async-signal-safe (initial-exec TLS). */
struct lwp_thread *lwp_thread_self(void);

/* The calling thread is inside the collector until lwp_thread_leave: samples that come meanwhile are counted as lost. NULL: it is
 * not sampled, or is not this process's. */
struct lwp_thread *lwp_thread_enter(void);
void lwp_thread_leave(struct lwp_thread *self);

/* Writes a note from there, unless another thread keeps the process's file. Not for handlers. */
void lwp_thread_note(const char *text);

/* All, also free ones. They are never unmapped: handlers of other threads may be looking at them. */
extern struct lwp_thread *_Atomic lwp_threads;

/* One that was given back, or a new one, `busy`. NULL: no memory. */
struct lwp_thread *lwp_thread_take(void);
void lwp_thread_give_back(struct lwp_thread *thread);

/* The caller is `thread`; it ends, gives it back, and is not sampled any more. */
void lwp_thread_begins(struct lwp_thread *thread);
void lwp_thread_ends(struct lwp_thread *thread);

/* The calling thread is not sampled yet: it is not searched for each time. */
void lwp_thread_waits(bool waits);

/* Of the threads that began before `ns` (CLOCK_MONOTONIC) all are set up that still run. It was thread `by` that saw to that; had it
 * not been set up itself, it would have been by others only if it began before `others_ns`. */
struct lwp_threads_whole {
    uint64_t ns, others_ns;
    const struct lwp_thread *by;
};
extern struct lwp_threads_whole lwp_threads_whole;

static inline double lwp_thread_scale(const struct lwp_thread *thread)
{
    const struct lwp_threads_whole *whole = &lwp_threads_whole;
    return thread->stands_for <= 1 || thread->begun_ns < (whole->by == thread ? whole->others_ns : whole->ns) ? 1 : thread->stands_for;
}

void lwp_thread_forget_all(void); /* in a fork's child */

pid_t lwp_thread_tid(void); /* the caller's, from the kernel */

/* How often the caller has left the processor, and has used a page that was not mapped yet. */
struct lwp_thread_events {
    uint64_t switches, faults;
};
struct lwp_thread_events lwp_thread_events(void);
uint64_t lwp_thread_switches(void);

#endif
