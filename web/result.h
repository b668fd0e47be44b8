/* A result directory as the web sees it: its analysis.json, made by `lwp analyze` when missing or out of date. */
#ifndef LWP_WEB_RESULT_H
#define LWP_WEB_RESULT_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

bool lwp_result_is(const char *directory); /* has a run.json */

/* Runs the analysis if need be and loads its JSON (json_decref is the caller's). */
int lwp_result_load(const char *directory, json_t **analysis, struct lwp_error *err);

#endif
