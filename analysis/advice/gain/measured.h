/* What a new layout does to one loop: the loop's accesses are run on this machine in both layouts. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_MEASURED_H
#define LWP_ANALYSIS_ADVICE_GAIN_MEASURED_H

#include "analysis/advice/gain/gain.h"
#include "analysis/measure/pattern.h"

#include <math.h>

/* How a loop visits the elements of what is placed in another way. */
struct lwp_gain_visit {
    uint32_t region;         /* the loop */
    const uint32_t *objects; /* what is placed: the loop's accesses to them are the fields in use, */
    size_t object_count;
    const bool *uses;      /* ... one for each field of a placement */
    const uint64_t *first; /* ... each: the address of the code's first access to it; 0: not known. NULL: none is */
    uint64_t spacing;      /* of the first object's elements, as it is */
    double elements;       /* visited */
    double beside;         /* bytes of what is placed that only other loops go through, perhaps in turns with this one */
    double visits;         /* of elements, each time round: more than one where the loop is unrolled */
    double far;            /* of visits in a chain: the part that goes anywhere, not to a neighbour; negative: not known */
    uint32_t leader; /* of visits at random: the object whose numbers are the next visit's index (lwp_loop_leads); LWP_NONE: none. One of
                      * `objects` where each is a field, or another one that the loop goes to */
    struct lwp_gain_access access;
    struct lwp_loop_shape shape; /* all zero: not known */
};

struct lwp_gain_measured {
    double pace;                 /* nanoseconds a visit takes in the program; 0: not known */
    struct lwp_gain_range paces; /* ... or only that it is between these; both 0: not even that */
    double pattern;              /* ... in the pattern */
    double core;                 /* ... takes with all data in the nearest cache; 0: not measured */
    double ratio;                /* of the new layout's time to that of today's */
    unsigned threads;            /* that ran the pattern at one time */
    double guesses;              /* jumps a visit that go either way, at most (guesses.h); known even where nothing was measured */
    double today;                /* how far the logarithm of today's time may be from the usual in one run, 90 % */
    double low, high;            /* its interval: the spread of the runs, and what a pattern may differ from its loop */
    bool reproduced;             /* the pattern takes the loop's time, as far as that is known, and waits for memory as the loop does */
    bool doubtful; /* its chain alone may take all of the time, and the memory may be pages of zeros that were never written; or jumps
                    * that are guessed could not be run */
    bool crowded;  /* what waits for loads that are independent of each other takes the room that more of them need: how many are under way
                    * depends on details of the code */
    bool waits_less; /* as `reproduced`, but it waits less than was sampled */
    bool between;    /* it does so but for its time: the truth is taken to lie between the ratio and the new time against the loop's */
};

/* False: it was not measured (not allowed, another machine, no time left, accesses whose order is not known); then only `pace`. */
bool lwp_gain_measure(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_gain_placement *before,
                      const struct lwp_gain_placement *after, struct lwp_gain_measured *measured);

/* The loop's accesses in a layout. `chain`: cycles that a visit waits for the one before; `spacing`: of today's elements. False: they
 * cannot be run. */
bool lwp_gain_pattern(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_gain_placement *placement,
                      double chain, double spacing, struct lwp_pattern *pattern);

/* Threads that were in the loop at one time, as far as that was seen of its first array; else of those of the program as many as work
 * as much as the busiest. */
unsigned lwp_gain_threads(const struct lwp_profile *profile, const struct lwp_gain_visit *visit);

/* Cycles a visit of the loop's chain beside its sums with a factor. */
double lwp_gain_chain_cycles(const struct lwp_loop_shape *shape, double visits);

/* Where samples saw a chain go: to neighbours, and so for many elements, which only then share the lines that it waits for; or anywhere.
 * Not known: too few steps were seen, or it is soon at its end, and the next one begins elsewhere (a search of a tree whose nodes lie near
 * each other). */
