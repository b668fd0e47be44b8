#ifndef LWP_LAUNCH_COLLECT_OPTIONS_H
#define LWP_LAUNCH_COLLECT_OPTIONS_H

#include "base/command.h"
#include "base/error.h"

#include <jansson.h>

extern const struct lwp_option lwp_collect_options[];

/* Whether the options make sense together: LWP_OK or LWP_ERR_USAGE. */
int lwp_collect_options_check(const struct lwp_options *options, struct lwp_error *err);

/* The options as run.json has them: every one with its value, null where the engine chooses. The caller's. */
json_t *lwp_collect_options_json(const struct lwp_options *options);

#endif
