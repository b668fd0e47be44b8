/* Findings about what threads do to each other's memory, for findings.c. */
#ifndef LWP_ANALYSIS_FINDINGS_FINDINGS_OF_THREADS_H
#define LWP_ANALYSIS_FINDINGS_FINDINGS_OF_THREADS_H

#include "analysis/findings/findings.h"

/* How many there are at the most. */
size_t lwp_findings_of_threads_room(const struct lwp_thread_findings *together);

/* Puts them one after the other and returns how many. */
size_t lwp_findings_of_threads(struct lwp_profile *profile, const struct lwp_thread_findings *together, struct lwp_finding *findings);

#endif
