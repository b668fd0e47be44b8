/* lwp stop: ends the phase of a collection that runs. */
#include "collector/phases/request.h"

static int stop_run(int argc, char **argv, const struct lwp_command *self)
{
    return lwp_phases_request(argc, argv, self, LWP_PHASES_STOP);
}

const struct lwp_command lwp_cmd_stop = {
    .name = "stop",
    .usage = "[options] [DIR]",
    .summary = "end the phase: record nothing, while the collection and the program go on",
    .details =
        "Ends the phase of a collection that runs: nothing is recorded until 'lwp start DIR'. The program, lwp collect and what was\n"
        "recorded so far stay. (Where heap blocks are is still followed, so that later phases can name them.)\n\n" LWP_PHASES_DETAILS,
    .options = lwp_phases_options,
    .run = stop_run,
};
