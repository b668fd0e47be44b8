/* The settled edits as a unified diff, as patch -p1 and git apply take it. */
#ifndef LWP_PATCH_UNIFIED_DIFF_H
#define LWP_PATCH_UNIFIED_DIFF_H

#include "patch/sources/source.h"

#include <stdio.h>

/* Paths are said relative to `root` (absolute). */
void lwp_unified_diff(FILE *to, const struct lwp_sources *sources, const char *root);

#endif
