/* One sampled thread: its file, its calling-context tree, its counters. Owned by that thread; the handler that
 * interrupts it is the only other user, so nothing here is locked. */
#ifndef LWP_LIGHT_THREAD_H
#define LWP_LIGHT_THREAD_H

#include "collector/light/budget.h"
#include "format/paths.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lwp_thread {
    pid_t tid;
    bool attached;           /* file open, sampling possible */
    volatile int busy;       /* nesting guard: inside the collector, samples are counted as lost */
    uint32_t heap_thinning;  /* 2^n - 1: of so many and one allocations one is recorded */
    uint32_t heap_turn;
    struct lwps_writer file; /* t<TID>.lwps */
    struct lwps_paths contexts;
    uint64_t stack_low, stack_high;
    uint64_t last_cpu_ns;    /* CLOCK_THREAD_CPUTIME_ID at the last sample */
    uint64_t samples, samples_with_address, samples_lost;
    struct lwp_budget budget;
    uint64_t lost_in_heap;   /* samples that found the thread recording an allocation: what that costs */
    uint32_t calls;          /* system calls of the program that may have used any memory, when the handler began */
    uint32_t random;         /* state of the dither */
    void *sampler;           /* private to the sampling handler */
    struct lwp_thread *next; /* of all threads (threads.c) */
    int used;                /* 0: free for a new thread */
};

/* The calling thread's, or NULL when it is not sampled. Async-signal-safe (initial-exec TLS). */
struct lwp_thread *lwp_thread_self(void);

#endif
