/* The way of a sample: instruction -> function and loop; the address of each access -> object and offset; both -> a stream of this
 * thread's shard, where it is counted. Each step misses the caches. So all accesses of a batch take one step, which prefetches for
 * the next step, before any takes the next: the misses of the batch overlap. */
#include "analysis/load/sample_batch.h"

#include "base/order.h"

void lwp_batch_begin(struct lwp_batch *batch, uint64_t seed)
{
    batch->seed = seed;
    batch->counter = batch->ran_ns = 0;
    batch->code_reused = lwp_address_map_reuses_code(batch->attribution->map);
}

/* ---- samples in ---- */

/* Its object, if it is known without looking up the address. */
static inline void batch_object(struct lwp_batch *batch, struct lwp_batch_access *to, const struct lwps_access *access, uint64_t time)
{
    enum { PAGE_BITS = 12 };
    if (!(access->flags & LWPS_ACCESS_KNOWN) || access->home != LWPS_HOME_ADDRESS) {
        to->object = lwp_data_attribution_find(batch->attribution, access, time, &to->offset);
        return;
    }
    to->object = to->hint = LWP_NONE;
    if (batch->address_count && access->address >> PAGE_BITS == batch->page)
        return; /* in the same block, or it is looked up again */
    batch->page = access->address >> PAGE_BITS;
    to->hint = batch->address_count;
    batch->addresses[batch->address_count++] = access->address;
}

static inline void batch_sums(struct lwp_batch *batch, const struct lwps_sample *sample, uint32_t part, bool weighted, bool known)
{
    struct lwp_shard *shard = batch->shard;
    lwp_sum_add(&shard->total, sample->weight);
    lwp_interaction_sample(&shard->interaction, sample->time, sample->weight);
    if (weighted)
        lwp_sum_add(&shard->stalled, sample->weight);
    else if (sample->kind != LWPS_SAMPLE_COMPUTE)
        shard->unknown_weight += sample->weight;
    if (part != LWP_NONE)
        lwp_shard_part(shard, part, sample->weight);
    shard->samples++;
    shard->samples_with_address += known;
}

void lwp_batch_add(struct lwp_batch *batch, const struct lwps_sample *sample)
{
    unsigned count = sample->access_count <= LWPS_ACCESSES_MAX ? sample->access_count : LWPS_ACCESSES_MAX;
    if (batch->access_count + count > LWP_BATCH_ACCESSES || batch->sample_count == LWP_BATCH_SAMPLES)
        lwp_batch_flush(batch);
    struct lwp_file_locations *locations = batch->locations;
    if (batch->code_reused)
        locations->round++;
    const uint32_t first = batch->access_count;
    const struct lwp_location *interrupted = lwp_file_locations_at(locations, sample->context, sample->ip, sample->time)->location;
    const uint32_t function = interrupted->function_id;
    lwp_interrupts_add(&batch->shard->interrupts, interrupted->id, 1);
    struct lwp_batch_access *to = &batch->accesses[first];
    uint32_t part = LWP_NONE, known = 0;
    bool weighted = false, led = false, sure = false;
    for (unsigned i = 0; i < count; i++) {
        const struct lwps_access *access = &sample->access[i];
        bool is_known = access->flags & LWPS_ACCESS_KNOWN;
        bool is_weighted = (access->flags & LWPS_ACCESS_WEIGHTED) && !weighted;
        if (!is_weighted && !is_known)
            continue;
        struct lwp_file_location *at = lwp_file_locations_at(locations, sample->context, access->ip, sample->time);
        to->location = at->location;
        if (at->location->function_id == function) {
            lwp_file_locations_below(locations, at);
            to->functions = at->functions;
            to->part = at->part;
        } else { /* the context is that of the interrupted function; accesses decoded in other functions have another one */
            to->functions = lwp_file_locations_path(locations, sample->context, LWP_PATH_FUNCTIONS);
            to->part = at->location->part;
        }
        batch_object(batch, to, access, sample->time);
        to->address = access->address;
        to->rank = lwp_stream_rank(lwp_hash_mix(batch->seed, batch->counter++), lwp_stream_is_fair(access));
        to->bytes = access->bytes;
        to->flags = access->flags;
        to->level = access->level;
        to->sample = (uint8_t)batch->sample_count;
        to->back = is_known && led ? (uint8_t)(to - &batch->accesses[first]) : 0;
        to->weighted = is_weighted;
        to->close = i > 0 && lwp_stream_is_fair(access) && lwp_stream_is_fair(&access[-1]) && !(access->flags & LWPS_ACCESS_APART);
        to->links = access->source == LWPS_SOURCE_LINKS;
        led |= i == 0;
        sure |= is_known && !to->links;
        known += is_known;
        if (is_weighted) {
            weighted = true;
            part = to->part;
        }
        to++;
    }
    batch->access_count = (uint32_t)(to - batch->accesses);
    batch->ran_ns += sample->weight;
    batch->samples[batch->sample_count++] =
        (struct lwp_batch_sample){.time = sample->time,
                                  .since_start = lwp_address_map_time(batch->attribution->map, sample->time),
                                  .weight = sample->weight,
                                  .first = first,
                                  .count = batch->access_count - first,
                                  .known = known,
                                  .ran_ns = batch->ran_ns};
    batch->ran_ns = known ? 0 : batch->ran_ns;
    if (!weighted)
        part = lwp_file_locations_below(locations, lwp_file_locations_at(locations, sample->context, sample->ip, sample->time))->part;
    batch_sums(batch, sample, part, weighted, sure);
}

