/* An interpreter for the integer part of a few hundred instructions to come. What it cannot compute (vector results, memory that the
 * walk itself has stored to, operations it does not know) becomes unknown, and the walk ends at the first jump that depends on
 * something unknown. So an address it reports is the one that the program will use, unless another thread changes memory first. */
#include "collector/code/forward_walk.h"

#include "base/random.h"
#include "collector/code/program.h"

#include <string.h>

enum { RAX = 0, RDX = 2, STACK_POINTER = 4, FRAME_POINTER = 5, STACK_SLOT = 8 };
enum { WALK_STEPS = 400, WALK_AGAIN = 16, WALK_SEEN = 16, WALK_READS = 32, WALK_STORES = 32, CHUNKS = 8, CHUNK_BYTES = 256 };

struct walked_value {
    uint64_t bits;
    bool known;
};

struct walker {
    const struct lwp_program *program;
    enum lwp_read how;
    struct lwp_registers registers;
    uint64_t flags;
    unsigned flags_known; /* FLAG_* */
    struct {
        uint64_t address;
        unsigned bytes;
        struct walked_value value;
    } stored[WALK_STORES]; /* there memory will differ from what it is */
    unsigned stores;       /* more than WALK_STORES: anywhere */
    unsigned reads;
    struct lwp_walk_path path;
    uint8_t path_number;                    /* in the walk's `paths` */
    unsigned passed;                        /* accesses */
    struct lwp_insn_access seen[WALK_SEEN]; /* the first of them, should the walk end before any is kept */
    struct chunk {
        uint64_t address; /* 0: empty */
        uint8_t bytes[CHUNK_BYTES] __attribute__((aligned(8)));
    } chunk[CHUNKS]; /* what was read, since a system call a value is dear */
};

static uint64_t mask_of(unsigned bytes)
{
    return bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << bytes * 8) - 1;
}

static void walk_begin(struct walker *walker, struct lwp_code_cache *cache, const struct lwp_registers *start, uint64_t flags,
                       enum lwp_read how)
{
    walker->program = lwp_code_cache_program(cache);
    walker->how = how;
    walker->registers = *start;
    walker->flags = flags;
    walker->flags_known = FLAGS_ALL;
    walker->stores = walker->reads = 0;
    for (unsigned i = 0; i < CHUNKS; i++)
        walker->chunk[i].address = 0;
}

/* What the instruction writes is not known from here on. */
static void walk_spoil(struct walker *walker, const struct lwp_insn *insn)
{
    walker->registers.known = (uint16_t)(walker->registers.known & ~insn->spoils);
}

static bool walk_copy(struct walker *walker, uint64_t address, void *to, unsigned bytes)
{
    if (walker->reads++ >= WALK_READS)
        return false;
    return walker->program->read(walker->program, address, to, bytes, walker->how) == bytes;
}

/* Whether the walk has stored there; *value: what, if all of it and nothing else. */
static bool walk_will_differ(const struct walker *walker, uint64_t address, unsigned bytes, struct walked_value *value)
{
    *value = (struct walked_value){0, false};
    if (walker->stores > WALK_STORES)
        return true;
    for (unsigned i = walker->stores; i-- > 0;)
        if (walker->stored[i].address < address + bytes && address < walker->stored[i].address + walker->stored[i].bytes) {
            if (walker->stored[i].address == address && walker->stored[i].bytes == bytes)
                *value = walker->stored[i].value;
            return true;
        }
    return false;
}

static void walk_store(struct walker *walker, bool known, uint64_t address, unsigned bytes, struct walked_value value)
{
    if (!known || !bytes || walker->stores >= WALK_STORES) {
        walker->stores = WALK_STORES + 1;
        return;
    }
    value.bits &= bytes >= 8 ? UINT64_MAX : mask_of(bytes);
    value.known &= bytes <= 8;
    walker->stored[walker->stores].address = address;
    walker->stored[walker->stores].value = value;
    walker->stored[walker->stores++].bytes = bytes;
}

