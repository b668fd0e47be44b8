/* The accesses of a thread that are watched: chosen by samples, armed in debug registers, decided by the next access.
 * See watch.c for the model. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_WATCH_H
#define LWP_COLLECTOR_LIGHT_WATCH_WATCH_H

#include "collector/light/own/thread.h"
#include "collector/light/watch/candidates.h"
#include "collector/light/watch/debug_registers.h"
#include "collector/light/watch/watch_trap.h"

#include <stdbool.h>
#include <stdint.h>

/* The fourth register is the sampler's own, for its execution breakpoint, but while a watch is on the stack: then it is
 * on that frame's return address, whose use is the frame's end. */
enum { LWP_WATCHES = 3, LWP_WATCH_FRAME = 3 };

struct lwp_watch {
    enum lwp_watch_state {
        LWP_WATCH_FREE,
        LWP_WATCH_RESERVED,  /* arming waits for the end of the handler */
        LWP_WATCH_PREDICTED, /* armed: the chosen access itself is about to come */
        LWP_WATCH_OPEN,      /* it came: the next one decides */
    } state;
    uint64_t address; /* of the watched piece of the access */
    uint8_t bytes;
    uint8_t element; /* bytes of a floating point number; 0: none */
    uint8_t left;    /* mask of the bytes that no store has overwritten since the first access */
    uint8_t strays;  /* accesses seen that neither begin nor decide */
    uint8_t give_up; /* enum lwps_watch_end: a trap could not be looked at */
    bool before_known, old_known, now_known;
    uint64_t before;          /* what the piece held before the first access, where the program had loaded or stored it */
    uint64_t old, now;        /* ... after the first access; after the last one seen */
    uint64_t frame;           /* CFA of the stack frame that the bytes are in, 0: not on the stack */
    int memory;               /* watched_memory.h */
    uint32_t calls;           /* the thread's, when it began */
    uint64_t opened;          /* when the program went on after the first access */
    struct lwps_watch record; /* verdicts still open, first access */
};

struct lwp_watches {
    struct lwp_debug_registers *registers; /* of the same thread */
    struct lwp_watch at[LWP_WATCHES];
    struct lwp_watch_candidates candidates;
    uint32_t since_room[LWP_WATCHES]; /* of each pool (by its first slot): candidates since it last had a free register */
    uint8_t verdicts;                 /* what is detected at all */
    bool ceded;                       /* the last register is for trials (sharing.h) */
    int framed;                       /* the watch that has the fourth register, -1: none */
    uint32_t since_frame;             /* candidates on the stack since it was last free */
};

/* `verdicts`: enum lwps_verdict mask; 0: no watchpoint is set. */
void lwp_watches_start(struct lwp_watches *watches, struct lwp_debug_registers *registers, uint8_t verdicts);

/* Gives up the last register for good. Before lwp_watches_begin_sample. */
void lwp_watches_cede(struct lwp_watches *watches, struct lwp_thread *self);

/* How many stores and loads to come are looked at for a candidate; 0: that kind is not watched. */
void lwp_watches_choose(const struct lwp_watches *watches, uint32_t *random, unsigned *stores, unsigned *loads);

/* Offers the access that this sample chose among those it `looked` at. */
void lwp_watches_offer(struct lwp_watches *watches, struct lwp_thread *self, const struct lwp_watch_candidate *chosen,
                       const struct lwp_walk_choice *looked, bool affordable);

/* At each sample, first: ends what was given up. At its very end: arms what was taken. */
void lwp_watches_begin_sample(struct lwp_watches *watches, struct lwp_thread *self);
void lwp_watches_end_sample(struct lwp_watches *watches, struct lwp_thread *self);

/* Whether the fourth register is taken. */
static inline bool lwp_watches_framed(const struct lwp_watches *watches)
{
    return watches->framed >= 0;
}

/* Ends the watch that has the fourth register, if one has: its frame returned, or a sample waits for an address, which comes first. */
void lwp_watches_end_frame(struct lwp_watches *watches, struct lwp_thread *self, enum lwps_watch_end end);

/* Whether any register watches data. */
bool lwp_watches_busy(const struct lwp_watches *watches);

/* Ends all watchpoints; new ones may begin. */
void lwp_watches_give_up(struct lwp_watches *watches, struct lwp_thread *self);

/* Register `which` stopped the thread. */
void lwp_watches_trap(struct lwp_watches *watches, struct lwp_thread *self, unsigned which, struct lwp_stop *stop);

/* Register `which` stopped the thread where nothing can be looked at (inside the collector, or the signal came late). */
void lwp_watches_lose(struct lwp_watches *watches, unsigned which);

/* The thread or the recording ends: writes a record for what is still open. */
void lwp_watches_finish(struct lwp_watches *watches, struct lwp_thread *self);

#endif
