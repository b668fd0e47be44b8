/* Memory redundancies in windows only. What was touched in one is forgotten at its end, since nobody knows what became of it
 * afterwards: so no pair reaches from one window into another, and none is false. Inside of one, where each superblock is
 * handed on when the next begins (trace.h), what it left (redundancy_words.h) is gone through in order, step by step; outside
 * nobody reads it. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_WINDOWS_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_WINDOWS_H

#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/valgrind/tool.h"

extern bool lwp_redundancy_windows; /* else the whole run is followed */

/* Nothing that happens now matters. */
static inline bool lwp_redundancy_idle(void)
{
    return lwp_redundancy_windows && !lwp_trace_open;
}

enum { LWP_REDUNDANCY_REDZONE = 128 }; /* bytes below the stack pointer that functions may use */

enum lwp_redundancy_kind {
    LWP_REDUNDANCY_LOAD,
    LWP_REDUNDANCY_STORE,
    LWP_REDUNDANCY_DEAD,  /* bytes that are of no use from now on */
    LWP_REDUNDANCY_STACK, /* the stack pointer moves: as it was, and in the next word as it is */
};

struct lwp_redundancy_step {
    UShort word;   /* of the address, among the superblock's; it is 0 where the step was not done */
    UShort values; /* of a store: words of what was there, as many as its bytes take, and as many of what is */
    UShort number; /* of the access, from the group's first */
    UShort bytes;
    UChar kind;    /* enum lwp_redundancy_kind */
    UChar element; /* of a store: bytes of each floating point number, 0: none */
};

struct lwp_redundancy_site {
    struct lwp_numbered_group *numbers; /* NULL: it accesses nothing */
    UInt count;
    struct lwp_redundancy_step steps[];
};

/* The superblock has run; `words`: its words. */
void lwp_redundancy_windows_ran(const struct lwp_redundancy_site *site, const ULong *words);
/* Called from translated code: it has done so many of its steps. */
VG_REGPARM(2) void lwp_redundancy_windows_until(const struct lwp_redundancy_site *site, ULong steps);

/* The program accesses the bytes, in a window. */
void lwp_redundancy_touched(Addr address, SizeT bytes);

/* A window ends. */
void lwp_redundancy_window_ends(void);

#endif
