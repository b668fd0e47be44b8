#include "collector/exact/shadow_pairs.h"

enum { BITS_FIRST = 14 };

static size_t pairs_bytes(unsigned bits, size_t each)
{
    return ((size_t)1 << bits) * each;
}

static bool pairs_map(struct lwp_shadow_pairs *pairs, unsigned bits)
{
    struct lwp_shadow_pair *entries = pairs->port->map(pairs_bytes(bits, sizeof *entries));
    if (!entries)
        return false;
    uint64_t *places = pairs->port->map(pairs_bytes(bits, sizeof *places));
    if (!places) {
        pairs->port->unmap(entries, pairs_bytes(bits, sizeof *entries));
        return false;
    }
    pairs->entries = entries;
    pairs->places = places;
    pairs->bits = bits;
    return true;
}

static void pairs_unmap(const struct lwp_shadow_pairs *pairs)
{
    pairs->port->unmap(pairs->entries, pairs_bytes(pairs->bits, sizeof *pairs->entries));
    pairs->port->unmap(pairs->places, pairs_bytes(pairs->bits, sizeof *pairs->places));
}

bool lwp_shadow_pairs_init(struct lwp_shadow_pairs *pairs, const struct lwp_shadow_port *port, unsigned bits_max)
{
    *pairs = (struct lwp_shadow_pairs){.port = port, .bits_max = bits_max};
    return pairs_map(pairs, bits_max < BITS_FIRST ? bits_max : BITS_FIRST);
}

void lwp_shadow_pairs_fini(struct lwp_shadow_pairs *pairs)
{
    if (pairs->entries)
        pairs_unmap(pairs);
    pairs->entries = NULL;
}

void lwp_shadow_pairs_clear(struct lwp_shadow_pairs *pairs)
{
    static const struct lwp_shadow_pair none;
    for (size_t i = 0; i < (size_t)1 << pairs->bits; i++)
        pairs->entries[i] = none;
    pairs->count = 0;
}

/* The key's entry, or the free one for it. */
static size_t pairs_find(const struct lwp_shadow_pairs *pairs, uint64_t key)
{
    size_t mask = ((size_t)1 << pairs->bits) - 1, at = lwp_shadow_pairs_place(pairs, key);
    while (pairs->entries[at].key && pairs->entries[at].key != key)
        at = (at + 1) & mask;
    return at;
}

static bool pairs_grow(struct lwp_shadow_pairs *pairs)
{
    struct lwp_shadow_pairs old = *pairs;
    if (pairs->bits >= pairs->bits_max || !pairs_map(pairs, pairs->bits + 1))
        return false;
    for (size_t i = 0; i < (size_t)1 << old.bits; i++) {
        if (!old.entries[i].key)
            continue;
        size_t at = pairs_find(pairs, old.entries[i].key);
        pairs->entries[at] = old.entries[i];
        pairs->places[at] = old.places[i];
    }
    pairs_unmap(&old);
    return true;
}

/* What is looked for is looked for again: it goes to the front of its chain. Nothing is ever taken out of a chain, so
 * that what was there is still found behind. */
static struct lwp_shadow_pair *pairs_to_front(struct lwp_shadow_pairs *pairs, size_t at)
{
    size_t front = lwp_shadow_pairs_place(pairs, pairs->entries[at].key);
    struct lwp_shadow_pair entry = pairs->entries[at];
    uint64_t place = pairs->places[at];
    pairs->entries[at] = pairs->entries[front];
    pairs->places[at] = pairs->places[front];
    pairs->entries[front] = entry;
    pairs->places[front] = place;
    return &pairs->entries[front];
}

/* Three quarters are used at most; of the rest one entry of each kind may be taken by what finds no room. */
struct lwp_shadow_pair *lwp_shadow_pairs_add(struct lwp_shadow_pairs *pairs, uint64_t key, uint64_t address)
{
    size_t at = pairs_find(pairs, key);
    if (pairs->entries[at].key)
        return pairs_to_front(pairs, at);
    bool full = pairs->count >= ((size_t)3 << pairs->bits) / 4;
    if (pairs->count >= ((size_t)1 << pairs->bits) / 4 && pairs_grow(pairs))
        full = false;
    if (full && pairs->port->full)
        pairs->port->full();
    else if (full)
        key = key >> 56 << 56 | (uint64_t)LWP_SHADOW_UNKNOWN << 28 | LWP_SHADOW_UNKNOWN;
    at = pairs_find(pairs, key);
    if (!pairs->entries[at].key) {
        pairs->count++;
        pairs->entries[at].key = key;
        pairs->places[at] = pairs->port->place ? pairs->port->place(address) : address;
    }
    return &pairs->entries[at];
}
