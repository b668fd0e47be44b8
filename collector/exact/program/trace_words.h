/* What translated code writes of the superblocks that it runs, and the clock that it counts by; who decides what is written
 * and hands it on is trace.h. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_TRACE_WORDS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_TRACE_WORDS_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LWP_TRACE_PER_INSTRUCTION = 8, /* words of the buffer, on average over a superblock; more are not traced */
    LWP_TRACE_INSTRUCTIONS = 100, /* of a superblock, at most (Valgrind's own limit) */
    LWP_TRACE_ACCESSES = LWP_TRACE_PER_INSTRUCTION * LWP_TRACE_INSTRUCTIONS, /* of a superblock */
};

/* An access of a superblock, as translated. */
struct lwp_trace_access {
    uint64_t ip;
    uint16_t bytes;
    uint8_t flags;       /* enum lwps_access_flag */
    uint8_t instruction; /* number of instructions of the superblock before its own */
    uint8_t element;     /* of a store: bytes of each value, where --detect spatial needs it; 0: not known */
    uint8_t way;         /* communication.c: how it is looked up */
    uint8_t swap;        /* a compare-and-swap, which may fail: which of the superblock's, from 1; 0: none */
};

struct lwp_trace_block {
    uint64_t ip;
    struct lwp_traced *traced; /* trace_file.c; NULL: not in the file */
    struct lwp_comm_site *communication; /* one for each access, NULL: nothing came of any yet */
    struct lwp_values_site *values; /* NULL: none; else there is one word more, of how many exits were passed */
    struct lwp_redundancy_steps *redundancy; /* if they are looked at in windows only */
    uint32_t instructions, count;
    uint32_t lines; /* of the cache that its accesses touch, at most */
    uint8_t swaps;  /* compare-and-swaps that have a word behind, 1: it stored */
    uint16_t moves; /* words of what becomes of the stack, behind those (redundancy_windows.h) */
    uint8_t loader; /* communication.c: whether it is the loader's code, 0: not asked yet */
    struct lwp_trace_access access[];
};

/* Words of the superblock, apart from the one that says which it is. */
static inline uint32_t lwp_trace_length(const struct lwp_trace_block *block)
{
    return block->count + (block->values != NULL) + block->swaps + block->moves;
}

static inline uint32_t lwp_trace_swap(const struct lwp_trace_block *block, uint8_t swap)
{
    return block->count + (block->values != NULL) + swap - 1;
}

enum { LWP_TRACE_LINES = 64, LWP_TRACE_LINE_BITS = 6, LWP_TRACE_LINE = 1 << LWP_TRACE_LINE_BITS };

/* What translated code works with. */
struct lwp_trace_state {
    uint64_t recent[LWP_TRACE_LINES]; /* if filtered: where the lines begin that sampling.c keeps */
    Long left; /* high half: instructions until lwp_trace_tick; low half, if filtered: half cycles */
    ULong *at; /* next free word of the buffer, if all is traced */
    /* If filtered: of the superblock that ran last. */
    ULong missed; /* at least LWP_TRACE_LINE bytes: some access was outside of `recent` */
    ULong passed; /* accesses until it was left */
    struct lwp_trace_block *block;
    struct lwp_trace_state *self; /* what the compiler of translated code does not know */
};
extern struct lwp_trace_state lwp_trace_state;
extern bool lwp_trace_all;  /* no windows */
extern bool lwp_trace_filters; /* ... and nobody but the sampler wants to know */
extern bool lwp_trace_inside; /* the running thread is in the region (region.h) */
extern bool lwp_trace_open; /* ... and in a window */
extern bool lwp_trace_accesses; /* somebody wants to know what superblocks access, not only when they run */

/* A half of `left` is below 0. */
#define LWP_TRACE_LEFT_NONE 0x8000000080000000

static inline ULong lwp_trace_left(ULong instructions)
{
    return instructions << 32;
}

struct lwp_trace_block *lwp_trace_block_new(Addr ip, UInt accesses);

enum {
    LWP_TRACE_QUANTUM = 2048, /* instructions between ticks when all is traced */
    LWP_TRACE_WORDS = (LWP_TRACE_QUANTUM + 2 * LWP_TRACE_INSTRUCTIONS) * (LWP_TRACE_PER_INSTRUCTION + 2),
};
extern ULong lwp_trace_words[LWP_TRACE_WORDS];
extern bool lwp_trace_pending; /* with windows: the buffer's first superblock is to be handed on */

/* If filtered: the last superblock missed, or a sample is due. */
static inline bool lwp_trace_waits(void)
{
    return lwp_trace_state.block && (lwp_trace_state.missed >= LWP_TRACE_LINE || (Int)lwp_trace_state.left < 0);
}

/* Set by who hands on what is in the buffer. */
extern void (*lwp_trace_hand_on)(void);

/* Has it handed on. Cheap when it is empty. */
static inline void lwp_trace_drain(void)
{
    if (lwp_trace_filters ? lwp_trace_waits() : lwp_trace_all ? lwp_trace_state.at != lwp_trace_words : lwp_trace_pending)
        lwp_trace_hand_on();
}

/* What `left` was set to, and all instructions until then. */
extern Long lwp_trace_quantum;
extern uint64_t lwp_trace_count, lwp_trace_count_open; /* open: those that were recorded */

/* All instructions so far, and of them those that were recorded. */
uint64_t lwp_trace_ran(void);
uint64_t lwp_trace_recorded(void);

/* Instructions until lwp_trace_tick. */
static inline Long lwp_trace_left_now(void)
{
    Long left = lwp_trace_state.left;
    return (left - (Int)left) >> 32;
}

/* The engine's clock: instructions since the start, a microsecond each, in nanoseconds. Within one superblock it
 * stands still. */
uint64_t lwp_trace_time(void);

#endif
