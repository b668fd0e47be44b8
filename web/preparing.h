/* Analyzes a result in the background. */
#ifndef LWP_WEB_PREPARING_H
#define LWP_WEB_PREPARING_H

#include "base/error.h"

#include <stdbool.h>

struct lwp_preparing;

/* Starts what lwp_result_prepare does. */
int lwp_preparing_start(struct lwp_preparing **preparing, const char *dir, struct lwp_error *err);

/* Whether it has ended; waits so long for it. */
bool lwp_preparing_wait(struct lwp_preparing *preparing, int milliseconds);

/* Waits for its end and frees it; what lwp_result_prepare returned. */
int lwp_preparing_end(struct lwp_preparing *preparing, struct lwp_error *err);

/* Lets it go on without waiting for its end. NULL is fine. */
void lwp_preparing_leave(struct lwp_preparing *preparing);

#endif
