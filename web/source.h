/* Source lines of the loops in an analysis, to be embedded in the page. */
#ifndef LWP_WEB_SOURCE_H
#define LWP_WEB_SOURCE_H

#include <jansson.h>

enum lwp_source_choice { LWP_SOURCE_HOT, LWP_SOURCE_ALL, LWP_SOURCE_EMBED_NONE };

/* { "<file>": { "<line>": "text", ... }, ... }. HOT: loops with at least 0.5 % of the weight; files that cannot be read
 * are left out. The caller owns the object. */
json_t *lwp_source_collect(const json_t *analysis, enum lwp_source_choice choice);

#endif
