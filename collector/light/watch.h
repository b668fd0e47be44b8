/* The accesses of a thread that are watched: chosen by samples, armed in debug registers, decided by the next access.
 * See watch.c for the model. All is used by the owning thread's handler only, but for lwp_watch_forget. */
#ifndef LWP_LIGHT_WATCH_H
#define LWP_LIGHT_WATCH_H

#include "collector/light/debug_registers.h"
#include "collector/light/frames.h"
#include "collector/light/place.h"
#include "collector/light/thread.h"
#include "collector/light/walk.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_WATCHES = 3 }; /* the fourth register is the sampler's own, for its execution breakpoint */

struct lwp_watch {
    enum lwp_watch_state {
        LWP_WATCH_FREE,
        LWP_WATCH_PREDICTED, /* armed: the chosen access itself is about to come */
        LWP_WATCH_OPEN,      /* it came: the next one decides */
        LWP_WATCH_RESERVED,  /* its slot is taken, arming waits for the end of the handler */
    } state;
    uint64_t address; /* of the watched piece of the access */
    uint8_t bytes;
    uint8_t element; /* bytes of a floating point number; 0: none */
    uint8_t strays;  /* other accesses to the bytes before the chosen one came */
    bool old_known, now_known;
    uint64_t old, now;        /* the piece's value after the first access; after the last one seen */
    struct lwps_watch record; /* verdicts still open, first access */
    uint8_t give_up;          /* enum lwps_watch_end, set from outside: decided no more */
};

struct lwp_watches {
    struct lwp_watch at[LWP_WATCHES];
    uint32_t
        since_room[LWP_WATCHES]; /* of each pool (by its first slot): candidates since it last had a free register */
    uint8_t verdicts;            /* what is looked for at all */
    uint32_t turn;
    bool sampled;
    uint64_t spent_ns; /* by arming and traps */
};

/* `verdicts`: enum lwps_verdict mask; 0 watches nothing. */
void lwp_watches_start(struct lwp_watches *watches, uint8_t verdicts);

/* What the next sample's walk is to choose; the accesses to come of that kind are candidates. */
enum lwp_walk_choice lwp_watches_choose(struct lwp_watches *watches, uint32_t *random, unsigned *choose_from);

/* Offers the access that the walk chose in this sample; `weight` is what the sample stands for, `cpu_ns` the thread's
 * CPU time. */
void lwp_watches_offer(struct lwp_watches *watches, struct lwp_thread *self, const struct lwp_frames *frames,
                       const struct lwp_walk_access *chosen, uint64_t time, uint64_t weight, bool affordable);

/* At each sample, first: ends what was given up. At its very end: arms what was taken. */
void lwp_watches_begin_sample(struct lwp_watches *watches, struct lwp_debug_registers *registers,
                              struct lwp_thread *self);
void lwp_watches_end_sample(struct lwp_watches *watches, struct lwp_debug_registers *registers,
                            struct lwp_thread *self);

/* Register `which` stopped the thread. */
void lwp_watches_trap(struct lwp_watches *watches, struct lwp_debug_registers *registers, struct lwp_thread *self,
                      struct lwp_code_cache *cache, struct lwp_frames *frames, unsigned which, void *ucontext);

/* Register `which` stopped the thread where nothing can be looked at (inside the collector, or the signal came late).
 */
void lwp_watches_lose(struct lwp_watches *watches, struct lwp_debug_registers *registers, unsigned which);

/* The thread or the recording ends: writes a record for what is still open. */
void lwp_watches_finish(struct lwp_watches *watches, struct lwp_thread *self);

#endif
