/* What makes a program wait that keeps objects behind pointers, or moves large ones, and that no layout of these objects changes. */
#ifndef LWP_ANALYSIS_FINDINGS_UNSAID_CONTAINERS_H
#define LWP_ANALYSIS_FINDINGS_UNSAID_CONTAINERS_H

#include "analysis/findings/silence.h"

/* Where nothing else was advised (`silence` has a kind, and is not about searches), that comes first of what is said; else it is a note. */
void lwp_unsaid_containers_say(struct lwp_profile *profile, struct lwp_silence *silence);

#endif
