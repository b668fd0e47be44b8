/* The process that lwp is in, as a program whose code is followed. Async-signal-safe. */
#ifndef LWP_COLLECTOR_LIGHT_CODE_OWN_PROGRAM_H
#define LWP_COLLECTOR_LIGHT_CODE_OWN_PROGRAM_H

#include "collector/code/program.h"

extern const struct lwp_program lwp_own_program;

/* Where the function around `ip` begins and ends, from its unwind table; false: it has none. */
bool lwp_function_bounds(uint64_t ip, uint64_t *low, uint64_t *high);

/* What distinguishes functions: where the one around `ip` starts, `ip` itself when that is not known. */
uint64_t lwp_function_start(uint64_t ip);

#endif
