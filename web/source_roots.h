/* Below which folders the source of a result may be read. */
#ifndef LWP_WEB_SOURCE_ROOTS_H
#define LWP_WEB_SOURCE_ROOTS_H

#include <jansson.h>

/* Absolute paths without links: `given` (--root; NULL: none), and those that are in run.json if this user's lwp wrote it here. If
 * it did not and nothing is given, there are none, and a warning says so. The caller's; NULL without memory. */
json_t *lwp_source_roots(const char *dir, const char *given);

#endif
