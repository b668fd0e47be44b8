#include "collector/exact/value_code.h"

#include "collector/exact/machine_code.h"

#include <stddef.h>

/* In code: rbx values, rbp the first computation's context, r12 the epoch, r13 the number of zero, r14 addresses, r15 all
 * bits but the epoch's. Before each step r_holds may have the lower number of a slot. */
enum { STEP_MOST = 192, EXIT_MOST = 32, EXITS_MOST = 1024, NONE = 0xffff };

/* What is known of a slot's upper number. */
enum upper { UPPER_ANY, UPPER_ZERO, UPPER_NONE }; /* that of zero; 0 */

static struct {
    struct lwp_value_codes *codes;
    uint8_t upper[LWP_VALUE_SLOTS]; /* enum upper */
    uint16_t held;                  /* the slot whose lower number is in rax, NONE */
    uint32_t computed;              /* steps so far */
    struct exit {
        uint8_t *jump;              /* behind its distance */
        uint32_t computed;
    } exits[EXITS_MOST];
} emitted;

static void code_call(const void *function)
{
    lwp_machine_call(function);
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

static void slot_get(enum lwp_reg to, unsigned slot)
{
    if (emitted.held == slot)
        lwp_machine_move(to, RAX);
    else
        lwp_machine_memory(0x8b, to, RBX, slot_low(slot));
}

/* From rax. */
static void slot_set(unsigned slot)
{
    lwp_machine_memory(0x89, RAX, RBX, slot_low(slot));
    emitted.held = (uint16_t)slot;
}

/* The upper number, as it is. */
static void slot_get_upper(enum lwp_reg to, unsigned slot)
{
    if (emitted.upper[slot] == UPPER_ZERO)
        lwp_machine_move(to, R13);
    else if (emitted.upper[slot] == UPPER_NONE)
        lwp_machine_constant(to, 0);
    else
        lwp_machine_memory(0x8b, to, RBX, slot_high(slot));
}

/* lwp_number_high() of it; rcx is lost. */
static void slot_get_high(enum lwp_reg to, unsigned slot)
{
    if (emitted.upper[slot] == UPPER_ZERO) {
        lwp_machine_move(to, R13);
        return;
    }
    slot_get(RCX, slot);
    lwp_machine_small(6, RCX, LWP_NUMBER_UPPER);
    if (emitted.upper[slot] == UPPER_NONE) {
        lwp_machine_move(to, RCX);
        return;
    }
    lwp_machine_memory(0x8b, to, RBX, slot_high(slot));
    lwp_machine_registers(0x85, to, to);
    lwp_machine_byte(0x48 | (to >> 3) << 2); /* cmovz to, rcx */
    lwp_machine_byte(0x0f);
    lwp_machine_byte(0x44);
    lwp_machine_byte(0xc0 | (to & 7) << 3 | RCX);
}

/* The superblock's own slots are read nowhere else, so that what is known of them need not be there. */
static void slot_set_upper(unsigned slot, enum upper upper)
{
    bool there = emitted.upper[slot] == upper || slot >= LWP_VALUE_REGISTERS;
    emitted.upper[slot] = (uint8_t)upper;
    if (there)
        return;
    if (upper == UPPER_ZERO) {
        lwp_machine_memory(0x89, R13, RBX, slot_high(slot));
    } else {
        lwp_machine_memory(0xc7, 0, RBX, slot_high(slot));
        lwp_machine_word(0);
    }
}

static void slot_set_any(unsigned slot, enum lwp_reg upper)
{
    lwp_machine_memory(0x89, upper, RBX, slot_high(slot));
    emitted.upper[slot] = UPPER_ANY;
}

/* ---- operators ---- */

/* The operand in rax of the numbers of which there are two, in rax (without its epoch) and rdx. */
static void code_whole(void)
{
    uint64_t zero = lwp_number_operand(lwp_number_constant(0));
    lwp_machine_registers(0x21, R15, RDX); /* and */
    lwp_machine_constant(RCX, zero);
    lwp_machine_registers(0x39, RCX, RDX); /* compare */
    lwp_machine_byte(0x75);                /* unless equal: jump over */
    lwp_machine_byte(5);
    lwp_machine_small(1, RAX, LWP_NUMBER_ZEROS);
    lwp_machine_return();
    lwp_machine_constant(RCX, lwp_number_second);
    lwp_machine_multiply(RDX, RCX);
    lwp_machine_add(RAX, RDX);
    lwp_machine_constant(RCX, lwp_number_key(LWP_NUMBER_KEY_PAIR));
    lwp_machine_add(RAX, RCX);
    lwp_machine_constant(RDX, lwp_number_multiplier);
    lwp_machine_registers(0xf7, 4, RDX);
    lwp_machine_xor(RAX, RDX);
    lwp_machine_registers(0x81, 4, RAX); /* and */
    lwp_machine_word((uint32_t)-1 << LWP_NUMBER_HASH);
    lwp_machine_return();
}

/* A step's operand in rax; rcx and rdx are lost. */
static void operand_get(unsigned slot, bool wide)
{
    if (emitted.held != slot)
        slot_get(RAX, slot);
    emitted.held = NONE;
    lwp_machine_registers(0x21, R15, RAX); /* and */
    if (!wide || emitted.upper[slot] == UPPER_NONE)
        return;
    if (emitted.upper[slot] == UPPER_ZERO) {
        lwp_machine_small(1, RAX, LWP_NUMBER_ZEROS);
        return;
    }
    slot_get_upper(RDX, slot);
    lwp_machine_registers(0x85, RDX, RDX);
    lwp_machine_byte(0x74); /* if zero: over the call */
    lwp_machine_byte(5);
    lwp_machine_byte(0xe8);
    lwp_machine_word((uint32_t)(emitted.codes->memory - (lwp_machine_at + 4)));
}

/* Squares rax, as lwp_number_either(). */
static void operand_either(void)
{
    lwp_machine_constant(RCX, lwp_number_offset);
    lwp_machine_add(RAX, RCX);
    lwp_machine_multiply(RAX, RAX);
}

static void operand_second(void)
{
    lwp_machine_constant(RCX, lwp_number_second);
    lwp_machine_multiply(RAX, RCX);
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
            lwp_machine_move(R8, RAX);
    }
    if (two)
        lwp_machine_add(RAX, R8);
    lwp_machine_constant(RCX, step->key);
    lwp_machine_add(RAX, RCX);
    lwp_machine_constant(RDX, lwp_number_multiplier);
    lwp_machine_registers(0xf7, 4, RDX); /* multiply rax by rdx, to both */
    lwp_machine_xor(RAX, RDX);
    lwp_machine_registers(0x81, 4, RAX); /* and */
    lwp_machine_word((uint32_t)-1 << LWP_NUMBER_HASH);
    lwp_machine_registers(0x09, R12, RAX); /* or */
    if (step->width)
        lwp_machine_small(1, RAX, step->width);
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
        lwp_machine_small(4, RAX, ~LWP_NUMBER_WIDTH);
        lwp_machine_small(1, RAX, LWP_NUMBER_8);
    } else if (step->code == LWP_VALUE_TO_16) {
        lwp_machine_move(RDX, RAX); /* without LWP_NUMBER_8 it gets LWP_NUMBER_16 */
        lwp_machine_registers(0xc1, 5, RDX); /* shift right */
        lwp_machine_byte(__builtin_ctz(LWP_NUMBER_8));
        lwp_machine_small(4, RDX, LWP_NUMBER_16);
        lwp_machine_small(6, RDX, LWP_NUMBER_16);
        lwp_machine_registers(0x09, RDX, RAX);
    }
    slot_set(step->to);
    slot_set_upper(step->to, UPPER_ZERO);
}
_Static_assert(LWP_NUMBER_16 == 1, "a bit that is shifted down");

