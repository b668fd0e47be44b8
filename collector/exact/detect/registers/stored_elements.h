/* Which elements of a part of memory were stored to, and how far apart they mostly are: a bit for each element there may be. An array
 * that is traversed in blocks, by rows, or by the copies of an unrolled loop is seen as what it is. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_STORED_ELEMENTS_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_STORED_ELEMENTS_H

#include "collector/exact/detect/redundancy/shadow_pairs.h"

enum { LWP_STORED_MOST = 1 << 23 }; /* elements from the first on; what is stored to behind them is left out */

struct lwp_stored_elements {
    const struct lwp_shadow_port *port;
    uint64_t low;         /* address of the first */
    size_t size;          /* bytes of each */
    uint64_t room, count; /* there may be; were stored to */
    uint64_t *bits;
};

/* Of the memory from `low` up to `end`. False: no memory. */
bool lwp_stored_begin(struct lwp_stored_elements *set, const struct lwp_shadow_port *port, uint64_t low, uint64_t end, size_t size);
void lwp_stored_end(struct lwp_stored_elements *set);

/* A store of whole elements; others are left out. */
void lwp_stored_put(struct lwp_stored_elements *set, uint64_t address, size_t bytes);

/* The number of the first element from `from` on that was stored to; `room`: there is none. */
uint64_t lwp_stored_next(const struct lwp_stored_elements *set, uint64_t from);

/* The distance, in elements, from most elements that were stored to to the next one; `times`: from how many. 0: no distance has more
 * than half. */
uint64_t lwp_stored_step(const struct lwp_stored_elements *set, uint64_t *times);

#endif
