/* What findings of all kinds are made of. */
#ifndef LWP_ANALYSIS_FINDINGS_FINDING_PARTS_H
#define LWP_ANALYSIS_FINDINGS_FINDING_PARTS_H

#include "analysis/findings/findings.h"

/* "words-1a2b": four digits of the hash keep findings apart that have the same words. */
const char *lwp_finding_id(struct lwp_profile *profile, const char *words, uint64_t hash);

/* The part of all cost, with its 95 % interval and the samples it rests on where it was sampled. */
void lwp_finding_share(const struct lwp_profile *profile, const struct lwp_tally *weight, struct lwp_finding *finding);

/* A predicted speed-up with its interval, and how severe that is. */
void lwp_finding_gain(struct lwp_finding *finding, double speedup, double low, double high);

/* The rank of a finding whose speed-up is not predicted: as if half of the share at stake were saved. */
double lwp_finding_rank(double stake);

/* One that is not predicted, with the share at stake, and how severe that is at such a rank: never high. */
void lwp_finding_gain_unknown(struct lwp_finding *finding, double stake);

/* Makes one of high severity a medium one. */
void lwp_finding_temper(struct lwp_finding *finding);

/* Largest gain first, or half of what there is at most, though behind all of high severity: these are sure. */
void lwp_finding_sort(struct lwp_finding *findings, size_t count);

/* redundancy_findings.c: at most `room`, one for each line of code; returns how many. */
size_t lwp_findings_of_redundancies(struct lwp_profile *profile, const struct lwp_redundancies *found, const struct lwp_locality_tips *tips,
                                    struct lwp_finding *findings, size_t room);

#endif
