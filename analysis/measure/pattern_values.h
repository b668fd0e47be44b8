/* What a round of a pattern does with what it loads: as in the loop, values are summed up and waited for, and what is left of the loop's
 * instructions is filled up with some whose result nobody needs. */
#ifndef LWP_ANALYSIS_MEASURE_PATTERN_VALUES_H
#define LWP_ANALYSIS_MEASURE_PATTERN_VALUES_H

#include "analysis/measure/emit.h"
#include "analysis/measure/pattern.h"

enum { CHAIN_MOST = 400, PRODUCT_CYCLES = 3, SUM_CYCLES = 4 /* of numbers that are floating, as code_cycles() has it */ };

/* Where values are; code_place: a struct lwp_pattern_place, code_rounds: those that are left. The vector registers from XMM0 on to the last
 * one of these begin as 0, and code_zero stays so. */
static const ZydisRegister code_place = ZYDIS_REGISTER_RDI, code_rounds = ZYDIS_REGISTER_RCX, code_address = ZYDIS_REGISTER_RAX,
                           code_value = ZYDIS_REGISTER_RBP, code_chain = ZYDIS_REGISTER_R15, code_sum = ZYDIS_REGISTER_XMM1,
                           code_round_sum = ZYDIS_REGISTER_XMM2, code_apart = ZYDIS_REGISTER_XMM3, code_zero = ZYDIS_REGISTER_XMM4,
                           code_idle_result = ZYDIS_REGISTER_XMM5;

/* A round as far as it is written. */
struct values_round {
    double cycles;         /* that the chain is to be longer */
    bool floating;         /* it is one of floating-point sums */
    bool joins;            /* the round's own sum is what the chain gets, as its last sum */
    bool stays;            /* what is stored now goes to one place each time: the chain */
    unsigned summed;       /* bytes of a number of the round's own sum; 0: it has not begun */
    double depth, left;    /* cycles that this sum takes, and of them those that it has not yet taken */
    double sums, products; /* of all rounds so far, with this one */
    bool adds;             /* some of its accesses add to one in general registers, */
    bool loaded;           /* ... which has begun, */
    bool added;            /* ... and which they have been added to */
};

/* One instruction: a number of 1, 2, 4 or 8 bytes goes through the chain's end, what is wider, or goes through one in the loop, through a
 * vector register. `ahead`: bytes from the element at the place. */
void values_access(struct emit_buffer *code, const struct lwp_pattern_access *access, struct emit_place at, uint64_t ahead,
                   struct values_round *round);

/* What the round's sum takes longer than its loads make it; and on to the chain, where that gets it. */
void values_deepen(struct emit_buffer *code, struct values_round *round);

/* The chain's sums with a factor; what it is longer than its accesses make it; and a chain that waits for no load. `room`: for so many
 * instructions. */
void values_wait_scaled(struct emit_buffer *code, const struct lwp_pattern *pattern);
void values_wait(struct emit_buffer *code, const struct lwp_pattern *pattern, double cycles, double room);
void values_wait_apart(struct emit_buffer *code, double cycles, double room);

/* The chain is stored, and loaded again. */
void values_through_memory(struct emit_buffer *code, const struct lwp_pattern *pattern);

/* An instruction whose result nobody needs: of those that the loop has more of, or any. `rounds`: that are written with this one. */
void values_fill(struct emit_buffer *code, const struct lwp_pattern *pattern, unsigned rounds);
void values_fill_plainly(struct emit_buffer *code);

#endif
