/* "communication" and "sharing" of analysis.json. */
#ifndef LWP_ANALYSIS_JSON_SHARING_H
#define LWP_ANALYSIS_JSON_SHARING_H

#include "analysis/communication.h"
#include "analysis/sharing.h"

/* What threads do to each other, as it is told. */
struct lwp_together {
    struct lwp_communication communication;
    struct lwp_sharings sharings;
};

/* null: not measured. */
json_t *lwp_json_communication(const struct lwp_communication *communication);

/* `context` gives the id of a context in the output. */
json_t *lwp_json_sharing(const struct lwp_profile *profile, const struct lwp_together *together,
                         json_t *(*context)(void *to, uint32_t context), void *to);

#endif
