/* Does the patched program run faster? Both are built in copies of the tree and run in turns. */
#ifndef LWP_PATCH_TRIAL_H
#define LWP_PATCH_TRIAL_H

#include "patch/sources/source.h"
#include "patch/sources/units.h"

struct lwp_trial {
    const char *build, *run;   /* shell commands, in the current folder of the copy */
    double seconds;            /* to measure at most */
    double speedup, low, high; /* CPU time before / after, and its 95 % interval */
    unsigned pairs, placements;
};

/* "BUILD && RUN" taken apart at the last "&&". */
int lwp_trial_parse(struct lwp_trial *trial, struct lwp_arena *arena, const char *command, struct lwp_error *err);

/* The edits must be settled. Measures until the interval is narrower than 3 %, or as long as it may. An error, too, where the two programs
 * differ in what they print or in their exit status. */
int lwp_trial_run(struct lwp_trial *trial, const struct lwp_sources *sources, const struct lwp_units *units, struct lwp_error *err);

#endif
