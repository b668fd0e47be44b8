#include "base/table.h"

#include "base/pages.h"

void lwp_table_grow(struct lwp_table *table)
{
    enum { FIRST = 64 };
    struct lwp_table larger = {.capacity = table->capacity ? table->capacity * 2 : FIRST, .round = 1};
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

void lwp_table_free(struct lwp_table *table)
{
    lwp_pages_free(table->slots, table->capacity * sizeof *table->slots);
    *table = (struct lwp_table){0};
}
