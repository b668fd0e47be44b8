/* Which other nodes does a loop go to in turn with these? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_TURNS_H
#define LWP_ANALYSIS_ADVICE_GAIN_TURNS_H

#include "analysis/advice/gain/visit.h"

/* Of a loop that steps through pointers to nodes: sets visit->turns, visit->turn_count and visit->turn_guesses, and divides visit->visits
 * by the nodes of either kind for each of these. `own`: how many of these there are. None are found in other loops. */
void lwp_gain_turns(struct lwp_profile *profile, struct lwp_gain_visit *visit, double own);

/* How many nodes the object has; each is a block. */
double lwp_gain_nodes(const struct lwp_profile *profile, uint32_t object);

bool lwp_gain_in_turn(const struct lwp_gain_visit *visit, uint32_t object);

#endif