/* ---- and out ---- */

static inline struct lwp_stream_key batch_key(const struct lwp_batch_access *access)
{
    return (struct lwp_stream_key){access->object, access->part, access->location->id};
}

/* In a block that was not recorded, perhaps. */
static void batch_unrecorded(struct lwp_batch *batch, struct lwp_batch_access *access)
{
    const uint32_t object = lwp_resolver_unrecorded(batch->attribution->resolver, access->location, access->address, &access->offset);
    access->object = object == LWP_NONE ? access->object : object;
}

static void batch_objects(struct lwp_batch *batch, uint64_t *hashes)
{
    const uint32_t unowned = lwp_resolver_special(batch->attribution->resolver, LWP_OBJECT_UNOWNED);
    uint32_t hints[LWP_BATCH_ACCESSES];
    lwp_address_map_hints(batch->attribution->map, batch->addresses, batch->address_count, hints);
    for (uint32_t i = 0; i < batch->access_count; i++) {
        struct lwp_batch_access *access = &batch->accesses[i];
        if (access->object == LWP_NONE)
            access->object = lwp_data_attribution_at(batch->attribution, access->address, batch->samples[access->sample].time,
                                                     access->hint == LWP_NONE ? LWP_NONE : hints[access->hint], &access->offset);
        if (access->object == unowned)
            batch_unrecorded(batch, access);
        struct lwp_stream_key key = batch_key(access);
        hashes[i] = lwp_stream_hash(&key);
        lwp_stream_table_soon(&batch->shard->streams, hashes[i]);
    }
}

/* Distances are those within an object. */
static inline bool batch_is_apart(const struct lwp_batch_access *access)
{
    return access->back && access->object == access[-access->back].object;
}

static void batch_streams(struct lwp_batch *batch, const uint64_t *hashes)
{
    const struct lwp_stream_table *streams = &batch->shard->streams;
    for (uint32_t i = 0; i < batch->access_count; i++) {
        struct lwp_batch_access *access = &batch->accesses[i];
        access->stream = lwp_stream_table_next(streams, hashes[i], access->weighted);
        uint32_t first = batch_is_apart(access) ? access[-access->back].stream : LWP_NONE;
        if (first != LWP_NONE)
            __builtin_prefetch(&streams->colds[first].distances);
    }
}

