/* Which temporaries of a superblock matter to value numbering, found by going through it backwards. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_USES_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_USES_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>

struct lwp_value_use {
    bool value;       /* it reaches a register or memory, not only an address, a condition or flags */
    bool outside;     /* ... beyond its own instruction */
    bool computes;    /* its instruction is a computation that is counted */
    UInt instruction; /* that makes it, from 1 */
    Int last;         /* statement that uses it */
};

/* Of each temporary; valid until the next call. */
const struct lwp_value_use *lwp_value_uses(const IRSB *in);

#endif
