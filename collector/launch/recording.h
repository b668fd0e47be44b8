/* Runs a program into the result directory that was made for it. */
#ifndef LWP_LAUNCH_RECORDING_H
#define LWP_LAUNCH_RECORDING_H

#include "base/error.h"
#include "collector/launch/collect_options.h"
#include "collector/launch/engine.h"
#include "collector/launch/result.h"
#include "collector/launch/target.h"

enum { LWP_EXIT_FAILED = 125, LWP_EXIT_NOT_EXECUTABLE = 126, LWP_EXIT_NOT_FOUND = 127 };

/* `helper`: the preload library, or the exact engine's folder. Returns the exit status of lwp collect; where `err` has a text, there is no
 * result. */
int lwp_record(const struct lwp_settings *settings, const struct lwp_place *place, const struct lwp_target *target,
               const struct lwp_engine *engine, const char *helper, char **command, struct lwp_error *err);

#endif
