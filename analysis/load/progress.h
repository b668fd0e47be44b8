/* What a run has written so far. */
#ifndef LWP_ANALYSIS_LOAD_PROGRESS_H
#define LWP_ANALYSIS_LOAD_PROGRESS_H

#include "base/error.h"

#include <jansson.h>

/* {"processes", "threads", "samples", "bytes" (on the disk)} of a result folder, while it is written or later; changes
 * nothing there and asks nothing of the program. *progress is the caller's to decref. */
int lwp_progress_read(const char *dir, json_t **progress, struct lwp_error *err);

#endif
