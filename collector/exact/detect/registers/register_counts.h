/* How much was written to registers, and by which pairs of (call path, instruction) the same once more; as records of a
 * file of the process. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTER_COUNTS_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTER_COUNTS_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

struct lwp_exact_thread;

/* Added to by translated code: [loaded][floating point]. */
struct lwp_register_totals {
    ULong bytes[2][2], instructions;
};
extern struct lwp_register_totals *lwp_register_totals; /* what counts, or what does not: outside of region or window */

enum {
    LWP_REGISTER_BYTES_AT = 32,   /* in `what`, above the write's number: bytes, and... */
    LWP_REGISTER_ELEMENT_AT = 48, /* ...bytes of the floating point number, and... */
    LWP_REGISTER_COUNTS_AT = 63,  /* ...whether it is the first value that the instruction writes */
};

/* False: no memory. */
bool lwp_register_counts_start(void);
/* Called from translated code: what `first` had written was written again; what might be so. */
VG_REGPARM(2) void lwp_register_same(ULong what, ULong first);
VG_REGPARM(0) void lwp_register_near(ULong what, ULong first, ULong before, ULong after);

/* Numbers whose bits are so far apart are not called for: they are not close. In units of the last place. */
ULong lwp_register_far(UInt element);

/* The thread that runs from now on. */
void lwp_register_counts_thread(struct lwp_exact_thread *thread);

/* The region (region.h) or a window is entered or left. */
void lwp_register_counts_part(void);
/* Writes all counts so far in place of what was there. */
void lwp_register_counts_write(void);
/* Begins anew. */
void lwp_register_counts_reset(void);

#endif
