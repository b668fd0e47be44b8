/* Memory redundancies, exactly: what the last accesses of each byte of the program were.
 *
 * For each byte: who stored it last and whether it was loaded since; who loaded it last and whether its value is still
 * the same. A store to a byte that was not loaded since the last store makes that store dead (DeadSpy). A store that
 * leaves the value as it is is silent (RedSpy), and so is a load of a value that the program has loaded from there
 * before and nobody has changed since (LoadSpy). Dead is decided for each byte, silent for pieces of at most 8 bytes from the
 * access's start: all of a piece must be the same, or it is counted as other. A value that was changed and changed back counts as changed.
 *
 * 8 bytes of the program that are alike share a unit of 64 bits; if they are not, 4 bytes share a word of as many. Both
 * are given in leaves for 16 MiB of addresses as they are touched. Bytes of a word that have different contexts have
 * a tuple of them (shadow_tuples.h).
 *
 * Contexts are numbers of (call path, accessing instruction) from 1 to LWP_SHADOW_UNKNOWN. All threads share the shadow:
 * what one stores and another loads is used. Stores that another thread overwrites: shadow_threads.h. Freestanding; not reentrant. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_H

#include "collector/exact/detect/redundancy/shadow_pairs.h"
#include "collector/exact/detect/redundancy/shadow_tuples.h"

enum { LWP_SHADOW_STEP_BITS = 14 };

/* What came out when some bytes of a word were given another context. */
struct lwp_shadow_step {
    uint64_t key; /* what the word had, the context, which bytes */
    uint32_t packed;
};

/* Bytes so far, of whoever makes the second access. */
enum lwp_shadow_sum { LWP_SHADOW_SUM_DEAD, LWP_SHADOW_SUM_SAME, LWP_SHADOW_SUM_CLOSE, LWP_SHADOW_SUM_LOADED_AGAIN, LWP_SHADOW_SUMS };

struct lwp_shadow {
    const struct lwp_shadow_port *port;
    uint64_t **leaves;
    size_t leaf_low, leaf_high; /* those that there are lie in [low, high) */
    struct lwp_shadow_pairs pairs;
    struct lwp_shadow_tuples tuples;
    struct lwp_shadow_step *steps; /* 1 << LWP_SHADOW_STEP_BITS, the last ones */
    uint64_t stored, loaded; /* bytes */
    uint64_t used;           /* of the stored ones: loaded, or read by the kernel, before they were overwritten */
    uint64_t *sums;          /* LWP_SHADOW_SUMS of them, of the thread that runs; never NULL */
    uint64_t no_sums[LWP_SHADOW_SUMS]; /* where nobody asks for them */
    uint64_t unseen;         /* bytes of accesses that had no shadow, as there was no memory for it */
};

struct lwp_shadow_limits {
    unsigned pair_bits;  /* at most 1 << pair_bits pairs (4 at least) */
    uint32_t tuples;     /* a power of two */
};

/* False: no memory. `port` is borrowed. */
bool lwp_shadow_init(struct lwp_shadow *shadow, const struct lwp_shadow_port *port,
                     const struct lwp_shadow_limits *limits);
void lwp_shadow_fini(struct lwp_shadow *shadow);

/* Loads and stores: shadow_fast.h. */

/* Before a store as lwp_shadow_store() has it, where nothing is known of the time before a window: of bytes that nobody is known to have
 * stored, memory itself says whether the store changes them. They count as a pair of the store with itself. */
void lwp_shadow_store_first(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context, uint64_t before, uint64_t after,
                            unsigned element);

/* The kernel reads the bytes: they are of use, but nobody loaded them. */
void lwp_shadow_use(struct lwp_shadow *shadow, uint64_t address, uint64_t bytes);

/* What was there is gone, and counts as nothing: freed, unmapped, a dead frame, written by the kernel. */
void lwp_shadow_forget(struct lwp_shadow *shadow, uint64_t address, uint64_t bytes);
/* All of it; its memory is given back, counts stay. */
void lwp_shadow_forget_all(struct lwp_shadow *shadow);

#endif
