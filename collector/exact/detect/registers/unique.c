#include "collector/exact/detect/registers/unique.h"

#include "collector/record/value.h"

enum { BITS_FIRST = 10 };

/* Open addressing; 0 is free, and the value 0 is counted apart. */
struct unique_table {
    const struct lwp_shadow_port *port;
    uint64_t *slots, count;
    unsigned bits;
    unsigned thinned; /* only values whose hash ends with so many zeros are kept */
    bool zero;
};

static uint64_t unique_hash(uint64_t value)
{
    value = (value ^ value >> 32) * 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9u;
    return value ^ value >> 32;
}

static uint64_t unique_key(const unsigned char *at, size_t size)
{
    uint64_t key = 0, hash = size;
    for (size_t i = 0; i < size; i++) {
        key |= (uint64_t)at[i] << 8 * (i % 8);
        if (size > 8 && (i % 8 == 7 || i + 1 == size)) {
            hash = unique_hash(hash + key);
            key = 0;
        }
    }
    return size > 8 ? hash : key;
}

static bool unique_is_kept(const struct unique_table *table, uint64_t hash)
{
    return (hash & (((uint64_t)1 << table->thinned) - 1)) == 0;
}

static void unique_put(struct unique_table *table, uint64_t value)
{
    const uint64_t hash = unique_hash(value), mask = ((uint64_t)1 << table->bits) - 1;
    uint64_t at = hash >> (64 - table->bits);
    if (!unique_is_kept(table, hash))
        return;
    while (table->slots[at] && table->slots[at] != value)
        at = (at + 1) & mask;
    table->count += !table->slots[at];
    table->slots[at] = value;
}

static void unique_free(const struct unique_table *table)
{
    table->port->unmap(table->slots, sizeof *table->slots << table->bits);
}

/* A table of twice as many slots, or half of the values. */
static bool unique_grow(struct unique_table *table)
{
    struct unique_table old = *table;
    if (old.count >= LWP_UNIQUE_MOST)
        table->thinned++;
    else
        table->bits++;
    table->count = 0;
    table->slots = old.port->map(sizeof *table->slots << table->bits);
    if (!table->slots) {
        *table = old;
        return false;
    }
    for (uint64_t i = 0; i < (uint64_t)1 << old.bits; i++)
        if (old.slots[i])
            unique_put(table, old.slots[i]);
    unique_free(&old);
    return true;
}

/* ---- values that are nearly the same ---- */

/* In the order of the numbers. */
static uint64_t unique_rank(uint64_t value, size_t size)
{
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return value & sign ? ~value & (sign | (sign - 1)) : value | sign;
}

static uint64_t unique_value(uint64_t rank, size_t size)
{
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return rank & sign ? rank & ~sign : ~rank & (sign | (sign - 1));
}

static void unique_sift(uint64_t *ranks, uint64_t at, uint64_t count)
{
    for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && ranks[child + 1] > ranks[child];
        if (ranks[at] >= ranks[child])
            return;
        const uint64_t other = ranks[at];
        ranks[at] = ranks[child];
        ranks[child] = other;
    }
}

static void unique_sort(uint64_t *ranks, uint64_t count)
{
    for (uint64_t i = count / 2; i-- > 0;)
        unique_sift(ranks, i, count);
    for (uint64_t left = count; left-- > 1;) {
        const uint64_t most = ranks[0];
        ranks[0] = ranks[left];
        ranks[left] = most;
        unique_sift(ranks, 0, left);
    }
}

/* Takes the table's slots for it. */
static uint64_t unique_groups(struct unique_table *table, size_t size)
{
    uint64_t count = 0, groups = 0, base = 0;
    for (uint64_t i = 0; i < (uint64_t)1 << table->bits; i++)
        if (table->slots[i])
            table->slots[count++] = unique_rank(table->slots[i], size);
    unique_sort(table->slots, count);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t value = unique_value(table->slots[i], size);
        if (groups && lwp_value_compare(base, value, (unsigned)size, (unsigned)size) != LWPS_VALUE_OTHER)
            continue;
        base = value;
        groups++;
    }
    return groups;
}

bool lwp_unique_count(const struct lwp_shadow_port *port, const void *at, size_t count, size_t step, size_t size, bool is_float,
                      struct lwp_unique *unique)
{
    struct unique_table table = {.port = port, .bits = BITS_FIRST};
    const unsigned char *element = at;
    table.slots = port->map(sizeof *table.slots << table.bits);
    if (!table.slots)
        return false;
    for (size_t i = 0; i < count; i++, element += step) {
        const uint64_t value = unique_key(element, size);
        if (4 * table.count >= (uint64_t)3 << table.bits || table.count >= LWP_UNIQUE_MOST)
            if (!unique_grow(&table)) {
                unique_free(&table);
                return false;
            }
        if (value)
            unique_put(&table, value);
        else
            table.zero = true;
    }
    unique->values = (table.count << table.thinned) + table.zero;
    unique->values = unique->values < count ? unique->values : count;
    unique->groups = unique->values;
    if (is_float && !table.thinned && size <= 8)
        unique->groups = unique_groups(&table, size) + table.zero;
    unique_free(&table);
    return true;
}
