/* How long an iteration of a loop waits for the one before. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_LOOP_WAITS_H
#define LWP_ANALYSIS_PROGRAM_FLOW_LOOP_WAITS_H

#include "analysis/program/flow/decode.h"

enum { LOOP_REGISTERS = 48 /* general ones, then those of vectors */, LOOP_CELLS = 8 };

/* A place in memory that may stay the same: through it a value may go from one iteration to the next. */
struct loop_cell {
    int8_t base;
    int64_t at;    /* from the base, or the address */
    uint64_t from; /* registers whose value was stored there */
    bool stored;
    int16_t value;                 /* how long after the value that was there at the iteration's start the one there now is known, */
    int16_t waits[LOOP_REGISTERS]; /* ... and that in a register; negative: it does not depend on it */
};

/* Latency of the values that go from one iteration to the next: waits[s][r] is how long after register s of the iteration's start
 * register r is there; negative: it does not depend on it. */
struct loop_waits {
    int16_t waits[LOOP_REGISTERS][LOOP_REGISTERS];
    uint8_t scaled[LOOP_REGISTERS][LOOP_REGISTERS]; /* of it: sums with a factor */
    int16_t since[LOOP_REGISTERS];                  /* how long after all that the iteration loads, and starts with, a register is there */
    int16_t depth;                                  /* ... the last of the vector registers */
    int16_t tail;                                   /* ... all of it, what is stored too */
    struct loop_cell cells[LOOP_CELLS];
    uint32_t cell_count;
};

/* All blocks are taken in the order of their addresses, as if all ran. `next`: the address behind the instruction. */
void code_loop_waits_begin(struct loop_waits *waits);
void code_loop_waits_add(struct loop_waits *waits, const struct code_instruction *instruction, uint64_t next);

/* The chains of one iteration after the other: of all registers, and of those that get something from what is `loaded`. `changed`: general
 * registers that do not stay as they are. */
void code_loop_waits_chains(const struct loop_waits *waits, uint64_t loaded, uint32_t changed, struct lwp_loop_work *work);

/* Registers whose value in one iteration depends on that in the one before. */
uint64_t code_loop_waits_carried(const struct loop_waits *waits);

#endif
