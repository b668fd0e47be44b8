/* Memory redundancies in windows only: what was touched in one is forgotten at its end, since nobody knows what became of
 * it afterwards. So no pair reaches from one window into another, and none is false. */
#ifndef LWP_EXACT_REDUNDANCY_WINDOWS_H
#define LWP_EXACT_REDUNDANCY_WINDOWS_H

#include "collector/exact/tool.h"
#include "collector/exact/trace_words.h"

extern bool lwp_redundancy_windows; /* else the whole run is followed */

/* Nothing that happens now matters. */
static inline bool lwp_redundancy_idle(void)
{
    return lwp_redundancy_windows && !lwp_trace_open;
}

/* The program accesses the bytes, in a window. */
void lwp_redundancy_touched(Addr address, SizeT bytes);

/* A window ends. */
void lwp_redundancy_window_ends(void);

#endif