static struct walked_value walk_read(struct walker *walker, uint64_t address, unsigned bytes)
{
    struct walked_value value = {0, false};
    uint64_t start = address & ~(uint64_t)(CHUNK_BYTES - 1), offset = address - start;
    if (bytes > 8 || !start || walk_will_differ(walker, address, bytes, &value))
        return value;
    if (offset + bytes > CHUNK_BYTES) {
        value.known = walk_copy(walker, address, &value.bits, bytes);
        return value;
    }
    struct chunk *chunk = &walker->chunk[start / CHUNK_BYTES % CHUNKS];
    if (chunk->address != start) {
        chunk->address = 0;
        if (!walk_copy(walker, start, chunk->bytes, CHUNK_BYTES)) {
            value.known = walk_copy(walker, address, &value.bits, bytes); /* not all around it can be read */
            return value;
        }
        chunk->address = start;
    }
    memcpy(&value.bits, chunk->bytes + offset, bytes);
    value.known = true;
    return value;
}

static struct walked_value walk_get(struct walker *walker, const struct lwp_insn *insn, unsigned i)
{
    const struct lwp_operand *operand = &insn->operand[i];
    uint64_t address;
    switch (operand->kind) {
    case LWP_OPERAND_IMM: return (struct walked_value){(uint64_t)operand->imm, true};
    case LWP_OPERAND_MEM:
        if (!lwp_insn_address(insn, &walker->registers, &address))
            break;
        return walk_read(walker, address, operand->bytes);
    case LWP_OPERAND_REG:
        if (operand->reg >= 16) {
            unsigned reg = operand->reg - 16;
            return (struct walked_value){walker->registers.value[reg] >> 8 & 0xff, walker->registers.known >> reg & 1};
        }
        return (struct walked_value){walker->registers.value[operand->reg] & mask_of(operand->bytes),
                              walker->registers.known >> operand->reg & 1};
    default: break;
    }
    return (struct walked_value){0, false};
}

static void walk_set(struct walker *walker, const struct lwp_operand *operand, struct walked_value value)
{
    if (operand->kind != LWP_OPERAND_REG)
        return;
    unsigned reg = operand->reg >= 16 ? operand->reg - 16u : operand->reg;
    uint16_t bit = (uint16_t)(1u << reg);
    uint64_t *old = &walker->registers.value[reg];
    if (operand->bytes >= 4) { /* 32-bit results clear the upper half */
        *old = value.bits & mask_of(operand->bytes);
        walker->registers.known = (uint16_t)(value.known ? walker->registers.known | bit : walker->registers.known & ~bit);
        return;
    }
    unsigned shift = operand->reg >= 16 ? 8 : 0;
    uint64_t mask = mask_of(operand->bytes) << shift;
    *old = (*old & ~mask) | (value.bits << shift & mask);
    if (!value.known)
        walker->registers.known = (uint16_t)(walker->registers.known & ~bit);
}

static void walk_set_flags(struct walker *walker, uint64_t result, bool carry, bool overflow, unsigned bytes)
{
    uint64_t sign = (uint64_t)1 << (bytes * 8 - 1);
    result &= mask_of(bytes);
    walker->flags = (carry ? FLAG_CF : 0) | (overflow ? FLAG_OF : 0) | (result ? 0 : FLAG_ZF) |
                    (result & sign ? FLAG_SF : 0) | (__builtin_parity((unsigned)(result & 0xff)) ? 0 : FLAG_PF);
    walker->flags_known = FLAGS_ALL;
}

/* Arithmetic of two operands, the first also the destination (but for cmp and test). */
static void walk_arithmetic(struct walker *walker, const struct lwp_insn *insn)
{
    unsigned bytes = insn->operand[0].bytes;
    uint64_t mask = mask_of(bytes), sign = (uint64_t)1 << (bytes * 8 - 1);
    struct walked_value a = walk_get(walker, insn, 0), b = {1, true};
    bool one_operand = insn->op == LWP_OP_INC || insn->op == LWP_OP_DEC || insn->op == LWP_OP_NEG;
    if (!one_operand)
        b = walk_get(walker, insn, 1);
    b.bits &= mask;
    struct walked_value result = {0, a.known && b.known};
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
    case LWP_OP_AND: result.bits = a.bits & b.bits; break;
    case LWP_OP_OR: result.bits = a.bits | b.bits; break;
    default: result.bits = a.bits ^ b.bits; break;
    }
    bool keeps_carry = insn->op == LWP_OP_INC || insn->op == LWP_OP_DEC;
    unsigned carry_known = keeps_carry ? walker->flags_known & FLAG_CF : FLAG_CF;
    if (keeps_carry)
        carry = walker->flags & FLAG_CF;
    if (insn->op != LWP_OP_CMP && insn->op != LWP_OP_TEST)
        walk_set(walker, &insn->operand[0], result);
    walk_set_flags(walker, result.bits, carry, overflow, bytes);
    walker->flags_known = (result.known ? FLAGS_ALL & ~FLAG_CF : 0u) | (result.known || keeps_carry ? carry_known : 0u);
}

