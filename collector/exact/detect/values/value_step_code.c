#include "collector/exact/detect/values/value_step_code.h"

#include "collector/exact/detect/values/value_emit.h"
#include "collector/exact/detect/values/value_memory_code.h"

/* ---- operators ---- */

/* lwp_number_operand() of it. */
static void number_operand(enum lwp_reg number)
{
    lwp_machine_registers(0x81, 4, number); /* and */
    lwp_machine_word((uint32_t)~lwp_number_epoch_mask);
}
_Static_assert((int64_t)~((uint64_t)(LWP_NUMBER_EPOCHS - 1) << LWP_NUMBER_EPOCH) >= INT32_MIN, "a constant of 32 bits and a sign");

void lwp_emit_whole(void)
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
    if (lwp_emitted.held != slot)
        lwp_emit_get(RAX, slot);
    lwp_emitted.held = LWP_EMIT_NONE;
    number_operand(RAX);
    if (!wide || lwp_emitted.upper[slot] == LWP_UPPER_NONE)
        return;
    if (lwp_emitted.upper[slot] == LWP_UPPER_ZERO) {
        lwp_machine_small(1, RAX, LWP_NUMBER_ZEROS);
        return;
    }
    lwp_emit_get_upper(RDX, slot);
    lwp_machine_registers(0x85, RDX, RDX);
    lwp_machine_byte(0x74); /* if zero: over the call */
    lwp_machine_byte(5);
    lwp_machine_byte(0xe8);
    lwp_machine_word((uint32_t)(lwp_emitted.codes->memory - (lwp_machine_at + 4)));
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
    bool either = step->code >= LWP_VALUE_EITHER, a_first = lwp_emitted.held == step->a;
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
    lwp_emit_set(step->to);
    lwp_emit_set_upper(step->to, step->narrow ? LWP_UPPER_ZERO : LWP_UPPER_NONE);
}

/* ---- other steps ---- */

static void code_copy(const struct lwp_value_step *step)
{
    enum lwp_upper upper = (enum lwp_upper)lwp_emitted.upper[step->a];
    lwp_emit_get_upper(RDX, step->a);
    lwp_emit_get(RAX, step->a);
    lwp_emit_set(step->to);
    if (upper == LWP_UPPER_ANY)
        lwp_emit_set_any(step->to, RDX);
    else
        lwp_emit_set_upper(step->to, upper);
}

static void code_narrow(const struct lwp_value_step *step)
{
    lwp_emit_get(RAX, step->a);
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
    lwp_emit_set(step->to);
    lwp_emit_set_upper(step->to, LWP_UPPER_ZERO);
}
_Static_assert(LWP_NUMBER_16 == 1, "a bit that is shifted down");

static void code_high(const struct lwp_value_step *step)
{
    lwp_emit_get_high(RDX, step->a);
    lwp_machine_move(RAX, RDX);
    lwp_emit_set(step->to);
    lwp_emit_set_upper(step->to, LWP_UPPER_ZERO);
}

/* Two numbers, of a and b. */
static void code_pair(const struct lwp_value_step *step)
{
    if (step->code == LWP_VALUE_PAIR)
        lwp_emit_get(RDX, step->b);
    else
        lwp_emit_get_high(RDX, step->b);
    lwp_emit_get(RAX, step->a);
    lwp_emit_set(step->to);
    lwp_emit_set_any(step->to, RDX);
}

static void code_known(const struct lwp_value_step *step)
{
    if (step->key == lwp_number_constant(0)) {
        lwp_machine_move(RAX, R13);
    } else {
        lwp_machine_constant(RAX, step->key);
        lwp_machine_registers(0x09, R12, RAX);
    }
    lwp_emit_set(step->to);
    lwp_emit_set_upper(step->to, LWP_UPPER_ZERO);
}

static void code_new(const struct lwp_value_step *step)
{
    lwp_machine_move(RDI, RBX);
    lwp_machine_constant(RSI, step->width);
    lwp_emit_call((const void *)lwp_values_new);
    lwp_emit_set(step->to);
    lwp_emit_set_upper(step->to, step->narrow ? LWP_UPPER_ZERO : LWP_UPPER_NONE);
}

static void code_computed(const struct lwp_value_step *step)
{
    lwp_emit_get(RSI, step->a);
    lwp_machine_move(RDI, RBX);
    lwp_machine_constant(RDX, step->key);
    lwp_machine_byte(0x8d); /* ecx = ebp + which it is */
    lwp_machine_byte(0x8d);
    lwp_machine_word(lwp_emitted.first + step->to);
    lwp_emit_call((const void *)lwp_values_computed);
    lwp_emitted.computed++;
}

void lwp_emit_step(const struct lwp_value_step *step)
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
        lwp_emit_load(step);
    else if (step->code <= LWP_VALUE_STORE_8)
        lwp_emit_store(step);
    else if (step->code == LWP_VALUE_FORGET)
        lwp_emit_forget(step);
    else
        code_computed(step);
}
