#include "collector/code/execution.h"

#include <string.h>

enum { STACK_SLOT = 8 };
enum { EXECUTION_READS = 32 };

static uint64_t mask_of(unsigned bytes)
{
    return bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << bytes * 8) - 1;
}

void lwp_execution_begin(struct lwp_execution *execution, struct lwp_code_cache *cache, const struct lwp_registers *start, uint64_t flags,
                         enum lwp_read how)
{
    execution->program = lwp_code_cache_program(cache);
    execution->how = how;
    execution->registers = *start;
    execution->flags = flags;
    execution->flags_known = FLAGS_ALL;
    execution->stores = execution->reads = 0;
    for (unsigned i = 0; i < LWP_EXECUTION_CHUNKS; i++)
        execution->chunk[i].address = 0;
}

void lwp_execution_spoil(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    execution->registers.known = (uint16_t)(execution->registers.known & ~insn->spoils);
    if (insn->writes_flags)
        execution->flags_known = 0;
}

static bool execution_copy(struct lwp_execution *execution, uint64_t address, void *to, unsigned bytes)
{
    if (execution->reads++ >= EXECUTION_READS)
        return false;
    return execution->program->read(execution->program, address, to, bytes, execution->how) == bytes;
}

/* Whether it has stored there; *value: what, if all of it and nothing else. */
static bool execution_will_differ(const struct lwp_execution *execution, uint64_t address, unsigned bytes, struct lwp_computed *value)
{
    *value = (struct lwp_computed){0, false};
    if (execution->stores > LWP_EXECUTION_STORES)
        return true;
    for (unsigned i = execution->stores; i-- > 0;)
        if (execution->stored[i].address < address + bytes && address < execution->stored[i].address + execution->stored[i].bytes) {
            if (execution->stored[i].address == address && execution->stored[i].bytes == bytes)
                *value = execution->stored[i].value;
            return true;
        }
    return false;
}

static void execution_store(struct lwp_execution *execution, bool known, uint64_t address, unsigned bytes, struct lwp_computed value)
{
    if (!known || !bytes || execution->stores >= LWP_EXECUTION_STORES) {
        execution->stores = LWP_EXECUTION_STORES + 1;
        return;
    }
    value.bits &= bytes >= 8 ? UINT64_MAX : mask_of(bytes);
    value.known &= bytes <= 8;
    execution->stored[execution->stores].address = address;
    execution->stored[execution->stores].value = value;
    execution->stored[execution->stores++].bytes = bytes;
}

static struct lwp_computed execution_read(struct lwp_execution *execution, uint64_t address, unsigned bytes)
{
    struct lwp_computed value = {0, false};
    uint64_t start = address & ~(uint64_t)(LWP_EXECUTION_CHUNK_BYTES - 1), offset = address - start;
    if (bytes > 8 || !start || execution_will_differ(execution, address, bytes, &value))
        return value;
    if (offset + bytes > LWP_EXECUTION_CHUNK_BYTES) {
        value.known = execution_copy(execution, address, &value.bits, bytes);
        return value;
    }
    struct lwp_execution_chunk *chunk = &execution->chunk[start / LWP_EXECUTION_CHUNK_BYTES % LWP_EXECUTION_CHUNKS];
    if (chunk->address != start) {
        chunk->address = 0;
        if (!execution_copy(execution, start, chunk->bytes, LWP_EXECUTION_CHUNK_BYTES)) {
            value.known = execution_copy(execution, address, &value.bits, bytes); /* not all around it can be read */
            return value;
        }
        chunk->address = start;
    }
    memcpy(&value.bits, chunk->bytes + offset, bytes);
    value.known = true;
    return value;
}

