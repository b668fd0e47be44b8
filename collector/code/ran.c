#include "collector/code/ran.h"

#include "collector/code/execution.h"

enum { RAN_MOST = 16 };

/* Whether the instruction, had it just run, would have left another result, or flags that are not those there are or do not meet `met`. */
static bool ran_contradicts(struct lwp_execution *execution, const struct lwp_insn *insn, uint16_t met)
{
    const struct lwp_operand *to = &insn->operand[0], *from = &insn->operand[1];
    const unsigned reg = to->reg % 16;
    const uint64_t flags = execution->flags, value = execution->registers.value[reg];
    const unsigned known = execution->flags_known;
    switch (insn->op) {
    case LWP_OP_ADD ... LWP_OP_NEG:
        if (insn->op == LWP_OP_CMP || insn->op == LWP_OP_TEST) {
            lwp_execution_arithmetic(execution, insn);
        } else { /* what it was made of is gone */
            const struct lwp_computed result = lwp_execution_get(execution, insn, 0);
            lwp_execution_set_flags(execution, result.bits, false, false, to->bytes);
            execution->flags_known = result.known ? FLAG_ZF | FLAG_SF | FLAG_PF : 0;
        }
        return (execution->flags ^ flags) & execution->flags_known & known ||
               !lwp_flags_meet_all(execution->flags, execution->flags_known, met);
    case LWP_OP_MOV ... LWP_OP_LEA:
    case LWP_OP_CMOV ... LWP_OP_SET:
        if (to->kind != LWP_OPERAND_REG || !(execution->registers.known >> reg & 1) || insn->base == reg || insn->index == reg ||
            (from->kind == LWP_OPERAND_REG && from->reg % 16 == reg))
            return false;
        lwp_execution_step(execution, insn);
        return execution->registers.known >> reg & 1 && execution->registers.value[reg] != value;
    default:
        return false;
    }
}

bool lwp_ran_contradicts(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_code_way *way,
                         const struct lwp_registers *end, uint64_t flags)
{
    struct lwp_execution execution;
    struct lwp_registers left = *end;
    unsigned flags_known = FLAGS_ALL;
    bool stored = false;
    for (unsigned i = 0; i < LWP_WAY_RAN && way->ran[i].ip; i++) {
        const struct lwp_insn *insn = lwp_code_at(cache, way->ran[i].ip, location->high);
        lwp_execution_begin(&execution, cache, &left, flags, LWP_READ_SURE);
        execution.flags_known = flags_known;
        if (stored)
            execution.stores = LWP_EXECUTION_STORES + 1;
        if (ran_contradicts(&execution, insn, way->ran[i].met))
            return true;
        left.known = (uint16_t)(left.known & ~insn->spoils);
        flags_known = insn->writes_flags ? 0 : flags_known;
        stored |= insn->store || insn->stack;
    }
    return false;
}

bool lwp_ran_address(struct lwp_code_cache *cache, const struct lwp_code_location *location, uint64_t access,
                     const struct lwp_registers *end, uint64_t *address)
{
    uint64_t ran[RAN_MOST];
    uint16_t later[RAN_MOST]; /* registers that something has written since */
    struct lwp_execution execution;
    const struct lwp_insn *insn = lwp_code_at(cache, access, location->high);
    unsigned stored = insn->store ? 0 : RAN_MOST;
    uint16_t spoilt = insn->spoils;
    const unsigned count = insn->gather ? 0 : lwp_code_ran_before(cache, access, ran, RAN_MOST);
    for (unsigned i = 0; i < count; i++) {
        insn = lwp_code_at(cache, ran[i], location->high);
        later[i] = spoilt;
        spoilt |= insn->spoils;
        if ((insn->store || insn->stack) && stored > i)
            stored = i;
    }
    lwp_execution_begin(&execution, cache, end, 0, LWP_READ_SURE);
    execution.flags_known = 0;
    execution.registers.known = (uint16_t)(end->known & ~spoilt);
    for (unsigned i = count; i-- > 0;) {
        insn = lwp_code_at(cache, ran[i], location->high);
        execution.stores = i < stored ? 0 : LWP_EXECUTION_STORES + 1;
        lwp_execution_step(&execution, insn);
        for (unsigned reg = 0; reg < 16; reg++)
            if (!(later[i] >> reg & 1))
                execution.registers.value[reg] = end->value[reg];
        execution.registers.known |= (uint16_t)(end->known & ~later[i]);
    }
    return count && lwp_insn_address(lwp_code_at(cache, access, location->high), &execution.registers, address);
}
