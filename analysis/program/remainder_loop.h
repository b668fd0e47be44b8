/* What the code beside a vectorised loop says that the loop needs. */
#ifndef LWP_ANALYSIS_PROGRAM_REMAINDER_LOOP_H
#define LWP_ANALYSIS_PROGRAM_REMAINDER_LOOP_H

#include "analysis/program/code.h"
#include "analysis/program/types/types.h"

struct lwp_remainder_use {
    uint64_t offset; /* in the element */
    uint16_t bytes;
};

/* The accesses to elements of the type on the source lines first..last of the function, but for the machine loop that
 * holds the vector access at `address`; at most `room`. 0: there are none, or for some it is not known what they lead
 * to. */
size_t lwp_remainder_uses(struct lwp_code *code, uint32_t module, uint64_t address, const char *file,
                          uint32_t first_line, uint32_t last_line, const struct lwp_type *type,
                          struct lwp_remainder_use *uses, size_t room);

#endif