struct lwp_computed lwp_execution_get(struct lwp_execution *execution, const struct lwp_insn *insn, unsigned i)
{
    const struct lwp_operand *operand = &insn->operand[i];
    uint64_t address;
    switch (operand->kind) {
    case LWP_OPERAND_IMM:
        return (struct lwp_computed){(uint64_t)operand->imm, true};
    case LWP_OPERAND_MEM:
        if (!lwp_insn_address(insn, &execution->registers, &address))
            break;
        return execution_read(execution, address, operand->bytes);
    case LWP_OPERAND_REG:
        if (operand->reg >= 16) {
            unsigned reg = operand->reg - 16;
            return (struct lwp_computed){execution->registers.value[reg] >> 8 & 0xff, execution->registers.known >> reg & 1};
        }
        return (struct lwp_computed){execution->registers.value[operand->reg] & mask_of(operand->bytes),
                                     execution->registers.known >> operand->reg & 1};
    default:
        break;
    }
    return (struct lwp_computed){0, false};
}

static void execution_set(struct lwp_execution *execution, const struct lwp_operand *operand, struct lwp_computed value)
{
    if (operand->kind != LWP_OPERAND_REG)
        return;
    unsigned reg = operand->reg >= 16 ? operand->reg - 16u : operand->reg;
    uint16_t bit = (uint16_t)(1u << reg);
    uint64_t *old = &execution->registers.value[reg];
    if (operand->bytes >= 4) { /* 32-bit results clear the upper half */
        *old = value.bits & mask_of(operand->bytes);
        execution->registers.known = (uint16_t)(value.known ? execution->registers.known | bit : execution->registers.known & ~bit);
        return;
    }
    unsigned shift = operand->reg >= 16 ? 8 : 0;
    uint64_t mask = mask_of(operand->bytes) << shift;
    *old = (*old & ~mask) | (value.bits << shift & mask);
    if (!value.known)
        execution->registers.known = (uint16_t)(execution->registers.known & ~bit);
}

void lwp_execution_set_flags(struct lwp_execution *execution, uint64_t result, bool carry, bool overflow, unsigned bytes)
{
    uint64_t sign = (uint64_t)1 << (bytes * 8 - 1);
    result &= mask_of(bytes);
    execution->flags = (carry ? FLAG_CF : 0) | (overflow ? FLAG_OF : 0) | (result ? 0 : FLAG_ZF) | (result & sign ? FLAG_SF : 0) |
                       (__builtin_parity((unsigned)(result & 0xff)) ? 0 : FLAG_PF);
    execution->flags_known = FLAGS_ALL;
}

void lwp_execution_arithmetic(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    unsigned bytes = insn->operand[0].bytes;
    uint64_t mask = mask_of(bytes), sign = (uint64_t)1 << (bytes * 8 - 1);
    struct lwp_computed a = lwp_execution_get(execution, insn, 0), b = {1, true};
    bool one_operand = insn->op == LWP_OP_INC || insn->op == LWP_OP_DEC || insn->op == LWP_OP_NEG;
    if (!one_operand)
        b = lwp_execution_get(execution, insn, 1);
    b.bits &= mask;
    struct lwp_computed result = {0, a.known && b.known};
    bool carry = false, overflow = false;
    bool same = insn->operand[0].kind == LWP_OPERAND_REG && insn->operand[1].kind == LWP_OPERAND_REG &&
                insn->operand[0].reg == insn->operand[1].reg;
    if (same && (insn->op == LWP_OP_XOR || insn->op == LWP_OP_SUB)) {
        result.known = true; /* the idiom for zero needs no operand */
        a.bits = b.bits;
    }
    switch (insn->op) {
    case LWP_OP_ADD:
    case LWP_OP_INC:
        result.bits = (a.bits + b.bits) & mask;
        carry = result.bits < b.bits;
        overflow = ~(a.bits ^ b.bits) & (a.bits ^ result.bits) & sign;
        break;
    case LWP_OP_NEG:
        b = a;
        a.bits = 0; /* fall through */
    case LWP_OP_SUB:
    case LWP_OP_CMP:
    case LWP_OP_DEC:
        result.bits = (a.bits - b.bits) & mask;
        carry = a.bits < b.bits;
        overflow = (a.bits ^ b.bits) & (a.bits ^ result.bits) & sign;
        break;
    case LWP_OP_TEST:
    case LWP_OP_AND:
        result.bits = a.bits & b.bits;
        break;
    case LWP_OP_OR:
        result.bits = a.bits | b.bits;
        break;
    default:
        result.bits = a.bits ^ b.bits;
        break;
    }
    bool keeps_carry = insn->op == LWP_OP_INC || insn->op == LWP_OP_DEC;
    unsigned carry_known = keeps_carry ? execution->flags_known & FLAG_CF : FLAG_CF;
    if (keeps_carry)
        carry = execution->flags & FLAG_CF;
    if (insn->op != LWP_OP_CMP && insn->op != LWP_OP_TEST)
        execution_set(execution, &insn->operand[0], result);
    lwp_execution_set_flags(execution, result.bits, carry, overflow, bytes);
    execution->flags_known = (result.known ? FLAGS_ALL & ~FLAG_CF : 0u) | (result.known || keeps_carry ? carry_known : 0u);
}

