/* What translated code leaves of its writes to registers where only windows count (register_windows.h): each value in a
 * word, and at each exit how far it got. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTER_WORDS_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTER_WORDS_H

#include "collector/exact/detect/registers/register_kinds.h"
#include "collector/exact/detect/registers/registers.h"

/* At the superblock's start; block->later stays NULL if it writes more than there are words for. */
void lwp_left_enter(struct lwp_registers_block *block);

/* A write of `data` to the bytes of register `base` from `from` on. The caller says what it counts as. */
struct lwp_register_write *lwp_left_write(struct lwp_registers_block *block, Int base, Int from, IRExpr *data);

/* The same of a register beyond those that can be pending, which counts as nothing. */
void lwp_left_beyond(struct lwp_registers_block *block, Int base, Int from, IRExpr *data);

/* After block->helper, a call that may have written registers. */
void lwp_left_helper(struct lwp_registers_block *block);

/* The superblock may be left here. */
void lwp_left_part(struct lwp_registers_block *block);

#endif
