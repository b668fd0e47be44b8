/* Streams are sorted by object, instruction and region. Each reading thread has a table of its own: tables are numbered
 * and their keys dealt out to the objects table by table, then what several threads counted of one stream is joined
 * object by object, all of it by as many threads as there are tables; and the objects' sums are made from their
 * streams'. */
#include "analysis/load/merge_streams.h"

#include "analysis/profile/contexts.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/objects.h"
#include "base/pages.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* A stream of one of the tables, by what orders those of an object. */
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

struct lwp_merge_streams {
    struct lwp_profile *profile;
    struct lwp_stream_table *const *tables;
    size_t table_count;
    struct merge_cursors *cursors; /* of each table */
    struct merge_key *keys;      /* object by object */
    size_t key_count;
    size_t *ends;      /* of each object's keys */
    uint64_t weight;   /* of all samples */
    uint64_t accesses; /* all */
    bool unowned;      /* some are to be given to pools yet (lwp_streams_adopt) */
};

/* The objects [first, last), which one thread at a time works on. */
struct merge_part {
    const struct lwp_merge_streams *merge;
    size_t first, last;
    size_t start, kept; /* its streams in the profile, once equal ones are joined */
};

static int merge_key_compare(const void *a, const void *b)
{
    const struct merge_key *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    return 0;
}

void lwp_merge_streams_number(struct lwp_merge_streams *merge, const struct lwp_merge_numbers *numbers, size_t t)
{
    const struct lwp_stream_table *table = merge->tables[t];
    struct merge_cursors *cursors = &merge->cursors[t];
    uint64_t accesses = 0;
    cursors->next = lwp_zeroed(merge->profile->object_count, sizeof *cursors->next);
    for (size_t i = 0; i < table->count; i++) {
        struct lwp_stream_count *stream = &table->counts[i];
        stream->object = numbers->objects[stream->object];
        if (stream->part != LWP_NONE)
            stream->part = numbers->regions[stream->part];
        if (stream->common != LWP_NONE)
            stream->common = numbers->contexts[stream->common];
        cursors->next[stream->object]++;
        const struct lwp_stream_part part = lwp_stream_part(table, (uint32_t)i);
        accesses += lwp_stream_accesses(&part);
    }
    cursors->accesses = accesses;
}

/* Makes room for the keys: object by object, and of each object table by table. */
static void merge_cursors(struct lwp_merge_streams *merge)
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
    const struct lwp_merge_streams *merge = of;
    for (; t < last; t++) {
        const struct lwp_stream_table *table = merge->tables[t];
        for (size_t i = 0; i < table->count; i++) {
            const struct lwp_stream_count *stream = &table->counts[i];
            struct merge_key *key = &merge->keys[merge->cursors[t].next[stream->object]++];
            *key = (struct merge_key){
                .module = LWP_NONE, .region = stream->part, .table = (uint32_t)t, .stream = (uint32_t)i};
            if (stream->location != LWP_NONE)
                lwp_locations_address(merge->profile, stream->location, &key->module, &key->address);
        }
        free(merge->cursors[t].next);
    }
}

static bool merge_unowned(const struct lwp_merge_streams *merge)
{
    for (size_t i = 0; i < merge->profile->object_count; i++)
        if (merge->profile->objects[i].kind == LWP_OBJECT_UNKNOWN &&
            merge->ends[i] > (i ? merge->ends[i - 1] : 0))
            return true;
    return false;
}

/* Sorts the keys of each object and counts those that are different: threads met the same streams, and loops of one
 * source loop are one region now. */
static void merge_sort(struct merge_part *part)
{
    const struct lwp_merge_streams *merge = part->merge;
    for (size_t object = part->first; object < part->last; object++) {
        size_t first = object ? merge->ends[object - 1] : 0, count = merge->ends[object] - first;
        struct merge_key *keys = merge->keys + first;
        if (count > 1)
            qsort(keys, count, sizeof *keys, merge_key_compare);
        for (size_t i = 0; i < count; i++)
            part->kept += i == 0 || merge_key_compare(&keys[i], &keys[i - 1]) != 0;
    }
}

/* So many keys are of one stream. */
static size_t merge_equal(const struct merge_key *keys, size_t count)
{
    size_t equal = 1;
    while (equal < count && merge_key_compare(&keys[equal], &keys[0]) == 0)
        equal++;
    return equal;
}

static struct lwp_stream_part merge_part_of(const struct lwp_merge_streams *merge, const struct merge_key *key)
{
    return lwp_stream_part(merge->tables[key->table], key->stream);
}

/* Memory is slow: what is wanted soon is asked for now. */
static void merge_expect(const struct lwp_merge_streams *merge, size_t at)
{
    enum { AHEAD = 16 };
    if (at + AHEAD >= merge->key_count)
        return;
    const struct lwp_stream_part part = merge_part_of(merge, &merge->keys[at + AHEAD]);
    __builtin_prefetch(part.count);
    __builtin_prefetch(part.stall);
}

