/* Blocks with a record of their own: from the heap threshold on, and mappings. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_BLOCKS_H
#define LWP_COLLECTOR_LIGHT_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

bool lwp_blocks_init(void);

/* `kind` as in a record. With the process lock held. False: not recorded (too many, or too fast). */
bool lwp_block_add(uint64_t address, uint64_t size, uint8_t kind, uint32_t context);

/* With the process lock held. */
void lwp_block_remove(uint64_t address);

bool lwp_block_known(uint64_t address); /* a hint, without the lock */

uint64_t lwp_blocks_count(void); /* all ever recorded */
uint64_t lwp_blocks_lost(void);
void lwp_blocks_again(void);

#endif
