#include "collector/exact/value_code.h"

#include "collector/exact/machine_code.h"

#include <stddef.h>

/* In code: rbx values, rbp the number of words->path, r12 the epoch, r13 the number of zero, r14 the superblock's
 * words, r15 the memory's leaves. Before each step rax may have the lower number of a slot. */
enum { STEP_MOST = 256, WORD_MOST = 32, EXIT_MOST = 64, BLOCK_MOST = 128, EXITS_MOST = 1024, WAYS_MOST = 512, NONE = 0xffff };

/* What is known of a slot's upper number. */
enum upper { UPPER_ANY, UPPER_ZERO, UPPER_NONE }; /* that of zero; 0 */

static struct {
    struct lwp_value_codes *codes;
    uint8_t upper[LWP_VALUE_SLOTS]; /* enum upper */
    uint16_t held;                  /* the slot whose lower number is in rax, NONE */
    uint32_t first;                 /* computation's number beside rbp */
    uint32_t computed;              /* steps so far */
    struct exit {
        uint8_t *jump;
        uint32_t computed;
    } exits[EXITS_MOST];
    struct way {                    /* by a call, where what is in place does not do */
        const struct lwp_value_step *step;
        uint8_t *jumps[5], *back;   /* who goes there; where to go on */
        uint32_t count;
    } ways[WAYS_MOST];
    uint32_t way_count;
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
    lwp_machine_equal(to, RCX);
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

/* lwp_number_operand() of it. */
static void number_operand(enum lwp_reg number)
{
    lwp_machine_registers(0x81, 4, number); /* and */
    lwp_machine_word((uint32_t)~lwp_number_epoch_mask);
}
_Static_assert((int64_t)~((uint64_t)(LWP_NUMBER_EPOCHS - 1) << LWP_NUMBER_EPOCH) >= INT32_MIN, "a constant of 32 bits and a sign");

/* The operand in rax of the numbers of which there are two, in rax (without its epoch) and rdx. */
static void code_whole(void)
{
    uint64_t zero = lwp_number_operand(lwp_number_constant(0));
    number_operand(RDX);
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
    number_operand(RAX);
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

/* The leaf of the number in rdx to rdx. */
static void code_leaf(void)
{
    lwp_machine_byte(0x49); /* mov (%r15, %rdx, 8), %rdx */
    lwp_machine_byte(0x8b);
    lwp_machine_byte(0x14);
    lwp_machine_byte(0xd7);
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

/* Calls for a load: the number is in rax and rdx. Or for a store: of rcx and r8. */
static void code_memory_call(const struct lwp_value_step *step)
{
    const void *const functions[] = {call_load_1, call_load_2, call_load_4, call_load_8,
                                     call_store_1, call_store_2, call_store_4, call_store_8};
    code_access(step);
    code_call(functions[step->code - LWP_VALUE_LOAD_1]);
}

static void way_jump(struct way *way, unsigned condition)
{
    way->jumps[way->count++] = lwp_machine_jump(condition);
}

/* The shadow of an access to 4 or 8 bytes into rdx, if it is one whole word or two; rax and rsi are lost. */
static void code_word(struct way *way, const struct lwp_value_step *step, bool two)
{
    const unsigned piece = two ? 3 : 2; /* bits that are 0, and go to the top */
    lwp_machine_memory(0x8b, RSI, R14, step->b * sizeof(uint64_t));
    lwp_machine_registers(0x85, RSI, RSI); /* test */
    way_jump(way, 4);
    lwp_machine_memory(0x8d, RAX, RSI, step->key); /* lea */
    lwp_machine_shift(1, RAX, piece);
    lwp_machine_move(RDX, RAX);
    lwp_machine_shift(5, RDX, LWP_VALUE_ADDRESS_BITS - piece);
    way_jump(way, 5);
    lwp_machine_move(RDX, RAX);
    lwp_machine_shift(5, RDX, LWP_VALUE_LEAF_BITS - piece);
    code_leaf();
    lwp_machine_registers(0x85, RDX, RDX);
    way_jump(way, 4);
    lwp_machine_byte(0x25); /* and eax */
    lwp_machine_word((1u << (LWP_VALUE_LEAF_BITS - piece)) - 1);
    lwp_machine_shift(4, RAX, piece + 1); /* 4 bytes have 8 */
    lwp_machine_add(RDX, RAX);
}

/* Where the epoch of the number in rcx has any bits. */
static void code_stale(struct way *way)
{
    lwp_machine_byte(0xf7); /* test ecx */
    lwp_machine_byte(0xc0 | RCX);
    lwp_machine_word((uint32_t)lwp_number_epoch_mask);
    way_jump(way, 5);
}

/* lwp_value_load() to rax and rdx. */
static void code_load_words(struct way *way, const struct lwp_value_step *step)
{
    bool two = step->code == LWP_VALUE_LOAD_8;
    code_word(way, step, two);
    lwp_machine_memory(0x8b, RAX, RDX, 0);
    if (two)
        lwp_machine_memory(0x8b, RDX, RDX, sizeof(uint64_t));
    lwp_machine_move(RCX, RAX);
    lwp_machine_xor(RCX, R12);
    if (two) {
        lwp_machine_move(R8, RDX);
        lwp_machine_xor(R8, R12);
        lwp_machine_registers(0x09, R8, RCX); /* or */
    }
    code_stale(way);
    if (!two)
        return;
    lwp_machine_memory(0x8d, RCX, RAX, LWP_NUMBER_UPPER); /* lea: where it is set the sum is of another epoch, and no high half */
    lwp_machine_constant(R8, 0);
    lwp_machine_registers(0x39, RCX, RDX); /* compare */
    lwp_machine_equal(RDX, R8);
}

/* The word that rdx points to is told byte by byte? */
static void code_split(struct way *way, size_t distance)
{
    lwp_machine_memory(0x8b, RAX, RDX, distance);
    lwp_machine_registers(0xf7, 2, RAX); /* not */
    lwp_machine_byte(0xa9);              /* test eax */
    lwp_machine_word((uint32_t)lwp_value_split_mark);
    way_jump(way, 4);
}

/* lwp_value_store() of rcx and r8. */
static void code_store_words(struct way *way, const struct lwp_value_step *step)
{
    bool two = step->code == LWP_VALUE_STORE_8;
    code_word(way, step, two);
    code_split(way, 0);
    if (two)
        code_split(way, sizeof(uint64_t));
    lwp_machine_memory(0x89, RCX, RDX, 0);
    if (!two)
        return;
    lwp_machine_small(6, RCX, LWP_NUMBER_UPPER);
    lwp_machine_registers(0x85, R8, R8);
    lwp_machine_equal(R8, RCX);
    lwp_machine_memory(0x89, R8, RDX, sizeof(uint64_t));
}

static void code_memory(const struct lwp_value_step *step, void (*in_place)(struct way *way, const struct lwp_value_step *step))
{
    bool words = step->code == LWP_VALUE_LOAD_4 || step->code == LWP_VALUE_LOAD_8 || step->code == LWP_VALUE_STORE_4 ||
                 step->code == LWP_VALUE_STORE_8;
    if (!words || emitted.way_count == WAYS_MOST) {
        code_memory_call(step);
        return;
    }
    struct way *way = &emitted.ways[emitted.way_count++];
    *way = (struct way){.step = step};
    in_place(way, step);
    way->back = lwp_machine_at;
    emitted.held = NONE;
}

static void code_load(const struct lwp_value_step *step)
{
    code_memory(step, code_load_words);
    slot_set(step->to);
    if (step->code == LWP_VALUE_LOAD_8)
        slot_set_any(step->to, RDX);
    else
        slot_set_upper(step->to, UPPER_ZERO);
}

static void code_store(const struct lwp_value_step *step)
{
    slot_get(RCX, step->a);
    slot_get_upper(R8, step->a);
    code_memory(step, code_store_words);
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
    lwp_machine_byte(0x8d); /* ecx = ebp + which it is */
    lwp_machine_byte(0x8d);
    lwp_machine_word(emitted.first + step->to);
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

/* Asks for the memory that some superblock will access, if the word is an address; if it is none that does no harm. */
static void code_ahead(uint32_t word)
{
    lwp_machine_memory(0x8b, RCX, R14, (LWP_VALUE_AHEAD + word) * sizeof(uint64_t));
    lwp_machine_move(RDX, RCX);
    lwp_machine_shift(4, RDX, 64 - LWP_VALUE_ADDRESS_BITS);
    lwp_machine_shift(5, RDX, 64 - LWP_VALUE_ADDRESS_BITS + LWP_VALUE_LEAF_BITS);
    code_leaf();
    lwp_machine_byte(0x81); /* and ecx */
    lwp_machine_byte(0xe0 | RCX);
    lwp_machine_word((1u << LWP_VALUE_LEAF_BITS) - 1);
    lwp_machine_byte(0x0f); /* prefetcht0 (%rdx, %rcx, 2): 4 bytes have 8 */
    lwp_machine_byte(0x18);
    lwp_machine_byte(0x0c);
    lwp_machine_byte(0x4a);
}
_Static_assert(LWP_VALUE_PIECE * 2 == sizeof(uint64_t), "the shadow of an address is at twice its distance");

/* r14 points behind the first word. */
static void code_begin(const struct lwp_value_words *words)
{
    if (words->path) {
        lwp_machine_constant(RAX, (uintptr_t)words->path);
        lwp_machine_byte(0x8b); /* mov (%rax), %ecx */
        lwp_machine_byte(0x08);
        lwp_machine_byte(0x8b); /* mov 4(%rax), %ebp */
        lwp_machine_byte(0x68);
        lwp_machine_byte(sizeof *words->path);
        lwp_machine_memory(0x3b, RCX, RBX, offsetof(struct lwp_values, path)); /* compare */
        lwp_machine_byte(0x74); /* if equal: over the jump */
        lwp_machine_byte(5);
        lwp_machine_jump_to(emitted.codes->leave);
    }
    for (uint32_t i = 0; i <= words->count; i++)
        code_ahead(i);
}

/* Its steps end here: what it has computed is counted, and the next superblock runs. */
static void code_next(uint32_t computed, const struct lwp_value_words *words)
{
    if (computed) {
        lwp_machine_memory(0x81, 0, RBX, offsetof(struct lwp_values, computed));
        lwp_machine_word(computed);
    }
    lwp_machine_registers(0x81, 0, R14); /* add */
    lwp_machine_word((words->count + 1) * (uint32_t)sizeof(uint64_t));
    lwp_machine_byte(0x49); /* mov -8(%r14), %rax */
    lwp_machine_byte(0x8b);
    lwp_machine_byte(0x46);
    lwp_machine_byte(0xf8);
    lwp_machine_memory(0x8b, RAX, RAX, emitted.codes->runner);
    lwp_machine_byte(0xff); /* jmp *(%rax) */
    lwp_machine_byte(0x20);
}
_Static_assert(offsetof(struct lwp_value_runner, code) == 0, "where the code jumps to");

/* Left here if no more exits than `exit` were passed. */
static void code_exit(uint32_t exit, uint32_t passed)
{
    lwp_machine_memory(0x81, 7, R14, passed * sizeof(uint64_t)); /* compare */
    lwp_machine_word(exit);
    emitted.exits[exit] = (struct exit){lwp_machine_jump(4), emitted.computed};
}

static void code_ways(void)
{
    for (uint32_t i = 0; i < emitted.way_count; i++) {
        struct way *way = &emitted.ways[i];
        for (uint32_t k = 0; k < way->count; k++)
            lwp_machine_land(way->jumps[k]);
        code_memory_call(way->step);
        lwp_machine_jump_to(way->back);
    }
}

const void *lwp_value_code(struct lwp_value_codes *codes, const struct lwp_value_steps *steps, const struct lwp_value_words *words)
{
    size_t most = BLOCK_MOST + (size_t)steps->count * STEP_MOST + (words->count + 1) * WORD_MOST + (steps->exits + 1) * EXIT_MOST;
    if (steps->exits > EXITS_MOST || codes->room - codes->used < most)
        return NULL;
    uint8_t *start = lwp_machine_at = codes->memory + codes->used;
    uint32_t exit = 0;
    emitted.codes = codes;
    emitted.held = NONE;
    emitted.computed = emitted.way_count = 0;
    emitted.first = words->first;
    for (unsigned i = 0; i < LWP_VALUE_SLOTS; i++)
        emitted.upper[i] = UPPER_ANY;
    code_begin(words);
    for (uint32_t i = 0; i < steps->count; i++) {
        for (; exit < steps->exits && steps->ends[exit] == i; exit++)
            code_exit(exit, words->passed);
        code_step(&steps->step[i]);
    }
    code_next(emitted.computed, words);
    for (uint32_t i = 0; i < exit; i++) {
        lwp_machine_land(emitted.exits[i].jump);
        code_next(emitted.exits[i].computed, words);
    }
    code_ways();
    codes->used = (size_t)(lwp_machine_at - codes->memory);
    return start;
}

bool lwp_value_codes_init(struct lwp_value_codes *codes, const struct lwp_shadow_port *port, size_t room, size_t runner)
{
    *codes = (struct lwp_value_codes){.memory = port->map(room), .room = room, .runner = runner};
    if (!codes->memory)
        return false;
    lwp_machine_at = codes->memory;
    code_whole();
    codes->leave = lwp_machine_at;
    lwp_machine_byte(0x49); /* lea -8(%r14), %rax: its first word */
    lwp_machine_byte(0x8d);
    lwp_machine_byte(0x46);
    lwp_machine_byte(0xf8);
    lwp_machine_return();
    codes->used = (size_t)(lwp_machine_at - codes->memory);
    return true;
}

__asm__(".text\n"
        ".type lwp_value_code_enter, @function\n"
        "lwp_value_code_enter:\n" /* values, words, epoch, zero, code, leaves */
        "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rdi, %rbx\n    lea 8(%rsi), %r14\n    mov %rdx, %r12\n    mov %rcx, %r13\n    mov %r9, %r15\n"
        "    call *%r8\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"
        "    ret\n"
        ".size lwp_value_code_enter, . - lwp_value_code_enter\n");
const uint64_t *lwp_value_code_enter(struct lwp_values *values, const uint64_t *words, uint64_t epoch, uint64_t zero,
                                     const void *code, uint64_t *const *leaves);

const uint64_t *lwp_value_code_run(struct lwp_values *values, const struct lwp_value_codes *codes, const uint64_t *words)
{
    uint64_t epoch = values->numbering.epoch;
    const struct lwp_value_runner *const *runner = (const void *)(words[0] + codes->runner);
    return lwp_value_code_enter(values, words, epoch, lwp_number_constant(0) | epoch, (*runner)->code, values->memory.leaves);
}
