/* Causes of redundancies. */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_CAUSE_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_CAUSE_H

#include "analysis/advice/redundancy/redundancy.h"

/* What the two instructions, their functions and loops, and the object show; LWP_CAUSE_UNKNOWN: not enough. */
enum lwp_cause lwp_redundancy_cause(struct lwp_profile *profile, const struct lwp_redundancy *item);

/* Whether it is about a variable on the stack of the function that makes both accesses: the address of one is used, or it would be in a
 * register. */
bool lwp_redundancy_is_own_variable(struct lwp_profile *profile, const struct lwp_redundancy *item);

/* Whether it is the name of a C++ constructor. */
bool lwp_redundancy_constructs(const char *function);

#endif
