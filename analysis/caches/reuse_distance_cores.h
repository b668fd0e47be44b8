/* Multicore reuse distances (MACPO 5.1): what a core's own accesses put between two of its to a line, as long as no
 * other core wrote to it; else the line comes from what the cores share, and the accesses of all count. */
#ifndef LWP_ANALYSIS_CACHES_REUSE_DISTANCE_CORES_H
#define LWP_ANALYSIS_CACHES_REUSE_DISTANCE_CORES_H

#include "analysis/caches/reuse_distance.h"

#include <stdbool.h>

enum { LWP_REUSE_CORES = 64 }; /* more share these */

/* Starts from zero. */
struct lwp_reuse_cores {
    struct lwp_reuse all;
    struct lwp_reuse core[LWP_REUSE_CORES]; /* of none while only one core has accessed anything */
    bool used, several;
    unsigned first;
};

struct lwp_reused {
    uint32_t distance; /* LWP_REUSE_FIRST: nobody accessed the line before */
    bool restarted;    /* another core had it, or wrote to it since */
    uint64_t others;   /* of a store: cores that had the line, a bit each */
};

void lwp_reuse_cores_free(struct lwp_reuse_cores *cores);
/* Nothing was accessed yet. */
void lwp_reuse_cores_clear(struct lwp_reuse_cores *cores);
/* Before an access, as lwp_reuse_expect. */
void lwp_reuse_cores_expect(const struct lwp_reuse_cores *cores, unsigned core, uint64_t later, uint64_t sooner);
struct lwp_reused lwp_reuse_cores_access(struct lwp_reuse_cores *cores, unsigned core, uint64_t line, bool store);

#endif