static void walk_shift(struct walker *walker, const struct lwp_insn *insn)
{
    unsigned bytes = insn->operand[0].bytes;
    struct walked_value a = walk_get(walker, insn, 0), b = walk_get(walker, insn, 1);
    struct walked_value result = {0, a.known && b.known};
    unsigned count = (unsigned)b.bits & (bytes == 8 ? 63 : 31);
    if (count < bytes * 8) {
        int64_t wide = (int64_t)(a.bits << (64 - bytes * 8)) >> (64 - bytes * 8);
        result.bits = insn->op == LWP_OP_SHL   ? a.bits << count
                      : insn->op == LWP_OP_SHR ? a.bits >> count
                                               : (uint64_t)(wide >> count);
    } else {
        result.known = false;
    }
    result.bits &= mask_of(bytes);
    walk_set(walker, &insn->operand[0], result);
    walker->flags_known = 0;
}

static struct walked_value walk_sign_extend(struct walked_value value, unsigned bytes)
{
    if (bytes && bytes < 8) {
        unsigned shift = 64 - bytes * 8u;
        value.bits = (uint64_t)((int64_t)(value.bits << shift) >> shift);
    }
    return value;
}

/* rax and rdx, or their lower halves, where the instruction is one of 4 or 8 bytes. */
static void walk_set_pair(struct walker *walker, const struct lwp_insn *insn, uint64_t low, uint64_t high, bool known)
{
    const uint8_t bytes = insn->operand[0].bytes;
    const struct lwp_operand rax = {LWP_OPERAND_REG, RAX, bytes, 0}, rdx = {LWP_OPERAND_REG, RDX, bytes, 0};
    walker->flags_known = 0;
    if (bytes < 4) {
        walk_spoil(walker, insn);
        return;
    }
    walk_set(walker, &rax, (struct walked_value){low, known});
    walk_set(walker, &rdx, (struct walked_value){high, known});
}

/* rax times the operand, twice as wide. */
static void walk_multiply_wide(struct walker *walker, const struct lwp_insn *insn)
{
    const unsigned bytes = insn->operand[0].bytes;
    struct walked_value a = {walker->registers.value[RAX] & mask_of(bytes), walker->registers.known >> RAX & 1};
    const struct walked_value b = walk_get(walker, insn, 0);
    const bool known = a.known && b.known;
    unsigned __int128 product = (unsigned __int128)a.bits * b.bits;
    if (insn->op == LWP_OP_IMUL)
        product = (unsigned __int128)((__int128)(int64_t)walk_sign_extend(a, bytes).bits * (int64_t)walk_sign_extend(b, bytes).bits);
    walk_set_pair(walker, insn, (uint64_t)product, (uint64_t)(product >> bytes * 8), known);
}

/* Where the processor would refuse it is not known how the program goes on; dividends of more than 64 bits are not followed. */
static void walk_divide(struct walker *walker, const struct lwp_insn *insn)
{
    const unsigned bytes = insn->operand[0].bytes;
    const struct walked_value by = walk_get(walker, insn, 0);
    const uint64_t low = walker->registers.value[RAX] & mask_of(bytes), high = walker->registers.value[RDX] & mask_of(bytes);
    const uint64_t dividend = bytes == 4 ? high << 32 | low : low, most = mask_of(bytes);
    const bool given = by.known && by.bits && walker->registers.known >> RAX & 1 && walker->registers.known >> RDX & 1;
    if (!given) {
        walk_set_pair(walker, insn, 0, 0, false);
    } else if (insn->op == LWP_OP_DIV) {
        const uint64_t quotient = dividend / by.bits;
        walk_set_pair(walker, insn, quotient, dividend % by.bits, quotient <= most && (bytes < 8 || !high));
    } else {
        const int64_t divisor = (int64_t)walk_sign_extend(by, bytes).bits, of = (int64_t)dividend;
        const bool fits = divisor != -1 || of != INT64_MIN;
        const int64_t quotient = fits ? of / divisor : 0;
        const bool whole = bytes == 8 ? high == (uint64_t)(of >> 63) : quotient == (int32_t)quotient;
        walk_set_pair(walker, insn, (uint64_t)quotient, fits ? (uint64_t)(of % divisor) : 0, fits && whole);
    }
}

