/* Writes the machine code of a pattern, with Zydis' encoder: four rounds at a time.
 *
 * A round: each access in turn, through a register for each array; the loaded values go through one register, a chain of as many
 * one-cycle instructions as the loop's own chain is long, so that loads are awaited as in the loop; then instructions whose
 * result nobody needs, until there are as many as the loop has. */
#include "analysis/measure/pattern.h"

#include <Zydis/Zydis.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert(LWP_PATTERN_UNROLLED == 4, "rounds are shifted by two");

enum { CODE_BYTES = 32 << 10, CHAIN_MOST = 400, FILL_MOST = 1000 };

static const ZydisRegister code_arrays[LWP_PATTERN_ARRAYS] = {ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_RSI,
                                                              ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9,  ZYDIS_REGISTER_R10,
                                                              ZYDIS_REGISTER_R11, ZYDIS_REGISTER_R12};
static const ZydisRegister code_saved[] = {ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
                                           ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};
static const ZydisRegister code_place = ZYDIS_REGISTER_RDI, code_rounds = ZYDIS_REGISTER_RCX, code_order = ZYDIS_REGISTER_R13,
                           code_index = ZYDIS_REGISTER_RDX, code_address = ZYDIS_REGISTER_RAX, code_value = ZYDIS_REGISTER_R14,
                           code_chain = ZYDIS_REGISTER_R15;

struct code_buffer {
    uint8_t *bytes;
    size_t used;
    unsigned instructions; /* of the rounds so far */
    bool failed;
};

static ZydisEncoderOperand code_register(ZydisRegister which)
{
    ZydisEncoderOperand operand = {.type = ZYDIS_OPERAND_TYPE_REGISTER};
    operand.reg.value = which;
    return operand;
}

static ZydisEncoderOperand code_number(int64_t value)
{
    ZydisEncoderOperand operand = {.type = ZYDIS_OPERAND_TYPE_IMMEDIATE};
    operand.imm.s = value;
    return operand;
}

static ZydisEncoderOperand code_memory(ZydisRegister base, int64_t displacement, unsigned bytes)
{
    ZydisEncoderOperand operand = {.type = ZYDIS_OPERAND_TYPE_MEMORY};
    operand.mem.base = base;
    operand.mem.displacement = displacement;
    operand.mem.size = (ZyanU16)bytes;
    return operand;
}

static void code_encode(struct code_buffer *code, ZydisEncoderRequest *request)
{
    ZyanUSize length = CODE_BYTES - code->used;
    request->machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    if (code->failed || ZYAN_FAILED(ZydisEncoderEncodeInstruction(request, code->bytes + code->used, &length))) {
        code->failed = true;
        return;
    }
    code->used += length;
    code->instructions++;
}

static void code_add(struct code_buffer *code, ZydisMnemonic mnemonic, unsigned operands, ZydisEncoderOperand first,
                     ZydisEncoderOperand second)
{
    ZydisEncoderRequest request = {.mnemonic = mnemonic, .operand_count = (ZyanU8)operands};
    request.operands[0] = first;
    request.operands[1] = second;
    code_encode(code, &request);
}

static void code_move(struct code_buffer *code, ZydisRegister to, ZydisEncoderOperand from)
{
    code_add(code, ZYDIS_MNEMONIC_MOV, 2, code_register(to), from);
}

static ZydisRegister code_low(ZydisRegister of_8_bytes, unsigned bytes)
{
    unsigned number = of_8_bytes - ZYDIS_REGISTER_RAX;
    return bytes == 4 ? ZYDIS_REGISTER_EAX + number : bytes == 2 ? ZYDIS_REGISTER_AX + number : of_8_bytes;
}

/* At [base + offset + ahead]. A number of 1, 2, 4 or 8 bytes goes through the chain's end, what is wider through a vector register. */
static void code_access(struct code_buffer *code, const struct lwp_pattern_access *access, ZydisRegister base, uint64_t ahead)
{
    unsigned bytes = access->bytes >= 16 ? 16 : access->bytes >= 8 ? 8 : access->bytes >= 4 ? 4 : access->bytes;
    int64_t offset = (int64_t)(access->offset + ahead);
    ZydisEncoderOperand place;
    if (bytes == 16) {
        place = code_memory(base, offset, 16);
        ZydisEncoderOperand vector = code_register(ZYDIS_REGISTER_XMM0);
        code_add(code, ZYDIS_MNEMONIC_MOVUPS, 2, access->store ? place : vector, access->store ? vector : place);
        return;
    }
    bytes = bytes == 3 ? 2 : bytes;
    place = code_memory(base, offset, bytes);
    if (access->store)
        code_add(code, ZYDIS_MNEMONIC_MOV, 2, place, code_register(bytes == 1 ? ZYDIS_REGISTER_R15B : code_low(code_chain, bytes)));
    else if (bytes < 4)
        code_add(code, ZYDIS_MNEMONIC_MOVZX, 2, code_register(code_low(code_value, 4)), place);
    else
        code_move(code, code_low(code_value, bytes), place);
}

