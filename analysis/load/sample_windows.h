/* A bounded uniform sample of short windows of samples, for analyses that need consecutive samples. */
#ifndef LWP_ANALYSIS_LOAD_SAMPLE_WINDOWS_H
#define LWP_ANALYSIS_LOAD_SAMPLE_WINDOWS_H

#include "analysis/profile/profile.h"

struct lwp_sample_window;

/* Start from zero. */
struct lwp_sample_windows {
    struct lwp_sample_window **items;
    size_t count, room;
    uint64_t limit;                    /* windows of higher ranks are not kept; 0: all are */
    struct lwp_sample_window *current; /* being filled */
    uint64_t seed;
    uint32_t thread, number, left; /* left: samples of the current window still to come */
    bool chosen;
};

void lwp_sample_windows_free(struct lwp_sample_windows *windows);

/* Another file. `thread`: no other has this number; deterministic. */
void lwp_sample_windows_begin(struct lwp_sample_windows *windows, uint32_t thread, uint64_t seed);

/* Whether the next sample is kept; if not, lwp_sample_windows_sample needs nothing but the count. */
static inline bool lwp_sample_windows_wants(const struct lwp_sample_windows *windows)
{
    return windows->chosen;
}

/* The accesses of one sample with a known address; regions are parts (locations.h) here. */
void lwp_sample_windows_sample(struct lwp_sample_windows *windows, const struct lwp_traversal_access *accesses, int count, uint64_t time);

/* The thread's file ended. */
void lwp_sample_windows_end(struct lwp_sample_windows *windows);

/* Takes over all of `from`. */
void lwp_sample_windows_merge(struct lwp_sample_windows *into, struct lwp_sample_windows *from);

/* Replays the windows into profile->traversals and profile->moves, thread by thread in order of time, renumbered. */
void lwp_sample_windows_replay(struct lwp_sample_windows *windows, struct lwp_profile *profile, const uint32_t *objects,
                               const uint32_t *regions);

#endif
