/* Loops that search from one end to the other, and of which no advice says so. */
#ifndef LWP_ANALYSIS_FINDINGS_UNSAID_SEARCH_H
#define LWP_ANALYSIS_FINDINGS_UNSAID_SEARCH_H

#include "analysis/advice/locality/locality_advice.h"
#include "analysis/advice/redundancy/redundancy.h"
#include "analysis/findings/silence.h"

/* Where nothing else was advised (`silence` has a kind), that comes first of what is said; else it is a note. Not of loops that a tip is
 * about. */
void lwp_unsaid_search_say(struct lwp_profile *profile, const struct lwp_redundancies *redundancies, const struct lwp_locality_tips *tips,
                           struct lwp_silence *silence);

#endif
