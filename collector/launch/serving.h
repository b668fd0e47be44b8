/* `lwp serve` beside a run. */
#ifndef LWP_LAUNCH_SERVING_H
#define LWP_LAUNCH_SERVING_H

#include "base/error.h"

#include <sys/types.h>

struct lwp_serving {
    pid_t pid; /* 0: nothing is served */
    char url[300];
};

/* Starts `lwp serve` of `dir` on `port` (0: a free one); returns when it listens. */
int lwp_serving_start(struct lwp_serving *serving, const char *dir, int port, struct lwp_error *err);

/* Says where the report is and waits for Ctrl-C, SIGTERM, SIGHUP or SIGQUIT. */
void lwp_serving_wait(const struct lwp_serving *serving);

void lwp_serving_end(struct lwp_serving *serving);

#endif
