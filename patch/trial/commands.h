/* Runs one shell command of a trial: bounded in time, ended when lwp is interrupted. */
#ifndef LWP_PATCH_TRIAL_COMMANDS_H
#define LWP_PATCH_TRIAL_COMMANDS_H

#include <stdbool.h>

struct lwp_trial_command {
    const char *folder, *text;
    const char *output; /* the file that standard output goes to */
    const char *path;   /* PATH of a build, whose errors go to the file, too; or NULL */
    unsigned variant;   /* decides the size of the environment, and what the compilers in PATH add */
    double seconds;     /* it may take */
};

/* Its wait status, or -1: it cannot be started, did not end in time, or lwp was interrupted. *cpu: seconds of it and its children. */
int lwp_trial_command(const struct lwp_trial_command *command, double *cpu);

/* From begin to end, signals that would end lwp are kept: what runs is killed, and lwp_trial_interrupted() says so. At the end lwp gets
 * the signal. */
void lwp_trial_signals_begin(void);
void lwp_trial_signals_end(void);
bool lwp_trial_interrupted(void);

#endif
