/* Reading threads number objects, contexts and code locations in the order of their first use, which is not deterministic. Here
 * everything is renumbered in a sorted order, so that the same input gives the same analysis: contexts by path, regions by module
 * and address, objects by kind, address and path, streams by object, instruction and region. Independent steps run in parallel.
 *
 * Each reading thread has its own table of streams: the keys of all tables are distributed to the objects (a counting sort), sorted
 * for each object, and equal ones joined; the sums of the objects are made of their streams. */
#include "analysis/load/shard.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/objects.h"
#include "base/order.h"
#include "base/pages.h"
#include "base/parallel.h"

#include <stdlib.h>

/* ---- shards ---- */

void lwp_shard_free(struct lwp_shard *shard)
{
    lwp_sample_windows_free(&shard->windows);
    lwp_watchpoint_free(&shard->watchpoints);
    lwp_interaction_free(&shard->interaction);
    lwp_stall_profile_free(&shard->stalls);
    lwp_locality_counts_free(&shard->locality);
    lwp_object_uses_free(&shard->uses);
    lwp_communication_counts_free(&shard->communication);
    lwp_interrupts_free(&shard->interrupts);
    free(shard->parts);
    *shard = (struct lwp_shard){.streams = shard->streams};
}

void lwp_shard_merge(struct lwp_shard *into, struct lwp_shard *from)
{
    if (from->part_count)
        LWP_NUMBERED(&into->parts, from->part_count - 1, &into->part_count);
    for (size_t i = 0; i < from->part_count; i++)
        lwp_sum_merge(&into->parts[i], &from->parts[i]);
    lwp_sample_windows_merge(&into->windows, &from->windows);
    lwp_watchpoint_merge(&into->watchpoints, &from->watchpoints);
    lwp_interaction_merge(&into->interaction, &from->interaction);
    lwp_stall_profile_merge(&into->stalls, &from->stalls);
    lwp_locality_counts_merge(&into->locality, &from->locality);
    lwp_object_uses_merge(&into->uses, &from->uses);
    lwp_communication_counts_merge(&into->communication, &from->communication);
    lwp_interrupts_merge(&into->interrupts, &from->interrupts);
    lwp_sum_merge(&into->total, &from->total);
    lwp_sum_merge(&into->stalled, &from->stalled);
    into->unknown_weight += from->unknown_weight;
    into->samples += from->samples;
    into->samples_with_address += from->samples_with_address;
    lwp_shard_free(from);
}

/* ---- numbers ---- */

/* A stream of one of the tables, with its sort keys within the object. */
struct merge_key {
    uint32_t module, region;
    uint64_t address;
    uint32_t table, stream;
};

/* Of one table. */
struct merge_cursors {
    uint32_t *next; /* for each object: how many keys it has, then where the next one goes */
    uint64_t accesses;
};

/* Independent steps that need all numbers but no streams, the longest first. */
enum { MERGE_WINDOWS, MERGE_CONTEXT_INDEX, MERGE_OBJECT_INDEX, MERGE_WATCHPOINTS, MERGE_INTERACTION, MERGE_STALLS, MERGE_STEPS };

struct merge {
    struct lwp_profile *profile;
    struct lwp_shard *shard;                /* into which all were merged, except for streams */
    struct lwp_stream_table *const *tables; /* of all shards */
    size_t table_count;
    uint32_t *contexts, *objects, *regions; /* the new number of each context and object, the region of each part */
    struct merge_cursors *cursors;          /* of each table */
    struct merge_key *keys;                 /* object by object */
    size_t key_count;
    size_t *ends;      /* of each object's keys */
    uint64_t accesses; /* all */
    bool unowned;      /* some accesses may still move to pools (lwp_streams_adopt) */
    struct merge_part *parts;
    size_t part_count;
};

/* The objects [first, last): a unit of parallel work. */
struct merge_part {
    const struct merge *merge;
    size_t first, last;
    size_t start, kept; /* its streams in the profile, once equal ones are joined */
};

