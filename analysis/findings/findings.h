/* What was found, and one ranked list over all advice. */
#ifndef LWP_ANALYSIS_FINDINGS_FINDINGS_H
#define LWP_ANALYSIS_FINDINGS_FINDINGS_H

#include "analysis/advice/layout/conflicts.h"
#include "analysis/advice/layout/regroup.h"
#include "analysis/advice/layout/split.h"
#include "analysis/advice/locality/locality_advice.h"
#include "analysis/advice/redundancy/redundancy.h"
#include "analysis/advice/threads/communication_advice.h"
#include "analysis/advice/threads/sampled_communication.h"
#include "analysis/advice/threads/sharing.h"
#include "analysis/findings/reasons.h"
#include "analysis/findings/silence.h"

struct lwp_finding {
    const char *id, *kind, *title, *severity, *next_step;
    double share, share_low, share_high; /* low and high: the 95 % interval; high 0: unknown */
    uint64_t samples;                    /* that the share rests on; 0: counted, or unknown */
    double speedup, low, high;           /* expected, and its interval; low 0: not known */
    double stake;            /* the part of the time that there is to gain at most, where no gain is predicted; 0: not known either */
    double rank;             /* the larger the earlier it is said: a speed-up; 0: nothing is known of it */
    size_t index;            /* of what it is about, in its kind's list */
    const uint32_t *regions; /* loops that it makes faster; of one with a gain */
    size_t region_count;
    const uint32_t *objects; /* data that it lays out in another way */
    size_t object_count;
    const char *shares_with; /* id of an earlier finding about the same loop or the same data: the two do not add up; NULL: none */
};

struct lwp_findings {
    struct lwp_finding *findings; /* largest expected gain first */
    size_t count;
};

struct lwp_thread_findings {
    struct lwp_sampled_communication sampled; /* by a light engine; or */
    struct lwp_counted_communication counted; /* by the exact one */
    struct lwp_communication_tips tips;       /* about what was counted */
    struct lwp_sharings sharings;
};

/* All that is asked of a profile: each question's answer. Zero: nothing was found. */
struct lwp_answers {
    struct lwp_splits splits;
    struct lwp_regroups regroups;
    struct lwp_conflicts conflicts;
    struct lwp_redundancies redundancies;
    struct lwp_thread_findings threads;
    struct lwp_locality locality;
    struct lwp_sampled_locality sampled; /* without a trace */
    struct lwp_locality_tips tips;
    struct lwp_findings findings;
    struct lwp_reasons reasons;
    struct lwp_coverage coverage;
    struct lwp_silence silence;
};

/* Fills `findings` and what follows from all other answers. Two findings never contradict each other. */
void lwp_findings_rank(struct lwp_profile *profile, struct lwp_answers *answers);

/* What the reader should know of the run: how it was measured, what that leaves open, and modules without names or types. */
void lwp_findings_notes(struct lwp_profile *profile, const struct lwp_answers *answers);

#endif