static void walk_multiply(struct walker *walker, const struct lwp_insn *insn)
{
    if (insn->operand[1].kind == LWP_OPERAND_NONE) {
        walk_multiply_wide(walker, insn);
        return;
    }
    bool three = insn->operand[2].kind == LWP_OPERAND_IMM;
    struct walked_value a = walk_get(walker, insn, three ? 1 : 0), b = walk_get(walker, insn, three ? 2 : 1);
    walk_set(walker, &insn->operand[0],
             (struct walked_value){a.bits * b.bits & mask_of(insn->operand[0].bytes), a.known && b.known});
    walker->flags_known = 0;
}

static void walk_conditional(struct walker *walker, const struct lwp_insn *insn)
{
    bool met = lwp_flags_meet(walker->flags, insn->condition);
    struct walked_value value = {met, true};
    if (insn->op == LWP_OP_CMOV)
        value = walk_get(walker, insn, met ? 1 : 0);
    value.known &= lwp_flags_known(walker->flags_known, insn->condition);
    walk_set(walker, &insn->operand[0], value);
}

static const struct lwp_operand stack_pointer = {LWP_OPERAND_REG, STACK_POINTER, 8, 0}, frame_pointer = {LWP_OPERAND_REG, FRAME_POINTER, 8, 0};

static void walk_push(struct walker *walker, struct walked_value value)
{
    uint64_t top = walker->registers.value[STACK_POINTER] - STACK_SLOT;
    bool known = walker->registers.known >> STACK_POINTER & 1;
    walk_store(walker, known, top, STACK_SLOT, value);
    walk_set(walker, &stack_pointer, (struct walked_value){top, known});
}

static struct walked_value walk_pop(struct walker *walker)
{
    uint64_t top = walker->registers.value[STACK_POINTER];
    bool known = walker->registers.known >> STACK_POINTER & 1;
    struct walked_value value = known ? walk_read(walker, top, STACK_SLOT) : (struct walked_value){0, false};
    walk_set(walker, &stack_pointer, (struct walked_value){top + STACK_SLOT, known});
    return value;
}

static void walk_step(struct walker *walker, const struct lwp_insn *insn)
{
    struct walked_value value;
    uint64_t address;
    switch (insn->op) {
    case LWP_OP_NOP:
    case LWP_OP_JMP:
    case LWP_OP_JCC: return;
    case LWP_OP_MOV:
        if (insn->operand[0].kind == LWP_OPERAND_REG && insn->operand[0].reg < 20 &&
            insn->operand[1].kind != LWP_OPERAND_NONE)
            walk_set(walker, &insn->operand[0], walk_get(walker, insn, 1));
        else
            walk_spoil(walker, insn);
        return;
    case LWP_OP_MOVSX:
        value = walk_get(walker, insn, 1);
        walk_set(walker, &insn->operand[0], walk_sign_extend(value, insn->operand[1].bytes));
        return;
    case LWP_OP_WIDEN: {
        const struct lwp_operand whole = {LWP_OPERAND_REG, 0, insn->widened, 0};
        value = (struct walked_value){walker->registers.value[0], walker->registers.known & 1};
        walk_set(walker, &whole, walk_sign_extend(value, insn->widened / 2));
        return;
    }
    case LWP_OP_SIGN: {
        const struct lwp_operand whole = {LWP_OPERAND_REG, RDX, insn->widened, 0};
        value = walk_sign_extend((struct walked_value){walker->registers.value[RAX], walker->registers.known >> RAX & 1}, insn->widened);
        value.bits = (uint64_t)((int64_t)value.bits >> 63);
        walk_set(walker, &whole, value);
        return;
    }
    case LWP_OP_MUL: walk_multiply_wide(walker, insn); return;
    case LWP_OP_DIV:
    case LWP_OP_IDIV: walk_divide(walker, insn); return;
    case LWP_OP_CMOV:
    case LWP_OP_SET: walk_conditional(walker, insn); return;
    case LWP_OP_NOT:
        value = walk_get(walker, insn, 0);
        value.bits = ~value.bits;
        walk_set(walker, &insn->operand[0], value);
        return;
    case LWP_OP_LEA:
        value.known = lwp_insn_address(insn, &walker->registers, &address);
        value.bits = value.known ? address : 0;
        walk_set(walker, &insn->operand[0], value);
        return;
    case LWP_OP_ADD ... LWP_OP_NEG: walk_arithmetic(walker, insn); return;
    case LWP_OP_SHL ... LWP_OP_SAR: walk_shift(walker, insn); return;
    case LWP_OP_IMUL: walk_multiply(walker, insn); return;
    case LWP_OP_PUSH: walk_push(walker, walk_get(walker, insn, 0)); return;
    case LWP_OP_POP: walk_set(walker, &insn->operand[0], walk_pop(walker)); return;
    case LWP_OP_LEAVE:
        value = (struct walked_value){walker->registers.value[FRAME_POINTER], walker->registers.known >> FRAME_POINTER & 1};
        walk_set(walker, &stack_pointer, value);
        walk_set(walker, &frame_pointer, walk_pop(walker));
        return;
    default:
        walk_spoil(walker, insn);
        if (insn->writes_flags)
            walker->flags_known = 0;
    }
}

