/* Locality of each data object in each loop, from a full trace (MACPO section 5). */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_LOCALITY_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_LOCALITY_H

#include "analysis/profile/profile.h"

struct lwp_locality_row {
    uint32_t object, region;                /* region: as same_as says; LWP_NONE: code without a name */
    const struct lwp_locality_count *count; /* of all versions of the loop */
    struct lwp_locality_frequent {
        const struct lwp_locality_value *items;
        size_t count;
    } values[LWP_LOCALITY_VALUES]; /* that come often, by enum lwp_locality_value_of */
    double share;                  /* of all weight, by the samples */
    int64_t stride;                /* bytes from one access of an instruction to the next, most often; */
    double stride_share;           /* ... in so large a part, 0: there was no next */
    int64_t outer;                 /* bytes from the begin of one traversal to that of the next, most often; */
    double numa;                   /* accesses to memory of the own node, of all; negative: not known */
    double streams;                /* of the loop, mean; 0: none was seen */
    double outer_share;            /* ... for so large a part of the accesses, 0: there are no traversals */
};

struct lwp_locality {
    bool measured;
    struct lwp_locality_row *rows; /* most cycles first */
    size_t count;
};

/* In profile->arena. After lwp_streams_link and lwp_regions_merge. */
void lwp_locality_find(struct lwp_profile *profile, struct lwp_locality *found);

/* Sentences about the whole trace, for the report. */
void lwp_locality_notes(struct lwp_profile *profile);

/* The most frequent value and its share of all there were; 0 where there is none. */
double lwp_locality_most(const struct lwp_locality_row *row, enum lwp_locality_value_of of, int64_t *value);

/* The median reuse distance: the least distance that half of the accesses do not exceed. Below 4,096 exact, above at most 0.8 % too
 * large. Negative: beyond the window. */
double lwp_locality_median(const struct lwp_locality_row *row);

/* How often a line is used there after it was brought and before it is gone; negative: none was brought. `level`: enum
 * lwp_cache_where below memory. */
double lwp_locality_reuse(const struct lwp_locality_found *found, unsigned level);

/* ---- without a trace (locality_sampled.c) ---- */

/* What samples show of each data object in each loop. How far apart the uses of a line are, what caches keep and how many accesses
 * there were at all takes a trace. */
struct lwp_sampled_row {
    uint32_t object, region;
    double share;        /* of all weight */
    uint64_t seen;       /* accesses */
    int64_t stride;      /* bytes that most instructions go on by each time round, by accesses seen; */
    double stride_share; /* ... those of so large a part of them; 0: not known */
    int64_t outer;       /* bytes that the loop around moves it by, where that goes from column to column; 0: not known */
    unsigned streams;    /* concurrent streams in the loop, at least; 0: none is known */
    uint64_t pages;      /* that its traversals go over, and other accesses were seen on; 0: not known */
};

struct lwp_sampled_locality {
    struct lwp_sampled_row *rows; /* largest share first */
    size_t count;
};

/* In profile->arena. After lwp_elements_find. */
void lwp_locality_sampled_find(struct lwp_profile *profile, struct lwp_sampled_locality *found);

#endif
