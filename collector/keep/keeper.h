/* Takes what processes record (format/spool.h) and writes it to their files, while they run and after they have ended. */
#ifndef LWP_COLLECTOR_KEEP_KEEPER_H
#define LWP_COLLECTOR_KEEP_KEEPER_H

#include "base/error.h"

#include <stdbool.h>

struct lwp_keeper; /* a thread of its own */

/* For the result in `directory`. NULL: an error. */
struct lwp_keeper *lwp_keeper_start(const char *directory, struct lwp_error *err);

/* The value of LWP_ENV_KEEPER. */
const char *lwp_keeper_name(const struct lwp_keeper *keeper);

/* From now on no samples are wanted of any process, or are again. When it returns all processes know. */
void lwp_keeper_pause(struct lwp_keeper *keeper, bool paused);

/* Writes all there is. Processes that go on write the rest themselves. 0, or the errno of something that could not be written. */
int lwp_keeper_end(struct lwp_keeper *keeper);

#endif