/* One cycle of the chain; with what was loaded last. */
static void code_wait(struct code_buffer *code, ZydisRegister on)
{
    code_add(code, ZYDIS_MNEMONIC_XOR, 2, code_register(code_chain), code_register(on));
}

static void code_step(struct code_buffer *code, ZydisRegister what, uint64_t by)
{
    code_add(code, ZYDIS_MNEMONIC_ADD, 2, code_register(what), code_number((int64_t)by));
}

static void code_multiply(struct code_buffer *code, ZydisRegister to, ZydisRegister from, uint64_t by)
{
    ZydisEncoderRequest multiply = {.mnemonic = ZYDIS_MNEMONIC_IMUL, .operand_count = 3};
    multiply.operands[0] = code_register(to);
    multiply.operands[1] = code_register(from);
    multiply.operands[2] = code_number((int64_t)by);
    code_encode(code, &multiply);
}

/* The register that holds the address of the array's element in this round. */
static ZydisRegister code_element(struct code_buffer *code, const struct lwp_pattern *pattern, size_t array)
{
    const struct lwp_pattern_array *of = &pattern->arrays[array];
    if (of->walk == LWP_PATTERN_LINKED) {
        code_move(code, code_address, code_memory(code_arrays[0], (int64_t)of->link, 8));
        return code_address;
    }
    if (of->walk != LWP_PATTERN_INDEXED)
        return code_arrays[array];
    code_multiply(code, code_address, code_index, of->spacing);
    code_add(code, ZYDIS_MNEMONIC_ADD, 2, code_register(code_address), code_register(code_arrays[array]));
    return code_address;
}

/* Whether its register moves on by a constant. */
static bool code_steps(const struct lwp_pattern_array *array)
{
    return array->walk == LWP_PATTERN_STEPS || array->walk == LWP_PATTERN_NESTED;
}

static ZydisEncoderRequest code_jump(int64_t by)
{
    ZydisEncoderRequest jump = {
        .mnemonic = ZYDIS_MNEMONIC_JNZ, .operand_count = 1, .branch_type = ZYDIS_BRANCH_TYPE_NEAR, .branch_width = ZYDIS_BRANCH_WIDTH_32};
    jump.operands[0] = code_number(by);
    return jump;
}

/* Counts the inner loop's rounds where others have their list of indices; after the last one all arrays go on to the next run. */
static void code_outer(struct code_buffer *code, const struct lwp_pattern *pattern)
{
    code_add(code, ZYDIS_MNEMONIC_SUB, 2, code_register(code_order), code_number(1));
    ZydisEncoderRequest over = code_jump(0);
    code_encode(code, &over);
    size_t from = code->used;
    unsigned instructions = code->instructions; /* what follows is rare */
    code_move(code, code_order, code_number((int64_t)(pattern->inner / LWP_PATTERN_UNROLLED)));
    for (size_t a = 0; a < pattern->array_count; a++) {
        const struct lwp_pattern_array *array = &pattern->arrays[a];
        code_add(code, ZYDIS_MNEMONIC_ADD, 2, code_register(code_arrays[a]),
                 code_number((int64_t)array->outer - (int64_t)(pattern->inner * array->spacing)));
    }
    code->instructions = instructions;
    int32_t by = (int32_t)(code->used - from);
    if (!code->failed)
        memcpy(code->bytes + from - sizeof by, &by, sizeof by);
}

/* `ahead`: rounds since the registers were moved on. */
static void code_visit(struct code_buffer *code, const struct lwp_pattern *pattern, unsigned ahead, bool indexed)
{
    double chain = fmin(pattern->chain, CHAIN_MOST), waited = 0;
    if (indexed)
        code_move(code, code_low(code_index, 4), code_memory(code_order, 4 * (int64_t)ahead, 4));
    for (size_t a = 0; a < pattern->array_count; a++) {
        ZydisRegister base = ZYDIS_REGISTER_NONE;
        for (size_t i = 0; i < pattern->access_count; i++) {
            const struct lwp_pattern_access *access = &pattern->accesses[i];
            if (access->array != a)
                continue;
            base = base == ZYDIS_REGISTER_NONE ? code_element(code, pattern, a) : base;
            code_access(code, access, base, code_steps(&pattern->arrays[a]) ? ahead * pattern->arrays[a].spacing : 0);
            if (!access->store && access->bytes <= 8 && waited + 1 <= chain) {
                code_wait(code, code_value);
                waited++;
            }
        }
    }
    for (; waited + 1 <= chain; waited++)
        code_wait(code, code_rounds);
    if (pattern->arrays[0].walk == LWP_PATTERN_CHAINED)
        code_move(code, code_arrays[0], code_memory(code_arrays[0], (int64_t)pattern->arrays[0].link, 8));
}

