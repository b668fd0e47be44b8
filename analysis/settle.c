/* Threads that load side by side number objects, contexts and places in the order in which they happen to meet them.
 * Here everything gets the number it has when sorted by what it is, so that the same input gives the same analysis:
 * contexts by their paths, regions by module and address, objects by kind, place and path, streams by object,
 * instruction and region. What several threads counted of one stream is joined here, by as many threads, each with its
 * part of the objects; and the objects' sums are made from their streams'. */
#include "analysis/settle.h"

#include "analysis/contexts.h"
#include "analysis/objects.h"
#include "analysis/parallel.h"
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
static uint32_t *settle_contexts(struct lwp_profile *profile)
{
    uint32_t *numbers = settle_array(profile->context_count, sizeof *numbers);
    lwp_contexts_sort(profile, numbers);
    for (size_t i = 0; i < profile->object_count; i++)
        profile->objects[i].context = numbers[profile->objects[i].context];
    return numbers;
}

/* The region of each part. */
static uint32_t *settle_regions(struct lwp_profile *profile, const struct lwp_shard *shard,
                                const struct lwp_stream_table *const *tables, size_t table_count)
{
    size_t count = lwp_spots_part_count(profile);
    bool *wanted = settle_array(count, sizeof *wanted);
    uint32_t *regions = settle_array(count, sizeof *regions);
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t]->count; i++)
            if (tables[t]->counts[i].part != LWP_NONE)
                wanted[tables[t]->counts[i].part] = true;
    for (size_t i = 0; i < count && i < shard->part_count; i++)
        wanted[i] |= shard->parts[i].samples != 0;
    for (size_t i = 0; i < shard->locality.count; i++)
        if (shard->locality.items[i].part != LWP_NONE)
            wanted[shard->locality.items[i].part] = true;
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

/* ---- streams ---- */

/* A stream of one of the tables, by what orders those of an object. */
struct settle_key {
    uint32_t module, region;
    uint64_t address;
    uint32_t table, stream;
};

struct settle {
    struct lwp_profile *profile;
    struct lwp_stream_table *const *tables;
    size_t table_count;
    struct settle_key *keys; /* object by object */
    size_t key_count;
    size_t *ends;            /* of each object's keys */
    struct lwp_sum total;    /* of all samples */
    uint64_t accesses;       /* all */
    bool unowned;            /* some are to be given to pools yet (lwp_streams_adopt) */
};

/* The objects [first, last), which one thread at a time works on. */
struct settle_part {
    const struct settle *settle;
    size_t first, last;
    size_t start, kept; /* its streams in the profile, once equal ones are joined */
};

/* All that gets new numbers, of which each piece is done for itself. */
enum { SETTLE_KEYS, SETTLE_WINDOWS, SETTLE_WATCHED, SETTLE_SHARED, SETTLE_PIECES };

struct settle_numbers {
    struct settle *settle;
    struct lwp_shard *shard;
    const uint32_t *contexts, *objects, *regions;
};

static int settle_key_compare(const void *a, const void *b)
{
    const struct settle_key *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    return 0;
}

/* Gives what the tables hold its new numbers, and each object its keys. */
static void settle_keys(struct settle *settle, const uint32_t *contexts, const uint32_t *objects,
                        const uint32_t *regions)
{
    settle->ends = settle_array(settle->profile->object_count, sizeof *settle->ends);
    size_t *ends = settle->ends, before = 0, count = 0;
    for (size_t t = 0; t < settle->table_count; t++)
        for (size_t i = 0; i < settle->tables[t]->count; i++) {
            struct lwp_stream_count *stream = &settle->tables[t]->counts[i];
            stream->object = objects[stream->object];
            if (stream->part != LWP_NONE)
                stream->part = regions[stream->part];
            if (stream->common != LWP_NONE)
                stream->common = contexts[stream->common];
            ends[stream->object]++;
            const struct lwp_stream_part part = lwp_stream_part(settle->tables[t], (uint32_t)i);
            settle->accesses += lwp_stream_accesses(&part);
            count++;
        }
    for (size_t i = 0; i < settle->profile->object_count; i++) {
        size_t here = ends[i];
        ends[i] = before;
        before += here;
    }
    settle->keys = settle_array(count, sizeof *settle->keys);
    settle->key_count = count;
    for (size_t t = 0; t < settle->table_count; t++)
        for (size_t i = 0; i < settle->tables[t]->count; i++) {
            const struct lwp_stream_count *stream = &settle->tables[t]->counts[i];
            struct settle_key *key = &settle->keys[ends[stream->object]++];
            *key = (struct settle_key){
                .module = LWP_NONE, .region = stream->part, .table = (uint32_t)t, .stream = (uint32_t)i};
            if (stream->spot != LWP_NONE)
                lwp_spots_place(settle->profile, stream->spot, &key->module, &key->address);
        }
}

