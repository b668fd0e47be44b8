/* Which other nodes does a loop go to in turn with these? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_TURNS_H
#define LWP_ANALYSIS_ADVICE_GAIN_TURNS_H

#include "analysis/advice/gain/visit.h"

/* Of a loop that steps through pointers to nodes: sets visit->turns, visit->turn_count and visit->turn_guesses, and divides visit->visits
 * by the nodes of either kind for each of these. `own`: how many of these there are. None are found in other loops. */
void lwp_gain_turns(struct lwp_profile *profile, struct lwp_gain_visit *visit, double own);

/* How many nodes the object has; each is a block. */
double lwp_gain_nodes(const struct lwp_profile *profile, uint32_t object);

/* Whether what the loop uses of these was only seen in its own code, though that calls functions which the element, or a variable, says. */
bool lwp_gain_calls_unseen(const struct lwp_profile *profile, const uint32_t *objects, size_t count, uint32_t region,
                           const struct lwp_loop_shape *shape);

bool lwp_gain_in_turn(const struct lwp_gain_visit *visit, uint32_t object);

#endif