static void execution_shift(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    unsigned bytes = insn->operand[0].bytes;
    struct lwp_computed a = lwp_execution_get(execution, insn, 0), b = lwp_execution_get(execution, insn, 1);
    struct lwp_computed result = {0, a.known && b.known};
    unsigned count = (unsigned)b.bits & (bytes == 8 ? 63 : 31);
    if (count < bytes * 8) {
        int64_t wide = (int64_t)(a.bits << (64 - bytes * 8)) >> (64 - bytes * 8);
        result.bits = insn->op == LWP_OP_SHL ? a.bits << count : insn->op == LWP_OP_SHR ? a.bits >> count : (uint64_t)(wide >> count);
    } else {
        result.known = false;
    }
    result.bits &= mask_of(bytes);
    execution_set(execution, &insn->operand[0], result);
    execution->flags_known = 0;
}

static struct lwp_computed execution_sign_extend(struct lwp_computed value, unsigned bytes)
{
    if (bytes && bytes < 8) {
        unsigned shift = 64 - bytes * 8u;
        value.bits = (uint64_t)((int64_t)(value.bits << shift) >> shift);
    }
    return value;
}

/* rax and rdx, or their lower halves, where the instruction is one of 4 or 8 bytes. */
static void execution_set_pair(struct lwp_execution *execution, const struct lwp_insn *insn, uint64_t low, uint64_t high, bool known)
{
    const uint8_t bytes = insn->operand[0].bytes;
    const struct lwp_operand rax = {LWP_OPERAND_REG, LWP_RAX, bytes, 0}, rdx = {LWP_OPERAND_REG, LWP_RDX, bytes, 0};
    execution->flags_known = 0;
    if (bytes < 4) {
        lwp_execution_spoil(execution, insn);
        return;
    }
    execution_set(execution, &rax, (struct lwp_computed){low, known});
    execution_set(execution, &rdx, (struct lwp_computed){high, known});
}

/* rax times the operand, twice as wide. */
static void execution_multiply_wide(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    const unsigned bytes = insn->operand[0].bytes;
    struct lwp_computed a = {execution->registers.value[LWP_RAX] & mask_of(bytes), execution->registers.known >> LWP_RAX & 1};
    const struct lwp_computed b = lwp_execution_get(execution, insn, 0);
    const bool known = a.known && b.known;
    unsigned __int128 product = (unsigned __int128)a.bits * b.bits;
    if (insn->op == LWP_OP_IMUL)
        product =
            (unsigned __int128)((__int128)(int64_t)execution_sign_extend(a, bytes).bits * (int64_t)execution_sign_extend(b, bytes).bits);
    execution_set_pair(execution, insn, (uint64_t)product, (uint64_t)(product >> bytes * 8), known);
}

/* What a register above this one holds when its value is extended with its sign. */
static uint64_t execution_signs(uint64_t bits)
{
    return bits >> 63 ? UINT64_MAX : 0;
}

