/* What a new layout saves: cache lines per element visit, and from it the program's speed-up. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_GAIN_H
#define LWP_ANALYSIS_ADVICE_GAIN_GAIN_H

#include "analysis/advice/gain/gain_model.h"
#include "analysis/advice/placement/placement.h"

struct lwp_gain_loop {
    uint32_t region;
    double before, after; /* cache lines for each element visited */
};

/* The same by replaying what was traced (layout_replay.h). */
struct lwp_gain_replay {
    uint64_t accesses; /* replayed; 0: nothing was traced */
    struct lwp_locality_found before, after;
};

struct lwp_gain {
    double before, after;             /* the mean over loops by weight */
    uint64_t spacing;                 /* from one element to the next today, in the mean over memory */
    double bytes_before, bytes_after; /* of all lines that the elements' used fields lie on, the mean over loops too */
    double speedup, low, high;        /* expected speed-up of the whole program, and its interval */
    double pattern_ns, program_ns;    /* a visit takes in the loop that saves most, when run and in the program; 0: not known */
    bool measured;                    /* mostly by running the loops' accesses on this machine (measured.h) */
    bool run;                         /* ... whether or not that took the loop's time: the interval has both */
    bool scattered;                   /* of another order: the loop goes far from one element to the next today */
    double set_up; /* the part of all time that loops take which touch the elements first (set_up.h): no gain is seen there */
    struct lwp_gain_loop *loops;
    size_t loop_count;
    struct lwp_gain_replay replay;
};

/* What one loop saves, in parts of all time: likely, and at least and at most. */
struct lwp_gain_saving {
    double value, low, high;
    bool run;                      /* its accesses were: the interval has the error of the loop's share of the time */
    double most;                   /* ... that can be saved then, of all time: samples behind a load that is awaited have no data */
    double estimated;              /* of a sum: what loops that were not run save at most */
    bool measured;                 /* ... and took the loop's time, as far as that is known */
    double pattern_ns, program_ns; /* of a visit; 0: not known */
    struct lwp_share pages;        /* for pages and blocks that are not made any more, in parts of all time, the kernel's too */
};

struct lwp_gain_visit;
/* Of `weight` of its cost, stalled on what is placed. `saved`: the part of the stalls that the model expects to go, `part` the likeliest
 * (of streams and chains 1 - lines after / lines before). */
struct lwp_gain_saving lwp_gain_of_loop(struct lwp_profile *profile, const struct lwp_gain_visit *visit, double weight,
                                        const struct lwp_placement *before, const struct lwp_placement *after, struct lwp_gain_range saved,
                                        double part);

/* The loop's stalls on other data that is so little that it stays in the nearest caches: what is awaited there is the place, or the value,
 * which comes from elsewhere. */
double lwp_gain_awaited_elsewhere(const struct lwp_profile *profile, const struct lwp_gain_visit *visit);

struct lwp_gain_measured;
/* What a loop that takes `whole` of all time, of which it waits `waits`, saves when it was run, as far as the run can be believed.
 * `estimate`: what it saves by its samples alone. `random`: it was run as one that visits elements at random. */
struct lwp_gain_saving lwp_gain_of_measured(const struct lwp_gain_measured *measured, const struct lwp_share *whole,
                                            struct lwp_gain_range waits, bool random, struct lwp_gain_saving estimate);

/* Adds one loop's saving. `share`: of the data, whose error is the saving's. */
void lwp_gain_sum(struct lwp_gain_saving *sum, const struct lwp_gain_saving *saving, const struct lwp_share *share);

/* Sets the speed-up and its interval from the sum over all loops. */
void lwp_gain_speedups(struct lwp_profile *profile, const struct lwp_gain_saving *sum, const struct lwp_share *share,
                       struct lwp_gain *gain);

/* For a split: `group` of each field as lwp_affinity_cluster left it (-1: cold), `groups` of them. */
void lwp_gain_estimate(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group, size_t groups,
                       struct lwp_gain *gain);

/* For any new layout of the same elements, with the layout's fields in its order. */
void lwp_gain_between(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_placement *after,
                      struct lwp_gain *gain);

/* For the same elements in the order in which this loop of the layout goes to them: what it alone saves. False: how it goes to them was
 * not seen, or it could not be run. */
bool lwp_gain_in_order(struct lwp_profile *profile, const struct lwp_layout *layout, size_t loop, const struct lwp_placement *after,
                       struct lwp_gain *gain);

/* For the same elements in the place of the pointers that lead this loop of the layout to them, anywhere in the array: what it alone saves.
 * False: as above. */
bool lwp_gain_in_place(struct lwp_profile *profile, const struct lwp_layout *layout, size_t loop, uint32_t pointers,
                       const struct lwp_placement *after, struct lwp_gain *gain);

/* Whether the access that the shape is of goes where a number says that the same iteration has loaded. */
bool lwp_gain_by_index(const struct lwp_loop_shape *shape);

/* For the same elements in an array, in the order in which a container's own functions go through its nodes, in `walk`: all loops of that
 * as one, in the region of the one that waits longest, which take `whole` of all time. False: as above. */
bool lwp_gain_in_array(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_loop *walk,
                       const struct lwp_share *whole, const struct lwp_placement *after, struct lwp_gain *gain);

#endif