static void batch_windows(struct lwp_batch *batch)
{
    struct lwp_sample_windows *windows = &batch->shard->windows;
    for (uint32_t s = 0; s < batch->sample_count; s++) {
        const struct lwp_batch_sample *sample = &batch->samples[s];
        struct lwp_traversal_access walk[LWPS_ACCESSES_MAX];
        int count = 0;
        for (uint32_t i = 0; i < sample->count && lwp_sample_windows_wants(windows); i++) {
            const struct lwp_batch_access *access = &batch->accesses[sample->first + i];
            if (access->flags & LWPS_ACCESS_KNOWN)
                walk[count++] = (struct lwp_traversal_access){.object = access->object,
                                                              .region = access->part,
                                                              .code = access->location->address,
                                                              .offset = access->offset,
                                                              .address = access->address,
                                                              .weight = access->weighted ? sample->weight : 0,
                                                              .ran_ns = sample->ran_ns,
                                                              .close = access->close,
                                                              .links = access->links};
        }
        lwp_sample_windows_sample(windows, walk, (int)sample->known, sample->since_start);
    }
}

static inline void batch_count(struct lwp_batch *batch, struct lwp_batch_access *access, uint64_t hash)
{
    struct lwp_stream_table *streams = &batch->shard->streams;
    const struct lwp_batch_sample *sample = &batch->samples[access->sample];
    struct lwp_stream_key key = batch_key(access);
    if (access->stream == LWP_NONE || !lwp_stream_is(&streams->counts[access->stream], &key))
        access->stream = lwp_stream_table_at(streams, &key, hash);
    struct lwp_stream_count *count = &streams->counts[access->stream];
    lwp_stream_table_count(
        streams, access->stream,
        &(struct lwp_stream_access){.offset = access->offset, .rank = access->rank, .bytes = access->bytes, .flags = access->flags});
    lwp_stream_table_seen(streams, access->stream, access->address);
    if (count->common == LWP_NONE)
        count->common = access->functions;
    else if (count->common != access->functions && count->common)
        count->common = lwp_file_locations_common(batch->locations, count->common, access->functions);
    LWP_LOWER(count->first_ns, sample->since_start);
    LWP_RAISE(count->last_ns, sample->since_start);
    if (access->weighted) {
        lwp_stall_profile_add(&batch->shard->stalls, access->functions, access->object, sample->since_start, sample->weight);
        lwp_sum_add(&streams->stalls[access->stream], sample->weight);
    }
    lwp_object_uses_add(&batch->shard->uses, &(struct lwp_object_access){.object = access->object,
                                                                         .tid = batch->shard->interaction.tid,
                                                                         .offset = access->offset,
                                                                         .time_ns = sample->since_start,
                                                                         .weight = access->weighted ? sample->weight : 0,
                                                                         .level = access->level,
                                                                         .known = access->flags & LWPS_ACCESS_KNOWN});
}

static inline void batch_apart(struct lwp_stream_table *streams, const struct lwp_batch_access *access)
{
    const struct lwp_batch_access *first = access - access->back;
    if (batch_is_apart(access) && !first->links && /* a link is no access of a stream */
        (access->links || lwp_stream_table_both_walk(streams, first->stream, access->stream))) {
        lwp_stream_table_apart(streams, first->stream,
                               access->address > first->address ? access->address - first->address : first->address - access->address);
    }
}

void lwp_batch_flush(struct lwp_batch *batch)
{
    struct lwp_stream_table *streams = &batch->shard->streams;
    uint64_t hashes[LWP_BATCH_ACCESSES];
    batch_objects(batch, hashes);
    batch_streams(batch, hashes);
    batch_windows(batch);
    for (uint32_t i = 0; i < batch->access_count; i++) {
        const struct lwp_batch_access *access = &batch->accesses[i];
        if (access->stream != LWP_NONE && !access->links)
            lwp_stream_table_expect(streams, access->stream, access->rank);
    }
    for (uint32_t i = 0; i < batch->access_count; i++) {
        if (!batch->accesses[i].links)
            batch_count(batch, &batch->accesses[i], hashes[i]);
        batch_apart(streams, &batch->accesses[i]);
    }
    batch->sample_count = batch->access_count = batch->address_count = 0;
}
