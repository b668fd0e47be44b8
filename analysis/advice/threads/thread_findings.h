/* What is found about threads. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_THREAD_FINDINGS_H
#define LWP_ANALYSIS_ADVICE_THREADS_THREAD_FINDINGS_H

#include "analysis/advice/threads/communication_advice.h"
#include "analysis/advice/threads/sampled_communication.h"
#include "analysis/advice/threads/sharing.h"

/* What threads do to each other. */
struct lwp_thread_findings {
    struct lwp_sampled_communication communication; /* estimated from what was watched, or */
    struct lwp_counted_communication exchange;           /* counted */
    struct lwp_communication_tips tips;          /* about the exchange */
    struct lwp_sharings sharings;
};

#endif
