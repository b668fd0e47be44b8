/* How often each pair of contexts was redundant: a hash table. When it is full, the pairs of which there is least, half of
 * all at least, are counted together as pairs of unknown contexts. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_PAIRS_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp_shadow_port {
    void *(*map)(size_t bytes); /* zeroed, in whole pages, given only as they are touched; NULL: there is no more */
    void (*unmap)(void *memory, size_t bytes);
    uint64_t (*place)(uint64_t address); /* what is kept of a new pair's second access; NULL: the address */
    void (*leave)(uint64_t place);      /* its pair is counted with others from now on; may be NULL */
    void (*large)(const void *memory, size_t bytes); /* hint: a table that is accessed all over; may be NULL */
};

/* A table that is accessed all over, as from `map`. */
static inline void *lwp_shadow_port_table(const struct lwp_shadow_port *port, size_t bytes)
{
    void *memory = port->map(bytes);
    if (memory && port->large)
        port->large(memory, bytes);
    return memory;
}

enum lwp_shadow_kind {
    LWP_SHADOW_STORES = 1, /* `second` stored over what `first` had stored */
    LWP_SHADOW_LOADS = 2,  /* `second` loaded what `first` had loaded before */
    LWP_SHADOW_OVERWRITES = 3, /* `second`, of another thread, stored over what `first` had stored and nobody had loaded; `dead` only */
    LWP_SHADOW_VALUES = 4, /* `second` computed what `first` had computed before */
};

/* Contexts that are not distinguished, as tables are full. */
enum { LWP_SHADOW_UNKNOWN = 0x3ffffff };

/* Counts of bytes, and of times: an access counts once for each pair and each 8 bytes of it. */
struct lwp_shadow_pair {
    uint64_t key;               /* 0: free */
    uint64_t dead, dead_times;  /* stores: nothing had loaded them */
    uint64_t same, same_times;  /* the value did not change; times: also of those that are only close */
    uint64_t close;             /* stores: floating point, within 1 %; not in `same` */
    uint64_t other;             /* the value changed */
    uint32_t address_low;       /* of the last one */
    uint32_t again;             /* times at the address of the one before; no more than UINT32_MAX */
};
_Static_assert(sizeof(struct lwp_shadow_pair) == 64, "one cache line");

static inline enum lwp_shadow_kind lwp_shadow_pair_kind(const struct lwp_shadow_pair *pair)
{
    return (enum lwp_shadow_kind)(pair->key >> 56);
}

static inline uint32_t lwp_shadow_pair_first(const struct lwp_shadow_pair *pair)
{
    return (uint32_t)(pair->key >> 28) & 0xfffffff;
}

static inline uint32_t lwp_shadow_pair_second(const struct lwp_shadow_pair *pair)
{
    return (uint32_t)pair->key & 0xfffffff;
}

struct lwp_shadow_pairs {
    const struct lwp_shadow_port *port;
    struct lwp_shadow_pair *entries; /* 1 << bits of them; more than bits_max are never made */
    uint64_t *places;                /* port->place() of the first of each entry */
    unsigned bits, bits_max;
    size_t count;
    bool merged; /* some are counted together as of unknown contexts */
};

/* False: no memory. At most 1 << bits_max entries (20: 72 MiB; 4 at least). */
bool lwp_shadow_pairs_init(struct lwp_shadow_pairs *pairs, const struct lwp_shadow_port *port, unsigned bits_max);
void lwp_shadow_pairs_fini(struct lwp_shadow_pairs *pairs);
void lwp_shadow_pairs_clear(struct lwp_shadow_pairs *pairs);

/* The slow way of lwp_shadow_pairs_at(). */
struct lwp_shadow_pair *lwp_shadow_pairs_add(struct lwp_shadow_pairs *pairs, uint64_t key, uint64_t address);

static inline size_t lwp_shadow_pairs_place(const struct lwp_shadow_pairs *pairs, uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> (64 - pairs->bits));
}

static inline uint64_t lwp_shadow_pairs_key(enum lwp_shadow_kind kind, uint32_t first, uint32_t second)
{
    return (uint64_t)kind << 56 | (uint64_t)first << 28 | second;
}

static inline struct lwp_shadow_pair *lwp_shadow_pair_again(struct lwp_shadow_pair *pair, uint64_t address)
{
    if (pair->address_low == (uint32_t)address && pair->again != UINT32_MAX)
        pair->again++;
    pair->address_low = (uint32_t)address;
    return pair;
}

/* NULL: not where it is searched for first. `address`: where the second access is. */
static inline struct lwp_shadow_pair *lwp_shadow_pairs_known(struct lwp_shadow_pairs *pairs, enum lwp_shadow_kind kind,
                                                             uint32_t first, uint32_t second, uint64_t address)
{
    uint64_t key = lwp_shadow_pairs_key(kind, first, second);
    struct lwp_shadow_pair *entry = &pairs->entries[lwp_shadow_pairs_place(pairs, key)];
    return __builtin_expect(entry->key == key, 1) ? lwp_shadow_pair_again(entry, address) : NULL;
}

/* Never NULL; valid until the next call. */
static inline struct lwp_shadow_pair *lwp_shadow_pairs_at(struct lwp_shadow_pairs *pairs, enum lwp_shadow_kind kind,
                                                          uint32_t first, uint32_t second, uint64_t address)
{
    uint64_t key = lwp_shadow_pairs_key(kind, first, second);
    struct lwp_shadow_pair *entry = &pairs->entries[lwp_shadow_pairs_place(pairs, key)];
    return lwp_shadow_pair_again(entry->key == key ? entry : lwp_shadow_pairs_add(pairs, key, address), address);
}

#endif