/* Where the processor would refuse it is not known how the program goes on; dividends of more than 64 bits are not followed. */
static void execution_divide(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    const unsigned bytes = insn->operand[0].bytes;
    const struct lwp_computed by = lwp_execution_get(execution, insn, 0);
    const uint64_t low = execution->registers.value[LWP_RAX] & mask_of(bytes), high = execution->registers.value[LWP_RDX] & mask_of(bytes);
    const uint64_t dividend = bytes == 4 ? high << 32 | low : low, most = mask_of(bytes);
    const bool given = by.known && by.bits && execution->registers.known >> LWP_RAX & 1 && execution->registers.known >> LWP_RDX & 1;
    if (!given) {
        execution_set_pair(execution, insn, 0, 0, false);
    } else if (insn->op == LWP_OP_DIV) {
        const uint64_t quotient = dividend / by.bits;
        execution_set_pair(execution, insn, quotient, dividend % by.bits, quotient <= most && (bytes < 8 || !high));
    } else {
        const int64_t divisor = (int64_t)execution_sign_extend(by, bytes).bits, of = (int64_t)dividend;
        const bool fits = divisor != -1 || of != INT64_MIN;
        const int64_t quotient = fits ? of / divisor : 0;
        const bool whole = bytes == 8 ? high == execution_signs(dividend) : quotient == (int32_t)quotient;
        execution_set_pair(execution, insn, (uint64_t)quotient, fits ? (uint64_t)(of % divisor) : 0, fits && whole);
    }
}

static void execution_multiply(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    if (insn->operand[1].kind == LWP_OPERAND_NONE) {
        execution_multiply_wide(execution, insn);
        return;
    }
    bool three = insn->operand[2].kind == LWP_OPERAND_IMM;
    struct lwp_computed a = lwp_execution_get(execution, insn, three ? 1 : 0), b = lwp_execution_get(execution, insn, three ? 2 : 1);
    execution_set(execution, &insn->operand[0],
                  (struct lwp_computed){a.bits * b.bits & mask_of(insn->operand[0].bytes), a.known && b.known});
    execution->flags_known = 0;
}

static void execution_conditional(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    bool met = lwp_flags_meet(execution->flags, insn->condition);
    struct lwp_computed value = {met, true};
    if (insn->op == LWP_OP_CMOV)
        value = lwp_execution_get(execution, insn, met ? 1 : 0);
    value.known &= lwp_flags_known(execution->flags_known, insn->condition);
    execution_set(execution, &insn->operand[0], value);
}

static const struct lwp_operand stack_pointer = {LWP_OPERAND_REG, LWP_STACK_POINTER, 8, 0},
                                frame_pointer = {LWP_OPERAND_REG, LWP_FRAME_POINTER, 8, 0};

void lwp_execution_push(struct lwp_execution *execution, struct lwp_computed value)
{
    uint64_t top = execution->registers.value[LWP_STACK_POINTER] - STACK_SLOT;
    bool known = execution->registers.known >> LWP_STACK_POINTER & 1;
    execution_store(execution, known, top, STACK_SLOT, value);
    execution_set(execution, &stack_pointer, (struct lwp_computed){top, known});
}

struct lwp_computed lwp_execution_pop(struct lwp_execution *execution)
{
    uint64_t top = execution->registers.value[LWP_STACK_POINTER];
    bool known = execution->registers.known >> LWP_STACK_POINTER & 1;
    struct lwp_computed value = known ? execution_read(execution, top, STACK_SLOT) : (struct lwp_computed){0, false};
    execution_set(execution, &stack_pointer, (struct lwp_computed){top + STACK_SLOT, known});
    return value;
}

