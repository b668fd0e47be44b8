/* What was computed lately: of each instruction the last few numbers that it was the first to compute (Wen's thesis,
 * 2.5.2), each with who that was. Memory depends on the code and not on how long it runs. Freestanding. */
#ifndef LWP_EXACT_VALUE_TABLE_H
#define LWP_EXACT_VALUE_TABLE_H

#include "collector/exact/shadow_pairs.h"

/* One number of an instruction. */
struct lwp_value_entry {
    uint64_t number; /* 0: none yet */
    uint32_t next;   /* in its bucket, from 1 */
    uint32_t context;
};

struct lwp_value_table {
    const struct lwp_shadow_port *port;
    uint32_t last;                     /* numbers of each instruction */
    struct lwp_value_entry *entries;   /* `last` of each instruction that has computed anything, together */
    uint32_t *buckets;                 /* chains of entries by number; 0: empty */
    uint32_t count, room;              /* entries */
    unsigned bits;                     /* of buckets */
    bool full;                         /* there was no memory for more */
};

/* An instruction's place. Zeroed: it has computed nothing. */
struct lwp_value_place {
    uint32_t first, oldest; /* its entries, from 1; which of them is the oldest */
};

bool lwp_value_table_init(struct lwp_value_table *table, const struct lwp_shadow_port *port, uint32_t last);
void lwp_value_table_fini(struct lwp_value_table *table);

/* Forgets all numbers; places stay. */
void lwp_value_table_clear(struct lwp_value_table *table);

/* The slow ways of lwp_value_table_add(). */
bool lwp_value_table_begin(struct lwp_value_table *table, struct lwp_value_place *place);
void lwp_value_table_unlink(struct lwp_value_table *table, uint32_t entry);

/* The context that computed the number first, as far as it is still known; 0: nobody did, and `context` is it now. */
static inline uint32_t lwp_value_table_add(struct lwp_value_table *table, struct lwp_value_place *place, uint64_t number,
                                           uint32_t context)
{
    uint32_t *bucket = &table->buckets[number >> (64 - table->bits)];
    for (uint32_t at = *bucket; at; at = table->entries[at - 1].next)
        if (table->entries[at - 1].number == number)
            return table->entries[at - 1].context;
    if (__builtin_expect(!place->first, 0)) {
        if (!lwp_value_table_begin(table, place))
            return 0;
        bucket = &table->buckets[number >> (64 - table->bits)];
    }
    uint32_t which = place->first + place->oldest;
    struct lwp_value_entry *entry = &table->entries[which - 1];
    if (entry->number)
        lwp_value_table_unlink(table, which);
    place->oldest = place->oldest + 1 == table->last ? 0 : place->oldest + 1;
    *entry = (struct lwp_value_entry){number, *bucket, context};
    *bucket = which;
    return 0;
}

#endif
