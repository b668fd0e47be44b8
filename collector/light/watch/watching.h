/* The debug registers of a thread and who has which: watchpoints on its own accesses (watch.h), trials of what other threads store
 * (sharing.h), and the sampler's execution breakpoint. All of it is the owning thread's, in its signal handler. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_WATCHING_H
#define LWP_COLLECTOR_LIGHT_WATCH_WATCHING_H

#include "collector/light/watch/sharing.h"
#include "collector/light/watch/watch.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_EXECUTION_REGISTER = LWP_WATCH_FRAME };
enum { LWP_WATCHING_AHEAD_NS = 20000000 /* as long, at least, a watch should be affordable */ };

struct lwp_watching {
    struct lwp_debug_registers registers;
    struct lwp_watches watches;
    struct lwp_watch_sharing sharing;
    /* instructions that run slower while any register is armed */
    uint64_t free_ns, free_prone_ns;      /* CPU time while nothing was watched; of that at such instructions */
    int64_t owed_ns;                      /* what they cost and is not charged yet; below 0: charged too much */
    struct lwp_thread_events events;      /* of the thread, when what armed registers cost then was last charged */
    uint64_t ahead_each_ns, ahead_any_ns; /* that of LWP_WATCHING_AHEAD_NS of the thread's CPU time: each, and however many they are */
};

/* `verdicts`: enum lwps_verdict mask of all that is detected; 0: no watchpoint is set. */
void lwp_watching_start(struct lwp_watching *watching, const struct lwp_thread *self, uint8_t verdicts);

/* At each sample and stop, before any register changes: charges what those that are armed have cost since the last one by being there. */
void lwp_watching_charge_armed(struct lwp_watching *watching, struct lwp_thread *self, const struct lwp_armed_costs *costs,
                               uint64_t cpu_ns);

/* At each sample, in this order: gives up what is too dear by being there; ends what can be decided no more; charges `weight` ns of slower
 * instructions (`prone`: the sample is at one); offers an access to come; at its end, chooses what to watch of other threads, and arms. */
void lwp_watching_keep(struct lwp_watching *watching, struct lwp_thread *self, uint64_t cpu_ns);
void lwp_watching_begin(struct lwp_watching *watching, struct lwp_thread *self);
void lwp_watching_charge_slowed(struct lwp_watching *watching, struct lwp_thread *self, bool prone, uint64_t weight, uint64_t cpu_ns);
void lwp_watching_offer(struct lwp_watching *watching, struct lwp_thread *self, const struct lwp_watch_candidate *chosen,
                        const struct lwp_walk_choice *looked, uint64_t cpu_ns);
void lwp_watching_choose(struct lwp_watching *watching, struct lwp_thread *self, uint64_t time, uint64_t cpu_ns);
void lwp_watching_arm(struct lwp_watching *watching, struct lwp_thread *self);

/* The execution breakpoint, in place of a watch's frame if need be. False: not possible. */
bool lwp_watching_break_at(struct lwp_watching *watching, struct lwp_thread *self, uint64_t ip);
void lwp_watching_end_break(struct lwp_watching *watching);

/* Whether register `which` is the execution breakpoint, rather than a watch. */
static inline bool lwp_watching_breaks(const struct lwp_watching *watching, unsigned which)
{
    return which == LWP_EXECUTION_REGISTER && !lwp_watches_framed(&watching->watches);
}

/* A watch's register stopped the thread; returns what that is charged to. _lose: nothing can be looked at (inside the collector, or
 * the signal came late). */
enum lwp_cost lwp_watching_stop(struct lwp_watching *watching, struct lwp_thread *self, unsigned which, struct lwp_stop *stop);
void lwp_watching_lose(struct lwp_watching *watching, unsigned which);

void lwp_watching_give_up(struct lwp_watching *watching, struct lwp_thread *self); /* for now */
void lwp_watching_finish(struct lwp_watching *watching, struct lwp_thread *self);  /* the thread or the recording ends */
void lwp_watching_forget(struct lwp_watching *watching);                           /* in the child of a fork */

#endif
