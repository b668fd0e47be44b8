/* The analysis of a result, however the user names it. */
#ifndef LWP_ANALYSIS_REVIEW_ANALYSIS_FILE_H
#define LWP_ANALYSIS_REVIEW_ANALYSIS_FILE_H

#include "base/error.h"

#include <jansson.h>

/* `name` is a folder that lwp collect has written, analysed first when that has not been done, or an analysis.json. The
 * caller owns the answer; NULL with `err` set. */
json_t *lwp_analysis_load(const char *name, struct lwp_error *err);

/* The path of that file, into path[size]. */
int lwp_analysis_path(const char *name, char *path, size_t size, struct lwp_error *err);

#endif
