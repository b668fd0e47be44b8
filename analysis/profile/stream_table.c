/* Every access is counted in one of some hundred thousand streams, which no cache holds, so its cost is the number of cache lines
 * it needs: the slot, the count, and the offset it adds; one more when it has a cost, or shares a sample and object with another.
 * The result does not depend on the order of accesses and of merged tables. Limits: at about STREAMS_MAX streams accesses to new
 * ones are counted on the object only; which ones does depend on the order. */
#include "analysis/profile/stream_table.h"

#include "analysis/profile/contexts.h"
#include "base/order.h"
#include "base/pages.h"

enum { STREAMS_MAX = 1 << 21, SLOTS_FIRST = 1 << 10 };

_Static_assert(sizeof(struct lwp_stream_count) == 64, "one cache line");

void lwp_stream_table_free(struct lwp_stream_table *table)
{
    lwp_pages_free(table->counts, table->count_room * sizeof *table->counts);
    lwp_pages_free(table->stalls, table->stall_room * sizeof *table->stalls);
    lwp_pages_free(table->colds, table->cold_room * sizeof *table->colds);
    lwp_pages_free(table->slots, table->slot_count * sizeof *table->slots);
    lwp_reservoir_pool_free(&table->offsets);
    *table = (struct lwp_stream_table){0};
}

/* ---- finding ---- */

static struct lwp_stream_slot *table_slot_after(const struct lwp_stream_table *table, struct lwp_stream_slot *slot)
{
    return slot + 1 < table->slots + table->slot_count ? slot + 1 : table->slots;
}

static struct lwp_stream_slot *table_empty_slot(const struct lwp_stream_table *table, uint64_t hash)
{
    struct lwp_stream_slot *slot = lwp_stream_table_slot(table, hash);
    while (slot->stream_1)
        slot = table_slot_after(table, slot);
    return slot;
}

static void table_grow(struct lwp_stream_table *table)
{
    lwp_pages_free(table->slots, table->slot_count * sizeof *table->slots);
    table->slot_count = table->slot_count ? 2 * table->slot_count : SLOTS_FIRST;
    table->slots = lwp_pages_alloc(table->slot_count * sizeof *table->slots);
    for (size_t i = 0; i < table->count; i++) {
        const struct lwp_stream_count *count = &table->counts[i];
        uint64_t hash = lwp_stream_hash(&(struct lwp_stream_key){count->object, count->part, count->location});
        *table_empty_slot(table, hash) = (struct lwp_stream_slot){lwp_stream_tag(hash), (uint32_t)i + 1};
    }
}

static uint32_t table_add(struct lwp_stream_table *table, const struct lwp_stream_key *key, uint64_t hash)
{
    LWP_PAGES_GROW(&table->counts, table->count, &table->count_room);
    LWP_PAGES_GROW(&table->stalls, table->count, &table->stall_room);
    LWP_PAGES_GROW(&table->colds, table->count, &table->cold_room);
    table->counts[table->count] = (struct lwp_stream_count){.object = key->object, .part = key->part,
                                                            .location = key->location, .common = LWP_NONE,
                                                            .first_ns = UINT64_MAX, .offsets = LWP_RESERVOIR_EMPTY};
    *table_empty_slot(table, hash) = (struct lwp_stream_slot){lwp_stream_tag(hash), (uint32_t)table->count + 1};
    return (uint32_t)table->count++;
}

uint32_t lwp_stream_table_at(struct lwp_stream_table *table, const struct lwp_stream_key *key, uint64_t hash)
{
    if (2 * table->count >= table->slot_count)
        table_grow(table);
    struct lwp_stream_slot *slot = lwp_stream_table_slot(table, hash);
    for (; slot->stream_1; slot = table_slot_after(table, slot))
        if (slot->tag == lwp_stream_tag(hash) && lwp_stream_is(&table->counts[slot->stream_1 - 1], key))
            return slot->stream_1 - 1;
    if (table->count < STREAMS_MAX || key->location == LWP_NONE)
        return table_add(table, key, hash);
    const struct lwp_stream_key whole = {key->object, LWP_NONE, LWP_NONE};
    table->refused++;
    return lwp_stream_table_at(table, &whole, lwp_stream_hash(&whole));
}

/* ---- counting ---- */

void lwp_stream_spill(const struct lwp_stream_part *part)
{
    struct lwp_stream_count *count = part->count;
    struct lwp_stream_cold *cold = part->cold;
    count->has_cold = true;
    cold->accesses += count->accesses;
    cold->loads += count->loads;
    cold->stores += count->stores;
    count->accesses = count->loads = count->stores = 0;
}

void lwp_stream_join(const struct lwp_stream_part *into, const struct lwp_stream_part *other)
{
    struct lwp_stream_count *count = into->count;
    LWP_RAISE(count->bytes, other->count->bytes);
    count->vector |= other->count->vector;
    count->fair = other->count->fair < UINT8_MAX - count->fair ? count->fair + other->count->fair : UINT8_MAX;
    count->loads += other->count->loads;
    count->stores += other->count->stores;
    count->accesses += other->count->accesses;
    if (count->accesses >= LWP_STREAM_COUNTED)
        lwp_stream_spill(into);
    LWP_LOWER(count->first_ns, other->count->first_ns);
    LWP_RAISE(count->last_ns, other->count->last_ns);
    lwp_sum_merge(into->stall, other->stall);
    if (!other->count->has_cold)
        return;
    struct lwp_stream_cold *cold = into->cold;
    count->has_cold = true;
    cold->accesses += other->cold->accesses;
    cold->loads += other->cold->loads;
    cold->stores += other->cold->stores;
    for (int i = 0; i < LWP_DISTANCES; i++) {
        unsigned sum = (unsigned)cold->distances[i] + other->cold->distances[i];
        cold->distances[i] = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
    }
}

void lwp_stream_table_merge(struct lwp_stream_table *table, const struct lwp_stream_part *other, const struct lwp_reservoir_items *offsets,
                            const struct lwp_profile *profile)
{
    const struct lwp_stream_count *count = other->count;
    const struct lwp_stream_key key = {count->object, count->part, count->location};
    const struct lwp_stream_part into = lwp_stream_part(table, lwp_stream_table_at(table, &key, lwp_stream_hash(&key)));
    lwp_stream_join(&into, other);
    into.count->common = lwp_contexts_shared(profile, into.count->common, count->common);
    for (uint32_t i = 0; i < offsets->count; i++)
        lwp_reservoir_add(&table->offsets, &into.count->offsets, offsets->items[i].rank, offsets->items[i].offset);
}

void lwp_stream_finish(const struct lwp_stream_part *part, struct lwp_stream *stream)
{
    const struct lwp_stream_count *count = part->count;
    stream->object = count->object;
    stream->region = count->part;
    stream->common = count->common;
    stream->bytes = count->bytes;
    stream->vector = count->vector;
    stream->accesses = lwp_stream_accesses(part);
    stream->loads = count->loads + (count->has_cold ? part->cold->loads : 0);
    stream->stores = count->stores + (count->has_cold ? part->cold->stores : 0);
    stream->fair_seen = count->fair;
    stream->weight = lwp_sum_tally(part->stall);
    stream->next_of_object = LWP_NONE;
}

void lwp_stream_offsets(struct lwp_reservoir_items *items, struct lwp_offsets *kept)
{
    kept->count = lwp_reservoir_offsets(items, kept->items);
    for (kept->fair = 0; kept->fair < kept->count; kept->fair++)
        if (!lwp_stream_rank_is_fair(items->items[kept->fair].rank))
            break;
}
