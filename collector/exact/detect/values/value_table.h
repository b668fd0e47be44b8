/* Recent results: for each instruction the last few numbers that it was the first to compute (Wen's thesis, 2.5.2), each
 * with the context that computed it. The memory needed depends on the code, not on how long it runs.
 *
 * A hash table with chains. Most lookups fail and must fail fast, without an unpredictable branch: a link holds some bits of
 * the number it leads to, and whether more entries follow. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_TABLE_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_TABLE_H

#include "collector/exact/detect/redundancy/shadow_pairs.h"
#include "collector/exact/detect/values/value_number.h"

/* A link: an entry, whether another follows it or did once, and bits of its number. 0: the chain ends. */
enum {
    LWP_VALUE_LINK_ENTRY = (1 << 24) - 1,
    LWP_VALUE_LINK_MORE = 1 << 24,
    LWP_VALUE_LINK_TAG = 25,
};

/* One number of an instruction. */
struct lwp_value_entry {
    uint64_t number;  /* 0: none yet */
    uint32_t next;    /* link */
    uint32_t context;
};

struct lwp_value_table {
    const struct lwp_shadow_port *port;
    struct lwp_value_entry *entries; /* `last` adjacent ones for each instruction with results; the first is unused */
    uint32_t *chains;                /* links: LWP_VALUE_CHAINS for each entry that there is room for */
    uint32_t last;                   /* numbers remembered for each instruction */
    uint32_t count, room;            /* entries */
    unsigned shift;                  /* bits of a number below those that select its chain */
    bool full;                       /* there was no room to grow: instructions that are new are left out until it is shortened */
};

enum { LWP_VALUE_CHAINS = 2 };

/* Where an instruction's entries are. Zeroed: it has computed nothing. */
struct lwp_value_place {
    uint32_t first, oldest; /* the first entry; which of them is the oldest */
};

bool lwp_value_table_init(struct lwp_value_table *table, const struct lwp_shadow_port *port, uint32_t last);
void lwp_value_table_fini(struct lwp_value_table *table);

/* Forgets all numbers; places stay. */
void lwp_value_table_clear(struct lwp_value_table *table);

/* Makes room: from now on only half as many numbers are remembered for each instruction, of those known the last ones. `places`: of all
 * instructions. False: there is one only, or no memory. */
bool lwp_value_table_shorten(struct lwp_value_table *table, struct lwp_value_place *places, uint32_t count);

/* Adds an instruction's first number. */
void lwp_value_table_first(struct lwp_value_table *table, struct lwp_value_place *place, uint64_t number, uint32_t context);

static inline uint32_t lwp_value_tag(uint64_t number)
{
    return (uint32_t)(number >> LWP_NUMBER_HASH) << LWP_VALUE_LINK_TAG;
}

/* Puts an entry, which has its number, before others. */
static inline void lwp_value_link(struct lwp_value_entry *entry, uint32_t which, uint32_t *chain)
{
    uint32_t link = *chain;
    entry->next = link;
    *chain = which | lwp_value_tag(entry->number) | (link ? LWP_VALUE_LINK_MORE : 0);
}

/* `chain`: of its number. */
static inline void lwp_value_unlink(struct lwp_value_entry *entries, uint32_t which, uint32_t *chain)
{
    uint32_t *link = chain;
    while (__builtin_expect((*link & LWP_VALUE_LINK_ENTRY) != which, 0))
        link = &entries[*link & LWP_VALUE_LINK_ENTRY].next;
    *link = entries[which].next;
}

/* The context that computed the number first, if it is still remembered; 0: none, and the number is added with `context`.
 * Members of the table are copied first, as the compiler cannot know that no entry aliases them. */
static inline uint32_t lwp_value_table_add(struct lwp_value_table *table, struct lwp_value_place *place, uint64_t number,
                                           uint32_t context)
{
    struct lwp_value_entry *entries = table->entries;
    uint32_t *chains = table->chains, last = table->last;
    unsigned shift = table->shift;
    uint32_t link = chains[number >> shift];
    bool alike = (link ^ lwp_value_tag(number)) >> LWP_VALUE_LINK_TAG == 0, more = (link & LWP_VALUE_LINK_MORE) != 0;
    if (__builtin_expect(alike | more, 0))
        for (; link; link = entries[link & LWP_VALUE_LINK_ENTRY].next)
            if (entries[link & LWP_VALUE_LINK_ENTRY].number == number)
                return entries[link & LWP_VALUE_LINK_ENTRY].context;
    if (__builtin_expect(!place->first, 0)) {
        lwp_value_table_first(table, place, number, context);
        return 0;
    }
    uint32_t oldest = place->oldest, which = place->first + oldest;
    struct lwp_value_entry *entry = &entries[which];
    uint64_t old = entry->number;
    place->oldest = oldest + 1 == last ? 0 : oldest + 1;
    if (__builtin_expect(old != 0, 1))
        lwp_value_unlink(entries, which, &chains[old >> shift]);
    entry->number = number;
    entry->context = context;
    lwp_value_link(entry, which, &chains[number >> shift]);
    return 0;
}

#endif
