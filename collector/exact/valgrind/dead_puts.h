/* Where all that is written to registers has to be seen, VEX keeps it (registers.c), flags and all, which takes
 * more than twice the time. What nothing has asked for when a superblock is finished goes here: writes to the guest's
 * state that are overwritten before the superblock may be left, as VEX does it otherwise. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_DEAD_PUTS_H
#define LWP_COLLECTOR_EXACT_VALGRIND_DEAD_PUTS_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

/* The stack and frame pointers and the instruction pointer stay right wherever the program accesses memory. `begin`: where
 * the superblock's words begin (translation.h), NULL: it has none. */
void lwp_dead_puts_remove(IRSB *superblock, const IRExpr *begin);

#endif
