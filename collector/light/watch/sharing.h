/* What other threads do with the memory this one uses, and the other way round. See sharing.c for the model. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_SHARING_H
#define LWP_COLLECTOR_LIGHT_WATCH_SHARING_H

#include "collector/light/own/thread.h"
#include "collector/light/watch/candidates.h"
#include "collector/light/watch/debug_registers.h"
#include "collector/light/watch/published_accesses.h"
#include "collector/light/watch/watch_trap.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_SHARING_REGISTER = 2, LWP_SHARING_REGIONS = 256, LWP_SHARING_REGION_BITS = 14, LWP_SHARING_LOADED = 64 };

struct lwp_watch_sharing {
    struct lwp_debug_registers *registers; /* of the same thread */
    bool on;
    bool records_foreign; /* stores to what other processes see: no watch records them */
    bool together;       /* another thread was seen: the register is ours from now on */
    bool reads;          /* it was seen to read what another one stored */
    int slot;            /* among the published accesses */
    uint64_t hit_time;
    /* what came of trials lately, by whose stores they were of, and by where those stores went */
    struct lwp_sharing_past {
        uint64_t key;
        uint16_t tried, read;
    } others[LWP_PUBLISHED_SLOTS], regions[LWP_SHARING_REGIONS];
    struct lwp_sharing_past *other, *region; /* of this trial */
    uint64_t loaded[LWP_SHARING_LOADED]; /* regions where this thread was seen to load */
    enum { LWP_TRIAL_NONE, LWP_TRIAL_RESERVED, LWP_TRIAL_OPEN } trial;
    bool given_up;
    uint64_t address, until;
    uint8_t bytes;
    int memory; /* watched_memory.h */
    struct lwps_watch record;
};

/* `verdicts`: enum lwps_verdict mask of all that is detected. */
void lwp_sharing_start(struct lwp_watch_sharing *sharing, struct lwp_debug_registers *registers, const struct lwp_thread *self,
                       uint8_t verdicts);

/* An access that this sample chose. */
void lwp_sharing_see(struct lwp_watch_sharing *sharing, struct lwp_thread *self, const struct lwp_watch_candidate *chosen);

/* At each sample: ends a trial that took too long, chooses the next. */
void lwp_sharing_choose(struct lwp_watch_sharing *sharing, struct lwp_thread *self, uint64_t time, bool affordable);
/* At its very end: arms it. */
void lwp_sharing_arm(struct lwp_watch_sharing *sharing, struct lwp_thread *self);

void lwp_sharing_trap(struct lwp_watch_sharing *sharing, struct lwp_thread *self, struct lwp_stop *stop);

/* Whether its register watches. */
static inline bool lwp_sharing_busy(const struct lwp_watch_sharing *sharing)
{
    return sharing->trial == LWP_TRIAL_OPEN;
}

void lwp_sharing_lose(struct lwp_watch_sharing *sharing);

/* The thread or the recording ends. */
void lwp_sharing_finish(struct lwp_watch_sharing *sharing, struct lwp_thread *self);
void lwp_sharing_forget(struct lwp_watch_sharing *sharing); /* in the child of a fork */

#endif
