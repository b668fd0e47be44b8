/* What lwp start, lwp stop and lwp status have in common: the result they name, and one line for each collection that answers. */
#ifndef LWP_COLLECTOR_PHASES_REQUEST_H
#define LWP_COLLECTOR_PHASES_REQUEST_H

#include "base/command.h"
#include "collector/phases/phases.h"

#define LWP_PHASES_DETAILS                                                                                                                 \
    "DIR is the result directory of an 'lwp collect' that runs now, with -p or without; without DIR the newest lwp-* in the\n"             \
    "current folder is taken. All ranks of a parallel job do the same. A run that is to begin without recording starts with\n"             \
    "lwp collect --paused. A program can do the same by itself, by LWP_BEGIN() and LWP_END() of lwp.h.\n\n"                                \
    "Exit status: 0 done, 1 no collection that can be asked runs there, 2 wrong use."

extern const struct lwp_option lwp_phases_options[];

/* The exit status. */
int lwp_phases_request(int argc, char **argv, const struct lwp_command *self, enum lwp_phases_request request);

#endif
