#include "collector/exact/value_table.h"

#include <stddef.h>

enum { TABLE_BITS = 12 };

static size_t table_entry_bytes(const struct lwp_value_table *table)
{
    return (size_t)table->room * sizeof *table->entries;
}

static size_t table_bucket_bytes(const struct lwp_value_table *table)
{
    return sizeof *table->buckets << table->bits;
}

static void table_unmap(const struct lwp_value_table *table)
{
    if (table->entries)
        table->port->unmap(table->entries, table_entry_bytes(table));
    if (table->buckets)
        table->port->unmap(table->buckets, table_bucket_bytes(table));
}

/* Another table of so many bits, with what is in this one. */
static bool table_resize(struct lwp_value_table *table, unsigned bits)
{
    struct lwp_value_table now = *table;
    now.bits = bits;
    now.room = (uint32_t)1 << bits;
    now.entries = table->port->map(table_entry_bytes(&now));
    now.buckets = table->port->map(table_bucket_bytes(&now));
    if (!now.entries || !now.buckets) {
        table_unmap(&now);
        return false;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        now.entries[i] = table->entries[i];
        if (!now.entries[i].number)
            continue;
        uint32_t *bucket = &now.buckets[now.entries[i].number >> (64 - bits)];
        now.entries[i].next = *bucket;
        *bucket = i + 1;
    }
    table_unmap(table);
    *table = now;
    return true;
}

bool lwp_value_table_init(struct lwp_value_table *table, const struct lwp_shadow_port *port, uint32_t last)
{
    unsigned bits = TABLE_BITS;
    *table = (struct lwp_value_table){.port = port, .last = last};
    while ((uint32_t)1 << bits < last)
        bits++;
    return table_resize(table, bits);
}

void lwp_value_table_fini(struct lwp_value_table *table)
{
    table_unmap(table);
    table->entries = NULL;
    table->buckets = NULL;
}

void lwp_value_table_clear(struct lwp_value_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        table->entries[i].number = 0;
    for (size_t i = 0; i < (size_t)1 << table->bits; i++)
        table->buckets[i] = 0;
}

bool lwp_value_table_begin(struct lwp_value_table *table, struct lwp_value_place *place)
{
    enum { BITS_MOST = 28 };
    if (table->full)
        return false;
    if (table->room - table->count < table->last &&
        (table->bits == BITS_MOST || !table_resize(table, table->bits + 1))) {
        table->full = true;
        return false;
    }
    place->first = table->count + 1;
    table->count += table->last;
    return true;
}

void lwp_value_table_unlink(struct lwp_value_table *table, uint32_t entry)
{
    uint32_t *at = &table->buckets[table->entries[entry - 1].number >> (64 - table->bits)];
    while (*at != entry)
        at = &table->entries[*at - 1].next;
    *at = table->entries[entry - 1].next;
}