/* Whether the instruction, had it just run, would have left another result, or flags that are not those there are or do not meet `met`. */
static bool walk_contradicts(struct walker *walker, const struct lwp_insn *insn, uint16_t met)
{
    const struct lwp_operand *to = &insn->operand[0], *from = &insn->operand[1];
    const unsigned reg = to->reg % 16;
    const uint64_t flags = walker->flags, value = walker->registers.value[reg];
    const unsigned known = walker->flags_known;
    switch (insn->op) {
    case LWP_OP_ADD ... LWP_OP_NEG:
        if (insn->op == LWP_OP_CMP || insn->op == LWP_OP_TEST) {
            walk_arithmetic(walker, insn);
        } else { /* what it was made of is gone */
            const struct walked_value result = walk_get(walker, insn, 0);
            walk_set_flags(walker, result.bits, false, false, to->bytes);
            walker->flags_known = result.known ? FLAG_ZF | FLAG_SF | FLAG_PF : 0;
        }
        return (walker->flags ^ flags) & walker->flags_known & known || !lwp_flags_meet_all(walker->flags, walker->flags_known, met);
    case LWP_OP_MOV ... LWP_OP_LEA:
    case LWP_OP_CMOV ... LWP_OP_SET:
        if (to->kind != LWP_OPERAND_REG || !(walker->registers.known >> reg & 1) || insn->base == reg || insn->index == reg ||
            (from->kind == LWP_OPERAND_REG && from->reg % 16 == reg))
            return false;
        walk_step(walker, insn);
        return walker->registers.known >> reg & 1 && walker->registers.value[reg] != value;
    default:
        return false;
    }
}

bool lwp_walk_contradicts(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_code_way *way,
                          const struct lwp_registers *end, uint64_t flags)
{
    struct walker walker;
    struct lwp_registers left = *end;
    unsigned flags_known = FLAGS_ALL;
    bool stored = false;
    for (unsigned i = 0; i < LWP_WAY_RAN && way->ran[i].ip; i++) {
        const struct lwp_insn *insn = lwp_code_at(cache, way->ran[i].ip, location->high);
        walk_begin(&walker, cache, &left, flags, LWP_READ_SURE);
        walker.flags_known = flags_known;
        if (stored)
            walker.stores = WALK_STORES + 1;
        if (walk_contradicts(&walker, insn, way->ran[i].met))
            return true;
        left.known = (uint16_t)(left.known & ~insn->spoils);
        flags_known = insn->writes_flags ? 0 : flags_known;
        stored |= insn->store || insn->stack;
    }
    return false;
}

