/* Which folder the program's source lies in, so that paths can be said relative to it: the same on every machine. */
#ifndef LWP_ANALYSIS_REVIEW_SOURCE_ROOT_H
#define LWP_ANALYSIS_REVIEW_SOURCE_ROOT_H

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>

/* `given` where it is not NULL. Otherwise the work tree (.git) around the current folder, or that folder, when files
 * that `analysis` names lie below it; otherwise the deepest folder that all its own files have in common. NULL: none. */
const char *lwp_source_root(struct lwp_arena *arena, json_t *analysis, const char *given);

/* The path without "." and ".." inside it; what comes after the root where it lies below it. `root` may be NULL. */
const char *lwp_source_relative(struct lwp_arena *arena, const char *root, const char *path);

/* Headers and libraries of the system or the tool chain, by where they are. */
bool lwp_source_is_system(const char *path);

#endif
