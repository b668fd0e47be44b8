/* Results by sampling from outside: of a process that runs already (lwp collect -p), and of a program into which lwp's library cannot be
 * loaded. */
#ifndef LWP_LAUNCH_ATTACH_H
#define LWP_LAUNCH_ATTACH_H

#include "collector/launch/collect_options.h"
#include "collector/launch/target.h"

/* Samples it, writes the result and says what was found. On an error no result is left. */
int lwp_attach(const struct lwp_settings *settings, struct lwp_error *err);

/* Starts it and samples it to its end. Returns the exit status of lwp collect; where `err` has a text, there is no result. */
int lwp_attach_start(const struct lwp_settings *settings, const struct lwp_target *target, char **command, struct lwp_error *err);

#endif
