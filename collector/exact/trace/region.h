/* Which part of the run is recorded: all of it; or while a function is on the running thread's stack; or what the
 * program marks with LWP_BEGIN() and LWP_END() (collector/lwp.h), in all threads. Outside of it nothing is traced and
 * nothing counted, but what is in memory stays known. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_REGION_H
#define LWP_COLLECTOR_EXACT_TRACE_REGION_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

/* `region`: a function's name, "LWP_BEGIN", or NULL: all. */
void lwp_region_start(const char *region);

/* Whether the function begins at `address`: then lwp_region_entered is to be called there, before anything is traced. */
bool lwp_region_is(Addr address);
VG_REGPARM(1) void lwp_region_entered(Addr sp);
/* A frame that was hooked (calls.h) is no more. */
void lwp_region_returned(Addr slot);
/* Another thread runs. */
void lwp_region_switch(void);
/* LWP_BEGIN() and LWP_END(). */
void lwp_region_mark(bool begin);
/* A note, where it was never entered. */
void lwp_region_finish(void);

#endif
