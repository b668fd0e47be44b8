/* What a trace shows of each data object in each loop, added up while it is read. */
#ifndef LWP_ANALYSIS_PROFILE_LOCALITY_COUNTS_H
#define LWP_ANALYSIS_PROFILE_LOCALITY_COUNTS_H

#include "analysis/profile/first_touch.h"
#include "analysis/profile/locality_values.h"
#include "analysis/profile/trace_sample.h"
#include "base/cache.h"
#include "base/table.h"

#include <stdbool.h>

enum {
    LWP_LOCALITY_DISTANCES = 34, /* reuse distances 0, 1, 2-3, 4-7, ...; the last one: none was seen, it is beyond the window */
    LWP_LOCALITY_BEYOND = LWP_LOCALITY_DISTANCES - 1,
    LWP_LOCALITY_STRIDES = 34, /* as many lines on, or back */
    LWP_LOCALITY_PLACES = LWP_CACHE_LEVELS + 1, /* enum lwp_cache_where */
};

/* Of one machine's caches. */
struct lwp_locality_found {
    uint64_t at[LWP_LOCALITY_PLACES]; /* accesses by where they were answered */
    uint64_t cycles;
};

struct lwp_locality_count {
    uint32_t object, part; /* part: of the code (locations.h), UINT32_MAX: unknown; settled: the region */
    uint64_t accesses, stores;
    struct lwp_locality_found found, elsewhere; /* elsewhere: on the machine that was asked about */
    uint64_t distances[LWP_LOCALITY_DISTANCES];
    uint64_t local;      /* accesses to memory of the thread's own node */
    uint64_t restarted;  /* accesses to a line that another core had, or wrote to since */
    uint64_t streams, streams_times; /* walks side by side in the loop, whatever they go over: their sum, and how often that was looked at */
    uint64_t conflicts;  /* missed the first level though fewer lines than it holds lay between */
    uint64_t lines[LWP_LOCALITY_STRIDES];
    uint64_t walks;      /* accesses whose page was not known to the core (tlb.h) */
    uint64_t values[LWP_LOCALITY_VALUES]; /* how many there were, not only of those that come often */
};

/* Starts from zero. */
struct lwp_locality_counts {
    struct lwp_locality_count *items;
    size_t count, room;
    struct lwp_table index; /* by object and part */
    struct lwp_locality_values values; /* of them; those that come often */
    bool traced;            /* there was a trace */
    uint64_t accesses;      /* all of it */
    uint64_t windows, lost; /* windows begun; those that are damaged in part */
    struct lwp_trace_sample kept;   /* of one file */
    struct lwp_touched *touched; /* one for each object, once settled */
    size_t touched_count, touched_room;
    bool gaps;              /* something ran before, or between, what was traced: who touched first is not known */
};

/* Which counts are of an object and a part. */
uint32_t lwp_locality_counts_at(struct lwp_locality_counts *counts, uint32_t object, uint32_t part);

void lwp_locality_count_add(struct lwp_locality_count *into, const struct lwp_locality_count *from);

void lwp_locality_counts_free(struct lwp_locality_counts *counts);
/* Adds `from` to `into` and frees it. */
void lwp_locality_counts_merge(struct lwp_locality_counts *into, struct lwp_locality_counts *from);
/* Gives them the final numbers of objects and regions, in the order of these. */
void lwp_locality_counts_renumber(struct lwp_locality_counts *counts, const uint32_t *objects, const uint32_t *regions);

/* The place of a distance, or of a number of lines. */
static inline unsigned lwp_locality_bucket(uint64_t value)
{
    unsigned bits = value ? 64 - (unsigned)__builtin_clzll(value) : 0;
    return bits < LWP_LOCALITY_BEYOND ? bits : LWP_LOCALITY_BEYOND - 1;
}

#endif
