#include "collector/exact/detect/redundancy/shadow_pairs.h"

enum { BITS_FIRST = 14 };

static size_t pairs_bytes(unsigned bits, size_t each)
{
    return ((size_t)1 << bits) * each;
}

static bool pairs_map(struct lwp_shadow_pairs *pairs, unsigned bits)
{
    struct lwp_shadow_pair *entries = lwp_shadow_port_table(pairs->port, pairs_bytes(bits, sizeof *entries));
    if (!entries)
        return false;
    uint64_t *places = lwp_shadow_port_table(pairs->port, pairs_bytes(bits, sizeof *places));
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

/* Into a table of twice as many. */
static void pairs_grow(struct lwp_shadow_pairs *pairs)
{
    struct lwp_shadow_pairs old = *pairs;
    if (!pairs_map(pairs, old.bits + 1))
        return;
    for (size_t i = 0; i < (size_t)1 << old.bits; i++) {
        if (!old.entries[i].key)
            continue;
        size_t at = pairs_find(pairs, old.entries[i].key);
        pairs->entries[at] = old.entries[i];
        pairs->places[at] = old.places[i];
    }
    pairs_unmap(&old);
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

/* Pairs of less than `least` bytes are counted together. All are taken out and put in again one after the other, from
 * behind a free place on: each finds one between where it is searched for first and where it was. Those counted together,
 * which may belong anywhere, wait until the end. */
static void pairs_merge(struct lwp_shadow_pairs *pairs, uint64_t least)
{
    static const struct lwp_shadow_pair none;
    struct lwp_shadow_pair together[LWP_SHADOW_VALUES + 1] = {0};
    uint64_t places[LWP_SHADOW_VALUES + 1];
    size_t mask = ((size_t)1 << pairs->bits) - 1, start = 0;
    while (pairs->entries[start].key)
        start++;
    for (size_t i = (start + 1) & mask; i != start; i = (i + 1) & mask) {
        struct lwp_shadow_pair entry = pairs->entries[i];
        if (!entry.key)
            continue;
        pairs->entries[i] = none;
        if (pairs_bytes_of(&entry) >= least && entry.key != pairs_unknown(entry.key)) {
            size_t at = pairs_find(pairs, entry.key);
            pairs->entries[at] = entry;
            pairs->places[at] = pairs->places[i];
            continue;
        }
        enum lwp_shadow_kind kind = lwp_shadow_pair_kind(&entry);
        pairs->count--;
        if (!together[kind].key) {
            together[kind] = entry;
            places[kind] = pairs->places[i];
            continue;
        }
        pairs_sum(&together[kind], &entry);
        if (pairs->port->leave)
            pairs->port->leave(pairs->places[i]);
    }
    for (unsigned kind = 0; kind <= LWP_SHADOW_VALUES; kind++) {
        uint64_t key = pairs_unknown(together[kind].key);
        if (!together[kind].key)
            continue;
        size_t at = pairs_find(pairs, key);
        pairs->entries[at] = together[kind];
        pairs->entries[at].key = key;
        pairs->places[at] = places[kind];
        pairs->count++;
    }
    pairs->merged = true;
}

/* What is searched for once is searched for again: it goes to the front of its chain. Nothing is ever taken out of a chain, so
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
    if (pairs->count >= ((size_t)1 << pairs->bits) / 2 && pairs->bits < pairs->bits_max)
        pairs_grow(pairs);
    if (pairs->count >= ((size_t)3 << pairs->bits) / 4)
        pairs_merge(pairs, pairs_least(pairs));
    at = pairs_find(pairs, key);
    if (!pairs->entries[at].key) {
        pairs->count++;
        pairs->entries[at].key = key;
        pairs->places[at] = pairs->port->place ? pairs->port->place(address) : address;
    }
    return &pairs->entries[at];
}
