/* Communication between threads, counted: a matrix of true communication and one of reuse for the whole program and each
 * of its code regions, with what they are described by. */
#ifndef LWP_ANALYSIS_EXCHANGE_H
#define LWP_ANALYSIS_EXCHANGE_H

#include "analysis/profile.h"
#include "analysis/reuse_ratio.h"

enum { LWP_EXCHANGE_THREADS = 64 };

enum lwp_exchange_kind {
    LWP_EXCHANGE_PROGRAM,  /* all of it, but for: */
    LWP_EXCHANGE_RUNTIME,  /* what the C library and threading libraries do for themselves */
    LWP_EXCHANGE_FUNCTION,
    LWP_EXCHANGE_PARALLEL, /* the body of an OpenMP parallel region */
    LWP_EXCHANGE_LOOP,     /* with the loops in it */
};

/* As struct lwp_flow_pieces, of all instructions together. */
struct lwp_exchange_pieces {
    uint64_t count, lines, bytes, even;
    int64_t step;
};

struct lwp_exchange_distances {
    struct lwp_distance_bucket *buckets;
    size_t count, room;
};

struct lwp_exchange_region {
    enum lwp_exchange_kind kind;
    const char *name;
    uint32_t region;         /* its loop or function; LWP_NONE: more than one */
    uint64_t *first, *again; /* threads * threads, row: writer */
    uint64_t firsts, agains; /* sums */
    double *ratios;          /* CRR */
    double homogeneity, balance;
    struct lwp_exchange_distances distances, returns; /* between two reads in it; of reads in it to those before, wherever in the function */
    double element_bytes;    /* mean width of a read */
    struct lwp_exchange_pieces pieces;
    double min_cutoff, max_cutoff; /* elements; 0: the caches are not known */
};

struct lwp_exchange {
    bool measured;
    size_t count;                          /* threads; the last one stands for all others when `others` */
    const struct lwp_flow_party **threads; /* by process and number; NULL: the others together */
    size_t others;
    struct lwp_exchange_region *regions;   /* [0] the program, then those with most communication first */
    size_t region_count;
};

/* In profile->arena. After lwp_regions_merge. */
void lwp_exchange_find(struct lwp_profile *profile, struct lwp_exchange *found);

#endif
