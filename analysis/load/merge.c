/* Threads that load side by side number objects, contexts and places in the order in which they happen to meet them.
 * Here everything gets the number it has when sorted by what it is, so that the same input gives the same analysis:
 * contexts by their paths, regions by module and address, objects by kind, place and path, streams by object,
 * instruction and region (merge_streams.c). What does not wait for the other is done side by side. */
#include "analysis/load/merge.h"

#include "analysis/load/merge_streams.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/objects.h"
#include "base/parallel.h"

#include <stdlib.h>

/* The new number of each context. */
static uint32_t *merge_contexts(struct lwp_profile *profile)
{
    uint32_t *numbers = lwp_zeroed(profile->context_count, sizeof *numbers);
    lwp_contexts_sort(profile, numbers);
    for (size_t i = 0; i < profile->object_count; i++)
        profile->objects[i].context = numbers[profile->objects[i].context];
    return numbers;
}

/* The region of each part. */
static uint32_t *merge_regions(struct lwp_profile *profile, const struct lwp_shard *shard,
                                struct lwp_stream_table *const *tables, size_t table_count)
{
    size_t count = lwp_locations_part_count(profile);
    bool *wanted = lwp_zeroed(count, sizeof *wanted);
    uint32_t *regions = lwp_zeroed(count, sizeof *regions);
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t]->count; i++)
            if (tables[t]->counts[i].part != LWP_NONE)
                wanted[tables[t]->counts[i].part] = true;
    for (size_t i = 0; i < count && i < shard->part_count; i++)
        wanted[i] |= shard->parts[i].samples != 0;
    for (size_t i = 0; i < shard->locality.count; i++)
        if (shard->locality.items[i].part != LWP_NONE)
            wanted[shard->locality.items[i].part] = true;
    lwp_locations_regions(profile, wanted, regions);
    /* Sums stay whole numbers until all parts of a region are together. */
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

/* The new number of each object. */
static uint32_t *merge_objects(struct lwp_profile *profile)
{
    uint32_t *numbers = lwp_zeroed(profile->object_count, sizeof *numbers);
    lwp_objects_sort(profile, numbers);
    return numbers;
}

/* What is numbered side by side: an object's place depends on its context's, a region's on neither. */
enum { MERGE_OBJECTS, MERGE_REGIONS, MERGE_ORDERS };

/* What waits for all numbers, of which each piece is done for itself, the longest first. */
enum { MERGE_WINDOWS, MERGE_CONTEXT_INDEX, MERGE_OBJECT_INDEX, MERGE_WATCHPOINTS, MERGE_INTERACTION, MERGE_PIECES };

struct merge {
    struct lwp_profile *profile;
    struct lwp_shard *shard;
    struct lwp_stream_table *const *tables;
    size_t table_count;
    struct lwp_merge_streams *streams;
    struct lwp_merge_numbers numbers;
};

static void merge_orders(void *of, size_t piece, size_t last)
{
    struct merge *merge = of;
    for (; piece < last; piece++)
        if (piece == MERGE_REGIONS) {
            merge->numbers.regions =
                merge_regions(merge->profile, merge->shard, merge->tables, merge->table_count);
        } else {
            merge->numbers.contexts = merge_contexts(merge->profile);
            merge->numbers.objects = merge_objects(merge->profile);
        }
}

static void merge_pieces(void *of, size_t piece, size_t last)
{
    const struct merge *merge = of;
    const struct lwp_merge_numbers *numbers = &merge->numbers;
    struct lwp_profile *profile = merge->profile;
    struct lwp_shard *shard = merge->shard;
    for (; piece < last; piece++)
        switch (piece) {
        case MERGE_CONTEXT_INDEX:
            lwp_contexts_index(profile);
            break;
        case MERGE_OBJECT_INDEX:
            lwp_objects_index(profile);
            break;
        case MERGE_WINDOWS:
            lwp_sample_windows_replay(&shard->windows, profile, numbers->objects, numbers->regions);
            lwp_sample_windows_free(&shard->windows);
            break;
        case MERGE_WATCHPOINTS:
            profile->watchpoints = shard->watchpoints;
            shard->watchpoints = (struct lwp_watchpoints){0};
            lwp_watchpoints_renumber(&profile->watchpoints, numbers->contexts, numbers->objects);
            break;
        case MERGE_INTERACTION:
            profile->interaction = shard->interaction;
            shard->interaction = (struct lwp_thread_interaction){0};
            lwp_interaction_renumber(&profile->interaction, numbers->contexts, numbers->objects);
            break;
        }
}

static void merge_tables(void *of, size_t table, size_t last)
{
    const struct merge *merge = of;
    for (; table < last; table++)
        lwp_merge_streams_number(merge->streams, &merge->numbers, table);
}

void lwp_merge_shards(struct lwp_profile *profile, struct lwp_shard *shard, struct lwp_stream_table *const *tables,
                size_t table_count)
{
    const unsigned jobs = (unsigned)table_count;
    struct merge merge = {.profile = profile,
                            .shard = shard,
                            .tables = tables,
                            .table_count = table_count,
                            .streams = lwp_merge_streams_new(profile, tables, table_count, shard->total.weight)};
    lwp_parallel(jobs, MERGE_ORDERS, 1, merge_orders, &merge);
    lwp_parallel(jobs, table_count, 1, merge_tables, &merge);
    profile->locality = shard->locality;
    shard->locality = (struct lwp_locality_counts){0};
    lwp_locality_counts_renumber(&profile->locality, merge.numbers.objects, merge.numbers.regions);
    profile->communication = shard->communication;
    shard->communication = (struct lwp_communication_counts){0};
    lwp_merge_streams_finish(merge.streams, MERGE_PIECES, merge_pieces, &merge);
    free(merge.numbers.contexts);
    free(merge.numbers.objects);
    free(merge.numbers.regions);
    profile->total = lwp_sum_tally(&shard->total);
    profile->stalled = lwp_sum_tally(&shard->stalled);
    profile->unknown_weight = (double)shard->unknown_weight;
    profile->samples = shard->samples;
    profile->samples_with_address = shard->samples_with_address;
    lwp_shard_free(shard);
}
