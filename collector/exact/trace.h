/* The trace of what superblocks access, inside of windows. Translated code counts instructions down and, while a window
 * is open, appends to a buffer: the superblock, then one word for each of its accesses, the address (0: it did not
 * happen). Room for all of them is taken at the superblock's start, so that leaving it early needs no code. The buffer is
 * drained, into the cache model and the sampler, before anything changes that its accesses are attributed by: the call
 * stack, the thread, the heap, the modules. */
#ifndef LWP_EXACT_TRACE_H
#define LWP_EXACT_TRACE_H

#include "collector/exact/tool.h"

#include <stdbool.h>
#include <stdint.h>

/* An access of a superblock, as translated. */
struct lwp_trace_access {
    uint64_t ip;
    uint16_t bytes;
    uint8_t flags;       /* enum lwps_access_flag */
    uint8_t instruction; /* number of instructions of the superblock before its own */
};

struct lwp_trace_block {
    uint64_t ip;
    uint32_t instructions, count;
    struct lwp_trace_access access[];
};

/* What translated code works with. */
struct lwp_trace_state {
    Long left;  /* instructions until lwp_trace_tick */
    ULong open; /* a window is open */
    ULong *at;  /* next free word of the buffer */
};
extern struct lwp_trace_state lwp_trace_state;

enum { LWP_TRACE_PER_INSTRUCTION = 8 }; /* words of the buffer, on average over a superblock; more are not traced */

void lwp_trace_start(void);
struct lwp_trace_block *lwp_trace_block_new(Addr ip, UInt accesses);

/* What runs from now on is recorded, or not (region.h); windows and gaps are counted inside only. */
void lwp_trace_region(bool inside);

/* Called from translated code when `left` is below 0. */
void lwp_trace_tick(void);

/* Hands on what is in the buffer. Cheap when it is empty. */
void lwp_trace_empty(void);
extern ULong *lwp_trace_buffer;
static inline void lwp_trace_drain(void)
{
    if (lwp_trace_state.at != lwp_trace_buffer)
        lwp_trace_empty();
}

/* The running thread stops running or ends: all of it is drained and its last sample written. */
void lwp_trace_leave_thread(void);

/* The engine's clock: instructions since the start, a microsecond each, in nanoseconds. Within one superblock it
 * stands still. */
uint64_t lwp_trace_time(void);

#endif
