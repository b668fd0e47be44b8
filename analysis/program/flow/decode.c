/* x86-64 instructions through Zydis. Memory operands: the visible one first (of "movs", the source), else the hidden
 * one of push, pop, string instructions. Of gathers, `index` is unknown (-1): it is a vector. */
#include "analysis/program/flow/decode.h"

#include <Zydis/Zydis.h>
#include <pthread.h>
#include <string.h>

static int8_t decode_register(ZydisRegister name)
{
    if (name == ZYDIS_REGISTER_NONE)
        return -1;
    if (name == ZYDIS_REGISTER_RIP || name == ZYDIS_REGISTER_EIP)
        return CODE_RIP;
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return -1;
    return (int8_t)(whole - ZYDIS_REGISTER_RAX);
}

/* Its number, or -1. */
static int8_t decode_vector(ZydisRegister name)
{
    ZydisRegisterClass class = ZydisRegisterGetClass(name);
    bool vector = class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM;
    return vector ? ZydisRegisterGetId(name) : -1;
}

static bool decode_touches_memory(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand)
{
    ZydisInstructionCategory category = instruction->meta.category;
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
           operand->mem.type != ZYDIS_MEMOP_TYPE_MIB && category != ZYDIS_CATEGORY_NOP &&
           category != ZYDIS_CATEGORY_WIDENOP && category != ZYDIS_CATEGORY_PREFETCH;
}

/* Moves of so many bits, whatever they are: two floats go as one 64-bit number. */
static bool decode_moves_bits(ZydisMnemonic mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_MOVQ || mnemonic == ZYDIS_MNEMONIC_VMOVQ || mnemonic == ZYDIS_MNEMONIC_MOVD ||
           mnemonic == ZYDIS_MNEMONIC_VMOVD || mnemonic == ZYDIS_MNEMONIC_PINSRQ || mnemonic == ZYDIS_MNEMONIC_VPINSRQ;
}

static struct lwp_memory_operand decode_memory(const ZydisDecodedInstruction *instruction,
                                               const ZydisDecodedOperand *operands)
{
    struct lwp_memory_operand memory = {.base = -1, .index = -1};
    bool vector = false, adds = false;
    for (int i = 0; i < instruction->operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && decode_vector(operand->reg.value) >= 0)
            vector = true;
        adds |= operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT && operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ && operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        if (memory.exists || !decode_touches_memory(instruction, operand))
            continue;
        memory.exists = true;
        memory.load = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
        memory.store = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        memory.bytes = operand->size / 8;
        memory.packed = operand->element_count > 1 || decode_moves_bits(instruction->mnemonic);
        memory.base = decode_register(operand->mem.base);
        memory.index = decode_register(operand->mem.index);
        memory.scale = operand->mem.scale;
        memory.string = instruction->meta.category == ZYDIS_CATEGORY_STRINGOP;
        memory.gather = decode_vector(operand->mem.index) >= 0;
        memory.displacement = operand->mem.disp.has_displacement ? (int32_t)operand->mem.disp.value : 0;
    }
    memory.vector = memory.exists && vector;
    memory.adds = memory.load && !memory.store && !vector && adds;
    memory.packed &= memory.vector;
    return memory;
}

/* inc, dec, add and sub of a constant. */
static bool decode_counts(ZydisMnemonic mnemonic, const ZydisDecodedOperand *by)
{
    return mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_DEC ||
           ((mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_SUB) && by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE);
}

/* ... which constant that adds. */
static int64_t decode_counted(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_INC:
        return 1;
    case ZYDIS_MNEMONIC_DEC:
        return -1;
    case ZYDIS_MNEMONIC_SUB:
        return (int64_t)(0 - (uint64_t)operands[1].imm.value.s);
    default:
        return operands[1].imm.value.s;
    }
}

