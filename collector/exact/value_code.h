/* Steps of a superblock (value_steps.h) as machine code of the processor that lwp runs on, for those that run often: nothing
 * is left to be looked up or decided that is the same each time. What a step does with memory or with the table of numbers
 * is a call; what it does with numbers is made in place. For x86-64. Freestanding. */
#ifndef LWP_EXACT_VALUE_CODE_H
#define LWP_EXACT_VALUE_CODE_H

#include "collector/exact/value_steps.h"

/* Where code is put, one behind the other, for good. */
struct lwp_value_codes {
    uint8_t *memory; /* writable and executable */
    size_t used, room;
};

/* The port's memory has to be executable. False: no memory. */
bool lwp_value_codes_init(struct lwp_value_codes *codes, const struct lwp_shadow_port *port, size_t room);

/* Machine code of the steps; NULL: there is no room. */
const void *lwp_value_code(struct lwp_value_codes *codes, const struct lwp_value_steps *steps);

/* The same as lwp_values_run() of these steps. */
void lwp_value_code_run(struct lwp_values *values, const void *code, const uint64_t *addresses, uint32_t passed,
                        uint32_t context);

#endif