static void code_high(const struct lwp_value_step *step)
{
    slot_get_high(RDX, step->a);
    lwp_machine_move(RAX, RDX);
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
        lwp_machine_move(RAX, R13);
    } else {
        lwp_machine_constant(RAX, step->key);
        lwp_machine_registers(0x09, R12, RAX);
    }
    slot_set(step->to);
    slot_set_upper(step->to, UPPER_ZERO);
}

static void code_new(const struct lwp_value_step *step)
{
    lwp_machine_move(RDI, RBX);
    lwp_machine_constant(RSI, step->width);
    code_call((const void *)lwp_values_new);
    slot_set(step->to);
    slot_set_upper(step->to, step->narrow ? UPPER_ZERO : UPPER_NONE);
}

/* What functions that access memory are called with: values, address, offset. */
static void code_access(const struct lwp_value_step *step)
{
    lwp_machine_move(RDI, RBX);
    lwp_machine_memory(0x8b, RSI, R14, step->b * sizeof(uint64_t));
    lwp_machine_constant(RDX, step->key);
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
    lwp_machine_memory(0x8b, RSI, R14, step->b * sizeof(uint64_t));
    lwp_machine_move(RDI, RBX);
    lwp_machine_constant(RDX, step->key);
    code_call((const void *)lwp_values_forget_bytes);
}

static void code_computed(const struct lwp_value_step *step)
{
    slot_get(RSI, step->a);
    lwp_machine_move(RDI, RBX);
    lwp_machine_constant(RDX, step->key);
    lwp_machine_byte(0x8d); /* ecx = ebp + `to` */
    lwp_machine_byte(0x8d);
    lwp_machine_word(step->to);
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
        lwp_machine_memory(0x81, 0, RBX, offsetof(struct lwp_values, computed));
        lwp_machine_word(computed);
    }
    lwp_machine_return();
}

/* Left here if no more exits than `exit` were passed. */
static void code_exit(uint32_t exit)
{
    lwp_machine_memory(0x81, 7, RBX, offsetof(struct lwp_values, passed)); /* compare */
    lwp_machine_word(exit);
    lwp_machine_byte(0x0f); /* if equal: jump */
    lwp_machine_byte(0x84);
    lwp_machine_word(0);
    emitted.exits[exit] = (struct exit){lwp_machine_at, emitted.computed};
}

const void *lwp_value_code(struct lwp_value_codes *codes, const struct lwp_value_steps *steps)
{
    if (steps->exits > EXITS_MOST || codes->room - codes->used < steps->count * STEP_MOST + (steps->exits + 1) * EXIT_MOST)
        return NULL;
    uint8_t *start = lwp_machine_at = codes->memory + codes->used;
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
        uint32_t distance = (uint32_t)(lwp_machine_at - emitted.exits[i].jump);
        __builtin_memcpy(emitted.exits[i].jump - sizeof distance, &distance, sizeof distance);
        code_return(emitted.exits[i].computed);
    }
    codes->used = (size_t)(lwp_machine_at - codes->memory);
    return start;
}

bool lwp_value_codes_init(struct lwp_value_codes *codes, const struct lwp_shadow_port *port, size_t room)
{
    *codes = (struct lwp_value_codes){.memory = port->map(room), .room = room};
    if (!codes->memory)
        return false;
    lwp_machine_at = codes->memory;
    code_whole();
    codes->used = (size_t)(lwp_machine_at - codes->memory);
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
