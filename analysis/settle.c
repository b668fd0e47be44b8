/* Threads that load side by side number objects, contexts and places in the order in which they happen to meet them.
 * Here everything gets the number it has when sorted by what it is, so that the same input gives the same analysis:
 * contexts by their paths, regions by module and address, objects by kind, place and path, streams by object,
 * instruction and region. Then the objects' sums are made from their streams'. */
#include "analysis/settle.h"

#include "analysis/contexts.h"
#include "analysis/objects.h"
#include "analysis/spots.h"
#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

static void *settle_array(size_t count, size_t size)
{
    void *items = calloc(count + 1, size);
    if (!items)
        abort();
    return items;
}

/* The new number of each context. */
static uint32_t *settle_contexts(struct lwp_profile *profile, struct lwp_shard *shard)
{
    uint32_t *numbers = settle_array(profile->context_count, sizeof *numbers);
    lwp_contexts_sort(profile, numbers);
    for (size_t i = 0; i < profile->object_count; i++)
        profile->objects[i].context = numbers[profile->objects[i].context];
    for (size_t i = 0; i < shard->streams.count; i++) {
        struct lwp_stream *stream = &shard->streams.items[i];
        if (stream->common != LWP_NONE)
            stream->common = numbers[stream->common];
    }
    return numbers;
}

/* The region of each part. */
static uint32_t *settle_regions(struct lwp_profile *profile, const struct lwp_shard *shard)
{
    size_t count = lwp_spots_part_count(profile);
    bool *wanted = settle_array(count, sizeof *wanted);
    uint32_t *regions = settle_array(count, sizeof *regions);
    for (size_t i = 0; i < shard->streams.count; i++)
        if (shard->streams.items[i].region != LWP_NONE)
            wanted[shard->streams.items[i].region] = true;
    for (size_t i = 0; i < count && i < shard->part_count; i++)
        wanted[i] |= shard->parts[i].samples != 0;
    lwp_spots_regions(profile, wanted, regions);
    /* Sums stay whole numbers until all parts of a region are together. */
    struct lwp_sum *sums = settle_array(profile->region_count, sizeof *sums);
    for (size_t i = 0; i < count && i < shard->part_count; i++)
        if (regions[i] != LWP_NONE)
            lwp_sum_merge(&sums[regions[i]], &shard->parts[i]);
    for (size_t i = 0; i < profile->region_count; i++)
        profile->regions[i].weight = lwp_sum_tally(&sums[i]);
    free(sums);
    free(wanted);
    return regions;
}

/* The new number of each object. */
static uint32_t *settle_objects(struct lwp_profile *profile)
{
    uint32_t *numbers = settle_array(profile->object_count, sizeof *numbers);
    lwp_objects_sort(profile, numbers);
    return numbers;
}

static int settle_stream_compare(const void *a, const void *b)
{
    const struct lwp_stream *x = *(struct lwp_stream *const *)a, *y = *(struct lwp_stream *const *)b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    return 0;
}

/* Joins streams that are the same now that loops of one source loop are one region. */
static size_t settle_join(struct lwp_profile *profile, struct lwp_streams *table, struct lwp_stream **order,
                          size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && order[i]->object == order[kept - 1]->object &&
            settle_stream_compare(&order[i], &order[kept - 1]) == 0) {
            struct lwp_stream *to = order[kept - 1];
            to->common = lwp_contexts_shared(profile, to->common, order[i]->common);
            lwp_streams_join(table, to, order[i]);
        } else {
            order[kept++] = order[i];
        }
    }
    return kept;
}

static void settle_streams(struct lwp_profile *profile, struct lwp_shard *shard, const uint32_t *objects,
                           const uint32_t *regions)
{
    struct lwp_streams *table = &shard->streams;
    size_t *first = settle_array(profile->object_count + 1, sizeof *first);
    struct lwp_stream **order = settle_array(table->count, sizeof(*order));
    for (size_t i = 0; i < table->count; i++) {
        struct lwp_stream *stream = &table->items[i];
        stream->object = objects[stream->object];
        if (stream->region != LWP_NONE)
            stream->region = regions[stream->region];
        first[stream->object + 1]++;
    }
    for (size_t i = 0; i < profile->object_count; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < table->count; i++)
        order[first[table->items[i].object]++] = &table->items[i];
    for (size_t i = 0, last; i < table->count; i = last) {
        for (last = i + 1; last < table->count && order[last]->object == order[i]->object; last++)
            ;
        qsort(order + i, last - i, sizeof(*order), settle_stream_compare);
    }
    size_t count = settle_join(profile, table, order, table->count);
    free(first);

    struct lwp_streams *own = profile->stream_table;
    lwp_streams_free(own);
    own->items = lwp_pages_alloc(count * sizeof *own->items);
    for (size_t i = 0; i < count; i++) {
        struct lwp_stream *stream = &own->items[i];
        *stream = *order[i];
        stream->weight = lwp_sum_tally(&stream->sum);
        lwp_reservoir_sort(&stream->fair);
        lwp_reservoir_sort(&stream->biased);
    }
    own->count = own->room = count;
    own->refused = table->refused;
    lwp_reservoir_pool_take(&own->offsets, &table->offsets);
    profile->streams = own->items;
    profile->stream_count = count;
    free(order);
    lwp_streams_free(table);
}

static void settle_object_sums(struct lwp_profile *profile)
{
    struct lwp_sum sum = {0};
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        struct lwp_object *object = &profile->objects[stream->object];
        object->accesses += stream->accesses;
        object->loads += stream->loads;
        object->stores += stream->stores;
        object->common =
            object->accessed ? lwp_contexts_shared(profile, object->common, stream->common) : stream->common;
        object->accessed = true;
        if (stream->first_ns < object->first_ns)
            object->first_ns = stream->first_ns;
        if (stream->last_ns > object->last_ns)
            object->last_ns = stream->last_ns;
        lwp_sum_merge(&sum, &stream->sum);
        if (i + 1 == profile->stream_count || profile->streams[i + 1].object != stream->object) {
            object->weight = lwp_sum_tally(&sum);
            sum = (struct lwp_sum){0};
        }
    }
}

void lwp_settle(struct lwp_profile *profile, struct lwp_shard *shard)
{
    uint32_t *contexts = settle_contexts(profile, shard);
    uint32_t *regions = settle_regions(profile, shard);
    uint32_t *objects = settle_objects(profile);
    lwp_windows_replay(&shard->windows, profile, objects, regions);
    lwp_windows_free(&shard->windows);
    profile->watched = shard->watched;
    shard->watched = (struct lwp_watched){0};
    lwp_watched_settle(&profile->watched, contexts, objects);
    profile->shared = shard->shared;
    shard->shared = (struct lwp_shared){0};
    lwp_shared_settle(&profile->shared, contexts, objects);
    free(contexts);
    settle_streams(profile, shard, objects, regions);
    settle_object_sums(profile);
    free(objects);
    free(regions);
    profile->total = lwp_sum_tally(&shard->total);
    profile->stalled = lwp_sum_tally(&shard->stalled);
    profile->unknown_weight = (double)shard->unknown_weight;
    profile->samples = shard->samples;
    profile->samples_with_address = shard->samples_with_address;
    lwp_shard_free(shard);
}
