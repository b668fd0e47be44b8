/* What types.c and its neighbours keep for each module; behind analysis/types.h. */
#ifndef LWP_ANALYSIS_TYPE_CACHE_H
#define LWP_ANALYSIS_TYPE_CACHE_H

#include "analysis/code_internal.h"

void code_types_free(struct code_types *types);

#endif
