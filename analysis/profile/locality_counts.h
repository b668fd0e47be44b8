/* What a trace shows of each data object in each loop, added up while it is replayed. */
#ifndef LWP_ANALYSIS_PROFILE_LOCALITY_COUNTS_H
#define LWP_ANALYSIS_PROFILE_LOCALITY_COUNTS_H

#include "analysis/profile/first_touch.h"
#include "base/cache.h"
#include "base/pages.h"
#include "base/hash.h"

#include <stdbool.h>

enum {
    LWP_LOCALITY_DISTANCES = 34, /* reuse distances 0, 1, 2-3, 4-7, ...; the last one: none was seen, it is beyond the window */
    LWP_LOCALITY_BEYOND = LWP_LOCALITY_DISTANCES - 1,
    LWP_LOCALITY_STRIDES = 34,                  /* as many lines on, or back */
    LWP_LOCALITY_PLACES = LWP_CACHE_LEVELS + 1, /* enum lwp_cache_where */
    LWP_LOCALITY_TAKEN = 256,                   /* parts of one */
};

/* What values are frequent of an object in a part of the code, over all files: distances between accesses, what used lines before,
 * and reuse distances. Each file gives its heavy hitters (heavy_hitters.h), and all of its reuse distances (distance_counts.h); here
 * they are only added up, so the order of files does not matter. */
enum lwp_locality_value_of {
    LWP_LOCALITY_STRIDE,  /* bytes between an instruction's accesses */
    LWP_LOCALITY_OUTER,   /* bytes between the starts of two of its strided runs; each counts its accesses */
    LWP_LOCALITY_BEFORE,  /* part (renumbered: region) that used the line before, of lines reused beyond the caches of a core; sampled */
    LWP_LOCALITY_HITTERS, /* the ones above are heavy hitters */
    LWP_LOCALITY_DISTANCE = LWP_LOCALITY_HITTERS, /* the largest reuse distance of an interval (distance_counts.h); all of them */
    LWP_LOCALITY_VALUES
};

struct lwp_locality_value {
    uint32_t object, part; /* as in locality_counts.h */
    enum lwp_locality_value_of of;
    int64_t value;
    uint64_t count;
};

/* Starts from zero. At most LWP_HEAVY_HITTERS a file, object, part and kind, or one for each interval of distances; equal ones are
 * one. */
struct lwp_locality_values {
    struct lwp_locality_value *items;
    size_t count, room;
    size_t joined; /* of which no two are equal, in order; the others are new */
};

void lwp_locality_values_add(struct lwp_locality_values *values, const struct lwp_locality_value *value);

/* Sorts them and makes one of equal ones; also after what they are of was given other numbers. */
void lwp_locality_values_join(struct lwp_locality_values *values);

/* Those of an object, part and kind, of joined ones. */
const struct lwp_locality_value *lwp_locality_values_of(const struct lwp_locality_values *values, uint32_t object, uint32_t part,
                                                        enum lwp_locality_value_of of, size_t *count);

/* The most frequent of `count`, the least of equally frequent ones; NULL: there are none. */
const struct lwp_locality_value *lwp_locality_values_most(const struct lwp_locality_value *values, size_t count);

/* A part of a trace, kept to be replayed with other layouts: stretches of consecutive accesses, evenly spread over the run, with
 * the object of each. */
enum { LWP_TRACE_SAMPLE_STRETCH = 1 << 19, LWP_TRACE_SAMPLE_MOST = 16 * LWP_TRACE_SAMPLE_STRETCH };

struct lwp_trace_sample_access {
    uint64_t address : 48, bytes : 8, thread : 8; /* thread: in the order they were met, modulo 256 */
    uint32_t object, offset;                      /* in its block or variable; UINT32_MAX: not known */
};

/* Starts from zero. When it is full, every second stretch is dropped, and half as many are kept from there on. */
struct lwp_trace_sample {
    struct lwp_trace_sample_access *accesses;
    size_t count;
    uint64_t seen;  /* all accesses of the trace */
    unsigned every; /* stretches of which one is kept; 0 as good as 1 */
    uint64_t bytes; /* of the file they are of; 0: of none */
    uint32_t file;  /* its number */
    bool passed;    /* the file that is read now is another one */
};

void lwp_trace_sample_thin(struct lwp_trace_sample *kept);

/* Another file. Addresses of one file mean nothing in another, so only accesses of the largest one are kept (the first of equally
 * large ones). */
void lwp_trace_sample_begin(struct lwp_trace_sample *kept, uint32_t file, uint64_t bytes);

/* The next access of the trace. */
static inline void lwp_trace_sample_add(struct lwp_trace_sample *kept, const struct lwp_trace_sample_access *access)
{
    unsigned every = kept->every ? kept->every : 1;
    if (kept->passed || kept->seen++ / LWP_TRACE_SAMPLE_STRETCH % every)
        return;
    if (kept->count == LWP_TRACE_SAMPLE_MOST) {
        lwp_trace_sample_thin(kept);
        if ((kept->seen - 1) / LWP_TRACE_SAMPLE_STRETCH % kept->every)
            return;
    }
    if (!kept->accesses)
        kept->accesses = lwp_pages_alloc(sizeof *access * LWP_TRACE_SAMPLE_MOST);
    kept->accesses[kept->count++] = *access;
}

/* Of one machine's caches. */
struct lwp_locality_found {
    uint64_t at[LWP_LOCALITY_PLACES]; /* accesses by the level that had the line */
    uint64_t cycles;
};

struct lwp_locality_count {
    uint32_t object, part;                      /* part: of the code (locations.h), UINT32_MAX: unknown; renumbered: the region */
    uint64_t accesses, stores;                  /* from here on counters only: lwp_locality_count_add */
    struct lwp_locality_found found, elsewhere; /* elsewhere: on the machine of --machine */
    uint64_t distances[LWP_LOCALITY_DISTANCES];
    uint64_t local; /* accesses to memory of the thread's own node */
    uint64_t taken, taken_least,
        taken_most;                  /* stores that take a line from a core that stores to it, too (line_rounds.h), in LWP_LOCALITY_TAKEN */
    uint64_t restarted;              /* accesses to a line that another core had, or wrote to since */
    uint64_t streams, streams_times; /* concurrent streams of the loop, over any object: their sum, and the number of looks */
    uint64_t conflicts;              /* missed the first level though fewer lines than it holds lay between */
    uint64_t lines[LWP_LOCALITY_STRIDES];
    uint64_t walks;                       /* page walks: TLB misses (tlb.h) */
    uint64_t values[LWP_LOCALITY_VALUES]; /* all, not only of the frequent ones */
};

/* Starts from zero. */
struct lwp_locality_counts {
    struct lwp_locality_count *items;
    size_t count, room;
    struct lwp_map index;              /* by object and part */
    struct lwp_locality_values values; /* the frequent ones */
    bool traced;                       /* there was a trace */
    bool several;                      /* ... of several threads */
    uint64_t accesses;                 /* all of it */
    uint64_t windows, lost;            /* windows begun; those that are damaged in part */
    struct lwp_trace_sample kept;      /* of one file */
    struct lwp_touched *touched;       /* one for each object, once renumbered */
    size_t touched_count, touched_room;
    bool gaps; /* something ran before, or between, what was traced: first touch is unknown */
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
