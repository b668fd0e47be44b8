/* One loop: how does it visit the elements, and what does a new layout make of that? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_VISIT_H
#define LWP_ANALYSIS_ADVICE_GAIN_VISIT_H

#include "analysis/advice/gain/gain_model.h"

#include <math.h>

/* How a loop visits the elements of what is placed in another way. */
struct lwp_gain_visit {
    uint32_t region;         /* the loop */
    const uint32_t *objects; /* what is placed: the loop's accesses to them are the fields in use, */
    size_t object_count;
    const bool *uses;      /* ... one for each field of a placement */
    const bool *found;     /* of a search (found.h): ... of the element that it finds; NULL: it is none */
    const uint64_t *first; /* ... each: the address of the code's first access to it; 0: not known. NULL: none is */
    uint64_t spacing;      /* of the first object's elements, as it is */
    double elements;       /* visited */
    double beside;         /* bytes of what is placed that only other loops go through, perhaps in turns with this one */
    double visits; /* of elements, each time round: more than one where the loop is unrolled, less where it goes to others in turn */
    const uint32_t *turns; /* objects whose elements it goes to instead of one of these (turns.h) */
    size_t turn_count;
    double turn_guesses;   /* jumps that go either way as often as it is another kind of element's turn than before; each time round */
    double jump;           /* bytes, of visits at random that all go as far (jumps.h); 0: they do not, or it is not known */
    double far;            /* of visits in a chain: the part that goes anywhere, not to a neighbour; negative: not known */
    bool whole;            /* a chain that goes through all elements, from its first to its last, whatever part of the code it is in */
    bool leads_on;         /* what addresses in the elements lead to waits for these, which stay as they are */
    unsigned window_most;  /* neighbours that a chain visits in disorder, if the steps back that were seen allow so few; 0: as many as are
                              likely */
    uint32_t leader; /* of visits at random: the object whose numbers are the next visit's index (lwp_loop_leads); LWP_NONE: none. One of
                      * `objects` where each is a field, or another one that the loop goes to */
    struct lwp_gain_access access;
    struct lwp_loop_shape shape; /* all zero: not known */
};

/* What was measured of it. */
struct lwp_gain_measured {
    double pace;                 /* nanoseconds a visit takes in the program; 0: not known */
    struct lwp_gain_range paces; /* ... or only that it is between these; both 0: not even that */
    double pattern;              /* ... in the pattern */
    double core;                 /* ... takes with all data in the nearest cache; 0: not measured */
    double ratio;                /* of the new layout's time to that of today's */
    double guesses;              /* jumps a visit that go either way, at most (guesses.h); known even where nothing was measured */
    double turns;                /* ... calls that depend on which kind of element's turn it is, among `past` */
    double past, open;           /* ... jumps past code a visit, and calls of what an object says: as often, and not known how often */
    double today;                /* how far the logarithm of today's time may be from the usual in one run, 90 % */
    double unsteady;             /* by what standard deviation of log(ratio) this machine is less steady than calm ones */
    double low, high;            /* its interval: the spread of the runs, and what a pattern may differ from its loop */
    bool reproduced;             /* the pattern takes the loop's time, as far as that is known, and waits for memory as the loop does */
    bool doubtful; /* its chain alone may take all of the time, and the memory may be pages of zeros that were never written; or jumps
                    * that are guessed could not be run */
    bool crowded;  /* what waits for loads that are independent of each other takes the room that more of them need: how many are under way
                    * depends on details of the code */
    bool waits_less; /* as `reproduced`, but it waits less than was sampled */
    bool between;    /* it does so but for its time: the truth is taken to lie between the ratio and the new time against the loop's */
};

/* The truth lies between the ratio that was measured and another one: widens the interval, and takes the middle. */
static inline void lwp_gain_lies_between(struct lwp_gain_measured *measured, double other)
{
    measured->high = fmax(measured->high, other + (measured->high - measured->ratio));
    measured->low = fmin(measured->low, other);
    measured->ratio = sqrt(measured->ratio * other);
}

/* Bytes of data that does not stay in the nearest caches while a loop goes through what is placed. */
static const double lwp_gain_large_object = 64 << 10;

/* Times of a visit that differ by no more are the same. */
static const double lwp_gain_pace_agrees = 0.15;

#endif
