/* Thread interaction: what is found about communication and sharing. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_THREAD_FINDINGS_H
#define LWP_ANALYSIS_ADVICE_THREADS_THREAD_FINDINGS_H

#include "analysis/advice/threads/communication_advice.h"
#include "analysis/advice/threads/sampled_communication.h"
#include "analysis/advice/threads/sharing.h"

struct lwp_thread_findings {
    struct lwp_sampled_communication sampled; /* by a light engine; or */
    struct lwp_counted_communication counted; /* by the exact one */
    struct lwp_communication_tips tips;       /* about what was counted */
    struct lwp_sharings sharings;
};

#endif
