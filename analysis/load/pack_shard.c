/* The shard, structure by structure: read or written as a whole, numbers changed, and merged by the function that merges those
 * of threads. Only streams are taken one by one, since there are many. */
#include "analysis/load/pack.h"

#include "analysis/profile/contexts.h"

#include <stdlib.h>

static void parcel_streams(struct lwp_pack *parcel, struct lwp_stream_table *table)
{
    struct lwp_stream_count count;
    struct lwp_sum stall;
    struct lwp_stream_rest rest;
    struct lwp_reservoir_items offsets;
    size_t streams = table->count;
    uint64_t refused = table->refused;
    LWP_PACK(parcel, streams);
    LWP_PACK(parcel, refused);
    for (size_t i = 0; i < streams && !parcel->bad; i++) {
        const struct lwp_stream_part part = {&count, &stall, &rest};
        if (!parcel->taking) {
            const struct lwp_stream_part own = lwp_stream_part(table, (uint32_t)i);
            count = *own.count;
            stall = *own.stall;
            rest = *own.rest;
            offsets.count = 0;
            lwp_reservoir_gather(&offsets, &table->offsets, &own.count->offsets);
        }
        LWP_PACK(parcel, count);
        LWP_PACK(parcel, stall);
        if (count.rested)
            LWP_PACK(parcel, rest);
        LWP_PACK(parcel, offsets.count);
        parcel->bad |= offsets.count > LWP_RESERVOIR;
        lwp_pack_bytes(parcel, offsets.items, parcel->bad ? 0 : offsets.count * sizeof *offsets.items);
        lwp_pack_number(parcel, LWP_PACK_OBJECT, &count.object);
        lwp_pack_number(parcel, LWP_PACK_PART, &count.part);
        lwp_pack_number(parcel, LWP_PACK_SPOT, &count.spot);
        lwp_pack_number(parcel, LWP_PACK_CONTEXT, &count.common);
        if (parcel->taking && !parcel->bad)
            lwp_stream_table_merge(table, &part, &offsets, parcel->profile);
    }
    if (parcel->taking)
        table->refused += refused;
}

static void parcel_parts(struct lwp_pack *parcel, struct lwp_shard *shard)
{
    struct lwp_sum sum;
    size_t count = parcel->taking ? 0 : shard->part_count;
    LWP_PACK(parcel, count);
    for (size_t i = 0; i < count && !parcel->bad; i++) {
        uint32_t part = (uint32_t)i;
        if (!parcel->taking)
            sum = shard->parts[i];
        LWP_PACK(parcel, sum);
        if (!parcel->taking || !sum.samples)
            continue;
        lwp_pack_number(parcel, LWP_PACK_PART, &part);
        if (part == LWP_NONE)
            continue;
        if (part >= shard->part_count)
            lwp_shard_parts(shard, (size_t)part + 1);
        lwp_sum_merge(&shard->parts[part], &sum);
    }
}

static void parcel_watched(struct lwp_pack *parcel, struct lwp_watchpoints *watched)
{
    LWP_PACK(parcel, watched->registers);
    LWP_PACK(parcel, watched->exact);
    LWP_PACK_ARRAY(parcel, &watched->origins, &watched->origin_count, &watched->origin_room);
    LWP_PACK_ARRAY(parcel, &watched->pairs, &watched->pair_count, &watched->pair_room);
    LWP_PACK_ARRAY(parcel, &watched->read_elsewhere, &watched->read_count, &watched->read_room);
    for (size_t i = 0; i < watched->origin_count; i++)
        lwp_pack_number(parcel, LWP_PACK_CONTEXT, &watched->origins[i].first);
    for (size_t i = 0; i < watched->pair_count; i++) {
        struct lwp_watchpoint_pair *pair = &watched->pairs[i];
        lwp_pack_number(parcel, LWP_PACK_CONTEXT, &pair->first);
        lwp_pack_number(parcel, LWP_PACK_CONTEXT, &pair->second);
        lwp_pack_number(parcel, LWP_PACK_OBJECT, &pair->object);
    }
    for (size_t i = 0; i < watched->read_count; i++)
        lwp_pack_number(parcel, LWP_PACK_OBJECT, &watched->read_elsewhere[i]);
}

static void parcel_shared(struct lwp_pack *parcel, struct lwp_thread_interaction *shared)
{
    struct lwp_communication_samples *transfers = &shared->transfers;
    LWP_PACK_ARRAY(parcel, &shared->threads, &shared->thread_count, &shared->thread_room);
    LWP_PACK_ARRAY(parcel, &shared->cells, &shared->cell_count, &shared->cell_room);
    LWP_PACK_ARRAY(parcel, &shared->uses, &shared->use_count, &shared->use_room);
    LWP_PACK_ARRAY(parcel, &transfers->stores, &transfers->store_count, &transfers->store_room);
    LWP_PACK_ARRAY(parcel, &transfers->trials, &transfers->trial_count, &transfers->trial_room);
    LWP_PACK(parcel, shared->records);
    LWP_PACK(parcel, shared->refused);
    LWP_PACK(parcel, shared->candidates);
    LWP_PACK(parcel, shared->foreign_samples);
    LWP_PACK(parcel, shared->foreign_weight);
    for (size_t i = 0; i < shared->use_count; i++) {
        lwp_pack_number(parcel, LWP_PACK_OBJECT, &shared->uses[i].object);
        lwp_pack_number(parcel, LWP_PACK_CONTEXT, &shared->uses[i].context);
    }
}

