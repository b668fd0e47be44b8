#include "collector/exact/detect/values/value_memory_code.h"

#include "collector/exact/detect/values/value_emit.h"

void lwp_emit_leaf(void)
{
    lwp_machine_byte(0x49); /* mov (%r15, %rdx, 8), %rdx */
    lwp_machine_byte(0x8b);
    lwp_machine_byte(0x14);
    lwp_machine_byte(0xd7);
}

/* What functions that access memory are called with: values, address, offset. */
static void memory_arguments(const struct lwp_value_step *step)
{
    lwp_machine_move(RDI, RBX);
    lwp_machine_memory(0x8b, RSI, R14, step->b * sizeof(uint64_t));
    lwp_machine_constant(RDX, step->key);
}

/* Given as a structure the compiler would write a number to memory in halves and wait to read it as a whole. */
#define FUNCTIONS(bytes)                                                                                       \
    static struct lwp_number call_load_##bytes(struct lwp_values *values, uint64_t address, uint64_t offset)        \
    {                                                                                                          \
        return lwp_values_load(values, address, offset, bytes);                                                \
    }                                                                                                          \
    static void call_store_##bytes(struct lwp_values *values, uint64_t address, uint64_t offset, uint64_t low, uint64_t high) \
    {                                                                                                          \
        lwp_values_store(values, address, offset, bytes, (struct lwp_number){low, high});                      \
    }
FUNCTIONS(1)
FUNCTIONS(2)
FUNCTIONS(4)
FUNCTIONS(8)

/* Calls for a load: the number is in rax and rdx. Or for a store: of rcx and r8. */
static void memory_call(const struct lwp_value_step *step)
{
    const void *const functions[] = {call_load_1, call_load_2, call_load_4, call_load_8,
                                     call_store_1, call_store_2, call_store_4, call_store_8};
    memory_arguments(step);
    lwp_emit_call(functions[step->code - LWP_VALUE_LOAD_1]);
}

static void way_jump(struct lwp_way *way, unsigned condition)
{
    way->jumps[way->count++] = lwp_machine_jump(condition);
}

/* The shadow of an access to 4 or 8 bytes into rdx, if it is one whole word or two; rax and rsi are lost. */
static void memory_word(struct lwp_way *way, const struct lwp_value_step *step, bool two)
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
    lwp_emit_leaf();
    lwp_machine_registers(0x85, RDX, RDX);
    way_jump(way, 4);
    lwp_machine_byte(0x25); /* and eax */
    lwp_machine_word((1u << (LWP_VALUE_LEAF_BITS - piece)) - 1);
    lwp_machine_shift(4, RAX, piece + 1); /* 4 bytes have 8 */
    lwp_machine_add(RDX, RAX);
}

/* Where the epoch of the number in rcx has any bits. */
static void memory_stale(struct lwp_way *way)
{
    lwp_machine_byte(0xf7); /* test ecx */
    lwp_machine_byte(0xc0 | RCX);
    lwp_machine_word((uint32_t)lwp_number_epoch_mask);
    way_jump(way, 5);
}

/* lwp_value_load() to rax and rdx. */
static void memory_load(struct lwp_way *way, const struct lwp_value_step *step)
{
    bool two = step->code == LWP_VALUE_LOAD_8;
    memory_word(way, step, two);
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
    memory_stale(way);
    if (!two)
        return;
    lwp_machine_memory(0x8d, RCX, RAX, LWP_NUMBER_UPPER); /* lea: where it is set the sum is of another epoch, and no high half */
    lwp_machine_constant(R8, 0);
    lwp_machine_registers(0x39, RCX, RDX); /* compare */
    lwp_machine_equal(RDX, R8);
}

/* The word that rdx points to is told byte by byte? */
static void memory_split(struct lwp_way *way, size_t distance)
{
    lwp_machine_memory(0x8b, RAX, RDX, distance);
    lwp_machine_registers(0xf7, 2, RAX); /* not */
    lwp_machine_byte(0xa9);              /* test eax */
    lwp_machine_word((uint32_t)lwp_value_split_mark);
    way_jump(way, 4);
}

/* lwp_value_store() of rcx and r8. */
static void memory_store(struct lwp_way *way, const struct lwp_value_step *step)
{
    bool two = step->code == LWP_VALUE_STORE_8;
    memory_word(way, step, two);
    memory_split(way, 0);
    if (two)
        memory_split(way, sizeof(uint64_t));
    lwp_machine_memory(0x89, RCX, RDX, 0);
    if (!two)
        return;
    lwp_machine_small(6, RCX, LWP_NUMBER_UPPER);
    lwp_machine_registers(0x85, R8, R8);
    lwp_machine_equal(R8, RCX);
    lwp_machine_memory(0x89, R8, RDX, sizeof(uint64_t));
}

static void memory_code(const struct lwp_value_step *step, void (*in_place)(struct lwp_way *way, const struct lwp_value_step *step))
{
    bool words = step->code == LWP_VALUE_LOAD_4 || step->code == LWP_VALUE_LOAD_8 || step->code == LWP_VALUE_STORE_4 ||
                 step->code == LWP_VALUE_STORE_8;
    if (!words || lwp_emitted.way_count == LWP_WAYS_MOST) {
        memory_call(step);
        return;
    }
    struct lwp_way *way = &lwp_emitted.ways[lwp_emitted.way_count++];
    *way = (struct lwp_way){.step = step};
    in_place(way, step);
    way->back = lwp_machine_at;
    lwp_emitted.held = LWP_EMIT_NONE;
}

void lwp_emit_load(const struct lwp_value_step *step)
{
    memory_code(step, memory_load);
    lwp_emit_set(step->to);
    if (step->code == LWP_VALUE_LOAD_8)
        lwp_emit_set_any(step->to, RDX);
    else
        lwp_emit_set_upper(step->to, LWP_UPPER_ZERO);
}

void lwp_emit_store(const struct lwp_value_step *step)
{
    lwp_emit_get(RCX, step->a);
    lwp_emit_get_upper(R8, step->a);
    memory_code(step, memory_store);
}

void lwp_emit_forget(const struct lwp_value_step *step)
{
    lwp_machine_memory(0x8b, RSI, R14, step->b * sizeof(uint64_t));
    lwp_machine_move(RDI, RBX);
    lwp_machine_constant(RDX, step->key);
    lwp_emit_call((const void *)lwp_values_forget_bytes);
}

void lwp_emit_ways(void)
{
    for (uint32_t i = 0; i < lwp_emitted.way_count; i++) {
        struct lwp_way *way = &lwp_emitted.ways[i];
        for (uint32_t k = 0; k < way->count; k++)
            lwp_machine_land(way->jumps[k]);
        memory_call(way->step);
        lwp_machine_jump_to(way->back);
    }
}
