/* Whether an x86-64 instruction makes floating point numbers in vector registers or memory, decided by its bytes (Intel SDM
 * volume 2, appendix A): registers, and the intermediate code, have no types. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_FLOAT_CLASS_H
#define LWP_COLLECTOR_EXACT_TRACE_FLOAT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_float_class {
    uint8_t element; /* bytes of each number: 4 or 8; 0: none, or not known from the instruction */
    bool scalar;     /* it makes one number only */
    bool any;        /* element 0: it moves whatever it is, as movups and movaps do */
    bool stores;     /* a move whose memory operand is written */
};

/* `code`: at least 15 bytes that may be read, or an instruction. */
struct lwp_float_class lwp_float_class(const uint8_t *code);

#endif
