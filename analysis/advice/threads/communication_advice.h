/* What to do about communication: the optimisations of Mazaheri et al., table 1, as the metrics call for them. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_COMMUNICATION_ADVICE_H
#define LWP_ANALYSIS_ADVICE_THREADS_COMMUNICATION_ADVICE_H

#include "analysis/advice/threads/counted_communication.h"

struct lwp_communication_tip {
    const char *kind; /* "distance", "pieces", "mapping" */
    size_t region;    /* of the counted regions */
    double share;     /* of all accesses of the run, those that it is about */
    const char *title, *severity, *next_step;
};

struct lwp_communication_tips {
    struct lwp_communication_tip *tips; /* in the order of the regions */
    size_t count;
};

/* In profile->arena. Fills the regions' placement. */
void lwp_communication_advise(struct lwp_profile *profile, struct lwp_counted_communication *found, struct lwp_communication_tips *tips);

#endif
