#include "analysis/profile/locality_counts.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

uint32_t lwp_locality_counts_at(struct lwp_locality_counts *counts, uint32_t object, uint32_t part)
{
    uint32_t *at = lwp_table_at(&counts->index, (uint64_t)object << 32 | part);
    if (*at == LWP_TABLE_NONE) {
        LWP_GROW(&counts->items, counts->count, &counts->room);
        *at = (uint32_t)counts->count;
        counts->items[counts->count++] = (struct lwp_locality_count){.object = object, .part = part};
    }
    return *at;
}

void lwp_locality_counts_free(struct lwp_locality_counts *counts)
{
    lwp_table_free(&counts->index);
    lwp_trace_sample_free(&counts->kept);
    lwp_locality_values_free(&counts->values);
    free(counts->touched);
    free(counts->items);
    *counts = (struct lwp_locality_counts){0};
}

static void counts_add_found(struct lwp_locality_found *into, const struct lwp_locality_found *from)
{
    for (size_t i = 0; i < LWP_LOCALITY_PLACES; i++)
        into->at[i] += from->at[i];
    into->cycles += from->cycles;
}

void lwp_locality_count_add(struct lwp_locality_count *into, const struct lwp_locality_count *from)
{
    into->accesses += from->accesses;
    into->stores += from->stores;
    counts_add_found(&into->found, &from->found);
    counts_add_found(&into->elsewhere, &from->elsewhere);
    for (size_t i = 0; i < LWP_LOCALITY_DISTANCES; i++)
        into->distances[i] += from->distances[i];
    into->local += from->local;
    into->restarted += from->restarted;
    into->conflicts += from->conflicts;
    into->streams += from->streams;
    into->streams_times += from->streams_times;
    for (size_t i = 0; i < LWP_LOCALITY_STRIDES; i++)
        into->lines[i] += from->lines[i];
    into->walks += from->walks;
    for (size_t i = 0; i < LWP_LOCALITY_VALUES; i++)
        into->values[i] += from->values[i];
}

void lwp_locality_counts_merge(struct lwp_locality_counts *into, struct lwp_locality_counts *from)
{
    for (size_t i = 0; i < from->count; i++) {
        uint32_t at = lwp_locality_counts_at(into, from->items[i].object, from->items[i].part);
        lwp_locality_count_add(&into->items[at], &from->items[i]);
    }
    for (size_t i = 0; i < from->values.count; i++)
        lwp_locality_values_add(&into->values, &from->values.items[i]);
    lwp_trace_sample_merge(&into->kept, &from->kept);
    for (size_t i = 0; i < from->touched_count; i++) {
        LWP_GROW(&into->touched, into->touched_count, &into->touched_room);
        into->touched[into->touched_count++] = from->touched[i];
    }
    into->gaps |= from->gaps;
    into->traced |= from->traced;
    into->accesses += from->accesses;
    into->windows += from->windows;
    into->lost += from->lost;
    lwp_locality_counts_free(from);
}

static int touched_compare(const void *a, const void *b)
{
    const struct lwp_touched *x = a, *y = b;
    return (x->object > y->object) - (x->object < y->object);
}

static void touched_settle(struct lwp_locality_counts *counts, const uint32_t *objects)
{
    size_t kept = 0;
    for (size_t i = 0; i < counts->touched_count; i++)
        counts->touched[i].object = objects[counts->touched[i].object];
    if (counts->touched_count)
        qsort(counts->touched, counts->touched_count, sizeof *counts->touched, touched_compare);
    for (size_t i = 0; i < counts->touched_count; i++) {
        const struct lwp_touched more = counts->touched[i];
        if (!kept || counts->touched[kept - 1].object != more.object) {
            counts->touched[kept++] = more;
            continue;
        }
        counts->touched[kept - 1].accesses += more.accesses;
        counts->touched[kept - 1].local += more.local;
        counts->touched[kept - 1].best += more.best;
    }
    counts->touched_count = kept;
}

static int counts_compare(const void *a, const void *b)
{
    const struct lwp_locality_count *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

static uint32_t counts_region(uint32_t part, const uint32_t *regions)
{
    return part == UINT32_MAX ? UINT32_MAX : regions[part];
}

static void values_settle(struct lwp_locality_values *values, const uint32_t *objects, const uint32_t *regions)
{
    for (size_t i = 0; i < values->count; i++) {
        struct lwp_locality_value *value = &values->items[i];
        value->object = objects[value->object];
        value->part = counts_region(value->part, regions);
        if (value->of == LWP_LOCALITY_BEFORE)
            value->value = counts_region((uint32_t)value->value, regions);
    }
    lwp_locality_values_join(values);
}

void lwp_locality_counts_renumber(struct lwp_locality_counts *counts, const uint32_t *objects, const uint32_t *regions)
{
    size_t kept = 0;
    for (size_t i = 0; i < counts->count; i++) {
        struct lwp_locality_count *item = &counts->items[i];
        item->object = objects[item->object];
        item->part = counts_region(item->part, regions);
    }
    if (counts->count)
        qsort(counts->items, counts->count, sizeof *counts->items, counts_compare);
    for (size_t i = 0; i < counts->count; i++) {
        if (kept && counts_compare(&counts->items[kept - 1], &counts->items[i]) == 0)
            lwp_locality_count_add(&counts->items[kept - 1], &counts->items[i]);
        else
            counts->items[kept++] = counts->items[i];
    }
    counts->count = kept;
    lwp_table_free(&counts->index);
    touched_settle(counts, objects);
    values_settle(&counts->values, objects, regions);
    for (size_t i = 0; i < counts->kept.count; i++)
        counts->kept.accesses[i].object = objects[counts->kept.accesses[i].object];
}
