/* Allocations of a process in which nothing is set up yet (process/dormant.c): they are kept, each with the stack it was made on, until
 * it is, and many a process ends before. A few thousand small ones at most; further ones stay unknown. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_EARLY_H
#define LWP_COLLECTOR_LIGHT_HEAP_EARLY_H

#include "collector/light/code/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern bool lwp_early_on;

void lwp_early_begin(void);

/* `frame`: where the return address to the program's call lies. `large`: it has a record of its own. False: recording has to begin. */
bool lwp_early_add(void *block, size_t size, uint8_t kind, bool large, const uint64_t *frame);
/* `inherited`: it may be of before lwp_early_begin. False: there is no room to keep that. */
bool lwp_early_remove(const void *block, bool inherited);

/* What was allocated so far, and will be, is not known; what is freed is kept on. */
void lwp_early_forget(void);

struct lwp_early_block {
    void *block;
    size_t size;
    uint8_t kind;      /* enum lwps_block_kind */
    bool freed, large; /* freed: nothing but the block is set */
    const uint64_t *frame;
    const struct lwp_stack_copy *stack; /* with: NULL: not known */
    const struct lwp_stack_words *words;
};

/* Ends it; visits what was kept, in the order in which it came. NULL: it is forgotten. */
void lwp_early_end(void (*visit)(const struct lwp_early_block *early));

#endif
