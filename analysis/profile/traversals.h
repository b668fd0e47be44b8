/* How loops traverse arrays: where in each array a loop is at which time, and where in two arrays at one time. */
#ifndef LWP_ANALYSIS_PROFILE_TRAVERSALS_H
#define LWP_ANALYSIS_PROFILE_TRAVERSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LWP_TRAVERSAL_ACCESSES = 8,
    LWP_TRAVERSAL_PLACES = 48,
    LWP_TRAVERSAL_MEETINGS = 32,
    LWP_TRAVERSAL_STEPS = 24,
    LWP_TRAVERSAL_PACES = 48
};

/* An access to a block that is large enough to be an array worth looking at. */
struct lwp_traversal_access {
    uint32_t object, region;
    uint64_t code;   /* of the instruction */
    uint64_t offset; /* in its block or variable */
    bool close;      /* a few instructions after the access before it, hardly ever more than one iteration */
    uint64_t address;
    uint64_t weight; /* of the sample, where it was stalled on this access; else 0 */
    uint64_t ran_ns; /* that the thread ran since the sample before of those that came here; 0: not known */
    bool links;      /* where a chain goes: LWPS_SOURCE_LINKS */
};

struct lwp_traversal_place {
    uint64_t offset, time;
    uint32_t thread;
};

/* Two arrays touched by one thread, nearly at one time. */
struct lwp_traversal_meeting {
    uint64_t a, b; /* offsets */
    uint32_t thread;
};

/* Two samples of one thread, one after the other in one loop, which both saw the same instruction. */
struct lwp_traversal_pace {
    uint64_t ns;   /* that the thread ran between them */
    int64_t bytes; /* from one's offset to the other's */
};

/* One loop on one object. */
struct lwp_traversal {
    uint32_t object, region;
    uint64_t accesses;
    uint64_t alone;  /* two accesses of one sample, next to each other in time, both on it */
    uint64_t paired; /* ... one on it and one on another array */
    uint32_t count, room;
    struct lwp_traversal_place *places; /* a uniform sample of all */
    uint64_t step_seen;
    uint32_t step_count, step_room;
    int64_t *steps; /* from one execution of an instruction to a later one, a few iterations on: likewise */
    uint64_t pace_seen;
    uint32_t pace_count, pace_room;
    struct lwp_traversal_pace *paces; /* likewise */
};

struct lwp_traversal_meetings {
    uint64_t seen;
    uint32_t count, room;
    struct lwp_traversal_meeting *kept; /* a uniform sample of all */
};

/* One loop on two objects, a < b. */
struct lwp_traversal_pair {
    uint32_t a, b, region;
    struct lwp_traversal_meetings close; /* in one sample and close */
    struct lwp_traversal_meetings loose; /* in one sample, some iterations apart */
    struct lwp_traversal_meetings next;  /* in two samples of one thread, one after the other */
};

struct lwp_traversals {
    struct lwp_traversal *items;
    size_t count, room;
    struct lwp_map *index;
    struct lwp_traversal_pair *pairs;
    size_t pair_count, pair_room;
    struct lwp_map *pair_index;
    uint64_t random;
};

/* One thread's samples as they come. Start from zero but for `thread`, a number no other thread has. */
struct lwp_traversal_thread {
    uint32_t thread;
    uint64_t time;
    struct lwp_traversal_access last[LWP_TRAVERSAL_ACCESSES]; /* of the sample before */
    int last_count; /* 0: none yet */
};

void lwp_traversals_init(struct lwp_traversals *traversals);
void lwp_traversals_fini(struct lwp_traversals *traversals);

/* The accesses of one sample in their order; `time` from the process's start. */
void lwp_traversals_sample(struct lwp_traversals *traversals, struct lwp_traversal_thread *thread,
                           const struct lwp_traversal_access *accesses, int count, uint64_t time);

/* Adds `from`, whose object and region numbers are others: objects[i] and regions[i] are the new ones (NULL: the same),
 * but for objects that are LWP_TRAVERSAL_LEFT_OUT then. What was merged into one (two versions of a loop) is joined. */
#define LWP_TRAVERSAL_LEFT_OUT UINT32_MAX
void lwp_traversals_merge(struct lwp_traversals *to, const struct lwp_traversals *from, const uint32_t *objects, const uint32_t *regions);

/* NULL when never seen. */
const struct lwp_traversal *lwp_traversals_of(const struct lwp_traversals *traversals, uint32_t object, uint32_t region);
const struct lwp_traversal_pair *lwp_traversals_pair(const struct lwp_traversals *traversals, uint32_t a, uint32_t b, uint32_t region);

#endif
