/* The way of a sample: its instruction -> function and loop; each access's address -> object and offset; both -> a
 * stream of this thread's shard, where it is counted and forgotten. Each step needs lines of memory that no cache
 * holds, and waiting for many at once takes little longer than for one: so all accesses of a batch make one step, which
 * asks for the lines of the next, before the first makes the next. */
#include "analysis/batch.h"

void lwp_batch_begin(struct lwp_batch *batch, uint64_t seed)
{
    batch->seed = seed;
    batch->counter = 0;
    batch->code_reused = lwp_space_reuses_code(batch->owners->space);
}

/* ---- samples in ---- */

static inline void batch_expect_address(struct lwp_batch *batch, struct lwp_batch_access *to)
{
    enum { PAGE_BITS = 12 };
    to->hint = LWP_NONE;
    if (!(to->raw.flags & LWPS_ACCESS_KNOWN) || to->raw.home != LWPS_HOME_ADDRESS)
        return;
    if (batch->address_count && to->raw.address >> PAGE_BITS == batch->page)
        return; /* in the same block, or it is searched for again */
    batch->page = to->raw.address >> PAGE_BITS;
    to->hint = batch->address_count;
    batch->addresses[batch->address_count++] = to->raw.address;
}

static inline bool batch_is_fair(const struct lwps_access *access)
{
    return lwp_stream_is_fair(access->source, access->flags);
}

static void batch_sums(struct lwp_batch *batch, const struct lwps_sample *sample, uint32_t part, bool weighted,
                       bool known)
{
    struct lwp_shard *shard = batch->shard;
    lwp_sum_add(&shard->total, sample->weight);
    lwp_shared_sample(&shard->shared, sample->time, sample->weight);
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
    struct lwp_places *places = batch->places;
    if (batch->code_reused)
        places->round++;
    struct lwp_batch_sample *in = &batch->samples[batch->sample_count];
    *in = (struct lwp_batch_sample){.time = sample->time,
                                    .since_start = lwp_space_time(batch->owners->space, sample->time),
                                    .weight = sample->weight,
                                    .first = batch->access_count};
    const struct lwp_spot *here = lwp_places_at(places, sample->context, sample->ip, sample->time)->spot;
    uint32_t part = LWP_NONE;
    bool weighted = false, first = false;
    for (unsigned i = 0; i < count; i++) {
        const struct lwps_access *access = &sample->access[i];
        bool is_known = access->flags & LWPS_ACCESS_KNOWN;
        bool is_weighted = (access->flags & LWPS_ACCESS_WEIGHTED) && !weighted;
        if (!is_weighted && !is_known)
            continue;
        struct lwp_batch_access *to = &batch->accesses[batch->access_count++];
        struct lwp_place_below *place = lwp_places_at(places, sample->context, access->ip, sample->time);
        to->spot = place->spot;
        if (place->spot->function_id == here->function_id) {
            lwp_places_below(places, place);
            to->functions = place->functions;
            to->key.part = place->part;
        } else { /* the context is that of the interrupted function; what the walk met elsewhere has another one */
            to->functions = lwp_places_path(places, sample->context, LWP_PATH_FUNCTIONS);
            to->key.part = place->spot->part;
        }
        to->raw = *access;
        batch_expect_address(batch, to);
        to->access = (struct lwp_stream_access){.rank = (uint32_t)lwp_hash_mix(batch->seed, batch->counter++),
                                                .bytes = access->bytes,
                                                .flags = access->flags,
                                                .source = access->source};
        to->sample = (uint16_t)batch->sample_count;
        to->weighted = is_weighted;
        to->close = i > 0 && batch_is_fair(access) && batch_is_fair(&access[-1]);
        to->apart = is_known && first;
        to->distance = access->address > sample->access[0].address ? access->address - sample->access[0].address
                                                                   : sample->access[0].address - access->address;
        first |= i == 0;
        in->known += is_known;
        if (is_weighted) {
            weighted = true;
            part = to->key.part;
        }
    }
    in->count = batch->access_count - in->first;
    batch->sample_count++;
    if (!weighted)
        part = lwp_places_below(places, lwp_places_at(places, sample->context, sample->ip, sample->time))->part;
    batch_sums(batch, sample, part, weighted, in->known);
}

