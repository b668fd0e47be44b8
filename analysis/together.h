/* What is found about threads. */
#ifndef LWP_ANALYSIS_TOGETHER_H
#define LWP_ANALYSIS_TOGETHER_H

#include "analysis/communication.h"
#include "analysis/exchange_advice.h"
#include "analysis/sharing.h"

/* What threads do to each other. */
struct lwp_together {
    struct lwp_communication communication; /* estimated from what was watched, or */
    struct lwp_exchange exchange;           /* counted */
    struct lwp_exchange_tips tips;          /* about the exchange */
    struct lwp_sharings sharings;
};

#endif
