/* Causes of redundancies, and what is known of a pair when one is chosen. */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_CAUSE_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_CAUSE_H

#include "analysis/advice/redundancy/access_site.h"
#include "analysis/advice/redundancy/redundancy.h"

enum lwp_cause {
    UNKNOWN,
    USELESS_INITIALISATION,
    REPEATED_FILL,
    UNREAD_COPY,
    OVERWRITTEN_WHOLE,
    KEPT_IN_MEMORY,
    STORED_TWICE,
    SPILL,
    MISSED_INLINING,
    REDUNDANT_COMPUTATION,
    CONVERGED,
    LINEAR_SEARCH,
    REPEATED_WALK,
    SAME_ARGUMENTS,
    LOOP_INVARIANT,
    COMMON_EXPRESSION,
    COMPUTED_ELSEWHERE,
    UNIFORM_FILL,
    LWP_CAUSES
};

struct lwp_cause_text {
    enum lwp_watchpoint_kind kind;
    enum lwp_cause cause;
    const char *meaning, *remedy;
};

struct lwp_evidence {
    struct lwp_access_site first, second;
    const struct lwp_object *object; /* NULL: unknown */
    bool same_call;                  /* both in the same calling context */
    bool same, same_loop;            /* instruction; loop */
    bool stays, walks;               /* time and again at one address; at many */
};

/* One of the causes, and the texts for them, one of which is for UNKNOWN in each kind: of accesses to memory, and of the
 * kinds computation, register and spatial. */
enum lwp_cause lwp_cause_of_memory(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct lwp_evidence *e);
extern const struct lwp_cause_text lwp_cause_memory_texts[];
extern const size_t lwp_cause_memory_text_count;
enum lwp_cause lwp_cause_of_value(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct lwp_evidence *e);
extern const struct lwp_cause_text lwp_cause_value_texts[];
extern const size_t lwp_cause_value_text_count;

#endif
