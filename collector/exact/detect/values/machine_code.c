#include "collector/exact/detect/values/machine_code.h"

#include <stdbool.h>

uint8_t *lwp_machine_at;

void lwp_machine_byte(unsigned byte)
{
    *lwp_machine_at++ = (uint8_t)byte;
}

void lwp_machine_word(uint32_t word)
{
    __builtin_memcpy(lwp_machine_at, &word, sizeof word);
    lwp_machine_at += sizeof word;
}

void lwp_machine_long(uint64_t value)
{
    __builtin_memcpy(lwp_machine_at, &value, sizeof value);
    lwp_machine_at += sizeof value;
}

void lwp_machine_registers(unsigned opcode, unsigned field, unsigned other)
{
    lwp_machine_byte(0x48 | (field >> 3) << 2 | other >> 3);
    lwp_machine_byte(opcode);
    lwp_machine_byte(0xc0 | (field & 7) << 3 | (other & 7));
}

void lwp_machine_memory(unsigned opcode, unsigned field, unsigned base, size_t distance)
{
    lwp_machine_byte(0x48 | (field >> 3) << 2 | base >> 3);
    lwp_machine_byte(opcode);
    lwp_machine_byte(0x80 | (field & 7) << 3 | (base & 7));
    lwp_machine_word((uint32_t)distance);
}

void lwp_machine_constant(enum lwp_reg to, uint64_t value)
{
    bool word = value >> 32 == 0;
    if (!word || to >= R8)
        lwp_machine_byte(0x40 | (word ? 0 : 8) | to >> 3);
    lwp_machine_byte(0xb8 | (to & 7));
    if (word)
        lwp_machine_word((uint32_t)value);
    else
        lwp_machine_long(value);
}

void lwp_machine_move(enum lwp_reg to, enum lwp_reg from)
{
    lwp_machine_registers(0x89, from, to);
}

void lwp_machine_add(enum lwp_reg to, enum lwp_reg from)
{
    lwp_machine_registers(0x01, from, to);
}

void lwp_machine_xor(enum lwp_reg to, enum lwp_reg from)
{
    lwp_machine_registers(0x31, from, to);
}

void lwp_machine_small(unsigned field, enum lwp_reg to, int constant)
{
    lwp_machine_registers(0x83, field, to);
    lwp_machine_byte((uint8_t)constant);
}

void lwp_machine_shift(unsigned field, enum lwp_reg reg, unsigned bits)
{
    lwp_machine_registers(0xc1, field, reg);
    lwp_machine_byte(bits);
}

uint8_t *lwp_machine_jump(unsigned condition)
{
    lwp_machine_byte(0x0f);
    lwp_machine_byte(0x80 | condition);
    lwp_machine_word(0);
    return lwp_machine_at;
}

void lwp_machine_land(uint8_t *jump)
{
    uint32_t distance = (uint32_t)(lwp_machine_at - jump);
    __builtin_memcpy(jump - sizeof distance, &distance, sizeof distance);
}

void lwp_machine_jump_to(const void *place)
{
    lwp_machine_byte(0xe9);
    lwp_machine_word((uint32_t)((const uint8_t *)place - (lwp_machine_at + sizeof(uint32_t))));
}

void lwp_machine_call(const void *function)
{
    lwp_machine_constant(RAX, (uintptr_t)function);
    lwp_machine_byte(0xff); /* call rax */
    lwp_machine_byte(0xd0);
}

void lwp_machine_multiply(enum lwp_reg to, enum lwp_reg from)
{
    lwp_machine_byte(0x48 | (to >> 3) << 2 | from >> 3);
    lwp_machine_byte(0x0f);
    lwp_machine_byte(0xaf);
    lwp_machine_byte(0xc0 | (to & 7) << 3 | (from & 7));
}

void lwp_machine_equal(enum lwp_reg to, enum lwp_reg from)
{
    lwp_machine_byte(0x48 | (to >> 3) << 2 | from >> 3);
    lwp_machine_byte(0x0f);
    lwp_machine_byte(0x44);
    lwp_machine_byte(0xc0 | (to & 7) << 3 | (from & 7));
}

void lwp_machine_return(void)
{
    lwp_machine_byte(0xc3);
}
