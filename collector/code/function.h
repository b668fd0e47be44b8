/* One function's code, decoded once from its start: where instructions begin, and every way to jump to them. */
#ifndef LWP_COLLECTOR_CODE_FUNCTION_H
#define LWP_COLLECTOR_CODE_FUNCTION_H

#include "collector/code/program.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_jump {
    uint32_t from, to; /* offsets from `low`; LWP_JUMP_ELSEWHERE: from another part of the function */
    uint8_t condition; /* of a jcc; LWP_JUMP_ALWAYS */
    bool back;
};

enum { LWP_JUMP_ALWAYS = 16, LWP_JUMP_ELSEWHERE = UINT32_MAX };

struct lwp_function {
    uint64_t low, high;
    uint8_t *starts;  /* one bit a byte: an instruction begins here */
    uint8_t *entered; /* one bit a byte: perhaps a target of an indirect jump */
    uint8_t *targets; /* one bit a byte: a target of one of `jumps` */
    struct lwp_jump *jumps; /* direct */
    uint32_t jump_count;
};

struct lwp_functions; /* those of one thread; mmap'ed, touched lazily, of bounded size */

/* NULL: no memory. The program outlives them. */
struct lwp_functions *lwp_functions_new(const struct lwp_program *program);
void lwp_functions_free(struct lwp_functions *functions);
void lwp_functions_forget(struct lwp_functions *functions); /* other code may be there now */

/* The function around `ip`. NULL: its bounds are not known (JIT code), or it is too large. Valid until the next call. */
const struct lwp_function *lwp_function_at(struct lwp_functions *functions, uint64_t ip);

static inline bool lwp_function_bit(const uint8_t *bits, uint64_t offset)
{
    return bits[offset / 8] >> (offset % 8) & 1;
}

#endif
