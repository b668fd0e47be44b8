/* Excerpts of the source files that the loops and the accesses of an analysis name. */
#ifndef LWP_WEB_SOURCE_H
#define LWP_WEB_SOURCE_H

#include <jansson.h>

enum lwp_source_policy {
    LWP_SOURCE_NONE,
    LWP_SOURCE_HOT, /* loops with 1 % of all weight or more, and those of an object with advice; pairs with 1 % of accesses */
    LWP_SOURCE_ALL,
};

/* {"policy", "files": [{"path", "changed", "missing", "excerpts": [{"first", "lines": []}]}]}
 * "missing" is a sentence when there is no text, else null; "changed": the file is newer than the run.
 * `roots`: absolute paths without links; no file is read but below them. `most`: bytes of text, about. NULL only when memory is
 * out. */
json_t *lwp_source_collect(const json_t *analysis, enum lwp_source_policy policy, const json_t *roots, size_t most);

/* Absolute paths without links: `given` (--root; NULL: none), and those that are in run.json if this user's lwp wrote it here. If
 * it did not and nothing is given, there are none, and a warning says so. The caller's; NULL without memory. */
json_t *lwp_source_roots(const char *dir, const char *given);

#endif
