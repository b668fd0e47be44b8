/* What memory traffic costs: the share of a loop's waiting that a new layout saves, and the time that goes with
 * waiting. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_GAIN_MODEL_H
#define LWP_ANALYSIS_ADVICE_GAIN_GAIN_MODEL_H

#include "analysis/profile/profile.h"
#include "analysis/program/flow/machine_code.h"

struct lwp_gain_range {
    double low, high;
};

enum lwp_gain_pattern { LWP_GAIN_IN_ORDER, LWP_GAIN_JUMPING, LWP_GAIN_UNKNOWN };

/* What a loop wants of memory for each element it visits, in one layout. */
struct lwp_gain_need {
    double lines;   /* fetched for a visit that goes from element to element (lwp_gain_lines) */
    double jumping; /* ... for one that jumps */
    double busy;    /* bytes of the lines it touches, each counted once */
    double spread;  /* bytes from the first to the last of them */
    double spacing; /* from one element to the next */
    double places;  /* far from each other that one visit goes to; 0: one */
};

/* How the loop goes over the elements. */
struct lwp_gain_walk {
    enum lwp_gain_pattern pattern;
    bool chained;        /* each visit tells where the next one is */
    double instructions; /* for each visit; 0: not known */
};

/* The share of the loop's waiting for the data that is saved. `worst` and `best` are the new layout as a pessimist and
 * an optimist expect it (often the same). Negative: it gets slower. */
struct lwp_gain_range lwp_gain_saved(const struct lwp_caches *machine, struct lwp_gain_walk walk,
                                     const struct lwp_gain_need *before, const struct lwp_gain_need *worst,
                                     const struct lwp_gain_need *best);

/* The weight in the region that goes with waiting for data on which `stalled` of it was seen to wait. `shape` is of its
 * code, all zero when that is not known. */
struct lwp_gain_range lwp_gain_waiting(const struct lwp_profile *profile, uint32_t region, double stalled,
                                       const struct lwp_loop_shape *shape);

/* The part of all time that threads spend in the loops of OpenMP runtimes, waiting for other threads. It shrinks with
 * what they wait for. Says so in the notes when it is much. */
double lwp_gain_spinning(struct lwp_profile *profile);

/* Whether the shares are of a time that a layout can save: not when events were counted that have no latency. */
bool lwp_gain_known(const struct lwp_profile *profile);

/* The whole program's speed-up when these parts of its time are saved. */
struct lwp_gain_range lwp_gain_speedup(double saved_low, double saved_high);

#endif