/* xor and pxor of a register with itself. */
static bool decode_zeroes(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands)
{
    unsigned last = instruction->operand_count_visible;
    return last >= 2 && operands[last - 1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[last - 2].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[last - 1].reg.value == operands[last - 2].reg.value && strstr(ZydisMnemonicGetString(instruction->mnemonic), "xor");
}

/* Whether it is made of two values, or compares them: not one with itself, nor with a constant. */
static bool decode_weighs(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands)
{
    const unsigned last = instruction->operand_count_visible;
    if (last < 2 || operands[last - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    return operands[last - 1].type != ZYDIS_OPERAND_TYPE_REGISTER || operands[last - 2].type != ZYDIS_OPERAND_TYPE_REGISTER ||
           operands[last - 1].reg.value != operands[last - 2].reg.value;
}

/* What code that was not optimized does with variables in memory: counts, loads and stores of 4 bytes, products; and comparisons. */
static void decode_narrow(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands, struct code_instruction *result)
{
    const ZydisMnemonic mnemonic = instruction->mnemonic;
    const bool to_register = operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER,
               from_register = operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER, from_memory = operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
    if (instruction->operand_count_visible < 1)
        return;
    if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
        result->counts_memory = operands[0].size >= 32 && decode_counts(mnemonic, &operands[1]);
    if (instruction->operand_count_visible == 3 && mnemonic == ZYDIS_MNEMONIC_IMUL && from_memory && operands[0].size >= 32) {
        result->multiplies = true;
        result->factor_to = decode_register(operands[0].reg.value);
        result->factor = -2;
        result->constant = operands[2].imm.value.s;
    }
    if (instruction->operand_count_visible != 2)
        return;
    if (mnemonic == ZYDIS_MNEMONIC_MOV && operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && from_register && operands[0].size == 32)
        result->narrow_source = decode_register(operands[1].reg.value);
    else if ((mnemonic == ZYDIS_MNEMONIC_MOV || mnemonic == ZYDIS_MNEMONIC_MOVSXD) && to_register && from_memory && operands[1].size == 32)
        result->narrow_destination = decode_register(operands[0].reg.value);
    else if (mnemonic == ZYDIS_MNEMONIC_IMUL && to_register && (from_register || from_memory) && operands[0].size >= 32) {
        result->multiplies = true;
        result->factor_to = decode_register(operands[0].reg.value);
        result->factor = from_register ? decode_register(operands[1].reg.value) : -1;
    } else if (mnemonic == ZYDIS_MNEMONIC_CMP && to_register && from_register && operands[0].size >= 32) {
        result->compared[0] = decode_register(operands[0].reg.value);
        result->compared[1] = decode_register(operands[1].reg.value);
        result->compares = result->compared[0] >= 0 && result->compared[1] >= 0;
    } else if (mnemonic == ZYDIS_MNEMONIC_CMP && to_register && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
               operands[0].size >= 32) {
        result->limited = decode_register(operands[0].reg.value);
        result->limit = operands[1].imm.value.s;
    }
}

/* Registers that change, and 64-bit moves between a general register and memory. */
static void decode_moves(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                         struct code_instruction *result)
{
    for (int i = 0; i < instruction->operand_count; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        int8_t general = decode_register(operands[i].reg.value), vector = decode_vector(operands[i].reg.value);
        uint32_t in_general = general >= 0 ? 1u << general : 0, in_vectors = vector >= 0 ? 1u << vector : 0;
        bool writes = operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE, reads = operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ;
        result->written |= writes ? in_general : 0;
        result->written_vectors |= writes ? in_vectors : 0;
        result->read |= reads ? in_general : 0;
        result->read_vectors |= reads ? in_vectors : 0;
    }
    if (operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
        operands[1].mem.type == ZYDIS_MEMOP_TYPE_AGEN) { /* lea: the address is the value */
        int8_t base = decode_register(operands[1].mem.base), index = decode_register(operands[1].mem.index);
        result->read |= (base >= 0 ? 1u << base : 0) | (index >= 0 ? 1u << index : 0);
    }
    if (decode_zeroes(instruction, operands))
        result->read = result->read_vectors = 0;
    result->mnemonic = (uint16_t)instruction->mnemonic;
    const ZydisAccessedFlags *flags = instruction->cpu_flags;
    result->flags = flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
    result->weighs = (result->flags || (result->written_vectors && !code_moves(result))) && decode_weighs(instruction, operands);
    result->halves = (instruction->mnemonic == ZYDIS_MNEMONIC_SHR || instruction->mnemonic == ZYDIS_MNEMONIC_SAR) &&
                     operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[1].imm.value.u == 1;
    result->chooses = instruction->meta.category == ZYDIS_CATEGORY_CMOV;
    result->counts = operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && decode_counts(instruction->mnemonic, &operands[1]);
    result->basic = instruction->meta.isa_ext == ZYDIS_ISA_EXT_BASE || instruction->meta.isa_ext == ZYDIS_ISA_EXT_LONGMODE;
    decode_narrow(instruction, operands, result);
    if (instruction->mnemonic != ZYDIS_MNEMONIC_MOV || operands[0].size != 64)
        return;
    if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
        result->source = decode_register(operands[1].reg.value);
        result->stores = result->source >= 0;
    } else if (operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
        result->destination = decode_register(operands[0].reg.value);
        result->loads = result->destination >= 0;
    }
}

/* Plain moves to memory: of a register or a constant. */
static void decode_put(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                       struct code_instruction *result)
{
    const ZydisDecodedOperand *from = &operands[1];
    if (instruction->operand_count_visible != 2 || operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
        !result->memory.store || result->memory.load)
        return;
    if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        result->puts = true;
        result->constant = from->imm.value.s;
    } else if (from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        int8_t vector = decode_vector(from->reg.value);
        result->put = vector >= 0 ? (int8_t)(CODE_VECTORS + vector) : decode_register(from->reg.value);
        result->puts = result->put >= 0;
    }
}

static bool decode_general(const ZydisDecodedOperand *operand, int8_t *reg)
{
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || operand->size < 32)
        return false;
    *reg = decode_register(operand->reg.value);
    return *reg >= 0;
}

