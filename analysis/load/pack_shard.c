/* The shard: each structure is packed as a whole, renumbered, and merged as those of threads are; only streams are unpacked one by
 * one, since there are many. */
#include "analysis/load/pack.h"

static void pack_streams(struct lwp_pack *pack, struct lwp_stream_table *table)
{
    struct lwp_stream_count count;
    struct lwp_sum stall;
    struct lwp_stream_cold cold;
    struct lwp_reservoir_items offsets;
    size_t streams = table->count;
    uint64_t refused = table->refused;
    LWP_PACK(pack, streams);
    LWP_PACK(pack, refused);
    for (size_t i = 0; i < streams && !pack->bad; i++) {
        const struct lwp_stream_part part = {&count, &stall, &cold};
        if (!pack->unpacking) {
            const struct lwp_stream_part own = lwp_stream_part(table, (uint32_t)i);
            count = *own.count;
            stall = *own.stall;
            cold = *own.cold;
            offsets.count = 0;
            lwp_reservoir_gather(&offsets, &table->offsets, &own.count->offsets);
        }
        LWP_PACK(pack, count);
        LWP_PACK(pack, stall);
        if (count.has_cold)
            LWP_PACK(pack, cold);
        LWP_PACK(pack, offsets.count);
        pack->bad |= offsets.count > LWP_RESERVOIR;
        lwp_pack_bytes(pack, offsets.items, pack->bad ? 0 : offsets.count * sizeof *offsets.items);
        lwp_pack_number(pack, LWP_PACK_OBJECT, &count.object);
        lwp_pack_number(pack, LWP_PACK_PART, &count.part);
        lwp_pack_number(pack, LWP_PACK_LOCATION, &count.location);
        lwp_pack_number(pack, LWP_PACK_CONTEXT, &count.common);
        if (pack->unpacking && !pack->bad)
            lwp_stream_table_merge(table, &part, &offsets, pack->profile);
    }
    if (pack->unpacking)
        table->refused += refused;
}

static void pack_parts(struct lwp_pack *pack, struct lwp_shard *shard)
{
    struct lwp_sum sum;
    size_t count = pack->unpacking ? 0 : shard->part_count;
    LWP_PACK(pack, count);
    for (size_t i = 0; i < count && !pack->bad; i++) {
        uint32_t part = (uint32_t)i;
        if (!pack->unpacking)
            sum = shard->parts[i];
        LWP_PACK(pack, sum);
        if (!pack->unpacking || !sum.samples)
            continue;
        lwp_pack_number(pack, LWP_PACK_PART, &part);
        if (part == LWP_NONE)
            continue;
        LWP_NUMBERED(&shard->parts, part, &shard->part_count);
        lwp_sum_merge(&shard->parts[part], &sum);
    }
}

static void pack_watchpoints(struct lwp_pack *pack, struct lwp_watchpoints *watchpoints)
{
    LWP_PACK(pack, watchpoints->registers);
    LWP_PACK(pack, watchpoints->stored);
    LWP_PACK(pack, watchpoints->exact);
    LWP_PACK_ARRAY(pack, &watchpoints->contributions, &watchpoints->contribution_count, &watchpoints->contribution_room);
    LWP_PACK_ARRAY(pack, &watchpoints->origins, &watchpoints->origin_count, &watchpoints->origin_room);
    LWP_PACK_ARRAY(pack, &watchpoints->pairs, &watchpoints->pair_count, &watchpoints->pair_room);
    LWP_PACK_ARRAY(pack, &watchpoints->read_elsewhere, &watchpoints->read_count, &watchpoints->read_room);
    LWP_PACK_NUMBERS(pack, LWP_PACK_CONTEXT, watchpoints->origins, watchpoints->origin_count, first);
    LWP_PACK_NUMBERS(pack, LWP_PACK_CONTEXT, watchpoints->pairs, watchpoints->pair_count, first);
    LWP_PACK_NUMBERS(pack, LWP_PACK_CONTEXT, watchpoints->pairs, watchpoints->pair_count, second);
    LWP_PACK_NUMBERS(pack, LWP_PACK_OBJECT, watchpoints->pairs, watchpoints->pair_count, object);
    for (size_t i = 0; i < watchpoints->read_count; i++)
        lwp_pack_number(pack, LWP_PACK_OBJECT, &watchpoints->read_elsewhere[i]);
}

