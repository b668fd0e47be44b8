#include "base/table.h"

#include <stdio.h>

void lwp_table_grow(struct lwp_table *table)
{
    enum { FIRST = 64 };
    struct lwp_table larger = {.capacity = table->capacity ? table->capacity * 2 : FIRST, .round = 1};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) {
        fputs("lwp: out of memory; analyse fewer samples at once or on a larger machine\n", stderr);
        exit(125);
    }
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i].round == table->round) {
            struct lwp_table_slot *slot = lwp_table_slot(&larger, table->slots[i].key);
            *slot = table->slots[i];
            slot->round = larger.round;
            larger.count++;
        }
    free(table->slots);
    *table = larger;
}

void lwp_table_free(struct lwp_table *table)
{
    free(table->slots);
    *table = (struct lwp_table){0};
}
