#include "base/table.h"

#include "base/pages.h"

enum { TABLE_FIRST = 64 };

static void table_resize(struct lwp_table *table, size_t capacity)
{
    struct lwp_table larger = {.capacity = capacity, .round = 1};
    larger.slots = lwp_pages_alloc(larger.capacity * sizeof *larger.slots);
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i].round == table->round) {
            struct lwp_table_slot *slot = lwp_table_slot(&larger, table->slots[i].key);
            *slot = table->slots[i];
            slot->round = larger.round;
            larger.count++;
        }
    lwp_pages_free(table->slots, table->capacity * sizeof *table->slots);
    *table = larger;
}

void lwp_table_grow(struct lwp_table *table)
{
    table_resize(table, table->capacity ? table->capacity * 2 : TABLE_FIRST);
}

void lwp_table_reserve(struct lwp_table *table, size_t more)
{
    size_t capacity = table->capacity ? table->capacity : TABLE_FIRST;
    while (capacity < 2 * (table->count + more))
        capacity *= 2;
    if (capacity > table->capacity)
        table_resize(table, capacity);
}

void lwp_table_free(struct lwp_table *table)
{
    lwp_pages_free(table->slots, table->capacity * sizeof *table->slots);
    *table = (struct lwp_table){0};
}
