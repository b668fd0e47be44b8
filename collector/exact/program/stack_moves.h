/* Where a superblock sets the stack pointer to something that is not made from what it was: the end of a frame (leave),
 * longjmp, or another stack. Pushes, pops, calls and frames, fixed or not, add to it, subtract from it, or align it. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_STACK_MOVES_H
#define LWP_COLLECTOR_EXACT_PROGRAM_STACK_MOVES_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>

/* A superblock while it is translated. Zeroed at first. */
struct lwp_stack_moves {
    IRExpr *from, *to; /* I64, NULL: none yet; the pointer before the first one, and what the last one set it to */
};

/* At the superblock's start; and before each statement. */
void lwp_stack_moves_enter(struct lwp_stack_moves *moves, const IRSB *in);
void lwp_stack_moves_before(struct lwp_stack_moves *moves, IRSB *out, const IRStmt *statement);

#endif
