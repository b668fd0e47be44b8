#include "collector/exact/value_code.h"

#include <stddef.h>

/* In code: rbx values, rbp the first computation's context, r12 the epoch, r13 the number of zero, r14 addresses, r15 all
 * bits but the epoch's. Before each step r_holds may have the lower number of a slot. */
enum reg { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

enum { STEP_MOST = 192, EXIT_MOST = 32, EXITS_MOST = 1024, NONE = 0xffff };

/* What is known of a slot's upper number. */
enum upper { UPPER_ANY, UPPER_ZERO, UPPER_NONE }; /* that of zero; 0 */

static struct {
    struct lwp_value_codes *codes;
    uint8_t *at;
    uint8_t upper[LWP_VALUE_SLOTS]; /* enum upper */
    uint16_t held;                  /* the slot whose lower number is in rax, NONE */
    uint32_t computed;              /* steps so far */
    struct exit {
        uint8_t *jump;              /* behind its distance */
        uint32_t computed;
    } exits[EXITS_MOST];
} emitted;

/* ---- instructions ---- */

static void code_byte(unsigned byte)
{
    *emitted.at++ = (uint8_t)byte;
}

static void code_word(uint32_t word)
{
    __builtin_memcpy(emitted.at, &word, sizeof word);
    emitted.at += sizeof word;
}

static void code_long(uint64_t value)
{
    __builtin_memcpy(emitted.at, &value, sizeof value);
    emitted.at += sizeof value;
}

/* An instruction on two registers: `field` is the middle of the byte that names them. */
static void code_registers(unsigned opcode, unsigned field, unsigned other)
{
    code_byte(0x48 | (field >> 3) << 2 | other >> 3);
    code_byte(opcode);
    code_byte(0xc0 | (field & 7) << 3 | (other & 7));
}

/* On a register and memory `distance` bytes from where `base`, neither rsp nor r12, points. */
static void code_memory(unsigned opcode, unsigned field, unsigned base, size_t distance)
{
    code_byte(0x48 | (field >> 3) << 2 | base >> 3);
    code_byte(opcode);
    code_byte(0x80 | (field & 7) << 3 | (base & 7));
    code_word((uint32_t)distance);
}

static void code_constant(enum reg to, uint64_t value)
{
    bool word = value >> 32 == 0;
    if (!word || to >= R8)
        code_byte(0x40 | (word ? 0 : 8) | to >> 3);
    code_byte(0xb8 | (to & 7));
    if (word)
        code_word((uint32_t)value);
    else
        code_long(value);
}

static void code_move(enum reg to, enum reg from)
{
    code_registers(0x89, from, to);
}

static void code_add(enum reg to, enum reg from)
{
    code_registers(0x01, from, to);
}

static void code_xor(enum reg to, enum reg from)
{
    code_registers(0x31, from, to);
}

/* A constant of 8 bits with its sign: `field` 0: add, 1: or, 4: and, 6: xor. */
static void code_small(unsigned field, enum reg to, int constant)
{
    code_registers(0x83, field, to);
    code_byte((uint8_t)constant);
}

static void code_call(const void *function)
{
    code_constant(RAX, (uintptr_t)function);
    code_byte(0xff); /* call rax */
    code_byte(0xd0);
    emitted.held = NONE;
}

/* ---- slots ---- */

static size_t slot_low(unsigned slot)
{
    return offsetof(struct lwp_values, low) + slot * sizeof(uint64_t);
}

static size_t slot_high(unsigned slot)
{
    return offsetof(struct lwp_values, high) + slot * sizeof(uint64_t);
}

static void slot_get(enum reg to, unsigned slot)
{
    if (emitted.held == slot)
        code_move(to, RAX);
    else
        code_memory(0x8b, to, RBX, slot_low(slot));
}

/* From rax. */
static void slot_set(unsigned slot)
{
    code_memory(0x89, RAX, RBX, slot_low(slot));
    emitted.held = (uint16_t)slot;
}

/* The upper number, as it is. */
static void slot_get_upper(enum reg to, unsigned slot)
{
    if (emitted.upper[slot] == UPPER_ZERO)
        code_move(to, R13);
    else if (emitted.upper[slot] == UPPER_NONE)
        code_constant(to, 0);
    else
        code_memory(0x8b, to, RBX, slot_high(slot));
}

/* lwp_number_high() of it; rcx is lost. */
static void slot_get_high(enum reg to, unsigned slot)
{
    if (emitted.upper[slot] == UPPER_ZERO) {
        code_move(to, R13);
        return;
    }
    slot_get(RCX, slot);
    code_small(6, RCX, LWP_NUMBER_UPPER);
    if (emitted.upper[slot] == UPPER_NONE) {
        code_move(to, RCX);
        return;
    }
    code_memory(0x8b, to, RBX, slot_high(slot));
    code_registers(0x85, to, to);
    code_byte(0x48 | (to >> 3) << 2); /* cmovz to, rcx */
    code_byte(0x0f);
    code_byte(0x44);
    code_byte(0xc0 | (to & 7) << 3 | RCX);
}

/* The superblock's own slots are read nowhere else, so that what is known of them need not be there. */
static void slot_set_upper(unsigned slot, enum upper upper)
{
    bool there = emitted.upper[slot] == upper || slot >= LWP_VALUE_REGISTERS;
    emitted.upper[slot] = (uint8_t)upper;
    if (there)
        return;
    if (upper == UPPER_ZERO) {
        code_memory(0x89, R13, RBX, slot_high(slot));
    } else {
        code_memory(0xc7, 0, RBX, slot_high(slot));
        code_word(0);
    }
}

static void slot_set_any(unsigned slot, enum reg upper)
{
    code_memory(0x89, upper, RBX, slot_high(slot));
    emitted.upper[slot] = UPPER_ANY;
}

/* ---- operators ---- */

/* The operand in rax of the numbers of which there are two, in rax (without its epoch) and rdx. */
static void code_whole(void)
{
    uint64_t zero = lwp_number_operand(lwp_number_constant(0));
    code_registers(0x21, R15, RDX); /* and */
    code_constant(RCX, zero);
    code_registers(0x39, RCX, RDX); /* compare */
    code_byte(0x75);                /* unless equal: jump over */
    code_byte(5);
    code_small(1, RAX, LWP_NUMBER_ZEROS);
    code_byte(0xc3); /* return */
    code_constant(RCX, lwp_number_second);
    code_byte(0x48); /* multiply rdx by rcx */
    code_byte(0x0f);
    code_byte(0xaf);
    code_byte(0xd1);
    code_add(RAX, RDX);
    code_constant(RCX, lwp_number_key(LWP_NUMBER_KEY_PAIR));
    code_add(RAX, RCX);
    code_constant(RDX, lwp_number_multiplier);
    code_registers(0xf7, 4, RDX);
    code_xor(RAX, RDX);
    code_registers(0x81, 4, RAX); /* and */
    code_word((uint32_t)-1 << LWP_NUMBER_HASH);
    code_byte(0xc3);
}

/* A step's operand in rax; rcx and rdx are lost. */
static void operand_get(unsigned slot, bool wide)
{
    if (emitted.held != slot)
        slot_get(RAX, slot);
    emitted.held = NONE;
    code_registers(0x21, R15, RAX); /* and */
    if (!wide || emitted.upper[slot] == UPPER_NONE)
        return;
    if (emitted.upper[slot] == UPPER_ZERO) {
        code_small(1, RAX, LWP_NUMBER_ZEROS);
        return;
    }
    slot_get_upper(RDX, slot);
    code_registers(0x85, RDX, RDX);
    code_byte(0x74); /* if zero: over the call */
    code_byte(5);
    code_byte(0xe8);
    code_word((uint32_t)(emitted.codes->memory - (emitted.at + 4)));
}

/* Squares rax, as lwp_number_either(). */
static void operand_either(void)
{
    code_constant(RCX, lwp_number_offset);
    code_add(RAX, RCX);
    code_byte(0x48); /* multiply rax by rax */
    code_byte(0x0f);
    code_byte(0xaf);
    code_byte(0xc0);
}

static void operand_second(void)
{
    code_constant(RCX, lwp_number_second);
    code_byte(0x48); /* multiply rax by rcx */
    code_byte(0x0f);
    code_byte(0xaf);
    code_byte(0xc1);
}

static void code_operator(const struct lwp_value_step *step)
{
    bool wide = step->code % 2 == LWP_VALUE_UNARY % 2, two = step->code >= LWP_VALUE_BINARY && step->code <= LWP_VALUE_EITHER_32;
    bool either = step->code >= LWP_VALUE_EITHER, a_first = emitted.held == step->a;
    for (unsigned i = 0; i < (two ? 2 : 1); i++) {
        bool a = !two || (i == 0) == a_first;
        operand_get(a ? step->a : step->b, wide);
        if (either)
            operand_either();
        else if (!a)
            operand_second();
        if (i == 0 && two)
            code_move(R8, RAX);
    }
    if (two)
        code_add(RAX, R8);
    code_constant(RCX, step->key);
    code_add(RAX, RCX);
    code_constant(RDX, lwp_number_multiplier);
    code_registers(0xf7, 4, RDX); /* multiply rax by rdx, to both */
    code_xor(RAX, RDX);
    code_registers(0x81, 4, RAX); /* and */
    code_word((uint32_t)-1 << LWP_NUMBER_HASH);
    code_registers(0x09, R12, RAX); /* or */
    if (step->width)
        code_small(1, RAX, step->width);
    slot_set(step->to);
    slot_set_upper(step->to, step->narrow ? UPPER_ZERO : UPPER_NONE);
}

/* ---- other steps ---- */

static void code_copy(const struct lwp_value_step *step)
{
    enum upper upper = (enum upper)emitted.upper[step->a];
    slot_get_upper(RDX, step->a);
    slot_get(RAX, step->a);
    slot_set(step->to);
    if (upper == UPPER_ANY)
        slot_set_any(step->to, RDX);
    else
        slot_set_upper(step->to, upper);
}

static void code_narrow(const struct lwp_value_step *step)
{
    slot_get(RAX, step->a);
    if (step->code == LWP_VALUE_TO_8) {
        code_small(4, RAX, ~LWP_NUMBER_WIDTH);
        code_small(1, RAX, LWP_NUMBER_8);
    } else if (step->code == LWP_VALUE_TO_16) {
        code_move(RDX, RAX); /* without LWP_NUMBER_8 it gets LWP_NUMBER_16 */
        code_registers(0xc1, 5, RDX); /* shift right */
        code_byte(__builtin_ctz(LWP_NUMBER_8));
        code_small(4, RDX, LWP_NUMBER_16);
        code_small(6, RDX, LWP_NUMBER_16);
        code_registers(0x09, RDX, RAX);
    }
    slot_set(step->to);
    slot_set_upper(step->to, UPPER_ZERO);
}
_Static_assert(LWP_NUMBER_16 == 1, "a bit that is shifted down");

static void code_high(const struct lwp_value_step *step)
{
    slot_get_high(RDX, step->a);
    code_move(RAX, RDX);
    slot_set(step->to);
    slot_set_upper(step->to, UPPER_ZERO);
}

/* Two numbers, of a and b. */
static void code_pair(const struct lwp_value_step *step)
{
    if (step->code == LWP_VALUE_PAIR)
        slot_get(RDX, step->b);
    else
        slot_get_high(RDX, step->b);
    slot_get(RAX, step->a);
    slot_set(step->to);
    slot_set_any(step->to, RDX);
}

static void code_known(const struct lwp_value_step *step)
{
    if (step->key == lwp_number_constant(0)) {
        code_move(RAX, R13);
    } else {
        code_constant(RAX, step->key);
        code_registers(0x09, R12, RAX);
    }
    slot_set(step->to);
    slot_set_upper(step->to, UPPER_ZERO);
}

static void code_new(const struct lwp_value_step *step)
{
    code_move(RDI, RBX);
    code_constant(RSI, step->width);
    code_call((const void *)lwp_values_new);
    slot_set(step->to);
    slot_set_upper(step->to, step->narrow ? UPPER_ZERO : UPPER_NONE);
}

/* What functions that access memory are called with: values, address, offset. */
static void code_access(const struct lwp_value_step *step)
{
    code_move(RDI, RBX);
    code_memory(0x8b, RSI, R14, step->b * sizeof(uint64_t));
    code_constant(RDX, step->key);
}

#define FUNCTIONS(bytes)                                                                                       \
    static struct lwp_number call_load_##bytes(struct lwp_values *values, uint64_t address, uint64_t offset)        \
    {                                                                                                          \
        return lwp_values_load(values, address, offset, bytes);                                                \
    }                                                                                                          \
    static void call_store_##bytes(struct lwp_values *values, uint64_t address, uint64_t offset, struct lwp_number number) \
    {                                                                                                          \
        lwp_values_store(values, address, offset, bytes, number);                                              \
    }
FUNCTIONS(1)
FUNCTIONS(2)
FUNCTIONS(4)
FUNCTIONS(8)

static void code_load(const struct lwp_value_step *step)
{
    const void *const functions[] = {call_load_1, call_load_2, call_load_4, call_load_8};
    code_access(step);
    code_call(functions[step->code - LWP_VALUE_LOAD_1]);
    slot_set(step->to);
    if (step->code == LWP_VALUE_LOAD_8)
        slot_set_any(step->to, RDX);
    else
        slot_set_upper(step->to, UPPER_ZERO);
}

static void code_store(const struct lwp_value_step *step)
{
    const void *const functions[] = {call_store_1, call_store_2, call_store_4, call_store_8};
    slot_get(RCX, step->a);
    slot_get_upper(R8, step->a);
    code_access(step);
    code_call(functions[step->code - LWP_VALUE_STORE_1]);
}

static void code_forget(const struct lwp_value_step *step)
{
    code_memory(0x8b, RSI, R14, step->b * sizeof(uint64_t));
    code_move(RDI, RBX);
    code_constant(RDX, step->key);
    code_call((const void *)lwp_values_forget_bytes);
}

static void code_computed(const struct lwp_value_step *step)
{
    slot_get(RSI, step->a);
    code_move(RDI, RBX);
    code_constant(RDX, step->key);
    code_byte(0x8d); /* ecx = ebp + `to` */
    code_byte(0x8d);
    code_word(step->to);
    code_call((const void *)lwp_values_computed);
    emitted.computed++;
}

static void code_step(const struct lwp_value_step *step)
{
    if (step->code <= LWP_VALUE_OPERATORS)
        code_operator(step);
    else if (step->code == LWP_VALUE_COPY)
        code_copy(step);
    else if (step->code >= LWP_VALUE_WIDEN && step->code <= LWP_VALUE_TO_16)
        code_narrow(step);
    else if (step->code == LWP_VALUE_TO_HIGH)
        code_high(step);
    else if (step->code == LWP_VALUE_PAIR || step->code == LWP_VALUE_SET_LOW)
        code_pair(step);
    else if (step->code == LWP_VALUE_CONSTANT)
        code_known(step);
    else if (step->code == LWP_VALUE_NEW)
        code_new(step);
    else if (step->code <= LWP_VALUE_LOAD_8)
        code_load(step);
    else if (step->code <= LWP_VALUE_STORE_8)
        code_store(step);
    else if (step->code == LWP_VALUE_FORGET)
        code_forget(step);
    else
        code_computed(step);
}

/* ---- superblocks ---- */

/* Its steps end here: what it has computed is counted. */
static void code_return(uint32_t computed)
{
    if (computed) {
        code_memory(0x81, 0, RBX, offsetof(struct lwp_values, computed));
        code_word(computed);
    }
    code_byte(0xc3);
}

/* Left here if no more exits than `exit` were passed. */
static void code_exit(uint32_t exit)
{
    code_memory(0x81, 7, RBX, offsetof(struct lwp_values, passed)); /* compare */
    code_word(exit);
    code_byte(0x0f); /* if equal: jump */
    code_byte(0x84);
    code_word(0);
    emitted.exits[exit] = (struct exit){emitted.at, emitted.computed};
}

const void *lwp_value_code(struct lwp_value_codes *codes, const struct lwp_value_steps *steps)
{
    if (steps->exits > EXITS_MOST || codes->room - codes->used < steps->count * STEP_MOST + (steps->exits + 1) * EXIT_MOST)
        return NULL;
    uint8_t *start = emitted.at = codes->memory + codes->used;
    uint32_t exit = 0;
    emitted.codes = codes;
    emitted.held = NONE;
    emitted.computed = 0;
    for (unsigned i = 0; i < LWP_VALUE_SLOTS; i++)
        emitted.upper[i] = UPPER_ANY;
    for (uint32_t i = 0; i < steps->count; i++) {
        for (; exit < steps->exits && steps->ends[exit] == i; exit++)
            code_exit(exit);
        code_step(&steps->step[i]);
    }
    code_return(emitted.computed);
    for (uint32_t i = 0; i < exit; i++) {
        uint32_t distance = (uint32_t)(emitted.at - emitted.exits[i].jump);
        __builtin_memcpy(emitted.exits[i].jump - sizeof distance, &distance, sizeof distance);
        code_return(emitted.exits[i].computed);
    }
    codes->used = (size_t)(emitted.at - codes->memory);
    return start;
}

bool lwp_value_codes_init(struct lwp_value_codes *codes, const struct lwp_shadow_port *port, size_t room)
{
    *codes = (struct lwp_value_codes){.memory = port->map(room), .room = room};
    if (!codes->memory)
        return false;
    emitted.at = codes->memory;
    code_whole();
    codes->used = (size_t)(emitted.at - codes->memory);
    return true;
}

__asm__(".text\n"
        ".type lwp_value_code_enter, @function\n"
        "lwp_value_code_enter:\n" /* values, addresses, context, epoch, zero, code */
        "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rdi, %rbx\n    mov %rsi, %r14\n    mov %edx, %ebp\n    mov %rcx, %r12\n    mov %r8, %r13\n"
        "    mov $-0x7fff9, %r15\n"
        "    call *%r9\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"
        "    ret\n"
        ".size lwp_value_code_enter, . - lwp_value_code_enter\n");
void lwp_value_code_enter(struct lwp_values *values, const uint64_t *addresses, uint32_t context, uint64_t epoch,
                          uint64_t zero, const void *code);
_Static_assert(-0x7fff9 == (int64_t)~((uint64_t)(LWP_NUMBER_EPOCHS - 1) << LWP_NUMBER_EPOCH), "all bits but the epoch's");

void lwp_value_code_run(struct lwp_values *values, const void *code, const uint64_t *addresses, uint32_t passed,
                        uint32_t context)
{
    uint64_t epoch = values->numbering.epoch;
    values->passed = passed;
    lwp_value_code_enter(values, addresses, context, epoch, lwp_number_constant(0) | epoch, code);
}
