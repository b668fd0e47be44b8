/* A map from 64-bit keys to 32-bit values for the innermost loops: inline, linear probing, emptied in no time.
 * Like base/hash.h but without a call and without erasing: what is read once for each of a hundred million samples. */
#ifndef LWP_BASE_TABLE_H
#define LWP_BASE_TABLE_H

#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

enum { LWP_TABLE_NONE = UINT32_MAX };

struct lwp_table_slot {
    uint64_t key;
    uint32_t value, round; /* the slot is in use when its round is the table's */
};

/* Start from zero. */
struct lwp_table {
    struct lwp_table_slot *slots;
    size_t capacity, count; /* capacity is a power of two */
    uint32_t round;
};

static inline size_t lwp_table_place(const struct lwp_table *table, uint64_t key)
{
    uint64_t x = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    return (size_t)(x ^ x >> 29) & (table->capacity - 1);
}

static inline struct lwp_table_slot *lwp_table_slot(const struct lwp_table *table, uint64_t key)
{
    size_t i = lwp_table_place(table, key);
    while (table->slots[i].round == table->round && table->slots[i].key != key)
        i = (i + 1) & (table->capacity - 1);
    return &table->slots[i];
}

void lwp_table_grow(struct lwp_table *table);

/* Room for so many more at once: growing by doubling moves each three times. */
void lwp_table_reserve(struct lwp_table *table, size_t more);
void lwp_table_free(struct lwp_table *table);

/* For a key that is asked for soon. */
static inline void lwp_table_prefetch(const struct lwp_table *table, uint64_t key)
{
    if (table->capacity)
        __builtin_prefetch(&table->slots[lwp_table_place(table, key)]);
}

/* Forgets everything. */
static inline void lwp_table_clear(struct lwp_table *table)
{
    table->count = 0;
    if (++table->round == 0) /* after four thousand million rounds old slots would look new */
        lwp_table_free(table);
}

static inline uint32_t lwp_table_get(const struct lwp_table *table, uint64_t key)
{
    if (!table->capacity)
        return LWP_TABLE_NONE;
    const struct lwp_table_slot *slot = lwp_table_slot(table, key);
    return slot->round == table->round ? slot->value : LWP_TABLE_NONE;
}

/* The value's place, made holding LWP_TABLE_NONE when absent; valid until the next call. */
static inline uint32_t *lwp_table_at(struct lwp_table *table, uint64_t key)
{
    if (table->count * 2 >= table->capacity)
        lwp_table_grow(table);
    struct lwp_table_slot *slot = lwp_table_slot(table, key);
    if (slot->round != table->round) {
        *slot = (struct lwp_table_slot){.key = key, .value = LWP_TABLE_NONE, .round = table->round};
        table->count++;
    }
    return &slot->value;
}

/* The index of a key in an array of `count` items; `count`: it is new, and the next item is its own. LWP_TABLE_NONE: it is new,
 * and there are `most` already. */
static inline uint32_t lwp_table_index(struct lwp_table *table, uint64_t key, size_t count, size_t most)
{
    if (count >= most)
        return lwp_table_get(table, key);
    uint32_t *at = lwp_table_at(table, key);
    lwp_number_new(at, count);
    return *at;
}

#endif
