/* lwp start: begins a phase of a collection that runs. */
#include "collector/phases/request.h"

static int start_run(int argc, char **argv, const struct lwp_command *self)
{
    return lwp_phases_request(argc, argv, self, LWP_PHASES_START);
}

const struct lwp_command lwp_cmd_start = {
    .name = "start",
    .usage = "[options] [DIR]",
    .summary = "begin a phase: record from now on, in a collection that runs",
    .details = "Begins a phase of a collection that runs: what the program does from now on is recorded, until 'lwp stop DIR', 'lwp\n"
               "collect' ends, or the program does. A collection that records already goes on.\n\n" LWP_PHASES_DETAILS,
    .options = lwp_phases_options,
    .run = start_run,
};