bool lwp_walk_again(struct lwp_code_cache *cache, const struct lwp_code_location *location, uint64_t access,
                    const struct lwp_registers *end, uint64_t *address)
{
    uint64_t ran[WALK_AGAIN];
    uint16_t later[WALK_AGAIN]; /* registers that something has written since */
    struct walker walker;
    const struct lwp_insn *insn = lwp_code_at(cache, access, location->high);
    unsigned stored = insn->store ? 0 : WALK_AGAIN;
    uint16_t spoilt = insn->spoils;
    const unsigned count = insn->gather ? 0 : lwp_code_ran_before(cache, access, ran, WALK_AGAIN);
    for (unsigned i = 0; i < count; i++) {
        insn = lwp_code_at(cache, ran[i], location->high);
        later[i] = spoilt;
        spoilt |= insn->spoils;
        if ((insn->store || insn->stack) && stored > i)
            stored = i;
    }
    walk_begin(&walker, cache, end, 0, LWP_READ_SURE);
    walker.flags_known = 0;
    walker.registers.known = (uint16_t)(end->known & ~spoilt);
    for (unsigned i = count; i-- > 0;) {
        insn = lwp_code_at(cache, ran[i], location->high);
        walker.stores = i < stored ? 0 : WALK_STORES + 1;
        walk_step(&walker, insn);
        for (unsigned reg = 0; reg < 16; reg++)
            if (!(later[i] >> reg & 1))
                walker.registers.value[reg] = end->value[reg];
        walker.registers.known |= (uint16_t)(end->known & ~later[i]);
    }
    return count && lwp_insn_address(lwp_code_at(cache, access, location->high), &walker.registers, address);
}

static void walk_count(struct lwp_walk_choice *choice, uint64_t ip, uint8_t path)
{
    unsigned i = 0;
    while (i < choice->sites && (choice->site[i].ip != ip || choice->site[i].path != path))
        i++;
    if (i == choice->sites)
        choice->site[choice->sites++] = (struct lwp_walk_site){.ip = ip, .path = path};
    choice->site[i].count++;
}

/* Not the one at a chosen location, since then the first of two neighbours would nearly always be it. */
static void walk_choose(struct lwp_walk_choice *choice, const struct lwp_insn *insn, uint64_t address, uint8_t path, uint32_t *random)
{
    if (choice->seen >= choice->from || !insn->bytes)
        return;
    walk_count(choice, insn->ip, path);
    if (lwp_random_below(random, ++choice->seen) == 0) {
        choice->access = lwp_insn_access(insn, address);
        choice->path = path;
    }
}

/* An access on the way: the wanted one, some to keep, and some to choose from. */
static void walk_pass(struct walker *walker, const struct lwp_insn *insn, struct lwp_forward_walk *walk, uint32_t *random)
{
    uint64_t address;
    bool known = lwp_insn_address(insn, &walker->registers, &address);
    if (walk->wanted == insn->ip && !walk->found) {
        walk->found = known;
        walk->found_address = known ? address : 0;
        walk->wanted = 0; /* only its very next execution */
    }
    if (!known)
        return;
    if (walker->path_number == 0) {
        if (walker->passed >= walk->skip && walk->kept_count < LWP_WALK_KEEP)
            walk->kept[walk->kept_count++] = lwp_insn_access(insn, address);
        if (walker->passed < WALK_SEEN)
            walker->seen[walker->passed] = lwp_insn_access(insn, address);
        walker->passed++;
    }
    walk_choose(insn->store ? &walk->store : &walk->load, insn, address, walker->path_number, random);
}

static bool walk_is_done(const struct lwp_forward_walk *walk)
{
    return walk->kept_count == LWP_WALK_KEEP && !walk->wanted && walk->store.seen >= walk->store.from && walk->load.seen >= walk->load.from;
}

/* Where the program goes on after the instruction; 0: that depends on flags that are not known. */
static uint64_t walk_next(const struct walker *walker, const struct lwp_insn *insn)
{
    bool jumps = insn->op == LWP_OP_JMP;
    if (insn->op == LWP_OP_JCC) {
        if (!lwp_flags_known(walker->flags_known, insn->condition))
            return 0;
        jumps = lwp_flags_meet(walker->flags, insn->condition);
    }
    return jumps ? insn->target : insn->ip + insn->length;
}

/* What the instruction does to registers, flags and memory. Its address is computed before, from registers that it may change. */
static void walk_execute(struct walker *walker, const struct lwp_insn *insn)
{
    uint64_t address = 0;
    bool pushes = insn->op == LWP_OP_OTHER && insn->spoils >> STACK_POINTER & 1;
    bool known = insn->store && lwp_insn_address(insn, &walker->registers, &address);
    struct walked_value value = {0, false};
    if (insn->store && insn->op == LWP_OP_MOV && !insn->vector)
        value = walk_get(walker, insn, 1);
    walk_step(walker, insn);
    if (insn->store || pushes)
        walk_store(walker, known, address, insn->bytes, value);
}

/* ---- from one function to another ---- */

