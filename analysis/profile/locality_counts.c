#include "analysis/profile/locality_counts.h"

#include "analysis/caches/distance_counts.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { JOINED_LEAST = 1024 };
void lwp_locality_values_add(struct lwp_locality_values *values, const struct lwp_locality_value *value)
{
    if (values->count >= JOINED_LEAST && values->count >= 2 * values->joined)
        lwp_locality_values_join(values);
    LWP_APPEND(&values->items, &values->count, &values->room, *value);
}

static int values_owner_compare(const struct lwp_locality_value *x, const struct lwp_locality_value *y)
{
    return LWP_COMPARE(x->object, y->object) ?: LWP_COMPARE(x->part, y->part) ?: LWP_COMPARE(x->of, y->of);
}

static int values_compare(const void *a, const void *b)
{
    const struct lwp_locality_value *x = a, *y = b;
    int owner = values_owner_compare(x, y);
    if (owner || x->of != LWP_LOCALITY_DISTANCE)
        return owner ? owner : LWP_COMPARE(x->value, y->value);
    return LWP_COMPARE(lwp_distance_interval((uint32_t)x->value), lwp_distance_interval((uint32_t)y->value));
}

void lwp_locality_values_join(struct lwp_locality_values *values)
{
    size_t kept = 0;
    LWP_SORT(values->items, values->count, values_compare);
    for (size_t i = 0; i < values->count; i++)
        if (kept && values_compare(&values->items[kept - 1], &values->items[i]) == 0) {
            values->items[kept - 1].count += values->items[i].count;
            LWP_RAISE(values->items[kept - 1].value, values->items[i].value);
        } else {
            values->items[kept++] = values->items[i];
        }
    values->count = values->joined = kept;
}

const struct lwp_locality_value *lwp_locality_values_of(const struct lwp_locality_values *values, uint32_t object, uint32_t part,
                                                        enum lwp_locality_value_of of, size_t *count)
{
    const struct lwp_locality_value wanted = {.object = object, .part = part, .of = of};
    size_t low = LWP_PARTITION_POINT(i, 0, values->count, values_owner_compare(&values->items[i], &wanted) < 0);
    for (*count = 0; low + *count < values->count && values_owner_compare(&values->items[low + *count], &wanted) == 0;)
        ++*count;
    return values->items + low;
}

const struct lwp_locality_value *lwp_locality_values_most(const struct lwp_locality_value *values, size_t count)
{
    const struct lwp_locality_value *most = NULL;
    for (size_t i = 0; i < count; i++)
        if (!most || values[i].count > most->count)
            most = &values[i];
    return most;
}

uint32_t lwp_locality_counts_at(struct lwp_locality_counts *counts, uint32_t object, uint32_t part)
{
    uint32_t *at = lwp_map_at(&counts->index, (uint64_t)object << 32 | part);
    if (*at == LWP_MAP_NONE) {
        LWP_GROW(&counts->items, counts->count, &counts->room);
        *at = (uint32_t)counts->count;
        counts->items[counts->count++] = (struct lwp_locality_count){.object = object, .part = part};
    }
    return *at;
}

/* ---- the kept part of the trace ---- */

void lwp_trace_sample_thin(struct lwp_trace_sample *kept)
{
    for (size_t i = 1; i < LWP_TRACE_SAMPLE_MOST / LWP_TRACE_SAMPLE_STRETCH / 2; i++)
        memcpy(kept->accesses + i * LWP_TRACE_SAMPLE_STRETCH, kept->accesses + 2 * i * LWP_TRACE_SAMPLE_STRETCH,
               LWP_TRACE_SAMPLE_STRETCH * sizeof *kept->accesses);
    kept->count = LWP_TRACE_SAMPLE_MOST / 2;
    kept->every = kept->every ? 2 * kept->every : 2;
}

static bool kept_is_larger(uint32_t file, uint64_t bytes, const struct lwp_trace_sample *than)
{
    return bytes > than->bytes || (bytes == than->bytes && file < than->file);
}

void lwp_trace_sample_begin(struct lwp_trace_sample *kept, uint32_t file, uint64_t bytes)
{
    kept->passed = !kept_is_larger(file, bytes, kept);
    if (!kept->passed)
        *kept = (struct lwp_trace_sample){.accesses = kept->accesses, .file = file, .bytes = bytes};
}

static void kept_merge(struct lwp_trace_sample *into, struct lwp_trace_sample *from)
{
    struct lwp_trace_sample less = *into;
    if (!kept_is_larger(from->file, from->bytes, into))
        return;
    *into = *from;
    *from = less;
}

/* ---- all of it ---- */

void lwp_locality_counts_free(struct lwp_locality_counts *counts)
{
    lwp_map_fini(&counts->index);
    lwp_pages_free(counts->kept.accesses, sizeof *counts->kept.accesses * LWP_TRACE_SAMPLE_MOST);
    free(counts->values.items);
    free(counts->touched);
    free(counts->items);
    *counts = (struct lwp_locality_counts){0};
}

void lwp_locality_count_add(struct lwp_locality_count *into, const struct lwp_locality_count *from)
{
    enum { FIRST = offsetof(struct lwp_locality_count, accesses) / sizeof(uint64_t), LAST = sizeof *into / sizeof(uint64_t) };
    uint64_t *to = (uint64_t *)into;
    for (size_t i = FIRST; i < LAST; i++) /* all but its keys are counters */
        to[i] += ((const uint64_t *)from)[i];
}

void lwp_locality_counts_merge(struct lwp_locality_counts *into, struct lwp_locality_counts *from)
{
    for (size_t i = 0; i < from->count; i++) {
        uint32_t at = lwp_locality_counts_at(into, from->items[i].object, from->items[i].part);
        lwp_locality_count_add(&into->items[at], &from->items[i]);
    }
    for (size_t i = 0; i < from->values.count; i++)
        lwp_locality_values_add(&into->values, &from->values.items[i]);
    kept_merge(&into->kept, &from->kept);
    LWP_APPEND_ALL(&into->touched, &into->touched_count, &into->touched_room, from->touched, from->touched_count);
    into->gaps |= from->gaps;
    into->traced |= from->traced;
    into->several |= from->several;
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

static void touched_renumber(struct lwp_locality_counts *counts, const uint32_t *objects)
{
    size_t kept = 0;
    for (size_t i = 0; i < counts->touched_count; i++)
        counts->touched[i].object = objects[counts->touched[i].object];
    LWP_SORT(counts->touched, counts->touched_count, touched_compare);
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
    return LWP_COMPARE(x->object, y->object) ?: LWP_COMPARE(x->part, y->part);
}

static uint32_t counts_region(uint32_t part, const uint32_t *regions)
{
    return part == UINT32_MAX ? UINT32_MAX : regions[part];
}

static void values_renumber(struct lwp_locality_values *values, const uint32_t *objects, const uint32_t *regions)
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
    LWP_SORT(counts->items, counts->count, counts_compare);
    for (size_t i = 0; i < counts->count; i++) {
        if (kept && counts_compare(&counts->items[kept - 1], &counts->items[i]) == 0)
            lwp_locality_count_add(&counts->items[kept - 1], &counts->items[i]);
        else
            counts->items[kept++] = counts->items[i];
    }
    counts->count = kept;
    lwp_map_fini(&counts->index);
    touched_renumber(counts, objects);
    values_renumber(&counts->values, objects, regions);
    for (size_t i = 0; i < counts->kept.count; i++)
        counts->kept.accesses[i].object = objects[counts->kept.accesses[i].object];
}
