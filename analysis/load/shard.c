#include "analysis/load/shard.h"

#include <stdlib.h>
#include <string.h>

void lwp_shard_free(struct lwp_shard *shard)
{
    lwp_sample_windows_free(&shard->windows);
    lwp_watchpoint_free(&shard->watchpoints);
    lwp_interaction_free(&shard->interaction);
    lwp_locality_counts_free(&shard->locality);
    lwp_communication_counts_free(&shard->communication);
    free(shard->parts);
    *shard = (struct lwp_shard){.streams = shard->streams};
}

void lwp_shard_parts(struct lwp_shard *shard, size_t count)
{
    size_t room = shard->part_count;
    while (room < count)
        shard->parts = lwp_grow(shard->parts, room, &room, sizeof *shard->parts);
    memset(shard->parts + shard->part_count, 0, (room - shard->part_count) * sizeof *shard->parts);
    shard->part_count = room;
}

void lwp_shard_merge(struct lwp_shard *into, struct lwp_shard *from)
{
    if (from->part_count > into->part_count)
        lwp_shard_parts(into, from->part_count);
    for (size_t i = 0; i < from->part_count; i++)
        lwp_sum_merge(&into->parts[i], &from->parts[i]);
    lwp_sample_windows_merge(&into->windows, &from->windows);
    lwp_watchpoint_merge(&into->watchpoints, &from->watchpoints);
    lwp_interaction_merge(&into->interaction, &from->interaction);
    lwp_locality_counts_merge(&into->locality, &from->locality);
    lwp_communication_counts_merge(&into->communication, &from->communication);
    lwp_sum_merge(&into->total, &from->total);
    lwp_sum_merge(&into->stalled, &from->stalled);
    into->unknown_weight += from->unknown_weight;
    into->samples += from->samples;
    into->samples_with_address += from->samples_with_address;
    lwp_shard_free(from);
}