static bool settle_unowned(const struct settle *settle)
{
    for (size_t i = 0; i < settle->profile->object_count; i++)
        if (settle->profile->objects[i].kind == LWP_OBJECT_UNKNOWN &&
            settle->ends[i] > (i ? settle->ends[i - 1] : 0))
            return true;
    return false;
}

/* Sorts the keys of each object and counts those that are different: threads met the same streams, and loops of one
 * source loop are one region now. */
static void settle_sort(struct settle_part *part)
{
    const struct settle *settle = part->settle;
    for (size_t object = part->first; object < part->last; object++) {
        size_t first = object ? settle->ends[object - 1] : 0, count = settle->ends[object] - first;
        struct settle_key *keys = settle->keys + first;
        if (count > 1)
            qsort(keys, count, sizeof *keys, settle_key_compare);
        for (size_t i = 0; i < count; i++)
            part->kept += i == 0 || settle_key_compare(&keys[i], &keys[i - 1]) != 0;
    }
}

/* So many keys are of one stream. */
static size_t settle_equal(const struct settle_key *keys, size_t count)
{
    size_t equal = 1;
    while (equal < count && settle_key_compare(&keys[equal], &keys[0]) == 0)
        equal++;
    return equal;
}

static struct lwp_stream_part settle_part_of(const struct settle *settle, const struct settle_key *key)
{
    return lwp_stream_part(settle->tables[key->table], key->stream);
}

/* Memory is slow: what is wanted soon is asked for now. */
static void settle_expect(const struct settle *settle, size_t at)
{
    enum { AHEAD = 16 };
    if (at + AHEAD >= settle->key_count)
        return;
    const struct lwp_stream_part part = settle_part_of(settle, &settle->keys[at + AHEAD]);
    __builtin_prefetch(part.count);
    __builtin_prefetch(part.stall);
}

/* The stream of some equal keys: what is joined is in the first's part then. */
static void settle_stream(const struct settle *settle, const struct settle_key *keys, size_t count,
                          struct lwp_stream *stream, struct lwp_sum *sum, struct lwp_object *object)
{
    const struct lwp_stream_part part = settle_part_of(settle, keys);
    for (size_t i = 1; i < count; i++) {
        const struct lwp_stream_part other = settle_part_of(settle, &keys[i]);
        part.count->common = lwp_contexts_shared(settle->profile, part.count->common, other.count->common);
        lwp_stream_join(&part, &other);
    }
    *stream = (struct lwp_stream){.module = keys[0].module, .address = keys[0].address};
    lwp_stream_finish(&part, stream);
    lwp_sum_merge(sum, part.stall);
    if (part.count->first_ns < object->first_ns)
        object->first_ns = part.count->first_ns;
    if (part.count->last_ns > object->last_ns)
        object->last_ns = part.count->last_ns;
    object->accesses += stream->accesses;
    object->loads += stream->loads;
    object->stores += stream->stores;
    object->common =
        object->accessed ? lwp_contexts_shared(settle->profile, object->common, stream->common) : stream->common;
    object->accessed = true;
}

static void *settle_alloc(const struct settle *settle, size_t count, size_t size)
{
    pthread_mutex_lock(&settle->profile->lock);
    void *items = lwp_arena_alloc(settle->profile->arena, count, size);
    pthread_mutex_unlock(&settle->profile->lock);
    return items;
}

/* What is asked of streams of objects that are shown. */
static void settle_details(const struct settle *settle, const struct settle_key *keys, size_t count,
                           struct lwp_stream *stream)
{
    struct lwp_reservoir_items items = {.count = 0};
    const struct lwp_stream_part part = settle_part_of(settle, keys);
    for (size_t i = 0; i < count; i++)
        lwp_reservoir_gather(&items, &settle->tables[keys[i].table]->offsets,
                             &settle_part_of(settle, &keys[i]).count->offsets);
    stream->offsets.items = settle_alloc(settle, items.count + 1, sizeof *stream->offsets.items);
    lwp_stream_offsets(&items, &stream->offsets);
    stream->distances = settle_alloc(settle, LWP_DISTANCES, sizeof *stream->distances);
    memcpy(stream->distances, part.rest->distances, sizeof part.rest->distances);
}

/* With a hundred thousand objects, what the offsets of all of them say would take as long as reading the samples. */
static bool settle_is_worth(const struct settle *settle, const struct lwp_object *object)
{
    return object->weight.weight >= lwp_object_worth * (double)settle->total.weight ||
           (double)object->accesses >= lwp_object_worth * (double)settle->accesses ||
           (settle->unowned && object->pool_size);
}

