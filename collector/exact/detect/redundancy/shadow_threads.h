/* Which thread stored each byte last. A store is dead if its own thread stores to the bytes again before they are loaded (DeadSpy,
 * Witch); one that another thread overwrites first is counted apart, as of LWP_SHADOW_OVERWRITES, and decides nothing.
 *
 * A byte for each byte that more than one thread may have stored, in leaves for 16 MiB; threads from LWP_SHADOW_THREADS on are one.
 * What was stored while there was one thread only is the first one's. Freestanding; not reentrant. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_THREADS_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_THREADS_H

#include "collector/exact/detect/redundancy/shadow_fast.h"

enum { LWP_SHADOW_THREADS = 255 };

struct lwp_shadow_threads {
    const struct lwp_shadow_port *port;
    uint8_t **leaves;
};

/* False: no memory. */
bool lwp_shadow_threads_init(struct lwp_shadow_threads *threads, const struct lwp_shadow_port *port);
void lwp_shadow_threads_fini(struct lwp_shadow_threads *threads);

/* Before a store of at most 8 bytes by a thread (from 0, in the order they were made). */
void lwp_shadow_threads_store(struct lwp_shadow_threads *threads, struct lwp_shadow *shadow, uint64_t address, unsigned bytes,
                              uint32_t context, uint32_t thread);

/* All bytes are the thread's, as nearly always: nothing is to be done. `bytes`: 1, 2, 4 or 8, known to the compiler. */
static inline __attribute__((always_inline)) bool lwp_shadow_threads_same(const struct lwp_shadow_threads *threads, uint64_t address,
                                                                          unsigned bytes, uint32_t thread)
{
    typedef uint64_t eight __attribute__((aligned(1), may_alias));
    typedef uint32_t four __attribute__((aligned(1), may_alias));
    typedef uint16_t two __attribute__((aligned(1), may_alias));
    if (address >> ADDRESS_BITS || (address & LEAF_MASK) + bytes > LEAF_MASK || thread >= LWP_SHADOW_THREADS)
        return false;
    const uint8_t *by = threads->leaves[address >> LEAF_BITS];
    if (!by)
        return !thread;
    by += address & LEAF_MASK;
    const uint64_t all = bytes == 8 ? *(const eight *)by : bytes == 4 ? *(const four *)by : bytes == 2 ? *(const two *)by : *by;
    return all == thread * (0x0101010101010101u >> (64 - 8 * bytes));
}

#endif
