/* Causes of redundancies. */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_CAUSE_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_CAUSE_H

#include "analysis/advice/redundancy/redundancy.h"

enum lwp_cause {
    LWP_CAUSE_UNKNOWN,
    LWP_CAUSE_USELESS_INITIALISATION,
    LWP_CAUSE_REPEATED_FILL,
    LWP_CAUSE_UNREAD_COPY,
    LWP_CAUSE_OVERWRITTEN_WHOLE,
    LWP_CAUSE_KEPT_IN_MEMORY,
    LWP_CAUSE_STORED_TWICE,
    LWP_CAUSE_SPILL,
    LWP_CAUSE_MISSED_INLINING,
    LWP_CAUSE_REDUNDANT_COMPUTATION,
    LWP_CAUSE_CONVERGED,
    LWP_CAUSE_LINEAR_SEARCH,
    LWP_CAUSE_REPEATED_TRAVERSAL,
    LWP_CAUSE_SAME_ARGUMENTS,
    LWP_CAUSE_LOOP_INVARIANT,
    LWP_CAUSE_COMMON_EXPRESSION,
    LWP_CAUSE_COMPUTED_ELSEWHERE,
    LWP_CAUSE_UNIFORM_FILL,
};

/* What the two instructions, their functions and loops, and the object show; LWP_CAUSE_UNKNOWN: not enough. */
enum lwp_cause lwp_redundancy_cause(struct lwp_profile *profile, const struct lwp_redundancy *item);

/* Whether it is the name of a C++ constructor. */
bool lwp_redundancy_constructs(const char *function);

#endif