/* The stream of some equal keys: what is joined is in the first's part then. */
static void merge_stream(const struct lwp_merge_streams *merge, const struct merge_key *keys, size_t count,
                          struct lwp_stream *stream, struct lwp_sum *sum, struct lwp_object *object)
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
    if (part.count->first_ns < object->first_ns)
        object->first_ns = part.count->first_ns;
    if (part.count->last_ns > object->last_ns)
        object->last_ns = part.count->last_ns;
    object->accesses += stream->accesses;
    object->loads += stream->loads;
    object->stores += stream->stores;
    object->common =
        object->accessed ? lwp_contexts_shared(merge->profile, object->common, stream->common) : stream->common;
    object->accessed = true;
}

static void *merge_alloc(const struct lwp_merge_streams *merge, size_t count, size_t size)
{
    pthread_mutex_lock(&merge->profile->lock);
    void *items = lwp_arena_alloc(merge->profile->arena, count, size);
    pthread_mutex_unlock(&merge->profile->lock);
    return items;
}

/* What is asked of streams of objects that are shown. */
static void merge_details(const struct lwp_merge_streams *merge, const struct merge_key *keys, size_t count,
                           struct lwp_stream *stream)
{
    struct lwp_reservoir_items items = {.count = 0};
    const struct lwp_stream_part part = merge_part_of(merge, keys);
    for (size_t i = 0; i < count; i++)
        lwp_reservoir_gather(&items, &merge->tables[keys[i].table]->offsets,
                             &merge_part_of(merge, &keys[i]).count->offsets);
    stream->offsets.items = merge_alloc(merge, items.count + 1, sizeof *stream->offsets.items);
    lwp_stream_offsets(&items, &stream->offsets);
    stream->distances = merge_alloc(merge, LWP_DISTANCES, sizeof *stream->distances);
    memcpy(stream->distances, part.cold->distances, sizeof part.cold->distances);
}

/* With a hundred thousand objects, what the offsets of all of them say would take as long as reading the samples. */
static bool merge_is_worth(const struct lwp_merge_streams *merge, const struct lwp_object *object)
{
    return object->weight.weight >= lwp_object_worth * (double)merge->weight ||
           (double)object->accesses >= lwp_object_worth * (double)merge->accesses ||
           (merge->unowned && object->pool_size);
}

static void merge_join(struct merge_part *part)
{
    const struct lwp_merge_streams *merge = part->merge;
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

static void merge_sort_parts(void *parts, size_t first, size_t last)
{
    for (; first < last; first++)
        merge_sort((struct merge_part *)parts + first);
}

struct merge_joining {
    struct merge_part *parts;
    size_t beside_count; /* of what is done before them */
    void (*beside)(void *of, size_t first, size_t last);
    void *of;
};

static void merge_join_parts(void *of, size_t first, size_t last)
{
    const struct merge_joining *joining = of;
    for (; first < last; first++)
        if (first < joining->beside_count)
            joining->beside(joining->of, first, first + 1);
        else
            merge_join(&joining->parts[first - joining->beside_count]);
}

static void merge_join_all(struct lwp_merge_streams *merge, struct merge_joining *joining)
{
    enum { PARTS_PER_TABLE = 8 };
    struct lwp_profile *profile = merge->profile;
    size_t count = merge->table_count * PARTS_PER_TABLE;
    struct merge_part *parts = lwp_zeroed(count, sizeof *parts);
    size_t all = profile->object_count ? merge->ends[profile->object_count - 1] : 0, object = 0;
    for (size_t i = 0; i < count; i++) { /* with nearly equal numbers of streams */
        parts[i] = (struct merge_part){.merge = merge, .first = object};
        while (object < profile->object_count && merge->ends[object] <= all / count * (i + 1))
            object++;
        if (i + 1 == count)
            object = profile->object_count;
        parts[i].last = object;
    }
    lwp_parallel((unsigned)merge->table_count, count, 1, merge_sort_parts, parts);
    for (size_t i = 0; i < count; i++) {
        parts[i].start = profile->stream_count;
        profile->stream_count += parts[i].kept;
    }
    profile->stream_room = profile->stream_count;
    profile->streams = lwp_pages_alloc(profile->stream_room * sizeof *profile->streams);
    joining->parts = parts;
    lwp_parallel((unsigned)merge->table_count, joining->beside_count + count, 1, merge_join_parts, joining);
    for (size_t i = 0; i < merge->table_count; i++)
        lwp_stream_table_free(merge->tables[i]);
    free(parts);
}

struct lwp_merge_streams *lwp_merge_streams_new(struct lwp_profile *profile, struct lwp_stream_table *const *tables,
                                                  size_t table_count, uint64_t weight)
{
    struct lwp_merge_streams *merge = lwp_zeroed(1, sizeof *merge);
    *merge = (struct lwp_merge_streams){
        .profile = profile, .tables = tables, .table_count = table_count, .weight = weight};
    merge->cursors = lwp_zeroed(table_count, sizeof *merge->cursors);
    return merge;
}

void lwp_merge_streams_finish(struct lwp_merge_streams *merge, size_t count,
                               void (*beside)(void *of, size_t first, size_t last), void *of)
{
    merge_cursors(merge);
    lwp_parallel((unsigned)merge->table_count, merge->table_count, 1, merge_keys, merge);
    merge->unowned = merge_unowned(merge);
    merge_join_all(merge, &(struct merge_joining){.beside_count = count, .beside = beside, .of = of});
    lwp_pages_free(merge->keys, merge->key_count * sizeof *merge->keys);
    free(merge->ends);
    free(merge->cursors);
    free(merge);
}