/* Several rounds, so that counting them does not take the time of those that do little. */
static void code_rounds_of(struct code_buffer *code, const struct lwp_pattern *pattern)
{
    bool indexed = false;
    for (size_t a = 0; a < pattern->array_count; a++)
        indexed |= pattern->arrays[a].walk == LWP_PATTERN_INDEXED;
    for (unsigned ahead = 0; ahead < LWP_PATTERN_UNROLLED; ahead++) {
        code_visit(code, pattern, ahead, indexed);
        double fill = fmin(pattern->instructions, FILL_MOST) * (ahead + 1) - code->instructions;
        fill -= ahead + 1 == LWP_PATTERN_UNROLLED ? (double)pattern->array_count + 2 : 0;
        for (double filled = 0; filled + 1 <= fill; filled++)
            code_add(code, ZYDIS_MNEMONIC_TEST, 2, code_register(code_rounds), code_register(code_rounds));
    }
    if (indexed)
        code_step(code, code_order, 4ull * LWP_PATTERN_UNROLLED);
    for (size_t a = 0; a < pattern->array_count; a++)
        if (code_steps(&pattern->arrays[a]))
            code_step(code, code_arrays[a], LWP_PATTERN_UNROLLED * pattern->arrays[a].spacing);
    if (pattern->inner)
        code_outer(code, pattern);
}

static void code_enter(struct code_buffer *code, const struct lwp_pattern *pattern)
{
    for (size_t i = 0; i < sizeof code_saved / sizeof *code_saved; i++)
        code_add(code, ZYDIS_MNEMONIC_PUSH, 1, code_register(code_saved[i]), (ZydisEncoderOperand){0});
    for (size_t a = 0; a < pattern->array_count; a++)
        code_move(code, code_arrays[a], code_memory(code_place, (int64_t)(offsetof(struct lwp_pattern_place, at) + 8 * a), 8));
    code_move(code, code_order, code_memory(code_place, offsetof(struct lwp_pattern_place, order), 8));
    code_move(code, code_rounds, code_memory(code_place, offsetof(struct lwp_pattern_place, rounds), 8));
    code_add(code, ZYDIS_MNEMONIC_SHR, 2, code_register(code_rounds), code_number(2));
    code_add(code, ZYDIS_MNEMONIC_XOR, 2, code_register(code_chain), code_register(code_chain));
}

static void code_leave(struct code_buffer *code, const struct lwp_pattern *pattern)
{
    for (size_t a = 0; a < pattern->array_count; a++)
        code_add(code, ZYDIS_MNEMONIC_MOV, 2, code_memory(code_place, (int64_t)(offsetof(struct lwp_pattern_place, at) + 8 * a), 8),
                 code_register(code_arrays[a]));
    code_add(code, ZYDIS_MNEMONIC_MOV, 2, code_memory(code_place, offsetof(struct lwp_pattern_place, order), 8), code_register(code_order));
    for (size_t i = sizeof code_saved / sizeof *code_saved; i-- > 0;)
        code_add(code, ZYDIS_MNEMONIC_POP, 1, code_register(code_saved[i]), (ZydisEncoderOperand){0});
    code_add(code, ZYDIS_MNEMONIC_RET, 0, (ZydisEncoderOperand){0}, (ZydisEncoderOperand){0});
}

int lwp_pattern_code_make(const struct lwp_pattern *pattern, struct lwp_pattern_code *made, struct lwp_error *err)
{
    struct code_buffer code = {0};
    *made = (struct lwp_pattern_code){.bytes = CODE_BYTES};
    code.bytes = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code.bytes == MAP_FAILED)
        return lwp_error_errno(err, "no memory for the code of a pattern");
    made->memory = code.bytes;
    code_enter(&code, pattern);
    while (code.used % 64 && !code.failed)
        code.bytes[code.used++] = 0x90; /* nop: the loop begins a line of code */
    size_t head = code.used;
    code.instructions = 0;
    code_rounds_of(&code, pattern);
    code_add(&code, ZYDIS_MNEMONIC_SUB, 2, code_register(code_rounds), code_number(1));
    enum { JUMP_BYTES = 6 };
    ZydisEncoderRequest jump = code_jump((int64_t)head - (int64_t)(code.used + JUMP_BYTES));
    code_encode(&code, &jump);
    code_leave(&code, pattern);
    if (code.failed || mprotect(code.bytes, CODE_BYTES, PROT_READ | PROT_EXEC)) {
        lwp_pattern_code_free(made);
        return lwp_error_set(err, LWP_ERR_USAGE, "the pattern is too large to be run");
    }
    made->run = (void (*)(struct lwp_pattern_place *))(void *)code.bytes;
    return LWP_OK;
}

void lwp_pattern_code_free(struct lwp_pattern_code *code)
{
    if (code->memory)
        munmap(code->memory, code->bytes);
    *code = (struct lwp_pattern_code){0};
}