static struct code_linear decode_lea(const ZydisDecodedOperand *from, uint64_t next)
{
    struct code_linear linear = {.base = decode_register(from->mem.base),
                                 .index = decode_register(from->mem.index),
                                 .scale = from->mem.scale,
                                 .plus = from->mem.disp.has_displacement ? from->mem.disp.value : 0};
    if (linear.base == CODE_RIP) {
        linear.base = -1;
        linear.plus = (int64_t)(next + (uint64_t)linear.plus);
    }
    linear.exists = from->mem.segment != ZYDIS_REGISTER_FS && from->mem.segment != ZYDIS_REGISTER_GS;
    return linear;
}

/* Instructions whose result is a sum of registers and constants. */
static struct code_linear decode_linear(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                                        uint64_t next)
{
    const ZydisDecodedOperand *from = &operands[1];
    int8_t to, other = -1;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_CDQE)
        return (struct code_linear){.exists = true, .narrow = true, .to = CODE_RAX, .base = -1, .index = CODE_RAX, .scale = 1};
    if (instruction->operand_count_visible < 1 || !decode_general(&operands[0], &to))
        return (struct code_linear){.base = -1, .index = -1};
    bool immediate = instruction->operand_count_visible == 2 && from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    bool general = instruction->operand_count_visible >= 2 && decode_general(from, &other);
    int64_t value = immediate ? from->imm.value.s : 0;
    struct code_linear linear = {.exists = immediate || general, .base = -1, .index = other, .scale = 1, .plus = value};
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSXD:
        break;
    case ZYDIS_MNEMONIC_LEA:
        linear = decode_lea(from, next);
        break;
    case ZYDIS_MNEMONIC_ADD:
        linear.base = to;
        linear.loads = from->type == ZYDIS_OPERAND_TYPE_MEMORY && operands[0].size == 64;
        linear.exists |= linear.loads;
        break;
    case ZYDIS_MNEMONIC_SUB:
        linear.base = to;
        linear.scale = -1;
        linear.plus = (int64_t)(0 - (uint64_t)value);
        break;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        linear = (struct code_linear){.exists = true, .base = to, .index = -1};
        linear.plus = instruction->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
        break;
    case ZYDIS_MNEMONIC_XOR: /* of itself: 0 */
        linear = (struct code_linear){.exists = general && other == to, .base = -1, .index = -1};
        break;
    case ZYDIS_MNEMONIC_SHL:
        linear = (struct code_linear){.exists = immediate && value >= 0 && value < 30, .base = -1, .index = to};
        linear.scale = (int32_t)(1u << (value & 31));
        break;
    case ZYDIS_MNEMONIC_IMUL:
        linear.exists =
            instruction->operand_count_visible == 3 && general && operands[2].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        linear.scale = linear.exists ? (int32_t)operands[2].imm.value.s : 0;
        break;
    default:
        linear.exists = linear.selects = instruction->meta.category == ZYDIS_CATEGORY_CMOV && general;
    }
    linear.to = to;
    linear.narrow = operands[0].size < 64 || instruction->mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    return linear;
}

