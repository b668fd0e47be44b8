/* The summary that lwp collect prints at the end. */
#ifndef LWP_LAUNCH_CLOSING_H
#define LWP_LAUNCH_CLOSING_H

#include "collector/launch/launch.h"
#include "collector/launch/result.h"

struct lwp_closing {
    const char *dir; /* as the user knows it */
    const struct lwp_ended *ended;
    bool attached; /* to a process that lwp did not start */
    bool timed; /* --delay or --duration were given */
    bool paused;      /* recorded in phases (lwp start) */
    const char *only; /* the programs that were wanted; NULL: all */
    bool quiet, analyze;
    bool measure;   /* what changes would gain, by running patterns of accesses on this machine */
    bool simulated; /* under the exact engine */
    bool counted; /* what was asked for is counted, not sampled: no samples are no loss */
    bool counts; /* the result is all of the run, so its counts are worth a line */
};

void lwp_closing_say(const struct lwp_closing *closing, const struct lwp_result *result);

#endif