enum lwp_gain_pattern lwp_gain_chain(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing);

/* Where its pattern's visits go, in a chain. */
void lwp_gain_chain_pattern(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing,
                            struct lwp_pattern *pattern);

/* Of a pattern's searches of `search` visits (0: of very many) those whose end is guessed wrong, in eighths, where searches make so many
 * `visits` on average. */
unsigned lwp_gain_endings(double visits, unsigned search);

/* The truth lies between the ratio that was measured and another one: widens the interval, and takes the middle. */
static inline void lwp_gain_lies_between(struct lwp_gain_measured *measured, double other)
{
    measured->high = fmax(measured->high, other + (measured->high - measured->ratio));
    measured->low = fmin(measured->low, other);
    measured->ratio = sqrt(measured->ratio * other);
}

/* Widens what was measured of searches along chains, and takes its middle: what leads to them is not run. */
void lwp_gain_begun(struct lwp_gain_measured *measured);

/* What a loop that takes `whole` of all time, of which it waits `most`, saves when it was run, as far as the run can be believed.
 * `estimate`: what it saves by its samples alone. `random`: it was run as one that visits elements at random. */
struct lwp_gain_saving lwp_gain_of_measured(const struct lwp_gain_measured *measured, const struct lwp_share *whole, double most,
                                            bool random, struct lwp_gain_saving estimate);

/* The part of all time that is saved, at least and at most, of a loop that takes `whole`. Its share and the ratio come from different
 * samples, so that they are not both at their worst at once: their errors are added as squares. */
struct lwp_gain_range lwp_gain_part(const struct lwp_gain_measured *measured, const struct lwp_share *whole);

/* ---- for other patterns ---- */

/* Sets how much a round of a loop computes that makes so many `visits`, and how long it waits for the round before. */
void lwp_gain_computes(const struct lwp_loop_shape *shape, double visits, struct lwp_pattern *pattern);

/* The least that a new layout's time can be to today's. `computes`: the part of the run's time that it takes with all data in the nearest
 * cache. */
double lwp_gain_least_ratio(const struct lwp_gain_range *stalls, double computes);

/* Whether a pattern is the loop: it waits for memory as samples say that the loop does, and takes about the loop's own time (`pace`, ns; 0:
 * not known). *same: no further from that than paces are. */
bool lwp_gain_resembles(const struct lwp_pattern_times *times, const struct lwp_gain_range *stalls, double pace, bool *same);

/* By how much one run of a pattern that waits for memory all of the time differs from other runs of it, right after each other: a
 * standard deviation of log(ratio), docs/gains.md. */
static const double lwp_gain_run_off = 0.12;

/* Whether there were several runs, which differ by no more than nine in ten do of a pattern that waits all of the time. */
bool lwp_gain_runs_agree(const struct lwp_pattern_times *times);

/* Times of a visit that differ by no more are the same. */
static const double lwp_gain_pace_agrees = 0.15;

/* What times say of the new layout's time to today's: ratio, low and high. `stalls`: the part of its time that the loop was seen to wait;
 * `pace`: of the loop itself, ns; 0: not known. */
void lwp_gain_interval(const struct lwp_pattern_times *times, const struct lwp_gain_range *stalls, double pace,
                       struct lwp_gain_measured *measured);

/* Times both, or finds their times among those that were taken already: several times where the region takes so much of all time (LWP_NONE:
 * all of it) that what runs differ by would be seen in the program's speed-up. False: not allowed, no time left, or it failed. */
bool lwp_gain_times(struct lwp_profile *profile, uint32_t region, const struct lwp_pattern *before, const struct lwp_pattern *after,
                    struct lwp_pattern_times *times);

/* ... once only: to see whether it is the right pattern. */
bool lwp_gain_times_once(struct lwp_profile *profile, uint32_t region, const struct lwp_pattern *before, const struct lwp_pattern *after,
                         struct lwp_pattern_times *times);

#endif