/* Whether it may go on with another stack, a coroutine's: what the walk returns to there is none of the thread's callers. */
static bool insn_switches_stack(const struct lwp_insn *insn)
{
    if (!(insn->spoils >> STACK_POINTER & 1))
        return false;
    switch (insn->op) {
    case LWP_OP_PUSH:
    case LWP_OP_LEAVE:
    case LWP_OP_CALL:
    case LWP_OP_RET:
    case LWP_OP_ADD:
    case LWP_OP_SUB:
    case LWP_OP_AND: return false;
    case LWP_OP_POP: return insn->operand[0].reg == STACK_POINTER;
    case LWP_OP_MOV: return insn->operand[1].kind != LWP_OPERAND_REG || insn->operand[1].reg != FRAME_POINTER;
    case LWP_OP_LEA: return insn->base != FRAME_POINTER && insn->base != STACK_POINTER;
    default: return true;
    }
}

static bool paths_equal(const struct lwp_walk_path *a, const struct lwp_walk_path *b)
{
    return a->returned == b->returned && a->calls == b->calls && !memcmp(a->call, b->call, a->calls * sizeof *a->call);
}

/* The number of the walker's path. False: there are too many. */
static bool walk_name_path(struct walker *walker, struct lwp_forward_walk *walk)
{
    for (unsigned i = 0; i < walk->path_count; i++)
        if (paths_equal(&walk->paths[i], &walker->path)) {
            walker->path_number = (uint8_t)i;
            return true;
        }
    if (walk->path_count == LWP_WALK_PATHS)
        return false;
    walker->path_number = (uint8_t)walk->path_count;
    walk->paths[walk->path_count++] = walker->path;
    return true;
}

/* Called again from where it was interrupted's caller, a function is where the walk began: *path says so by having returned once
 * less. 0: it is not known where it goes on, or that is too far away. `back`: where the interrupted function returns to, 0: unknown. */
static uint64_t walk_leave(struct walker *walker, const struct lwp_insn *insn, struct lwp_forward_walk *walk, uint64_t *back)
{
    struct lwp_walk_path *path = &walker->path;
    uint64_t next = insn->ip + insn->length;
    if (insn->op == LWP_OP_CALL) {
        walk_push(walker, (struct walked_value){next, true});
        if (path->calls == 0 && path->returned == 1 && *back == next) {
            path->returned = 0;
        } else {
            if (path->calls == LWP_WALK_CALLS)
                return 0;
            path->call[path->calls++] = next;
        }
        next = insn->target;
    } else {
        struct walked_value to = walk_pop(walker);
        next = to.known ? to.bits : 0;
        if (path->calls) {
            path->calls--;
        } else {
            if (path->returned == 0)
                *back = next;
            path->returned++;
        }
    }
    return path->returned <= LWP_WALK_CALLS && walk_name_path(walker, walk) ? next : 0;
}

void lwp_walk_forward(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_registers *start,
                      uint64_t flags, struct lwp_forward_walk *walk, uint32_t *random)
{
    struct walker walker; /* its chunks and what it has seen stay unset */
    walk_begin(&walker, cache, start, flags, LWP_READ_ALONE);
    walker.passed = 0;
    walker.path = (struct lwp_walk_path){0};
    walker.path_number = 0;
    walk->found = false;
    walk->kept_count = 0;
    walk->paths[0] = walker.path;
    walk->path_count = 1;
    walk->store.seen = walk->store.sites = walk->load.seen = walk->load.sites = 0;
    uint64_t ip = location->ip, low = location->low, high = location->high, back = 0;
    for (unsigned step = 0; step < WALK_STEPS && ip >= low && ip < high; step++) {
        const struct lwp_insn *insn = lwp_code_at(cache, ip, high);
        if (insn->invalid || insn->op == LWP_OP_STOP || insn_switches_stack(insn))
            break;
        if (lwp_insn_accesses(insn))
            walk_pass(&walker, insn, walk, random);
        if (walk_is_done(walk))
            break;
        if (lwp_insn_leaves(insn)) {
            ip = walk_leave(&walker, insn, walk, &back);
            if (!ip || !walker.program->bounds(walker.program, ip, &low, &high))
                break;
            continue;
        }
        ip = walk_next(&walker, insn);
        if (!ip)
            break;
        walk_execute(&walker, insn);
    }
    if (!walk->kept_count && walker.passed) {
        walk->kept[0] = walker.seen[lwp_random_below(random, walker.passed < WALK_SEEN ? walker.passed : WALK_SEEN)];
        walk->kept_count = 1;
    }
}
