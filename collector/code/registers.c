#include "collector/code/registers.h"

#include <ucontext.h>

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

void lwp_registers_take(struct lwp_registers *registers, const void *ucontext)
{
    const ucontext_t *context = ucontext;
    for (int i = 0; i < 16; i++)
        registers->value[i] = (uint64_t)context->uc_mcontext.gregs[register_of[i]];
    registers->known = 0xffff;
    registers->fs_base = (uint64_t)__builtin_thread_pointer();
    registers->fs_known = true;
}

bool lwp_insn_address(const struct lwp_insn *insn, const struct lwp_registers *registers, uint64_t *address)
{
    if (insn->gather || insn->rep_string)
        return false;
    uint64_t sum = (uint64_t)insn->displacement;
    if (insn->segment == LWP_SEGMENT_GS || (insn->segment == LWP_SEGMENT_FS && !registers->fs_known))
        return false;
    if (insn->segment == LWP_SEGMENT_FS)
        sum += registers->fs_base;
    if (insn->base != LWP_REG_NONE) {
        if (insn->base > 15 || !(registers->known >> insn->base & 1))
            return false;
        sum += registers->value[insn->base];
    }
    if (insn->index != LWP_REG_NONE) {
        if (insn->index > 15 || !(registers->known >> insn->index & 1))
            return false;
        sum += registers->value[insn->index] * insn->scale;
    }
    *address = sum;
    return true;
}
