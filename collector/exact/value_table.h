/* What was computed lately: of each instruction the last few numbers that it was the first to compute (Wen's thesis,
 * 2.5.2), each with who that was. Memory depends on the code and not on how long it runs.
 *
 * Most of what is looked for is not there, and has to be seen not to be at once, without a branch that nobody can foresee:
 * numbers lie in buckets of 8 with a byte of each side by side in one word, and each knows its place, to be taken out. Freestanding. */
#ifndef LWP_EXACT_VALUE_TABLE_H
#define LWP_EXACT_VALUE_TABLE_H

#include "collector/exact/shadow_pairs.h"
#include "collector/exact/value_number.h"

enum { LWP_VALUE_BUCKET = 8 };

/* One number of an instruction. */
struct lwp_value_entry {
    uint64_t number;  /* 0: none yet */
    uint32_t at;      /* in the table */
    uint32_t context;
};

struct lwp_value_table {
    const struct lwp_shadow_port *port;
    uint32_t last;                   /* numbers of each instruction */
    struct lwp_value_entry *entries; /* `last` of each instruction that has computed anything, together */
    uint8_t *tags;                   /* of 1 << bits buckets; 0: free */
    uint32_t *which;                 /* and their entries */
    uint32_t count, room;            /* entries */
    unsigned bits;
    bool full;                       /* there was no memory for more */
};

/* An instruction's place. Zeroed: it has computed nothing. */
struct lwp_value_place {
    uint32_t first, oldest; /* its entries, from 1; which of them is the oldest */
};

bool lwp_value_table_init(struct lwp_value_table *table, const struct lwp_shadow_port *port, uint32_t last);
void lwp_value_table_fini(struct lwp_value_table *table);

/* Forgets all numbers; places stay. */
void lwp_value_table_clear(struct lwp_value_table *table);

/* The slow ways of lwp_value_table_add(): an instruction's first number; a full bucket. */
bool lwp_value_table_begin(struct lwp_value_table *table, struct lwp_value_place *place);
void lwp_value_table_place(struct lwp_value_table *table, uint32_t entry);

/* Bytes that are 0 have their highest bit set; above the first of them others may. */
static inline uint64_t lwp_value_zeros(uint64_t bytes)
{
    return (bytes - 0x0101010101010101u) & ~bytes & 0x8080808080808080u;
}

/* Never 0. */
static inline uint8_t lwp_value_tag(uint64_t number)
{
    uint8_t some = (uint8_t)(number >> LWP_NUMBER_HASH);
    return (uint8_t)(some + !some);
}

static inline void lwp_value_table_set(struct lwp_value_table *table, uint32_t entry, size_t at)
{
    table->tags[at] = lwp_value_tag(table->entries[entry].number);
    table->which[at] = entry;
    table->entries[entry].at = (uint32_t)at;
}

static inline size_t lwp_value_bucket(const struct lwp_value_table *table, uint64_t number)
{
    return (size_t)(number >> (64 - table->bits)) * LWP_VALUE_BUCKET;
}

static inline uint64_t lwp_value_tags(const struct lwp_value_table *table, size_t bucket)
{
    return *(const uint64_t *)(const void *)&table->tags[bucket];
}

/* The entry of the number among those of the bucket that have its tag; NULL: there is none. */
static inline const struct lwp_value_entry *lwp_value_among(const struct lwp_value_table *table, uint64_t alike, size_t bucket,
                                                            uint64_t number)
{
    for (; alike; alike &= alike - 1) {
        size_t which = bucket + (unsigned)__builtin_ctzll(alike) / 8;
        const struct lwp_value_entry *entry = &table->entries[table->which[which]];
        if (table->tags[which] && entry->number == number)
            return entry;
    }
    return NULL;
}

/* The context that computed the number first, as far as it is still known; 0: nobody did, and `context` is it now. */
static inline uint32_t lwp_value_table_add(struct lwp_value_table *table, struct lwp_value_place *place, uint64_t number,
                                           uint32_t context)
{
    size_t bucket = lwp_value_bucket(table, number);
    uint64_t tags = lwp_value_tags(table, bucket), alike = lwp_value_zeros(tags ^ lwp_value_tag(number) * 0x0101010101010101u);
    if (alike) {
        const struct lwp_value_entry *found = lwp_value_among(table, alike, bucket, number);
        if (found)
            return found->context;
    }
    uint64_t free = lwp_value_zeros(tags);
    if (__builtin_expect(!place->first, 0)) {
        if (!lwp_value_table_begin(table, place))
            return 0;
        free = 0; /* it may be another table now */
    }
    uint32_t which = place->first + place->oldest - 1;
    struct lwp_value_entry *entry = &table->entries[which];
    if (__builtin_expect(entry->number != 0, 1))
        table->tags[entry->at] = 0;
    place->oldest = place->oldest + 1 == table->last ? 0 : place->oldest + 1;
    entry->number = number;
    entry->context = context;
    if (__builtin_expect(free != 0, 1))
        lwp_value_table_set(table, which, bucket + (unsigned)__builtin_ctzll(free) / 8);
    else
        lwp_value_table_place(table, which);
    return 0;
}

#endif
