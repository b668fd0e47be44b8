/* Numbers for what the four bytes of a word have as contexts when it is not the same one. Programs have few such tuples,
 * though many words that have one: the code decides them, not the data. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_TUPLES_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_TUPLES_H

#include "collector/exact/detect/redundancy/shadow_pairs.h"

struct lwp_shadow_tuple {
    uint32_t context[4];
};

struct lwp_shadow_tuples {
    const struct lwp_shadow_port *port;
    struct lwp_shadow_tuple *list;
    uint32_t *index; /* hash table of numbers from 1; 0: free */
    uint32_t count, max;
};

/* At most `max` tuples, a power of two (1 << 20: 24 MiB when all are used). False: no memory. */
bool lwp_shadow_tuples_init(struct lwp_shadow_tuples *tuples, const struct lwp_shadow_port *port, uint32_t max);
void lwp_shadow_tuples_fini(struct lwp_shadow_tuples *tuples);

/* False: there are too many. */
bool lwp_shadow_tuples_number(struct lwp_shadow_tuples *tuples, const struct lwp_shadow_tuple *tuple, uint32_t *number);

#endif
