/* Which folders the program's source lies in: below these, and no others, the report of this run reads source. */
#ifndef LWP_LAUNCH_SOURCE_ROOTS_H
#define LWP_LAUNCH_SOURCE_ROOTS_H

#include <jansson.h>

/* Absolute paths without links, the caller's; NULL when memory is out. `program` may be a script. Takes 5 s of processor time at most. */
json_t *lwp_source_roots_find(const char *program, const char *cwd);

#endif
