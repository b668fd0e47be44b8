/* From the IR of a superblock to the steps of value_steps.h. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_BLOCK_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_BLOCK_H

#include "collector/exact/detect/values/value_steps.h"
#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

struct lwp_value_block {
    struct lwp_value_steps steps;
    UInt computation_count;
    struct lwp_value_computation {
        Addr ip;
        UShort bytes;
        UChar flags; /* LWPS_ACCESS_FLOAT, _VECTOR */
    } *computations;
};

/* `access`: of each statement the number of its access, -1: none. `place`: the number of an instruction for
 * LWP_VALUE_COMPUTED. The block is valid until the next call. */
const struct lwp_value_block *lwp_value_block_of(const IRSB *in, const Short *access, uint32_t (*place)(Addr ip));

#endif
