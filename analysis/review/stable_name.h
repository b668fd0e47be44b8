/* Names that stay when the program is edited, compiled anew or run again. */
#ifndef LWP_ANALYSIS_REVIEW_STABLE_NAME_H
#define LWP_ANALYSIS_REVIEW_STABLE_NAME_H

#include "base/arena.h"

/* Of an object, without the place: "block allocated in f() at x.c:12" is one in f(). */
const char *lwp_stable_name(struct lwp_arena *arena, const char *name);

/* Without what compilers add: "f.constprop.0", "f.part.1", Rust's "f::h0123456789abcdef". */
const char *lwp_stable_function(struct lwp_arena *arena, const char *function);

#endif
