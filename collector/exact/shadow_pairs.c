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
    pairs->merged = false;
}

/* The key's entry, or the free one for it. */
static size_t pairs_find(const struct lwp_shadow_pairs *pairs, uint64_t key)
{
    size_t mask = ((size_t)1 << pairs->bits) - 1, at = lwp_shadow_pairs_place(pairs, key);
    while (pairs->entries[at].key && pairs->entries[at].key != key)
        at = (at + 1) & mask;
    return at;
}

static void pairs_sum(struct lwp_shadow_pair *to, const struct lwp_shadow_pair *from)
{
    to->dead += from->dead;
    to->dead_times += from->dead_times;
    to->same += from->same;
    to->same_times += from->same_times;
    to->close += from->close;
    to->other += from->other;
}

static uint64_t pairs_bytes_of(const struct lwp_shadow_pair *pair)
{
    return pair->dead + pair->same + pair->close + pair->other;
}

static uint64_t pairs_unknown(uint64_t key)
{
    return key >> 56 << 56 | (uint64_t)LWP_SHADOW_UNKNOWN << 28 | LWP_SHADOW_UNKNOWN;
}

/* Another table of so many bits. Pairs of less than `least` bytes are counted together there. */
static bool pairs_move(struct lwp_shadow_pairs *pairs, unsigned bits, uint64_t least)
{
    struct lwp_shadow_pairs old = *pairs;
    if (!pairs_map(pairs, bits))
        return false;
    pairs->count = 0;
    for (size_t i = 0; i < (size_t)1 << old.bits; i++) {
        const struct lwp_shadow_pair *entry = &old.entries[i];
        if (!entry->key)
            continue;
        uint64_t unknown = pairs_unknown(entry->key);
        bool kept = entry->key == unknown || pairs_bytes_of(entry) >= least;
        size_t at = pairs_find(pairs, kept ? entry->key : unknown);
        pairs->merged |= !kept;
        if (!pairs->entries[at].key) {
            pairs->count++;
            pairs->entries[at] = *entry;
            pairs->entries[at].key = kept ? entry->key : unknown;
            pairs->places[at] = old.places[i];
            continue;
        }
        pairs_sum(&pairs->entries[at], entry);
        if (pairs->port->leave)
            pairs->port->leave(old.places[i]);
    }
    pairs_unmap(&old);
    return true;
}

/* Twice this many bytes, and at most half of the pairs have as much. */
static uint64_t pairs_least(const struct lwp_shadow_pairs *pairs)
{
    size_t below[64] = {0}, sum = 0;
    unsigned size = 0;
    for (size_t i = 0; i < (size_t)1 << pairs->bits; i++)
        if (pairs->entries[i].key)
            below[63 - (unsigned)__builtin_clzll(pairs_bytes_of(&pairs->entries[i]) | 1)]++;
    while (size < 63 && (sum += below[size]) < pairs->count / 2)
        size++;
    return (uint64_t)2 << size;
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
    __builtin_prefetch(&pairs->places[lwp_shadow_pairs_place(pairs, key)], 1);
    size_t at = pairs_find(pairs, key);
    if (pairs->entries[at].key)
        return pairs_to_front(pairs, at);
    if (pairs->count >= ((size_t)1 << pairs->bits) / 4 && pairs->bits < pairs->bits_max)
        pairs_move(pairs, pairs->bits + 1, 0);
    if (pairs->count >= ((size_t)3 << pairs->bits) / 4 && !pairs_move(pairs, pairs->bits, pairs_least(pairs))) {
        key = pairs_unknown(key);
        pairs->merged = true;
    }
    at = pairs_find(pairs, key);
    if (!pairs->entries[at].key) {
        pairs->count++;
        pairs->entries[at].key = key;
        pairs->places[at] = pairs->port->place ? pairs->port->place(address) : address;
    }
    return &pairs->entries[at];
}
