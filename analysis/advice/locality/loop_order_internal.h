/* What loop_order.c gathers of one loop, for its parts. */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_LOOP_ORDER_INTERNAL_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_LOOP_ORDER_INTERNAL_H

#include "analysis/advice/locality/loop_order.h"

enum { LWP_ORDER_ACCESSES = 64 };

struct lwp_order_access {
    const struct lwp_stream *stream;
    struct lwp_order_step step;
    struct lwp_order_columns columns;
    size_t moves;              /* that samples saw */
    double trips_most;         /* see lwp_order_trips_most() */
    bool small;                /* stays in the caches in any order */
    double now, then, blocked; /* lines an iteration: today, interchanged, blocked */
};

/* The loop that goes from column to column. */
struct lwp_order_outer {
    unsigned level;  /* so many around the innermost one; 0: not known */
    int64_t by;      /* bytes that it goes on each time */
    uint32_t region; /* LWP_NONE: not known */
};

struct lwp_order {
    struct lwp_profile *profile;
    uint32_t region;
    struct lwp_order_access accesses[LWP_ORDER_ACCESSES];
    size_t count;
    bool complete;            /* all accesses are there */
    struct lwp_tally stalled; /* of columns */
    struct lwp_loop_shape shape;
    double rows; /* of the longest column seen, or of what one run of the loop goes down, where that is less */
    struct lwp_order_outer outer;
};

/* The column that stalls most, and into `order` the loop that goes from it to the next one. A loop between the two leaves that column where
 * it is; if it goes from column to column of another array, it is the better one to interchange, and that column is returned. What the code
 * says of columns' distances goes into all. NULL: there is no column, or no next one (loop_order_nest.c). */
const struct lwp_order_access *lwp_order_nest(struct lwp_order *order);

/* What an iteration of the loop that is so many around the innermost one adds to the access's address, by the code; of a column what it
 * adds beside a row down or up. */
enum lwp_loop_step_kind lwp_order_moves(const struct lwp_order *order, const struct lwp_order_access *access, unsigned level,
                                        int64_t *bytes);

/* By how many rows, rounded down, that loop moves the column, 0: by none, or it is not known; negative: there is no such loop. */
double lwp_order_plane(const struct lwp_order *order, const struct lwp_order_access *access, unsigned level);

/* Lines an iteration once the loop around is the inner one, by the code; negative: not known. */
double lwp_order_decoded(const struct lwp_order *order, const struct lwp_order_access *access);

/* What becomes of the loop's time when it is interchanged with the one around it: ratio, low and high. False: it was not
 * measured (loop_order_measured.c), or what was run does not wait for memory as the loop does. `then` of all accesses is known. */
struct lwp_gain_measured;
bool lwp_order_measure(const struct lwp_order *order, const struct lwp_order_access *column, struct lwp_gain_measured *measured);

/* The nest's accesses as they are run, in today's order or in the new one. False: it cannot be run. */
struct lwp_pattern;
bool lwp_order_pattern(const struct lwp_order *order, const struct lwp_order_access *column, bool interchanged,
                       struct lwp_pattern *pattern);

/* Bytes from one access of the loop to another one in one iteration; false: not known (loop_order_arrays.c). */
bool lwp_order_apart(const struct lwp_order *order, const struct lwp_order_access *from, const struct lwp_order_access *to, int64_t *apart);

/* Whether two instructions go to different parts of one data object: all places seen of one lie before all of the other. */
bool lwp_order_disjoint(const struct lwp_stream *one, const struct lwp_stream *other);

/* Whether two accesses to one data object are to different arrays in it, as far as that is known. */
bool lwp_order_other_array(const struct lwp_order *order, const struct lwp_order_access *one, const struct lwp_order_access *other);

/* Whether, of the objects that the access's instruction was seen on, its own is the one that stands for them: an instruction goes to one of
 * them at a time. */
bool lwp_order_stands(const struct lwp_order *order, size_t access);

/* Rows of the longest column. Loops that are blocked already go down a few rows of each at a time, which the column seen that most is known
 * of says (loop_order_lengths.c). */
double lwp_order_longest(const struct lwp_order *order);

/* The most rows that a column has: no more than a plane, where loops further out go from plane to plane. *triangle: one of them begins a
 * row further on each time. */
double lwp_order_rows(const struct lwp_order *order, const struct lwp_order_access *column, bool *triangle);

/* A part of the longest runs of the inner loop and of the one around, and the part of all visits that is in such ones. */
struct lwp_order_length {
    double rows, columns, visits;
};

/* How many, and which, lengths a nest is run with: 1 where all runs are of one length. `planes`: loops further out go from plane to plane;
 * `triangle`: the code says that columns get shorter (loop_order_lengths.c). */
unsigned lwp_order_lengths(const struct lwp_order *order, const struct lwp_order_access *column, bool planes, bool triangle,
                           struct lwp_order_length lengths[2]);

/* Whether runs have other lengths each time, from where samples were in them: 0 to 1, from the first to the last place seen. */
bool lwp_order_tapers(const double *places, size_t count);

/* Whether the new inner loop adds everything up at one place, each time after the one before: lines alone say little of its time then. */
bool lwp_order_begins_sums(const struct lwp_order *order);

/* Whether what the inner loop sums up in registers is a sum of both loops. */
bool lwp_order_sums_on(const struct lwp_order *order, const struct lwp_order_access *column);

/* Whether interchanging the loop with the one around it would let an iteration see what a later one of today stores, or the other way
 * round, or change a value that goes through all of them in order, as far as code and samples show (loop_order_kept.c). */
bool lwp_order_is_kept(const struct lwp_order *order, const struct lwp_order_access *column);

/* Title and next step of the tip (loop_order_text.c). `column`: the access that is stalled most. */
void lwp_order_text(const struct lwp_order *order, const struct lwp_order_access *column, bool interchange, struct lwp_locality_tip *tip);

#endif