static bool decode_outside(ZydisInstructionCategory category)
{
    return category == ZYDIS_CATEGORY_SYSCALL || category == ZYDIS_CATEGORY_SYSRET || category == ZYDIS_CATEGORY_INTERRUPT ||
           category == ZYDIS_CATEGORY_IO || category == ZYDIS_CATEGORY_IOSTRINGOP || category == ZYDIS_CATEGORY_SYSTEM ||
           category == ZYDIS_CATEGORY_RDRAND || category == ZYDIS_CATEGORY_RDSEED;
}

static void decode_flow(const ZydisDecodedInstruction *instruction, uint64_t address, struct code_instruction *result)
{
    uint64_t next = address + instruction->length;
    bool relative = instruction->raw.imm[0].is_relative;
    ZydisMnemonic mnemonic = instruction->mnemonic;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        result->unless_equal = mnemonic == ZYDIS_MNEMONIC_JNZ;
        result->flow = relative ? CODE_FLOW_BRANCH : CODE_FLOW_NEXT;
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        result->flow = relative ? CODE_FLOW_JUMP : CODE_FLOW_INDIRECT;
        break;
    case ZYDIS_CATEGORY_CALL:
        result->flow = CODE_FLOW_CALL;
        break;
    case ZYDIS_CATEGORY_RET:
        result->flow = CODE_FLOW_END;
        return;
    default:
        if (mnemonic == ZYDIS_MNEMONIC_UD0 || mnemonic == ZYDIS_MNEMONIC_UD1 || mnemonic == ZYDIS_MNEMONIC_UD2 ||
            mnemonic == ZYDIS_MNEMONIC_HLT || mnemonic == ZYDIS_MNEMONIC_INT3)
            result->flow = CODE_FLOW_END;
        return;
    }
    result->target = relative ? next + (uint64_t)instruction->raw.imm[0].value.s : 0;
    /* Through a pointer at a fixed place: mod 00, rm 101. */
    if (result->flow != CODE_FLOW_BRANCH && result->flow != CODE_FLOW_NEXT &&
        (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) && instruction->raw.modrm.mod == 0 &&
        instruction->raw.modrm.rm == 5)
        result->call_slot = next + (uint64_t)instruction->raw.disp.value;
}

static ZydisDecoder decode_decoder;
static pthread_once_t decode_once = PTHREAD_ONCE_INIT;

static void decode_begin(void)
{
    ZydisDecoderInit(&decode_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

struct code_instruction code_decode(const uint8_t *bytes, size_t available, uint64_t address, bool with_operands)
{
    struct code_instruction result = {
        .memory = {.base = -1, .index = -1}, .put = -1, .destination = -1, .source = -1, .narrow_destination = -1, .narrow_source = -1};
    pthread_once(&decode_once, decode_begin);
    ZydisDecodedInstruction instruction;
    ZydisDecoderContext context;
    if (!bytes || !available ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decode_decoder, &context, bytes, available, &instruction)))
        return result;
    result.length = instruction.length;
    result.padding =
        instruction.meta.category == ZYDIS_CATEGORY_NOP || instruction.meta.category == ZYDIS_CATEGORY_WIDENOP;
    result.outside = decode_outside(instruction.meta.category);
    decode_flow(&instruction, address, &result);
    if (with_operands) {
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT] = {0}; /* of no type beyond the instruction's own */
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeOperands(&decode_decoder, &context, &instruction, operands, instruction.operand_count)))
            return result;
        result.memory = decode_memory(&instruction, operands);
        decode_moves(&instruction, operands, &result);
        decode_put(&instruction, operands, &result);
        result.linear = decode_linear(&instruction, operands, address + instruction.length);
        if (result.counts_memory)
            result.linear.plus = decode_counted(&instruction, operands);
    }
    if (result.flow == CODE_FLOW_CALL) {
        result.written |= CODE_CALL_CLOBBERS;
        result.written_vectors = UINT32_MAX; /* none of them is kept */
    }
    return result;
}

/* Its mnemonic, without the v of AVX. */
static const char *decode_name(const struct code_instruction *instruction)
{
    const char *name = ZydisMnemonicGetString((ZydisMnemonic)instruction->mnemonic);
    return name + (*name == 'v');
}

static const char *const decode_sums[] = {"add", "sub", "hadd"}, *const decode_products[] = {"mul", "fmadd", "fnmadd", "fmsub", "fnmsub"},
                         *const decode_extremes[] = {"min", "max"};