static void settle_join(struct settle_part *part)
{
    const struct settle *settle = part->settle;
    struct lwp_stream *streams = settle->profile->streams + part->start;
    for (size_t i = part->first; i < part->last; i++) {
        struct lwp_object *object = &settle->profile->objects[i];
        struct lwp_sum sum = {0};
        size_t first = i ? settle->ends[i - 1] : 0, last = settle->ends[i], equal, count = 0;
        for (size_t at = first; at < last; at += equal) {
            equal = settle_equal(&settle->keys[at], last - at);
            settle_expect(settle, at);
            settle_stream(settle, &settle->keys[at], equal, &streams[count++], &sum, object);
        }
        if (object->accessed)
            object->weight = lwp_sum_tally(&sum);
        for (size_t at = first; at < last && settle_is_worth(settle, object); at += equal) {
            equal = settle_equal(&settle->keys[at], last - at);
            settle_details(settle, &settle->keys[at], equal, streams++);
            count--;
        }
        streams += count;
    }
}

static void settle_sort_parts(void *parts, size_t first, size_t last)
{
    for (; first < last; first++)
        settle_sort((struct settle_part *)parts + first);
}

static void settle_join_parts(void *parts, size_t first, size_t last)
{
    for (; first < last; first++)
        settle_join((struct settle_part *)parts + first);
}

static void settle_streams(struct settle *settle)
{
    enum { PARTS_PER_TABLE = 8 };
    struct lwp_profile *profile = settle->profile;
    size_t count = settle->table_count * PARTS_PER_TABLE;
    struct settle_part *parts = settle_array(count, sizeof *parts);
    size_t all = profile->object_count ? settle->ends[profile->object_count - 1] : 0, object = 0;
    for (size_t i = 0; i < count; i++) { /* with nearly equal numbers of streams */
        parts[i] = (struct settle_part){.settle = settle, .first = object};
        while (object < profile->object_count && settle->ends[object] <= all / count * (i + 1))
            object++;
        if (i + 1 == count)
            object = profile->object_count;
        parts[i].last = object;
    }
    lwp_parallel((unsigned)settle->table_count, count, 1, settle_sort_parts, parts);
    for (size_t i = 0; i < count; i++) {
        parts[i].start = profile->stream_count;
        profile->stream_count += parts[i].kept;
    }
    profile->stream_room = profile->stream_count;
    profile->streams = lwp_pages_alloc(profile->stream_room * sizeof *profile->streams);
    lwp_parallel((unsigned)settle->table_count, count, 1, settle_join_parts, parts);
    for (size_t i = 0; i < settle->table_count; i++)
        lwp_stream_table_free(settle->tables[i]);
    free(parts);
}

static void settle_pieces(void *of, size_t piece, size_t last)
{
    const struct settle_numbers *numbers = of;
    struct lwp_profile *profile = numbers->settle->profile;
    struct lwp_shard *shard = numbers->shard;
    for (; piece < last; piece++)
        switch (piece) {
        case SETTLE_KEYS:
            settle_keys(numbers->settle, numbers->contexts, numbers->objects, numbers->regions);
            break;
        case SETTLE_WINDOWS:
            lwp_windows_replay(&shard->windows, profile, numbers->objects, numbers->regions);
            lwp_windows_free(&shard->windows);
            break;
        case SETTLE_WATCHED:
            profile->watched = shard->watched;
            shard->watched = (struct lwp_watched){0};
            lwp_watched_settle(&profile->watched, numbers->contexts, numbers->objects);
            break;
        default:
            profile->shared = shard->shared;
            shard->shared = (struct lwp_shared){0};
            lwp_shared_settle(&profile->shared, numbers->contexts, numbers->objects);
        }
}

void lwp_settle(struct lwp_profile *profile, struct lwp_shard *shard, struct lwp_stream_table *const *tables,
                size_t table_count)
{
    struct settle settle = {
        .profile = profile, .tables = tables, .table_count = table_count, .total = shard->total};
    uint32_t *contexts = settle_contexts(profile);
    uint32_t *regions = settle_regions(profile, shard, (const struct lwp_stream_table *const *)tables, table_count);
    uint32_t *objects = settle_objects(profile);
    struct settle_numbers numbers = {&settle, shard, contexts, objects, regions};
    lwp_parallel((unsigned)table_count, SETTLE_PIECES, 1, settle_pieces, &numbers);
    profile->locality = shard->locality;
    shard->locality = (struct lwp_locality_counts){0};
    lwp_locality_counts_settle(&profile->locality, objects, regions);
    profile->flows = shard->flows;
    shard->flows = (struct lwp_flows){0};
    settle.unowned = settle_unowned(&settle);
    settle_streams(&settle);
    free(settle.keys);
    free(settle.ends);
    free(contexts);
    free(objects);
    free(regions);
    profile->total = lwp_sum_tally(&shard->total);
    profile->stalled = lwp_sum_tally(&shard->stalled);
    profile->unknown_weight = (double)shard->unknown_weight;
    profile->samples = shard->samples;
    profile->samples_with_address = shard->samples_with_address;
    lwp_shard_free(shard);
}
