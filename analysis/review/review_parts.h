/* What the files that build a review share; nobody else includes it. */
#ifndef LWP_ANALYSIS_REVIEW_REVIEW_PARTS_H
#define LWP_ANALYSIS_REVIEW_REVIEW_PARTS_H

#include "analysis/json/json_value.h"
#include "analysis/review/review.h"

#include <stdarg.h>

/* review_item.c */
void lwp_review_fact(struct lwp_review *review, struct lwp_review_item *item, const char *label, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The share with its interval, as `from` has them. */
void lwp_review_interval(struct lwp_review_item *item, const json_t *from);
void lwp_review_row(struct lwp_review_item *item, double share, const char *location, const char *text);
/* Places, without those that are there already or have no file. */
void lwp_review_add_loop(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *loop);
void lwp_review_add_frame(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *frame);
/* "match (neuron.c:93-94)", "excite (neuron.c:38)", or "sort+0x6e8c" without symbols; of a loop also which one of a nest on the
 * same lines, and the call that inlined it: "merge (tsp.c:133-135), inlined into tsp (tsp.c:289)". */
const char *lwp_review_loop_text(const struct lwp_review *review, const json_t *loop);
const char *lwp_review_frame_text(const struct lwp_review *review, const json_t *frame);
/* A function of this name: "merge()", "Grid<double>::Grid(long)", a long name of C++ in brief (lwp_function_brief). */
const char *lwp_review_call(const struct lwp_review *review, const char *name);
/* Its name, in brief, or "sort+0x6e8c". */
const char *lwp_review_function(const struct lwp_review *review, const json_t *frame);
/* Of a context, innermost first. NULL of NULL. */
const json_t *lwp_review_frames(const struct lwp_review *review, const json_t *context);
/* The frame of a context where people look: past the C library and the tool chain's headers. NULL of NULL. */
const json_t *lwp_review_own_frame(const struct lwp_review *review, const json_t *context);
/* "a, b, c", at most some 60 columns, then "...". */
const char *lwp_review_join(const struct lwp_review *review, const json_t *names);
/* "183 MiB". */
const char *lwp_review_bytes(const struct lwp_review *review, double bytes);

/* The cause of a redundant pair in words (review_access.c). */
const char *lwp_review_cause(const struct lwp_review *review, const json_t *pair);

/* review_layout.c, review_access.c: what is particular to a kind of finding. */
void lwp_review_split(struct lwp_review *review, struct lwp_review_item *item, const json_t *split);
void lwp_review_regroup(struct lwp_review *review, struct lwp_review_item *item, const json_t *group);
void lwp_review_conflict(struct lwp_review *review, struct lwp_review_item *item, const json_t *conflict);
void lwp_review_redundancy(struct lwp_review *review, struct lwp_review_item *item, const json_t *pair);
void lwp_review_sharing(struct lwp_review *review, struct lwp_review_item *item, const json_t *sharing);
void lwp_review_communication(struct lwp_review *review, struct lwp_review_item *item, const json_t *region);
void lwp_review_locality(struct lwp_review *review, struct lwp_review_item *item, const json_t *row);

#endif
