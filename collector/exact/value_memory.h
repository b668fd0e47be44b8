/* Shadow memory of numbers: which value lies in which bytes. 4 bytes of the program have 8, given in leaves for 16 MiB
 * of addresses as they are touched; words that are stored to byte by byte have a number for each byte elsewhere.
 * What no store was seen for has a number of its own from when it is first asked for. Freestanding. */
#ifndef LWP_EXACT_VALUE_MEMORY_H
#define LWP_EXACT_VALUE_MEMORY_H

#include "collector/exact/shadow_pairs.h"
#include "collector/exact/value_number.h"

struct lwp_value_memory {
    const struct lwp_shadow_port *port;
    struct lwp_numbering *numbering;
    uint64_t **leaves;
    struct lwp_value_bytes {
        uint64_t number[4];
    } *bytes;                        /* of words that are told byte by byte, from 1 */
    uint32_t bytes_count, bytes_max, bytes_free; /* bytes_free: one to be used again, which has the next in number[0] */
    uint64_t unseen;                 /* accesses of no shadow, for want of memory */
};

/* At most `bytes_max` words are told byte by byte; bytes stored to others are told only together. False: no memory. */
bool lwp_value_memory_init(struct lwp_value_memory *memory, const struct lwp_shadow_port *port,
                           struct lwp_numbering *numbering, uint32_t bytes_max);
void lwp_value_memory_fini(struct lwp_value_memory *memory);

/* Nothing is known of any. */
void lwp_value_memory_clear(struct lwp_value_memory *memory);

/* `bytes`: 1, 2, 4 or 8. Of fewer than 8 the number has its width, and `high` says that the rest is 0. */
struct lwp_number lwp_value_load(struct lwp_value_memory *memory, uint64_t address, unsigned bytes);
void lwp_value_store(struct lwp_value_memory *memory, uint64_t address, unsigned bytes, struct lwp_number number);

/* Nothing is known of these bytes any more. */
void lwp_value_forget(struct lwp_value_memory *memory, uint64_t address, uint64_t bytes);

#endif
