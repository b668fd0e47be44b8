/* Names and paths that stay the same on every machine, and when the program is edited, compiled again or run again. */
#ifndef LWP_ANALYSIS_REVIEW_NAMES_H
#define LWP_ANALYSIS_REVIEW_NAMES_H

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>

/* An object's name without the location: "block allocated in f() at x.c:12" is one in f(). */
const char *lwp_stable_name(struct lwp_arena *arena, const char *name);

/* A function's name without what compilers add: "f.constprop.0", "f.part.1", Rust's "f::h0123456789abcdef". */
const char *lwp_stable_function(struct lwp_arena *arena, const char *function);

/* The folder that source paths are said relative to: `given` where it is not NULL. Otherwise the work tree (.git) around
 * the current folder, or that folder, when files that `analysis` names lie below it; otherwise the deepest folder that all
 * its own files have in common. NULL: none. */
const char *lwp_source_root(struct lwp_arena *arena, json_t *analysis, const char *given);

/* The path without "." and ".." inside it; what comes after the root where it lies below it. `root` may be NULL. */
const char *lwp_source_relative(struct lwp_arena *arena, const char *root, const char *path);

#endif
