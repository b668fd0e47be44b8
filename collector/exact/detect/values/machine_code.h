/* Instructions of x86-64, of 64 bits, put one behind the other where the caller has room for them. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_MACHINE_CODE_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_MACHINE_CODE_H

#include <stddef.h>
#include <stdint.h>

enum lwp_reg { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* Where the next one goes. */
extern uint8_t *lwp_machine_at;

void lwp_machine_byte(unsigned byte);
void lwp_machine_word(uint32_t word);
void lwp_machine_long(uint64_t value);

/* Any on two registers: `field` is the middle of the byte that names them. */
void lwp_machine_registers(unsigned opcode, unsigned field, unsigned other);

/* Any on a register and memory `distance` bytes from where `base`, neither rsp nor r12, points. */
void lwp_machine_memory(unsigned opcode, unsigned field, unsigned base, size_t distance);

void lwp_machine_constant(enum lwp_reg to, uint64_t value);
void lwp_machine_move(enum lwp_reg to, enum lwp_reg from);
void lwp_machine_add(enum lwp_reg to, enum lwp_reg from);
void lwp_machine_xor(enum lwp_reg to, enum lwp_reg from);
void lwp_machine_multiply(enum lwp_reg to, enum lwp_reg from);
void lwp_machine_equal(enum lwp_reg to, enum lwp_reg from); /* moves if the last result was equal or 0 */

/* With a constant of 8 bits and a sign: `field` 0: add, 1: or, 4: and, 6: xor. */
void lwp_machine_small(unsigned field, enum lwp_reg to, int constant);

/* Shifts by so many bits: `field` 1: right, around; 4: left; 5: right. */
void lwp_machine_shift(unsigned field, enum lwp_reg reg, unsigned bits);

/* `condition` 4: if equal or 0, 5: if not. To where lwp_machine_land() is called with what it returns, or to a place. */
uint8_t *lwp_machine_jump(unsigned condition);
void lwp_machine_land(uint8_t *jump);
void lwp_machine_jump_to(const void *place);

/* Through rax. */
void lwp_machine_call(const void *function);
void lwp_machine_return(void);

#endif