/* ---- and out ---- */

static void batch_objects(struct lwp_batch *batch)
{
    const struct lwp_stream_table *streams = &batch->shard->streams;
    uint32_t hints[LWP_BATCH_ACCESSES];
    lwp_space_hints(batch->owners->space, batch->addresses, batch->address_count, hints);
    for (uint32_t i = 0; i < batch->access_count; i++) {
        struct lwp_batch_access *access = &batch->accesses[i];
        const struct lwp_batch_sample *sample = &batch->samples[access->sample];
        uint32_t hint = access->hint == LWP_NONE ? LWP_NONE : hints[access->hint];
        uint32_t object = lwp_owners_find(batch->owners, &access->raw, sample->time, hint, &access->access.offset);
        lwp_stream_key(&access->key, object, access->key.part, access->spot->id);
        lwp_stream_table_soon(streams, &access->key);
        access->apart &= object == batch->accesses[sample->first].key.object;
    }
}

static void batch_windows(struct lwp_batch *batch)
{
    struct lwp_windows *windows = &batch->shard->windows;
    for (uint32_t s = 0; s < batch->sample_count; s++) {
        const struct lwp_batch_sample *sample = &batch->samples[s];
        struct lwp_walk_access walk[LWPS_ACCESSES_MAX];
        int count = 0;
        for (uint32_t i = 0; i < sample->count && lwp_windows_wants(windows); i++) {
            const struct lwp_batch_access *access = &batch->accesses[sample->first + i];
            if (access->raw.flags & LWPS_ACCESS_KNOWN)
                walk[count++] = (struct lwp_walk_access){.object = access->key.object,
                                                         .region = access->key.part,
                                                         .code = access->spot->address,
                                                         .offset = access->access.offset,
                                                         .close = access->close};
        }
        lwp_windows_sample(windows, walk, (int)sample->known, sample->since_start);
    }
}

static inline void batch_count(struct lwp_batch *batch, struct lwp_batch_access *access)
{
    struct lwp_stream_table *streams = &batch->shard->streams;
    const struct lwp_batch_sample *sample = &batch->samples[access->sample];
    if (access->stream == LWP_NONE || !lwp_stream_is(&streams->counts[access->stream], &access->key))
        access->stream = lwp_stream_table_at(streams, &access->key);
    struct lwp_stream_count *count = &streams->counts[access->stream];
    lwp_stream_table_count(streams, access->stream, &access->access);
    if (count->common == LWP_NONE)
        count->common = access->functions;
    else if (count->common != access->functions && count->common)
        count->common = lwp_places_common(batch->places, count->common, access->functions);
    if (sample->since_start < count->first_ns)
        count->first_ns = sample->since_start;
    if (sample->since_start > count->last_ns)
        count->last_ns = sample->since_start;
    if (access->weighted)
        lwp_sum_add(&streams->rests[access->stream].sum, sample->weight);
    if (access->apart)
        lwp_stream_apart(&streams->rests[batch->accesses[sample->first].stream], access->distance);
}

void lwp_batch_flush(struct lwp_batch *batch)
{
    struct lwp_stream_table *streams = &batch->shard->streams;
    batch_objects(batch);
    for (uint32_t i = 0; i < batch->access_count; i++) {
        struct lwp_batch_access *access = &batch->accesses[i];
        access->stream = lwp_stream_table_next(streams, &access->key, &access->access);
        uint32_t first = access->apart ? batch->accesses[batch->samples[access->sample].first].stream : LWP_NONE;
        if (first != LWP_NONE)
            __builtin_prefetch(&streams->rests[first].distances);
    }
    batch_windows(batch);
    for (uint32_t i = 0; i < batch->access_count; i++)
        if (batch->accesses[i].stream != LWP_NONE)
            lwp_stream_table_expect(streams, batch->accesses[i].stream, &batch->accesses[i].access);
    for (uint32_t i = 0; i < batch->access_count; i++)
        batch_count(batch, &batch->accesses[i]);
    batch->sample_count = batch->access_count = batch->address_count = 0;
}
