/* What an interrupted thread has just done, and which way it cannot have come. */
#ifndef LWP_COLLECTOR_CODE_RAN_H
#define LWP_COLLECTOR_CODE_RAN_H

#include "collector/code/insn.h"
#include "collector/code/predecessors.h"
#include "collector/code/registers.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the thread cannot have come this way: an instruction on it would have left other flags, or another value in its register. */
bool lwp_ran_contradicts(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_code_way *way,
                         const struct lwp_registers *end, uint64_t flags);

/* The address that the instruction at `access` used, which ran last and has overwritten what that is made of: computed once more by what
 * surely ran before it, from what is still in registers, and memory that nothing has changed since. False: it is not known. */
bool lwp_ran_address(struct lwp_code_cache *cache, const struct lwp_code_location *location, uint64_t access,
                     const struct lwp_registers *end, uint64_t *address);

#endif
