/* Analyzes a result in the background: for good, or what a running one has so far. */
#ifndef LWP_WEB_PREPARING_H
#define LWP_WEB_PREPARING_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct lwp_preparing;

/* Does it for `dir`, and may leave an answer in *made. */
typedef int lwp_preparing_work(const char *dir, json_t **made, struct lwp_error *err);

/* Starts `work` in a thread of its own. */
int lwp_preparing_start(struct lwp_preparing **preparing, const char *dir, lwp_preparing_work *work, struct lwp_error *err);

/* Whether it has ended; waits so long for it. */
bool lwp_preparing_wait(struct lwp_preparing *preparing, int milliseconds);

/* Waits for its end and frees it; what the work returned. *made is the caller's to decref; `made` NULL: not wanted. */
int lwp_preparing_end(struct lwp_preparing *preparing, json_t **made, struct lwp_error *err);

/* Lets it go on without waiting for its end. NULL is fine. */
void lwp_preparing_leave(struct lwp_preparing *preparing);

#endif
