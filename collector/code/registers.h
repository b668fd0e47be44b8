/* Integer registers of an interrupted thread. */
#ifndef LWP_COLLECTOR_CODE_REGISTERS_H
#define LWP_COLLECTOR_CODE_REGISTERS_H

#include "collector/code/insn.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_registers {
    uint64_t value[16];
    uint16_t known; /* one bit a register */
    uint64_t fs_base;
    bool fs_known;
};

/* From a signal's ucontext: all are known. */
void lwp_registers_take(struct lwp_registers *registers, const void *ucontext);

/* The address of the instruction's memory operand. False: a register it needs is not known, or a form not followed. */
bool lwp_insn_address(const struct lwp_insn *insn, const struct lwp_registers *registers, uint64_t *address);

#endif
