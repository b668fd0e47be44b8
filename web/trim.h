/* What a page leaves out of a large result, so that it opens at once and can be attached to a review. */
#ifndef LWP_WEB_TRIM_H
#define LWP_WEB_TRIM_H

#include <jansson.h>
#include <stddef.h>

/* Takes the lightest items' details out of `analysis` until its JSON has at most `most` bytes, or nothing is left that
 * may go: findings, what they speak of, and as long as there is room names and shares stay. Ids stay right; what lost its details says "left_out".
 * Returns [{"what": objects|names|redundancies|locality|regions, "count", "share": none of them had more}], empty when all
 * is there; NULL when memory is out. */
json_t *lwp_trim(json_t *analysis, size_t most);

#endif