void lwp_execution_step(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    struct lwp_computed value;
    uint64_t address;
    switch (insn->op) {
    case LWP_OP_NOP:
    case LWP_OP_JMP:
    case LWP_OP_JCC:
        return;
    case LWP_OP_MOV:
        if (insn->operand[0].kind == LWP_OPERAND_REG && insn->operand[0].reg < 20 && insn->operand[1].kind != LWP_OPERAND_NONE)
            execution_set(execution, &insn->operand[0], lwp_execution_get(execution, insn, 1));
        else
            lwp_execution_spoil(execution, insn);
        return;
    case LWP_OP_MOVSX:
        value = lwp_execution_get(execution, insn, 1);
        execution_set(execution, &insn->operand[0], execution_sign_extend(value, insn->operand[1].bytes));
        return;
    case LWP_OP_WIDEN: {
        const struct lwp_operand whole = {LWP_OPERAND_REG, 0, insn->widened, 0};
        value = (struct lwp_computed){execution->registers.value[0], execution->registers.known & 1};
        execution_set(execution, &whole, execution_sign_extend(value, insn->widened / 2));
        return;
    }
    case LWP_OP_SIGN: {
        const struct lwp_operand whole = {LWP_OPERAND_REG, LWP_RDX, insn->widened, 0};
        value = execution_sign_extend((struct lwp_computed){execution->registers.value[LWP_RAX], execution->registers.known >> LWP_RAX & 1},
                                      insn->widened);
        value.bits = execution_signs(value.bits);
        execution_set(execution, &whole, value);
        return;
    }
    case LWP_OP_MUL:
        execution_multiply_wide(execution, insn);
        return;
    case LWP_OP_DIV:
    case LWP_OP_IDIV:
        execution_divide(execution, insn);
        return;
    case LWP_OP_CMOV:
    case LWP_OP_SET:
        execution_conditional(execution, insn);
        return;
    case LWP_OP_NOT:
        value = lwp_execution_get(execution, insn, 0);
        value.bits = ~value.bits;
        execution_set(execution, &insn->operand[0], value);
        return;
    case LWP_OP_LEA:
        value.known = lwp_insn_address(insn, &execution->registers, &address);
        value.bits = value.known ? address : 0;
        execution_set(execution, &insn->operand[0], value);
        return;
    case LWP_OP_ADD ... LWP_OP_NEG:
        lwp_execution_arithmetic(execution, insn);
        return;
    case LWP_OP_SHL ... LWP_OP_SAR:
        execution_shift(execution, insn);
        return;
    case LWP_OP_IMUL:
        execution_multiply(execution, insn);
        return;
    case LWP_OP_PUSH:
        lwp_execution_push(execution, lwp_execution_get(execution, insn, 0));
        return;
    case LWP_OP_POP:
        execution_set(execution, &insn->operand[0], lwp_execution_pop(execution));
        return;
    case LWP_OP_LEAVE:
        value = (struct lwp_computed){execution->registers.value[LWP_FRAME_POINTER], execution->registers.known >> LWP_FRAME_POINTER & 1};
        execution_set(execution, &stack_pointer, value);
        execution_set(execution, &frame_pointer, lwp_execution_pop(execution));
        return;
    default:
        lwp_execution_spoil(execution, insn);
    }
}

uint64_t lwp_execution_next(const struct lwp_execution *execution, const struct lwp_insn *insn)
{
    bool jumps = insn->op == LWP_OP_JMP;
    if (insn->op == LWP_OP_JCC) {
        if (!lwp_flags_known(execution->flags_known, insn->condition))
            return 0;
        jumps = lwp_flags_meet(execution->flags, insn->condition);
    }
    return jumps ? insn->target : insn->ip + insn->length;
}

/* Its address is computed before, from registers that it may change. */
void lwp_execution_execute(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    uint64_t address = 0;
    bool pushes = insn->op == LWP_OP_OTHER && insn->spoils >> LWP_STACK_POINTER & 1;
    bool known = insn->store && lwp_insn_address(insn, &execution->registers, &address);
    struct lwp_computed value = {0, false};
    if (insn->store && insn->op == LWP_OP_MOV && !insn->vector)
        value = lwp_execution_get(execution, insn, 1);
    lwp_execution_step(execution, insn);
    if (insn->store || pushes)
        execution_store(execution, known, address, insn->bytes, value);
}
