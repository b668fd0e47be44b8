#include "collector/exact/value_table.h"

#include <stddef.h>

enum { TABLE_BITS = 10, BITS_MOST = 26 };

static size_t table_slots(const struct lwp_value_table *table)
{
    return ((size_t)1 << table->bits) * LWP_VALUE_BUCKET;
}

static void table_unmap(const struct lwp_value_table *table)
{
    if (table->entries)
        table->port->unmap(table->entries, table->room * sizeof *table->entries);
    if (table->tags)
        table->port->unmap(table->tags, table_slots(table) * sizeof *table->tags);
    if (table->which)
        table->port->unmap(table->which, table_slots(table) * sizeof *table->which);
}

/* False: its bucket is full. */
static bool table_try(struct lwp_value_table *table, uint32_t which)
{
    uint64_t number = table->entries[which].number;
    size_t bucket = lwp_value_bucket(table, number);
    uint64_t free = lwp_value_zeros(lwp_value_tags(table, bucket));
    if (!free)
        return false;
    lwp_value_table_set(table, which, bucket + (unsigned)__builtin_ctzll(free) / 8);
    return true;
}

/* Another table of so many buckets and so many entries, with what is in this one, as far as it finds room. */
static bool table_resize(struct lwp_value_table *table, unsigned bits, uint32_t room)
{
    struct lwp_value_table now = *table;
    now.bits = bits;
    now.room = room;
    now.entries = table->port->map(room * sizeof *now.entries);
    now.tags = table->port->map(table_slots(&now) * sizeof *now.tags);
    now.which = table->port->map(table_slots(&now) * sizeof *now.which);
    if (!now.entries || !now.tags || !now.which) {
        table_unmap(&now);
        return false;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        now.entries[i] = table->entries[i];
        if (now.entries[i].number && !table_try(&now, i))
            now.entries[i].number = 0;
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
    return table_resize(table, bits, (uint32_t)1 << bits);
}

void lwp_value_table_fini(struct lwp_value_table *table)
{
    table_unmap(table);
    table->entries = NULL;
    table->tags = NULL;
    table->which = NULL;
}

void lwp_value_table_clear(struct lwp_value_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        table->entries[i].number = 0;
    for (size_t i = 0; i < table_slots(table); i++)
        table->tags[i] = 0;
}

bool lwp_value_table_begin(struct lwp_value_table *table, struct lwp_value_place *place)
{
    if (table->full)
        return false;
    if (table->room - table->count < table->last &&
        (table->bits == BITS_MOST || !table_resize(table, table->bits + 1, 2 * table->room))) {
        table->full = true;
        return false;
    }
    place->first = table->count + 1;
    table->count += table->last;
    return true;
}

void lwp_value_table_place(struct lwp_value_table *table, uint32_t entry)
{
    while (__builtin_expect(!table_try(table, entry), 0)) {
        uint64_t number = table->entries[entry].number;
        table->entries[entry].number = 0; /* it has no place yet */
        if (table->bits == BITS_MOST || !table_resize(table, table->bits + 1, table->room))
            return;
        table->entries[entry].number = number;
    }
}
