/* A result directory as the web sees it: its analysis.json. */
#ifndef LWP_WEB_RESULT_H
#define LWP_WEB_RESULT_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Whether `dir` looks like what `lwp collect` writes (or holds at least an analysis.json). */
bool lwp_result_is(const char *dir);

/* The same for FOLDER/NAME, which may be a link to elsewhere below `folder`, but not one that leads out of it. */
bool lwp_result_is_within(const char *folder, const char *name);

/* Has `lwp analyze` bring DIR/analysis.json up to date, as a process of its own. Where that fails and an older
 * answer is there, that one serves: a warning is printed. */
int lwp_result_prepare(const char *dir, struct lwp_error *err);

/* Has `lwp analyze` say what the samples of a running result show so far; nothing in `dir` changes. *analysis is the caller's to
 * decref. */
int lwp_result_interim(const char *dir, json_t **analysis, struct lwp_error *err);

/* Reads DIR/analysis.json, or the file `dir`; *analysis is the caller's to decref. */
int lwp_result_load(const char *dir, json_t **analysis, struct lwp_error *err);

/* DIR/run.json, the caller's to decref, and what the file is; NULL where there is none to be read. */
json_t *lwp_result_run(const char *dir, struct stat *info);

/* What is in `dir` so far, counted by 'lwp dump' as a process of its own; *counts is the caller's to decref. */
int lwp_result_counts(const char *dir, json_t **counts, struct lwp_error *err);

/* What 'lwp diff' says of two results; *diff is the caller's to decref. */
int lwp_result_diff(const char *before, const char *after, json_t **diff, struct lwp_error *err);

/* The last part of the path, without slashes; "." and ".." by their real name. The caller frees it. */
char *lwp_result_name(const char *dir);

#endif
