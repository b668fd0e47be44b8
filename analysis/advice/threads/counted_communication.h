/* Communication between threads, counted: a matrix of true communication and one of reuse for the whole program and each
 * of its code regions, with what they are described by. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_COUNTED_COMMUNICATION_H
#define LWP_ANALYSIS_ADVICE_THREADS_COUNTED_COMMUNICATION_H

#include "analysis/advice/threads/thread_placement.h"
#include "analysis/profile/profile.h"

enum lwp_communication_kind {
    LWP_COMMUNICATION_PROGRAM, /* all of it, but for: */
    LWP_COMMUNICATION_RUNTIME, /* what the C library and threading libraries do for themselves */
    LWP_COMMUNICATION_FUNCTION,
    LWP_COMMUNICATION_PARALLEL, /* the body of an OpenMP parallel region */
    LWP_COMMUNICATION_LOOP,     /* with the loops in it */
};

/* As struct lwp_communication_fragments, of all instructions together. */
struct lwp_communication_pieces {
    uint64_t count, lines, bytes, even;
    int64_t step;
};

struct lwp_communication_distances {
    struct lwp_distance_bucket *buckets;
    size_t count, room;
};

struct lwp_communication_region {
    enum lwp_communication_kind kind;
    const char *name;
    uint32_t region;         /* its loop or function; LWP_NONE: more than one */
    uint64_t *first, *again; /* threads * threads, row: writer */
    uint64_t firsts, agains; /* sums */
    double *ratios;          /* CRR */
    double homogeneity, balance;
    struct lwp_communication_distances distances,
        returns;          /* between two reads in it; of reads in it to those before, wherever in the function */
    double element_bytes; /* mean width of a read */
    struct lwp_communication_pieces pieces;
    double min_cutoff, max_cutoff; /* elements; 0: the caches are not known */
    const struct lwp_thread_placement *placement; /* NULL: any is as good */
};

struct lwp_counted_communication {
    bool measured;
    size_t count;                                   /* threads; the last one stands for all others when `others` */
    const struct lwp_communication_party **threads; /* by process and number; NULL: the others together */
    size_t others;
    struct lwp_communication_region *regions; /* [0] the program, then those with most communication first */
    size_t region_count;
};

/* In profile->arena. After lwp_regions_merge. */
void lwp_counted_communication_find(struct lwp_profile *profile, struct lwp_counted_communication *found);

#endif
