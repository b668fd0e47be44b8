/* Which loops walk over arrays column by column, from samples, and what another order of loops would gain. */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_LOOP_ORDER_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_LOOP_ORDER_H

#include "analysis/advice/locality/locality_advice.h"

/* Strides of columns go into the rows that have none. Tips of kinds "interchange" and "blocking", whose `row` is one of `sampled`, in
 * profile->arena. None where there is a trace: what that shows is better (locality_advice.h). After lwp_streams_link and lwp_elements_find.
 */
void lwp_loop_order_advise(struct lwp_profile *profile, struct lwp_sampled_locality *sampled, struct lwp_locality_tips *tips);

/* ---- its parts ---- */

/* How an access goes on from one iteration of the innermost loop to the next. */
enum lwp_order_kind {
    LWP_ORDER_STAYS,  /* at the same place */
    LWP_ORDER_ROW,    /* by a cache line at most */
    LWP_ORDER_COLUMN, /* by a constant of more than a line, or to the same place of another block */
    LWP_ORDER_OTHER,  /* in another way, or it is not known */
};

struct lwp_order_step {
    enum lwp_order_kind kind;
    bool blocks;   /* from block to block: rows that are allocated one by one */
    int64_t bytes; /* most often; negative: downwards */
    bool window;   /* some steps at a time: the loop begins again not far away */
};

/* From what samples saw (`count` moves) and what the code says: the constant that the address grows by, 0 if it stays
 * (`stays`) or that is not known. */
struct lwp_order_step lwp_order_step(const struct lwp_move *moves, size_t count, int64_t by_code, bool stays, uint64_t line);

/* The most iterations that a run of the loop has in the mean (95 %), from how often another column begins between two executions that a
 * sample saw. INFINITY: that was not seen, or the access goes down no column of even steps. */
double lwp_order_trips_most(const struct lwp_move *moves, size_t count, const struct lwp_order_step *step);

/* The columns seen: places within one step (or block). */
struct lwp_order_columns {
    uint64_t apart; /* bytes from one to the next; 0: only one was seen, or they are more than a line apart */
    double lines;   /* a visit costs when columns are visited one after the other */
    uint64_t span;  /* bytes from the first to the last one seen, */
    uint32_t places; /* ... of so many places; 0: not known */
};
struct lwp_order_columns lwp_order_columns(const struct lwp_offsets *offsets, const struct lwp_order_step *step, uint64_t line);

/* Rows of a column, of which so many places were seen, from the first to the last row `seen`; `whole`: of its object. */
double lwp_order_column(double seen, uint32_t places, double whole);

/* The places of the longest run of rows, in `sorted` order (bytes; *first: where it begins), and how many they are: an object may hold
 * several planes, of each of which only the first rows are in use. All, where no gap between rows says so. */
uint32_t lwp_order_run(const uint64_t *sorted, uint32_t count, uint32_t *first);

/* Lines of `bytes` of cache in `ways` that a walk in these steps can fill. Physical pages lie anywhere: only bits
 * within a page choose a set. */
double lwp_order_capacity(uint64_t bytes, uint64_t step, uint64_t line);

#endif
