/* What translated code leaves of its accesses where redundancies are looked for in windows only (redundancy_windows.h): in words
 * what a store finds and what it puts there, and where the stack pointer goes; addresses are in the trace's. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_WORDS_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_WORDS_H

#include "collector/exact/detect/redundancy/redundancy.h"
#include "collector/exact/valgrind/tool.h"

/* Words of the superblock, among those that are cleared, that lwp_redundancy_left_other() needs; 0 if the whole run counts. */
UInt lwp_redundancy_left_moves(const IRSB *in);

/* At the superblock's start. */
void lwp_redundancy_left_enter(struct lwp_redundancy_block *block, UInt accesses);

/* Before an access, block->index; `word`: where its address is, 0: nowhere, and nothing is done. A store's is to be left
 * after this: then all of it was. */
void lwp_redundancy_left_load(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word);
void lwp_redundancy_left_store(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word);
/* Before any other statement. */
void lwp_redundancy_left_other(struct lwp_redundancy_block *block, const IRStmt *statement);

/* Something is about to be told at once: all before is gone through. Sets block->base. */
void lwp_redundancy_left_until(struct lwp_redundancy_block *block, IRExpr *guard);

#endif
