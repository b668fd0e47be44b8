#include "collector/exact/detect/values/value_table.h"

#include <stddef.h>

enum { ROOM_BITS = 10, ROOM_BITS_MOST = 24 };
_Static_assert(LWP_VALUE_LINK_ENTRY == (1 << ROOM_BITS_MOST) - 1, "a link holds any entry");

static size_t table_chains(const struct lwp_value_table *table)
{
    return (size_t)table->room * LWP_VALUE_CHAINS;
}

static void table_unmap(const struct lwp_value_table *table)
{
    if (table->entries)
        table->port->unmap(table->entries, table->room * sizeof *table->entries);
    if (table->chains)
        table->port->unmap(table->chains, table_chains(table) * sizeof *table->chains);
}

/* Another table with room for 1 << bits entries, and with those of this one. */
static bool table_resize(struct lwp_value_table *table, unsigned bits)
{
    struct lwp_value_table now = *table;
    now.room = (uint32_t)1 << bits;
    now.shift = 64 - (unsigned)__builtin_ctzll(table_chains(&now));
    now.entries = lwp_shadow_port_table(table->port, now.room * sizeof *now.entries);
    now.chains = lwp_shadow_port_table(table->port, table_chains(&now) * sizeof *now.chains);
    if (!now.entries || !now.chains) {
        table_unmap(&now);
        return false;
    }
    for (uint32_t i = 1; i < table->count; i++) {
        now.entries[i] = table->entries[i];
        if (now.entries[i].number)
            lwp_value_link(&now.entries[i], i, &now.chains[now.entries[i].number >> now.shift]);
    }
    table_unmap(table);
    *table = now;
    return true;
}

bool lwp_value_table_init(struct lwp_value_table *table, const struct lwp_shadow_port *port, uint32_t last)
{
    unsigned bits = ROOM_BITS;
    *table = (struct lwp_value_table){.port = port, .last = last, .count = 1};
    while ((uint32_t)1 << bits <= last)
        bits++;
    return table_resize(table, bits);
}

void lwp_value_table_fini(struct lwp_value_table *table)
{
    table_unmap(table);
    table->entries = NULL;
    table->chains = NULL;
}

void lwp_value_table_clear(struct lwp_value_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        table->entries[i].number = 0;
    for (size_t i = 0; i < table_chains(table); i++)
        table->chains[i] = 0;
}

/* The last `kept` numbers of a place, from the oldest on, to `entries`. */
static void table_last(const struct lwp_value_table *table, const struct lwp_value_place *place, uint32_t kept,
                       struct lwp_value_entry *entries)
{
    for (uint32_t i = 0; i < kept; i++)
        entries[i] = table->entries[place->first + (place->oldest + table->last - kept + i) % table->last];
}

/* Instructions have their entries in the order of their runs; each is moved to the front, so that none is overwritten before it is
 * copied. */
bool lwp_value_table_shorten(struct lwp_value_table *table, struct lwp_value_place *places, uint32_t count)
{
    const uint32_t kept = table->last / 2, runs = (table->count - 1) / table->last;
    const size_t owners_bytes = (runs + 1) * sizeof(uint32_t), copy_bytes = (kept + 1) * sizeof *table->entries;
    uint32_t *owners = kept ? table->port->map(owners_bytes) : NULL;
    struct lwp_value_entry *copy = owners ? table->port->map(copy_bytes) : NULL;
    if (owners && !copy)
        table->port->unmap(owners, owners_bytes);
    if (!copy)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (places[i].first)
            owners[(places[i].first - 1) / table->last] = i;
    for (uint32_t run = 0; run < runs; run++) {
        struct lwp_value_place *place = &places[owners[run]];
        table_last(table, place, kept, copy);
        *place = (struct lwp_value_place){.first = 1 + run * kept};
        for (uint32_t i = 0; i < kept; i++)
            table->entries[place->first + i] = copy[i];
    }
    table->port->unmap(owners, owners_bytes);
    table->port->unmap(copy, copy_bytes);
    for (uint32_t i = 1 + runs * kept; i < table->count; i++)
        table->entries[i] = (struct lwp_value_entry){0};
    table->last = kept;
    table->count = 1 + runs * kept;
    table->full = false;
    for (size_t i = 0; i < table_chains(table); i++)
        table->chains[i] = 0;
    for (uint32_t i = 1; i < table->count; i++)
        if (table->entries[i].number)
            lwp_value_link(&table->entries[i], i, &table->chains[table->entries[i].number >> table->shift]);
    return true;
}

/* False: there is no room. */
static bool table_begin(struct lwp_value_table *table, struct lwp_value_place *place)
{
    unsigned bits = (unsigned)__builtin_ctz(table->room);
    if (table->full)
        return false;
    if (table->room - table->count < table->last && (bits == ROOM_BITS_MOST || !table_resize(table, bits + 1))) {
        table->full = true;
        return false;
    }
    place->first = table->count;
    table->count += table->last;
    return true;
}

void lwp_value_table_first(struct lwp_value_table *table, struct lwp_value_place *place, uint64_t number, uint32_t context)
{
    if (table_begin(table, place))
        lwp_value_table_add(table, place, number, context);
}