static int merge_key_compare(const void *a, const void *b)
{
    const struct merge_key *x = a, *y = b;
    return LWP_COMPARE(x->module, y->module) ?: LWP_COMPARE(x->address, y->address) ?: LWP_COMPARE(x->region, y->region);
}

/* The region of each part. */
static uint32_t *merge_regions(const struct merge *merge)
{
    struct lwp_profile *profile = merge->profile;
    const struct lwp_shard *shard = merge->shard;
    size_t count = lwp_locations_part_count(profile);
    bool *wanted = lwp_zeroed(count, sizeof *wanted);
    uint32_t *regions = lwp_zeroed(count, sizeof *regions);
    for (size_t t = 0; t < merge->table_count; t++)
        for (size_t i = 0; i < merge->tables[t]->count; i++)
            if (merge->tables[t]->counts[i].part != LWP_NONE)
                wanted[merge->tables[t]->counts[i].part] = true;
    for (size_t i = 0; i < count && i < shard->part_count; i++)
        wanted[i] |= shard->parts[i].samples != 0;
    for (size_t i = 0; i < shard->locality.count; i++)
        if (shard->locality.items[i].part != LWP_NONE)
            wanted[shard->locality.items[i].part] = true;
    lwp_locations_regions(profile, wanted, regions);
    /* Sums stay integers until all parts of a region are added up. */
    struct lwp_sum *sums = lwp_zeroed(profile->region_count, sizeof *sums);
    for (size_t i = 0; i < count && i < shard->part_count; i++)
        if (regions[i] != LWP_NONE)
            lwp_sum_merge(&sums[regions[i]], &shard->parts[i]);
    for (size_t i = 0; i < profile->region_count; i++)
        profile->regions[i].weight = lwp_sum_tally(&sums[i]);
    free(sums);
    free(wanted);
    return regions;
}

/* The order of objects depends on that of contexts, the order of regions on neither: two parallel steps. */
static void merge_orders(void *of, size_t step, size_t last)
{
    struct merge *merge = of;
    struct lwp_profile *profile = merge->profile;
    for (; step < last; step++)
        if (step == 1) {
            merge->regions = merge_regions(merge);
        } else {
            merge->contexts = lwp_zeroed(profile->context_count, sizeof *merge->contexts);
            lwp_contexts_sort(profile, merge->contexts);
            for (size_t i = 0; i < profile->object_count; i++)
                profile->objects[i].context = merge->contexts[profile->objects[i].context];
            merge->objects = lwp_zeroed(profile->object_count, sizeof *merge->objects);
            lwp_objects_sort(profile, merge->objects);
        }
}

/* Renumbers what a table holds, and counts the keys of each object. */
static void merge_number(const struct merge *merge, size_t t)
{
    const struct lwp_stream_table *table = merge->tables[t];
    struct merge_cursors *cursors = &merge->cursors[t];
    uint64_t accesses = 0;
    cursors->next = lwp_zeroed(merge->profile->object_count, sizeof *cursors->next);
    for (size_t i = 0; i < table->count; i++) {
        struct lwp_stream_count *stream = &table->counts[i];
        stream->object = merge->objects[stream->object];
        if (stream->part != LWP_NONE)
            stream->part = merge->regions[stream->part];
        if (stream->common != LWP_NONE)
            stream->common = merge->contexts[stream->common];
        cursors->next[stream->object]++;
        const struct lwp_stream_part part = lwp_stream_part(table, (uint32_t)i);
        accesses += lwp_stream_accesses(&part);
    }
    cursors->accesses = accesses;
}

static void merge_tables(void *of, size_t table, size_t last)
{
    for (; table < last; table++)
        merge_number(of, table);
}

/* ---- streams ---- */

/* Makes room for the keys: object by object, and of each object table by table. */
static void merge_cursors(struct merge *merge)
{
    size_t before = 0;
    merge->ends = lwp_zeroed(merge->profile->object_count, sizeof *merge->ends);
    for (size_t i = 0; i < merge->profile->object_count; i++) {
        for (size_t t = 0; t < merge->table_count; t++) {
            uint32_t here = merge->cursors[t].next[i];
            merge->cursors[t].next[i] = (uint32_t)before;
            before += here;
        }
        merge->ends[i] = before;
    }
    for (size_t t = 0; t < merge->table_count; t++)
        merge->accesses += merge->cursors[t].accesses;
    merge->key_count = before;
    merge->keys = lwp_pages_alloc(before * sizeof *merge->keys);
}

