/* lwp collect -p: a result of a process that runs already. */
#ifndef LWP_LAUNCH_ATTACH_H
#define LWP_LAUNCH_ATTACH_H

#include "collector/launch/collect_options.h"

/* Samples it, writes the result and says what was found. On an error no result is left. */
int lwp_attach(const struct lwp_settings *settings, struct lwp_error *err);

#endif
