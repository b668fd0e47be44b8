/* Which accesses surely hit: translated code compares each with the line that was last accessed of those alike in their
 * lowest bits (struct lwp_trace_state). Such an access changes nothing in the cache model, and takes the same time as all
 * of them: superblocks with no other ones are only counted. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_FILTER_H
#define LWP_COLLECTOR_EXACT_TRACE_FILTER_H

#include "collector/exact/program/trace_words.h"
#include "collector/exact/valgrind/tool.h"

enum { LWP_FILTER_CHECKED = 32, LWP_FILTER_WAITING = 32 };

/* A superblock while it is translated. */
struct lwp_filter {
    IRSB *out;
    const struct lwp_trace_block *block;
    IRExpr *state, *left;
    IRExpr *missed; /* of the accesses so far; NULL: none */
    struct lwp_filter_range {
        IRTemp root; /* what the address is made from */
        Long low, high;
        IRExpr *address; /* of `low` */
        UInt aligned;    /* bytes; more than 1: the address was looked at, too */
    } checked[LWP_FILTER_CHECKED], waiting[LWP_FILTER_WAITING];
    UInt checked_count, waiting_count;
};

/* Where the superblock begins. */
void lwp_filter_enter(struct lwp_filter *filter, IRSB *out, const IRSB *in, const struct lwp_trace_block *block);
/* Before the access with that number. */
void lwp_filter_access(struct lwp_filter *filter, UInt number, IRExpr *address);
/* Where the superblock may be left, after so many accesses. */
void lwp_filter_exit(struct lwp_filter *filter, UInt passed);

#endif
