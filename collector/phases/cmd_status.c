/* lwp status: what a collection that runs is doing. */
#include "collector/phases/request.h"

static int status_run(int argc, char **argv, const struct lwp_command *self)
{
    return lwp_phases_request(argc, argv, self, LWP_PHASES_STATUS);
}

const struct lwp_command lwp_cmd_status = {
    .name = "status",
    .usage = "[options] [DIR]",
    .summary = "say whether a collection records, and how much it has",
    .details = "Says whether a collection that runs records now, in how many phases and for how long it has.\n\n" LWP_PHASES_DETAILS,
    .options = lwp_phases_options,
    .run = status_run,
};
