/* The program's live heap blocks and mappings by address. A small block has a pool, a large one a record of its own. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_BLOCKS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_BLOCKS_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_block {
    Addr start;
    SizeT size;
    uint32_t node; /* of the call tree, where it was allocated */
    uint32_t pool; /* 0: it has a record */
    uint32_t id;
    uint8_t kind;  /* enum lwps_block_kind */
};

/* Another number: an address may be of another block than before. */
extern uint32_t lwp_blocks_changes;

void lwp_blocks_start(void);
void lwp_block_add(Addr start, SizeT size, uint8_t kind, uint32_t node);
/* The block that begins at `start` is no more; what it was goes to `was`. False: there is none. */
bool lwp_block_remove(Addr start, struct lwp_block *was);
/* The block that holds `address`, NULL: none is known. */
const struct lwp_block *lwp_block_at(Addr address);
/* Mappings that touch [start, start + size) are no more. */
void lwp_blocks_unmap(Addr start, SizeT size);
/* In a child of fork: all live blocks go into its new files. */
void lwp_blocks_write_all(void);

#endif