static void merge_keys(void *of, size_t t, size_t last)
{
    const struct merge *merge = of;
    for (; t < last; t++) {
        const struct lwp_stream_table *table = merge->tables[t];
        for (size_t i = 0; i < table->count; i++) {
            const struct lwp_stream_count *stream = &table->counts[i];
            struct merge_key *key = &merge->keys[merge->cursors[t].next[stream->object]++];
            *key = (struct merge_key){.module = LWP_NONE, .region = stream->part, .table = (uint32_t)t, .stream = (uint32_t)i};
            if (stream->location != LWP_NONE)
                lwp_locations_address(merge->profile, stream->location, &key->module, &key->address);
        }
        free(merge->cursors[t].next);
    }
}

static bool merge_unowned(const struct merge *merge)
{
    for (size_t i = 0; i < merge->profile->object_count; i++)
        if (merge->profile->objects[i].kind == LWP_OBJECT_UNKNOWN && merge->ends[i] > (i ? merge->ends[i - 1] : 0))
            return true;
    return false;
}

/* Sorts the keys of each object and counts those that are different: threads met the same streams, and loops of one
 * source loop are one region now. */
static void merge_sort(struct merge_part *part)
{
    const struct merge *merge = part->merge;
    for (size_t object = part->first; object < part->last; object++) {
        size_t first = object ? merge->ends[object - 1] : 0, count = merge->ends[object] - first;
        struct merge_key *keys = merge->keys + first;
        if (count > 1)
            qsort(keys, count, sizeof *keys, merge_key_compare);
        for (size_t i = 0; i < count; i++)
            part->kept += i == 0 || merge_key_compare(&keys[i], &keys[i - 1]) != 0;
    }
}

/* The number of equal keys: of one stream. */
static size_t merge_equal(const struct merge_key *keys, size_t count)
{
    size_t equal = 1;
    while (equal < count && merge_key_compare(&keys[equal], &keys[0]) == 0)
        equal++;
    return equal;
}

static struct lwp_stream_part merge_part_of(const struct merge *merge, const struct merge_key *key)
{
    return lwp_stream_part(merge->tables[key->table], key->stream);
}

/* Prefetches a later key's stream. */
static void merge_expect(const struct merge *merge, size_t at)
{
    enum { AHEAD = 16 };
    if (at + AHEAD >= merge->key_count)
        return;
    const struct lwp_stream_part part = merge_part_of(merge, &merge->keys[at + AHEAD]);
    __builtin_prefetch(part.count);
    __builtin_prefetch(part.stall);
}

/* The stream of some equal keys; joined in the part of the first. */
static void merge_stream(const struct merge *merge, const struct merge_key *keys, size_t count, struct lwp_stream *stream,
                         struct lwp_sum *sum, struct lwp_object *object)
{
    const struct lwp_stream_part part = merge_part_of(merge, keys);
    for (size_t i = 1; i < count; i++) {
        const struct lwp_stream_part other = merge_part_of(merge, &keys[i]);
        part.count->common = lwp_contexts_shared(merge->profile, part.count->common, other.count->common);
        lwp_stream_join(&part, &other);
    }
    *stream = (struct lwp_stream){.module = keys[0].module, .address = keys[0].address};
    lwp_stream_finish(&part, stream);
    lwp_sum_merge(sum, part.stall);
    LWP_LOWER(object->first_ns, part.count->first_ns);
    LWP_RAISE(object->last_ns, part.count->last_ns);
    object->accesses += stream->accesses;
    object->loads += stream->loads;
    object->stores += stream->stores;
    object->common = object->accessed ? lwp_contexts_shared(merge->profile, object->common, stream->common) : stream->common;
    object->accessed = true;
}

static void *merge_alloc(const struct merge *merge, size_t count, size_t size)
{
    pthread_mutex_lock(&merge->profile->lock);
    void *items = lwp_arena_alloc(merge->profile->arena, count, size);
    pthread_mutex_unlock(&merge->profile->lock);
    return items;
}

