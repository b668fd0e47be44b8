/* The memory operand of an instruction, and the other accesses around it that share its registers. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_OPERAND_H
#define LWP_ANALYSIS_PROGRAM_FLOW_OPERAND_H

#include "analysis/program/binary/modules.h"

/* What an instruction does to memory, decoded from the module's file. */
struct lwp_memory_operand {
    bool exists, load, store, vector;
    bool packed; /* may hold several numbers: not the scalar kind of a vector instruction */
    uint16_t bytes;
    int32_t displacement;
    int8_t base, index; /* 0..15 as in the ModRM encoding (rax=0 .. r15=15), -1: none, -2: rip */
    uint8_t scale;
};
struct lwp_memory_operand lwp_code_operand(struct lwp_code *code, uint32_t module, uint64_t address);

/* Other accesses of the same loop through the same base and index values (base and index registers hold the same
 * value plus a known constant, same scale), within one iteration: exact on every path, calls and redefinitions end
 * it. So one sampled field tells which other fields of the same element the loop touches. */
struct lwp_sibling {
    uint64_t address; /* of the instruction */
    int64_t delta;    /* its data address minus that of the given instruction */
    uint16_t bytes;
    bool load, store;
    uint32_t loop; /* innermost loop of that instruction: the given one's, or one inside it */
};
/* At most `room`, the given instruction (delta 0) among them, in order of address; returns how many there are in
 * all. 0 when the address is in no loop or accesses no memory through registers. */
size_t lwp_code_siblings(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_sibling *siblings,
                         size_t room);

#endif
