/* What was computed lately: of each instruction the last few numbers that it was the first to compute (Wen's thesis,
 * 2.5.2), each with who that was. Memory depends on the code and not on how long it runs.
 *
 * A hash table with chains. Most of what is looked for is not there, and has to be seen not to be at once, without a branch
 * that nobody can foresee: a link has some bits of the number it leads to, and says whether others follow. Freestanding. */
#ifndef LWP_EXACT_VALUE_TABLE_H
#define LWP_EXACT_VALUE_TABLE_H

#include "collector/exact/shadow_pairs.h"
#include "collector/exact/value_number.h"

/* A link: an entry, whether another follows it or did once, and bits of its number. 0: the chain ends. */
enum {
    LWP_VALUE_LINK_ENTRY = (1 << 26) - 1,
    LWP_VALUE_LINK_MORE = 1 << 26,
    LWP_VALUE_LINK_TAG = 27,
};

/* One number of an instruction. */
struct lwp_value_entry {
    uint64_t number;  /* 0: none yet */
    uint32_t next;    /* link */
    uint32_t context;
};

struct lwp_value_table {
    const struct lwp_shadow_port *port;
    struct lwp_value_entry *entries; /* `last` of each instruction that has computed anything, together; the first is none */
    uint32_t *chains;                /* links: LWP_VALUE_CHAINS for each entry that there is room for */
    uint32_t last;                   /* numbers of each instruction */
    uint32_t count, room;            /* entries */
    unsigned shift;                  /* a number's chain is what is above */
    bool full;                       /* there was no memory for more */
};

enum { LWP_VALUE_CHAINS = 2 };

/* An instruction's place. Zeroed: it has computed nothing. */
struct lwp_value_place {
    uint32_t first, oldest; /* its entries; which of them is the oldest */
};

bool lwp_value_table_init(struct lwp_value_table *table, const struct lwp_shadow_port *port, uint32_t last);
void lwp_value_table_fini(struct lwp_value_table *table);

/* Forgets all numbers; places stay. */
void lwp_value_table_clear(struct lwp_value_table *table);

/* An instruction's first number. False: there is no room. */
bool lwp_value_table_begin(struct lwp_value_table *table, struct lwp_value_place *place);

static inline uint32_t *lwp_value_chain(const struct lwp_value_table *table, uint64_t number)
{
    return &table->chains[number >> table->shift];
}

static inline uint32_t lwp_value_tag(uint64_t number)
{
    return (uint32_t)(number >> LWP_NUMBER_HASH) << LWP_VALUE_LINK_TAG;
}

/* Puts an entry, which has its number, before others. */
static inline void lwp_value_link(const struct lwp_value_table *table, uint32_t which)
{
    struct lwp_value_entry *entry = &table->entries[which];
    uint32_t *chain = lwp_value_chain(table, entry->number);
    entry->next = *chain;
    *chain = which | lwp_value_tag(entry->number) | (*chain ? LWP_VALUE_LINK_MORE : 0);
}

static inline void lwp_value_unlink(const struct lwp_value_table *table, uint32_t which)
{
    struct lwp_value_entry *entry = &table->entries[which];
    uint32_t *link = lwp_value_chain(table, entry->number);
    while (__builtin_expect((*link & LWP_VALUE_LINK_ENTRY) != which, 0))
        link = &table->entries[*link & LWP_VALUE_LINK_ENTRY].next;
    *link = entry->next;
}

/* The context that computed the number first, as far as it is still known; 0: nobody did, and `context` is it now. */
static inline uint32_t lwp_value_table_add(struct lwp_value_table *table, struct lwp_value_place *place, uint64_t number,
                                           uint32_t context)
{
    struct lwp_value_entry *entries = table->entries;
    uint32_t link = *lwp_value_chain(table, number);
    bool alike = (link ^ lwp_value_tag(number)) >> LWP_VALUE_LINK_TAG == 0, more = (link & LWP_VALUE_LINK_MORE) != 0;
    if (__builtin_expect(alike | more, 0))
        for (; link; link = entries[link & LWP_VALUE_LINK_ENTRY].next)
            if (entries[link & LWP_VALUE_LINK_ENTRY].number == number)
                return entries[link & LWP_VALUE_LINK_ENTRY].context;
    if (__builtin_expect(!place->first, 0)) {
        if (!lwp_value_table_begin(table, place))
            return 0;
        entries = table->entries;
    }
    uint32_t which = place->first + place->oldest;
    place->oldest = place->oldest + 1 == table->last ? 0 : place->oldest + 1;
    if (__builtin_expect(entries[which].number != 0, 1))
        lwp_value_unlink(table, which);
    entries[which].number = number;
    entries[which].context = context;
    lwp_value_link(table, which);
    return 0;
}

#endif
