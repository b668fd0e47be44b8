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

enum { FLAGS = 1 << 16 /* beside a bit for each register */ };

static uint32_t ran_register(unsigned reg)
{
    return reg < 16 ? 1u << reg : 0;
}

/* What the instruction's result is made of, as far as it can be computed. */
static uint32_t ran_inputs(const struct lwp_insn *insn)
{
    const struct lwp_operand *to = &insn->operand[0], *from = &insn->operand[1];
    const bool zero = (insn->op == LWP_OP_XOR || insn->op == LWP_OP_SUB) && from->kind == LWP_OPERAND_REG && from->reg == to->reg;
    const bool replaces = insn->op == LWP_OP_MOV || insn->op == LWP_OP_MOVSX || insn->op == LWP_OP_LEA || insn->op == LWP_OP_POP ||
                          (insn->op == LWP_OP_IMUL && insn->operand[2].kind == LWP_OPERAND_IMM);
    uint32_t inputs = ran_register(insn->base) | ran_register(insn->index);
    for (unsigned i = replaces && to->bytes >= 4; i < 3 && !zero; i++)
        inputs |= insn->operand[i].kind == LWP_OPERAND_REG ? ran_register(insn->operand[i].reg % 16) : 0;
    switch (insn->op) {
    case LWP_OP_CMOV:
    case LWP_OP_SET:
        return inputs | FLAGS;
    case LWP_OP_WIDEN:
    case LWP_OP_SIGN:
    case LWP_OP_MUL:
        return inputs | 1u << LWP_RAX;
    case LWP_OP_IMUL:
        return inputs | (from->kind == LWP_OPERAND_NONE ? 1u << LWP_RAX : 0);
    case LWP_OP_DIV:
    case LWP_OP_IDIV:
        return inputs | 1u << LWP_RAX | 1u << LWP_RDX;
    case LWP_OP_PUSH:
    case LWP_OP_POP:
        return inputs | 1u << LWP_STACK_POINTER;
    case LWP_OP_LEAVE:
        return inputs | 1u << LWP_FRAME_POINTER;
    default:
        return inputs;
    }
}

/* Those that ran before an access, the last one first. */
struct ran_code {
    uint64_t ip[RAN_MOST];
    uint16_t later[RAN_MOST]; /* registers that something has written since */
    uint32_t wanted;          /* a bit for each: the access's address is made of its result */
    unsigned count, stored;   /* the first before which memory was not what it is */
};

/* False: something that the address is made of is nowhere any more. Each value that is read takes a system call: only what is wanted. */
static bool ran_find(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_insn *access,
                     struct ran_code *code)
{
    uint16_t spoilt = access->spoils;
    uint32_t needed = (ran_register(access->base) | ran_register(access->index)) & spoilt;
    code->count = access->gather ? 0 : lwp_code_ran_before(cache, access->ip, code->ip, RAN_MOST);
    code->stored = access->store ? 0 : RAN_MOST;
    code->wanted = 0;
    for (unsigned i = 0; i < code->count; i++) {
        const struct lwp_insn *insn = lwp_code_at(cache, code->ip[i], location->high);
        const uint32_t written = insn->spoils | (insn->writes_flags ? FLAGS : 0);
        code->later[i] = spoilt;
        spoilt |= insn->spoils;
        if (needed & written) {
            code->wanted |= 1u << i;
            needed = (needed & ~written) | (ran_inputs(insn) & (spoilt | FLAGS));
        }
        if ((insn->store || insn->stack) && code->stored > i)
            code->stored = i;
    }
    return code->wanted && !needed;
}

/* Registers that are not written from here on have the values that they end with. */
static void ran_keep(struct lwp_execution *execution, const struct lwp_registers *end, uint16_t written)
{
    const uint16_t kept = (uint16_t)(end->known & ~written);
    for (unsigned reg = 0; reg < 16; reg++)
        if (kept >> reg & 1)
            execution->registers.value[reg] = end->value[reg];
    execution->registers.known |= kept;
}

bool lwp_ran_address(struct lwp_code_cache *cache, const struct lwp_code_location *location, uint64_t access,
                     const struct lwp_registers *end, uint64_t *address)
{
    const struct lwp_insn last = *lwp_code_at(cache, access, location->high);
    struct lwp_execution execution;
    struct ran_code code;
    if (!ran_find(cache, location, &last, &code))
        return false;
    lwp_execution_begin(&execution, cache, end, 0, LWP_READ_SURE);
    execution.flags_known = 0;
    execution.registers.known = 0;
    for (unsigned i = code.count; i-- > 0;) {
        const struct lwp_insn *insn = lwp_code_at(cache, code.ip[i], location->high);
        ran_keep(&execution, end, code.later[i] | insn->spoils);
        execution.stores = i < code.stored ? 0 : LWP_EXECUTION_STORES + 1;
        if (code.wanted >> i & 1)
            lwp_execution_step(&execution, insn);
        else
            lwp_execution_spoil(&execution, insn);
    }
    ran_keep(&execution, end, last.spoils);
    return lwp_insn_address(&last, &execution.registers, address);
}
