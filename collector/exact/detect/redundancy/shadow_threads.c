#include "collector/exact/detect/redundancy/shadow_threads.h"

enum { LEAVES_OF_THREADS = 1 << (ADDRESS_BITS - LEAF_BITS) };

bool lwp_shadow_threads_init(struct lwp_shadow_threads *threads, const struct lwp_shadow_port *port)
{
    *threads = (struct lwp_shadow_threads){.port = port, .leaves = port->map(LEAVES_OF_THREADS * sizeof *threads->leaves)};
    return threads->leaves != NULL;
}

void lwp_shadow_threads_fini(struct lwp_shadow_threads *threads)
{
    for (size_t i = 0; threads->leaves && i < LEAVES_OF_THREADS; i++)
        if (threads->leaves[i])
            threads->port->unmap(threads->leaves[i], (size_t)1 << LEAF_BITS);
    if (threads->leaves)
        threads->port->unmap(threads->leaves, LEAVES_OF_THREADS * sizeof *threads->leaves);
    threads->leaves = NULL;
}

/* The byte's; NULL: the first thread's, and no memory for another. */
static uint8_t *threads_at(struct lwp_shadow_threads *threads, uint64_t address, bool make)
{
    if (address >> ADDRESS_BITS)
        return NULL;
    uint8_t **leaf = &threads->leaves[address >> LEAF_BITS];
    if (!*leaf && make)
        *leaf = threads->port->map((size_t)1 << LEAF_BITS);
    return *leaf ? *leaf + (address & LEAF_MASK) : NULL;
}

/* The context whose store to the byte nobody has loaded yet, which is forgotten then; 0: there is none. */
static uint32_t threads_take(struct lwp_shadow *shadow, uint64_t address)
{
    uint64_t *unit = shadow_find(shadow, address);
    if (!unit || !*unit)
        return 0;
    unit_split(unit);
    uint64_t *word = unit_word(unit, address);
    const unsigned byte = address & 3;
    if (!(word_pending(*word) >> byte & 1))
        return 0;
    *word &= ~((uint64_t)1 << (PENDING + byte));
    const uint32_t packed = word_stored_by(*word);
    return packed & TUPLE ? shadow->tuples.list[packed & ~TUPLE].context[byte] : packed;
}

static bool threads_are(const uint8_t *by, unsigned bytes, uint8_t number)
{
    for (unsigned i = 0; i < bytes; i++)
        if (by[i] != number)
            return false;
    return true;
}

void lwp_shadow_threads_store(struct lwp_shadow_threads *threads, struct lwp_shadow *shadow, uint64_t address, unsigned bytes,
                              uint32_t context, uint32_t thread)
{
    const uint8_t number = thread < LWP_SHADOW_THREADS ? (uint8_t)thread : LWP_SHADOW_THREADS;
    const bool one_leaf = (address & LEAF_MASK) + bytes <= LEAF_MASK;
    const uint8_t *by = threads_at(threads, address, number != 0);
    if (one_leaf && (by ? threads_are(by, bytes, number) : !number))
        return;
    uint32_t last = 0;
    struct lwp_shadow_pair *pair = NULL;
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t *whose = threads_at(threads, address + i, number != 0);
        const uint32_t first = whose && *whose != number ? threads_take(shadow, address + i) : 0;
        if (whose)
            *whose = number;
        if (first && first != last) {
            pair = lwp_shadow_pairs_at(&shadow->pairs, LWP_SHADOW_OVERWRITES, first, context, address);
            pair->dead_times++;
        }
        last = first;
        if (first)
            pair->dead++;
    }
}