/* Whether it is one of those of floating-point numbers: one, or a vector of them. */
static bool decode_is_number(const struct code_instruction *instruction, const char *const *names, size_t count)
{
    const char *name = decode_name(instruction), *end = name + strlen(name);
    if (instruction->basic || end - name <= 2 || (end[-1] != 's' && end[-1] != 'd') || (end[-2] != 's' && end[-2] != 'p'))
        return false;
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bool code_is_sum(const struct code_instruction *instruction)
{
    return decode_is_number(instruction, decode_sums, sizeof decode_sums / sizeof *decode_sums);
}

bool code_is_product(const struct code_instruction *instruction)
{
    return decode_is_number(instruction, decode_products, sizeof decode_products / sizeof *decode_products);
}

/* Usual latencies of registers' instructions (Intel from Skylake on and AMD from Zen on differ by a cycle or so). */
uint8_t code_cycles(const struct code_instruction *instruction)
{
    const char *name = decode_name(instruction);
    bool packed = !instruction->basic;
    if (strncmp(name, "div", 3) == 0 || strncmp(name, "idiv", 4) == 0)
        return packed ? 13 : 18;
    if (strncmp(name, "sqrt", 4) == 0)
        return 18;
    if (strncmp(name, "imul", 4) == 0 || strcmp(name, "mul") == 0)
        return 3;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA && instruction->linear.scale > 1)
        return CODE_SCALED_CYCLES;
    if (strncmp(name, "cvt", 3) == 0)
        return 5;
    if (code_is_sum(instruction) || code_is_product(instruction) ||
        decode_is_number(instruction, decode_extremes, sizeof decode_extremes / sizeof *decode_extremes))
        return 4;
    if (strncmp(name, "pmul", 4) == 0)
        return 5;
    return instruction->mnemonic == ZYDIS_MNEMONIC_MOV ? 0 : 1;
}

bool code_scales(const struct code_instruction *instruction)
{
    return instruction->mnemonic == ZYDIS_MNEMONIC_LEA && instruction->linear.scale > 1 && !instruction->linear.plus;
}

int8_t code_carries_to(const struct code_instruction *instruction)
{
    const bool adds = instruction->mnemonic == ZYDIS_MNEMONIC_ADC || instruction->mnemonic == ZYDIS_MNEMONIC_SBB;
    const uint32_t written = instruction->written;
    const bool one = written && !(written & (written - 1)) && instruction->read == written;
    return adds && one && !instruction->memory.exists ? (int8_t)__builtin_ctz(written) : -1;
}

bool code_moves(const struct code_instruction *instruction)
{
    const char *name = decode_name(instruction);
    name += *name == 'c';
    return strncmp(name, "mov", 3) == 0 && strncmp(name, "movmsk", 6) != 0;
}

bool code_sets(const struct code_instruction *instruction)
{
    return strncmp(decode_name(instruction), "set", 3) == 0;
}

uint16_t code_gathers(const struct code_instruction *instruction)
{
    /* Prefixes of names without their v: sums and differences are one kind. */
    static const struct {
        const char *prefix;
        uint16_t kind;
    } kinds[] = {{"add", 1},  {"sub", 1}, {"padd", 1}, {"psub", 1}, {"fmadd231", 1}, {"fnmadd231", 1}, {"inc", 1},
                 {"dec", 1},  {"mul", 2}, {"imul", 2}, {"pmul", 2}, {"min", 3},      {"pmin", 3},      {"max", 4},
                 {"pmax", 4}, {"and", 5}, {"pand", 5}, {"or", 6},   {"por", 6},      {"xor", 7},       {"pxor", 7}};
    const char *name = decode_name(instruction);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            return kinds[i].kind;
    return 0;
}

int8_t code_copied_register(const struct code_linear *linear)
{
    if (!linear->exists || linear->narrow || linear->selects || linear->loads)
        return -1;
    if (linear->index < 0)
        return linear->base;
    return linear->base < 0 && linear->scale == 1 ? linear->index : -1;
}

struct code_instruction code_decode_at(const struct code_module *module, uint64_t address, bool with_operands)
{
    size_t available;
    const uint8_t *bytes = code_bytes(module, address, &available);
    return code_decode(bytes, available, address, with_operands);
}

struct lwp_memory_operand lwp_code_operand(struct lwp_code *code, uint32_t module_index, uint64_t address)
{
    const struct code_module *module = code_module_at(code, module_index);
    return (module ? code_decode_at(module, address, true) : code_decode(NULL, 0, address, true)).memory;
}
