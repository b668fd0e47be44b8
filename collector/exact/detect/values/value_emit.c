#include "collector/exact/detect/values/value_emit.h"

#include <stddef.h>

struct lwp_emitted lwp_emitted;

void lwp_emit_call(const void *function)
{
    lwp_machine_call(function);
    lwp_emitted.held = LWP_EMIT_NONE;
}

static size_t slot_low(unsigned slot)
{
    return offsetof(struct lwp_values, low) + slot * sizeof(uint64_t);
}

static size_t slot_high(unsigned slot)
{
    return offsetof(struct lwp_values, high) + slot * sizeof(uint64_t);
}

void lwp_emit_get(enum lwp_reg to, unsigned slot)
{
    if (lwp_emitted.held == slot)
        lwp_machine_move(to, RAX);
    else
        lwp_machine_memory(0x8b, to, RBX, slot_low(slot));
}

void lwp_emit_set(unsigned slot)
{
    lwp_machine_memory(0x89, RAX, RBX, slot_low(slot));
    lwp_emitted.held = (uint16_t)slot;
}

void lwp_emit_get_upper(enum lwp_reg to, unsigned slot)
{
    if (lwp_emitted.upper[slot] == LWP_UPPER_ZERO)
        lwp_machine_move(to, R13);
    else if (lwp_emitted.upper[slot] == LWP_UPPER_NONE)
        lwp_machine_constant(to, 0);
    else
        lwp_machine_memory(0x8b, to, RBX, slot_high(slot));
}

void lwp_emit_get_high(enum lwp_reg to, unsigned slot)
{
    if (lwp_emitted.upper[slot] == LWP_UPPER_ZERO) {
        lwp_machine_move(to, R13);
        return;
    }
    lwp_emit_get(RCX, slot);
    lwp_machine_small(6, RCX, LWP_NUMBER_UPPER);
    if (lwp_emitted.upper[slot] == LWP_UPPER_NONE) {
        lwp_machine_move(to, RCX);
        return;
    }
    lwp_machine_memory(0x8b, to, RBX, slot_high(slot));
    lwp_machine_registers(0x85, to, to);
    lwp_machine_equal(to, RCX);
}

/* The superblock's own slots are read nowhere else, so that what is known of them need not be there. */
void lwp_emit_set_upper(unsigned slot, enum lwp_upper upper)
{
    bool there = lwp_emitted.upper[slot] == upper || slot >= LWP_VALUE_REGISTERS;
    lwp_emitted.upper[slot] = (uint8_t)upper;
    if (there)
        return;
    if (upper == LWP_UPPER_ZERO) {
        lwp_machine_memory(0x89, R13, RBX, slot_high(slot));
    } else {
        lwp_machine_memory(0xc7, 0, RBX, slot_high(slot));
        lwp_machine_word(0);
    }
}

void lwp_emit_set_any(unsigned slot, enum lwp_reg upper)
{
    lwp_machine_memory(0x89, upper, RBX, slot_high(slot));
    lwp_emitted.upper[slot] = LWP_UPPER_ANY;
}