/* Its room is always the same. */
static void parcel_kept(struct lwp_pack *parcel, struct lwp_trace_sample *kept)
{
    struct lwp_trace_sample_access *accesses = kept->accesses;
    LWP_PACK(parcel, *kept);
    if (parcel->taking) {
        parcel->bad |= kept->count > (size_t)LWP_TRACE_SAMPLE_STRETCH * LWP_TRACE_SAMPLE_STRETCHES;
        kept->count = parcel->bad ? 0 : kept->count;
        kept->accesses = accesses =
            kept->count ? lwp_pages_alloc(sizeof *accesses * LWP_TRACE_SAMPLE_STRETCH * LWP_TRACE_SAMPLE_STRETCHES) : NULL;
    }
    lwp_pack_bytes(parcel, accesses, kept->count * sizeof *accesses);
    for (size_t i = 0; i < kept->count; i++) {
        uint32_t object = accesses[i].object;
        lwp_pack_number(parcel, LWP_PACK_OBJECT, &object);
        accesses[i].object = object;
    }
}

static void parcel_value(struct lwp_pack *parcel, struct lwp_locality_value *value)
{
    lwp_pack_number(parcel, LWP_PACK_OBJECT, &value->object);
    lwp_pack_number(parcel, LWP_PACK_PART, &value->part);
    if (value->of != LWP_LOCALITY_BEFORE)
        return;
    uint32_t part = (uint32_t)value->value;
    lwp_pack_number(parcel, LWP_PACK_PART, &part);
    value->value = part;
}

static void parcel_locality(struct lwp_pack *parcel, struct lwp_locality_counts *counts)
{
    LWP_PACK_ARRAY(parcel, &counts->items, &counts->count, &counts->room);
    LWP_PACK_ARRAY(parcel, &counts->values.items, &counts->values.count, &counts->values.room);
    LWP_PACK_ARRAY(parcel, &counts->touched, &counts->touched_count, &counts->touched_room);
    LWP_PACK(parcel, counts->traced);
    LWP_PACK(parcel, counts->accesses);
    LWP_PACK(parcel, counts->windows);
    LWP_PACK(parcel, counts->lost);
    LWP_PACK(parcel, counts->gaps);
    parcel_kept(parcel, &counts->kept);
    for (size_t i = 0; i < counts->count; i++) {
        struct lwp_locality_count *item = &counts->items[i];
        lwp_pack_number(parcel, LWP_PACK_OBJECT, &item->object);
        lwp_pack_number(parcel, LWP_PACK_PART, &item->part);
    }
    for (size_t i = 0; i < counts->values.count; i++)
        parcel_value(parcel, &counts->values.items[i]);
    for (size_t i = 0; i < counts->touched_count; i++)
        lwp_pack_number(parcel, LWP_PACK_OBJECT, &counts->touched[i].object);
}

static void parcel_flows(struct lwp_pack *parcel, struct lwp_communication_counts *flows)
{
    LWP_PACK(parcel, flows->measured);
    LWP_PACK(parcel, flows->how);
    LWP_PACK(parcel, flows->refused);
    LWP_PACK_ARRAY(parcel, &flows->parties, &flows->party_count, &flows->party_room);
    LWP_PACK_ARRAY(parcel, &flows->flows, &flows->flow_count, &flows->flow_room);
    LWP_PACK_ARRAY(parcel, &flows->reuses, &flows->reuse_count, &flows->reuse_room);
    LWP_PACK_ARRAY(parcel, &flows->pieces, &flows->piece_count, &flows->piece_room);
    for (size_t i = 0; i < flows->flow_count; i++)
        lwp_pack_number(parcel, LWP_PACK_SPOT, &flows->flows[i].place.spot);
    for (size_t i = 0; i < flows->reuse_count; i++) {
        lwp_pack_number(parcel, LWP_PACK_SPOT, &flows->reuses[i].place.spot);
        lwp_pack_number(parcel, LWP_PACK_SPOT, &flows->reuses[i].before.spot);
    }
    for (size_t i = 0; i < flows->piece_count; i++)
        lwp_pack_number(parcel, LWP_PACK_SPOT, &flows->pieces[i].place.spot);
}

static void parcel_totals(struct lwp_pack *parcel, struct lwp_shard *shard)
{
    LWP_PACK(parcel, shard->total);
    LWP_PACK(parcel, shard->stalled);
    LWP_PACK(parcel, shard->unknown_weight);
    LWP_PACK(parcel, shard->samples);
    LWP_PACK(parcel, shard->samples_with_address);
}

void lwp_pack_shard(struct lwp_pack *parcel, struct lwp_shard *shard)
{
    struct lwp_shard taken = {0}, *with = parcel->taking ? &taken : shard;
    parcel_streams(parcel, &shard->streams);
    parcel_parts(parcel, shard);
    lwp_sample_windows_pack(&with->windows, parcel);
    parcel_watched(parcel, &with->watched);
    parcel_shared(parcel, &with->shared);
    parcel_locality(parcel, &with->locality);
    parcel_flows(parcel, &with->flows);
    parcel_totals(parcel, with);
    if (parcel->taking && !parcel->bad)
        lwp_shard_merge(shard, &taken);
    else if (parcel->taking)
        lwp_shard_free(&taken);
}