/* Only streams of objects that are shown have offsets and distances. */
static void merge_details(const struct merge *merge, const struct merge_key *keys, size_t count, struct lwp_stream *stream)
{
    struct lwp_reservoir_items items = {.count = 0};
    const struct lwp_stream_part part = merge_part_of(merge, keys);
    for (size_t i = 0; i < count; i++)
        lwp_reservoir_gather(&items, &merge->tables[keys[i].table]->offsets, &merge_part_of(merge, &keys[i]).count->offsets);
    stream->offsets.items = merge_alloc(merge, items.count + 1, sizeof *stream->offsets.items);
    lwp_stream_offsets(&items, &stream->offsets);
    stream->distances = merge_alloc(merge, LWP_DISTANCES, sizeof *stream->distances);
    memcpy(stream->distances, part.cold->distances, sizeof part.cold->distances);
}

/* With a hundred thousand objects, their offsets would take as long as reading the samples. */
static bool merge_is_worth(const struct merge *merge, const struct lwp_object *object)
{
    return object->weight.weight >= lwp_object_worth * (double)merge->shard->total.weight ||
           (double)object->accesses >= lwp_object_worth * (double)merge->accesses || (merge->unowned && object->pool_size);
}

static void merge_join(struct merge_part *part)
{
    const struct merge *merge = part->merge;
    struct lwp_stream *streams = merge->profile->streams + part->start;
    for (size_t i = part->first; i < part->last; i++) {
        struct lwp_object *object = &merge->profile->objects[i];
        struct lwp_sum sum = {0};
        size_t first = i ? merge->ends[i - 1] : 0, last = merge->ends[i], equal, count = 0;
        for (size_t at = first; at < last; at += equal) {
            equal = merge_equal(&merge->keys[at], last - at);
            merge_expect(merge, at);
            merge_stream(merge, &merge->keys[at], equal, &streams[count++], &sum, object);
        }
        if (object->accessed)
            object->weight = lwp_sum_tally(&sum);
        for (size_t at = first; at < last && merge_is_worth(merge, object); at += equal) {
            equal = merge_equal(&merge->keys[at], last - at);
            merge_details(merge, &merge->keys[at], equal, streams++);
            count--;
        }
        streams += count;
    }
}

/* ---- all ---- */

static void merge_step(const struct merge *merge, size_t step)
{
    struct lwp_profile *profile = merge->profile;
    struct lwp_shard *shard = merge->shard;
    switch (step) {
    case MERGE_CONTEXT_INDEX:
        lwp_contexts_index(profile);
        break;
    case MERGE_OBJECT_INDEX:
        lwp_objects_index(profile);
        break;
    case MERGE_WINDOWS:
        lwp_sample_windows_replay(&shard->windows, profile, merge->objects, merge->regions);
        lwp_sample_windows_free(&shard->windows);
        break;
    case MERGE_WATCHPOINTS:
        profile->watchpoints = shard->watchpoints;
        shard->watchpoints = (struct lwp_watchpoints){0};
        lwp_watchpoints_renumber(&profile->watchpoints, merge->contexts, merge->objects);
        break;
    case MERGE_INTERACTION:
        profile->interaction = shard->interaction;
        shard->interaction = (struct lwp_thread_interaction){0};
        lwp_interaction_renumber(&profile->interaction, merge->contexts, merge->objects);
        break;
    case MERGE_STALLS:
        profile->stalls = shard->stalls;
        shard->stalls = (struct lwp_stall_profile){0};
        lwp_stall_profile_renumber(&profile->stalls, merge->contexts, merge->objects);
        lwp_interrupts_merge(&profile->interrupts, &shard->interrupts);
        break;
    }
}

static void merge_sort_parts(void *of, size_t first, size_t last)
{
    const struct merge *merge = of;
    for (; first < last; first++)
        merge_sort(&merge->parts[first]);
}