static void pack_interaction(struct lwp_pack *pack, struct lwp_thread_interaction *interaction)
{
    struct lwp_communication_samples *samples = &interaction->samples;
    LWP_PACK_ARRAY(pack, &interaction->threads, &interaction->thread_count, &interaction->thread_room);
    LWP_PACK_ARRAY(pack, &interaction->cells, &interaction->cell_count, &interaction->cell_room);
    LWP_PACK_ARRAY(pack, &interaction->uses, &interaction->use_count, &interaction->use_room);
    LWP_PACK_ARRAY(pack, &samples->stores, &samples->store_count, &samples->store_room);
    LWP_PACK_ARRAY(pack, &samples->trials, &samples->trial_count, &samples->trial_room);
    LWP_PACK(pack, interaction->records);
    LWP_PACK(pack, interaction->refused);
    LWP_PACK(pack, interaction->candidates);
    LWP_PACK(pack, interaction->foreign_samples);
    LWP_PACK(pack, interaction->foreign_weight);
    LWP_PACK_NUMBERS(pack, LWP_PACK_LOCATION, samples->stores, samples->store_count, location);
    LWP_PACK_NUMBERS(pack, LWP_PACK_LOCATION, samples->trials, samples->trial_count, stored_at);
    LWP_PACK_NUMBERS(pack, LWP_PACK_LOCATION, samples->trials, samples->trial_count, read_at);
    LWP_PACK_NUMBERS(pack, LWP_PACK_OBJECT, interaction->uses, interaction->use_count, object);
    LWP_PACK_NUMBERS(pack, LWP_PACK_CONTEXT, interaction->uses, interaction->use_count, context);
}

static void pack_stalls(struct lwp_pack *pack, struct lwp_stall_profile *stalls)
{
    LWP_PACK(pack, stalls->bin_shift);
    LWP_PACK(pack, stalls->refused);
    LWP_PACK_ARRAY(pack, &stalls->paths, &stalls->path_count, &stalls->path_room);
    LWP_PACK_ARRAY(pack, &stalls->times, &stalls->time_count, &stalls->time_room);
    LWP_PACK_NUMBERS(pack, LWP_PACK_CONTEXT, stalls->paths, stalls->path_count, context);
    LWP_PACK_NUMBERS(pack, LWP_PACK_OBJECT, stalls->paths, stalls->path_count, object);
    LWP_PACK_NUMBERS(pack, LWP_PACK_OBJECT, stalls->times, stalls->time_count, object);
    pack->bad |= stalls->bin_shift > 63;
}

/* Its room is constant. */
static void pack_trace_sample(struct lwp_pack *pack, struct lwp_trace_sample *kept)
{
    struct lwp_trace_sample_access *accesses = kept->accesses;
    LWP_PACK(pack, *kept);
    if (pack->unpacking) {
        pack->bad |= kept->count > LWP_TRACE_SAMPLE_MOST;
        kept->count = pack->bad ? 0 : kept->count;
        kept->accesses = accesses = kept->count ? lwp_pages_alloc(sizeof *accesses * LWP_TRACE_SAMPLE_MOST) : NULL;
    }
    lwp_pack_bytes(pack, accesses, kept->count * sizeof *accesses);
    for (size_t i = 0; i < kept->count; i++) {
        uint32_t object = accesses[i].object;
        lwp_pack_number(pack, LWP_PACK_OBJECT, &object);
        accesses[i].object = object;
    }
}

static void pack_value(struct lwp_pack *pack, struct lwp_locality_value *value)
{
    lwp_pack_number(pack, LWP_PACK_OBJECT, &value->object);
    lwp_pack_number(pack, LWP_PACK_PART, &value->part);
    if (value->of != LWP_LOCALITY_BEFORE)
        return;
    uint32_t part = (uint32_t)value->value;
    lwp_pack_number(pack, LWP_PACK_PART, &part);
    value->value = part;
}

