/* x86-64 instructions, one after the other, by Zydis' encoder. */
#ifndef LWP_ANALYSIS_MEASURE_EMIT_H
#define LWP_ANALYSIS_MEASURE_EMIT_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EMIT_BYTES = 32 << 10 };

struct emit_buffer {
    uint8_t *bytes; /* EMIT_BYTES of them */
    size_t used;
    unsigned unrolled;     /* rounds one after the other */
    unsigned instructions; /* of the rounds so far */
    unsigned flags;        /* of them: those that write flags, */
    unsigned sums, products; /* ... of floating-point numbers */
    bool failed;
};

/* ---- operands ---- */

ZydisEncoderOperand emit_register(ZydisRegister which);
ZydisEncoderOperand emit_number(int64_t value);

/* Where an access is: at `base`, or at so many times `index` from it. */
struct emit_place {
    ZydisRegister base, index;
    uint8_t scale;
};

ZydisEncoderOperand emit_at(struct emit_place place, int64_t displacement, unsigned bytes);
ZydisEncoderOperand emit_memory(ZydisRegister base, int64_t displacement, unsigned bytes);

/* The low 2, 4 or 8 bytes of one of the eight first general registers. */
ZydisRegister emit_low(ZydisRegister of_8_bytes, unsigned bytes);

/* ---- instructions ---- */

/* code->failed is set where there is no room, or no such instruction. */
void emit_encode(struct emit_buffer *code, ZydisEncoderRequest *request);
void emit_add(struct emit_buffer *code, ZydisMnemonic mnemonic, unsigned operands, ZydisEncoderOperand first, ZydisEncoderOperand second);
void emit_move(struct emit_buffer *code, ZydisRegister to, ZydisEncoderOperand from);
void emit_multiply(struct emit_buffer *code, ZydisRegister to, ZydisRegister from, uint64_t by);

/* To `by` bytes behind it. */
ZydisEncoderRequest emit_jump(ZydisMnemonic when, int64_t by);

/* The jump that ends at `from` leads to here. */
void emit_land(struct emit_buffer *code, size_t from);

#endif
