/* What becomes of a run whose program has ended. */
#ifndef LWP_LAUNCH_ENDING_H
#define LWP_LAUNCH_ENDING_H

#include "collector/keep/account.h"
#include "collector/keep/keeper.h"
#include "collector/launch/collect_options.h"
#include "collector/launch/launch.h"
#include "collector/launch/result.h"
#include "collector/launch/run_json.h"
#include "collector/phases/phases.h"

/* How it ended. `phases`: NULL where nobody could start and stop it. */
void lwp_ending_note(struct lwp_run *run, const struct lwp_ended *ended, const char *program, const struct lwp_phases *phases);

/* What lwp has cost, beside what the run would have taken without. `ran`: processes. */
void lwp_ending_account(struct lwp_run *run, const struct lwp_account *account, char *const *environment, unsigned *ran);

/* Seals the result, and says what is in it. Ends the keeper. */
void lwp_ending_seal(const struct lwp_settings *settings, const struct lwp_place *place, struct lwp_run *run, const struct lwp_ended *ended,
                     struct lwp_keeper *keeper, unsigned processes);

#endif