static void merge_join_parts(void *of, size_t first, size_t last)
{
    const struct merge *merge = of;
    for (; first < last; first++)
        if (first < MERGE_STEPS)
            merge_step(merge, first);
        else
            merge_join(&merge->parts[first - MERGE_STEPS]);
}

/* Divides the objects into parts with nearly equal numbers of streams. */
static void merge_divide(struct merge *merge)
{
    enum { PARTS_PER_TABLE = 8 };
    const size_t objects = merge->profile->object_count, count = merge->table_count * PARTS_PER_TABLE;
    size_t object = 0;
    merge->part_count = count;
    merge->parts = lwp_zeroed(count, sizeof *merge->parts);
    for (size_t i = 0; i < count; i++) {
        struct merge_part *part = &merge->parts[i];
        *part = (struct merge_part){.merge = merge, .first = object};
        while (object < objects && merge->ends[object] <= merge->key_count / count * (i + 1))
            object++;
        part->last = object = i + 1 == count ? objects : object;
    }
}

static void merge_streams(struct merge *merge)
{
    const unsigned jobs = (unsigned)merge->table_count;
    struct lwp_profile *profile = merge->profile;
    merge_cursors(merge);
    lwp_parallel(jobs, merge->table_count, 1, merge_keys, merge);
    merge->unowned = merge_unowned(merge);
    merge_divide(merge);
    lwp_parallel(jobs, merge->part_count, 1, merge_sort_parts, merge);
    for (size_t i = 0; i < merge->part_count; i++) {
        merge->parts[i].start = profile->stream_count;
        profile->stream_count += merge->parts[i].kept;
    }
    profile->stream_room = profile->stream_count;
    profile->streams = lwp_pages_alloc(profile->stream_room * sizeof *profile->streams);
    lwp_parallel(jobs, MERGE_STEPS + merge->part_count, 1, merge_join_parts, merge);
    for (size_t i = 0; i < merge->table_count; i++)
        lwp_stream_table_free(merge->tables[i]);
    lwp_pages_free(merge->keys, merge->key_count * sizeof *merge->keys);
    free(merge->parts);
    free(merge->ends);
    free(merge->cursors);
}

/* What was counted may be of objects that no sample fell on; they have a name all the same. */
static void merge_counted(struct lwp_profile *profile)
{
    const struct lwp_watchpoints *counted = &profile->watchpoints;
    for (size_t i = 0; counted->exact && i < counted->pair_count; i++) {
        const struct lwp_watchpoint_pair *pair = &counted->pairs[i];
        if (pair->object == LWP_NONE || profile->objects[pair->object].kind == LWP_OBJECT_UNKNOWN)
            continue;
        profile->objects[pair->object].accessed = true;
        profile->objects[pair->object].looked_at |= pair->kind == LWP_WATCHPOINT_SPATIAL;
    }
}

void lwp_merge_shards(struct lwp_profile *profile, struct lwp_shard *shard, struct lwp_stream_table *const *tables, size_t table_count)
{
    struct merge merge = {.profile = profile, .shard = shard, .tables = tables, .table_count = table_count};
    merge.cursors = lwp_zeroed(table_count, sizeof *merge.cursors);
    lwp_parallel((unsigned)table_count, 2, 1, merge_orders, &merge);
    lwp_parallel((unsigned)table_count, table_count, 1, merge_tables, &merge);
    profile->locality = shard->locality;
    shard->locality = (struct lwp_locality_counts){0};
    lwp_locality_counts_renumber(&profile->locality, merge.objects, merge.regions);
    profile->uses = shard->uses;
    shard->uses = (struct lwp_object_uses){0};
    lwp_object_uses_renumber(&profile->uses, merge.objects);
    profile->communication = shard->communication;
    shard->communication = (struct lwp_communication_counts){0};
    merge_streams(&merge);
    merge_counted(profile);
    free(merge.contexts);
    free(merge.objects);
    free(merge.regions);
    profile->total = lwp_sum_tally(&shard->total);
    profile->stalled = lwp_sum_tally(&shard->stalled);
    profile->unknown_weight = (double)shard->unknown_weight;
    profile->samples = shard->samples;
    profile->samples_with_address = shard->samples_with_address;
    lwp_shard_free(shard);
}