static void pack_locality(struct lwp_pack *pack, struct lwp_locality_counts *counts)
{
    LWP_PACK_ARRAY(pack, &counts->items, &counts->count, &counts->room);
    LWP_PACK_ARRAY(pack, &counts->values.items, &counts->values.count, &counts->values.room);
    LWP_PACK_ARRAY(pack, &counts->touched, &counts->touched_count, &counts->touched_room);
    LWP_PACK(pack, counts->traced);
    LWP_PACK(pack, counts->accesses);
    LWP_PACK(pack, counts->windows);
    LWP_PACK(pack, counts->lost);
    LWP_PACK(pack, counts->gaps);
    LWP_PACK(pack, counts->several);
    pack_trace_sample(pack, &counts->kept);
    LWP_PACK_NUMBERS(pack, LWP_PACK_OBJECT, counts->items, counts->count, object);
    LWP_PACK_NUMBERS(pack, LWP_PACK_PART, counts->items, counts->count, part);
    for (size_t i = 0; i < counts->values.count; i++)
        pack_value(pack, &counts->values.items[i]);
    LWP_PACK_NUMBERS(pack, LWP_PACK_OBJECT, counts->touched, counts->touched_count, object);
}

static void pack_uses(struct lwp_pack *pack, struct lwp_object_uses *uses)
{
    LWP_PACK_ARRAY(pack, &uses->items, &uses->count, &uses->room);
    LWP_PACK_NUMBERS(pack, LWP_PACK_OBJECT, uses->items, uses->count, object);
}

static void pack_communication(struct lwp_pack *pack, struct lwp_communication_counts *counts)
{
    LWP_PACK(pack, counts->measured);
    LWP_PACK(pack, counts->how);
    LWP_PACK(pack, counts->refused);
    LWP_PACK_ARRAY(pack, &counts->parties, &counts->party_count, &counts->party_room);
    LWP_PACK_ARRAY(pack, &counts->flows, &counts->flow_count, &counts->flow_room);
    LWP_PACK_ARRAY(pack, &counts->reuses, &counts->reuse_count, &counts->reuse_room);
    LWP_PACK_ARRAY(pack, &counts->pieces, &counts->piece_count, &counts->piece_room);
    LWP_PACK_NUMBERS(pack, LWP_PACK_LOCATION, counts->flows, counts->flow_count, site.location);
    LWP_PACK_NUMBERS(pack, LWP_PACK_LOCATION, counts->reuses, counts->reuse_count, site.location);
    LWP_PACK_NUMBERS(pack, LWP_PACK_LOCATION, counts->reuses, counts->reuse_count, before.location);
    LWP_PACK_NUMBERS(pack, LWP_PACK_LOCATION, counts->pieces, counts->piece_count, site.location);
}

static void pack_interrupts(struct lwp_pack *pack, struct lwp_interrupts *interrupts)
{
    size_t count = interrupts->count;
    LWP_PACK(pack, count);
    for (size_t i = 0; i < count && !pack->bad; i++) {
        uint32_t location = (uint32_t)i;
        uint64_t samples = pack->unpacking ? 0 : interrupts->samples[i];
        LWP_PACK(pack, samples);
        if (!pack->unpacking || !samples)
            continue;
        lwp_pack_number(pack, LWP_PACK_LOCATION, &location);
        if (location != LWP_NONE)
            lwp_interrupts_add(interrupts, location, samples);
    }
}

void lwp_pack_shard(struct lwp_pack *pack, struct lwp_shard *shard)
{
    struct lwp_shard unpacked = {0}, *with = pack->unpacking ? &unpacked : shard;
    pack_streams(pack, &shard->streams);
    pack_parts(pack, shard);
    lwp_sample_windows_pack(&with->windows, pack);
    pack_watchpoints(pack, &with->watchpoints);
    pack_interaction(pack, &with->interaction);
    pack_stalls(pack, &with->stalls);
    pack_interrupts(pack, &with->interrupts);
    pack_locality(pack, &with->locality);
    pack_uses(pack, &with->uses);
    pack_communication(pack, &with->communication);
    LWP_PACK(pack, with->total);
    LWP_PACK(pack, with->stalled);
    LWP_PACK(pack, with->unknown_weight);
    LWP_PACK(pack, with->samples);
    LWP_PACK(pack, with->samples_with_address);
    if (pack->unpacking && !pack->bad)
        lwp_shard_merge(shard, &unpacked);
    else if (pack->unpacking)
        lwp_shard_free(&unpacked);
}
