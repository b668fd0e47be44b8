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
static uint32_t *settle_contexts(struct lwp_profile *profile)
{
    uint32_t *numbers = lwp_zeroed(profile->context_count, sizeof *numbers);
    lwp_contexts_sort(profile, numbers);
    for (size_t i = 0; i < profile->object_count; i++)
        profile->objects[i].context = numbers[profile->objects[i].context];
    return numbers;
}

/* The region of each part. */
static uint32_t *settle_regions(struct lwp_profile *profile, const struct lwp_shard *shard,
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
static uint32_t *settle_objects(struct lwp_profile *profile)
{
    uint32_t *numbers = lwp_zeroed(profile->object_count, sizeof *numbers);
    lwp_objects_sort(profile, numbers);
    return numbers;
}

/* What is numbered side by side: an object's place depends on its context's, a region's on neither. */
enum { SETTLE_OBJECTS, SETTLE_REGIONS, SETTLE_ORDERS };

/* What waits for all numbers, of which each piece is done for itself, the longest first. */
enum { SETTLE_WINDOWS, SETTLE_CONTEXT_INDEX, SETTLE_OBJECT_INDEX, SETTLE_WATCHED, SETTLE_SHARED, SETTLE_PIECES };

struct settle {
    struct lwp_profile *profile;
    struct lwp_shard *shard;
    struct lwp_stream_table *const *tables;
    size_t table_count;
    struct lwp_merge_streams *streams;
    struct lwp_merge_numbers numbers;
};

static void settle_orders(void *of, size_t piece, size_t last)
{
    struct settle *settle = of;
    for (; piece < last; piece++)
        if (piece == SETTLE_REGIONS) {
            settle->numbers.regions =
                settle_regions(settle->profile, settle->shard, settle->tables, settle->table_count);
        } else {
            settle->numbers.contexts = settle_contexts(settle->profile);
            settle->numbers.objects = settle_objects(settle->profile);
        }
}

static void settle_pieces(void *of, size_t piece, size_t last)
{
    const struct settle *settle = of;
    const struct lwp_merge_numbers *numbers = &settle->numbers;
    struct lwp_profile *profile = settle->profile;
    struct lwp_shard *shard = settle->shard;
    for (; piece < last; piece++)
        switch (piece) {
        case SETTLE_CONTEXT_INDEX:
            lwp_contexts_index(profile);
            break;
        case SETTLE_OBJECT_INDEX:
            lwp_objects_index(profile);
            break;
        case SETTLE_WINDOWS:
            lwp_sample_windows_replay(&shard->windows, profile, numbers->objects, numbers->regions);
            lwp_sample_windows_free(&shard->windows);
            break;
        case SETTLE_WATCHED:
            profile->watched = shard->watched;
            shard->watched = (struct lwp_watchpoints){0};
            lwp_watchpoints_renumber(&profile->watched, numbers->contexts, numbers->objects);
            break;
        case SETTLE_SHARED:
            profile->shared = shard->shared;
            shard->shared = (struct lwp_thread_interaction){0};
            lwp_interaction_renumber(&profile->shared, numbers->contexts, numbers->objects);
            break;
        }
}

static void settle_tables(void *of, size_t table, size_t last)
{
    const struct settle *settle = of;
    for (; table < last; table++)
        lwp_merge_streams_number(settle->streams, &settle->numbers, table);
}

void lwp_merge_shards(struct lwp_profile *profile, struct lwp_shard *shard, struct lwp_stream_table *const *tables,
                size_t table_count)
{
    const unsigned jobs = (unsigned)table_count;
    struct settle settle = {.profile = profile,
                            .shard = shard,
                            .tables = tables,
                            .table_count = table_count,
                            .streams = lwp_merge_streams_new(profile, tables, table_count, shard->total.weight)};
    lwp_parallel(jobs, SETTLE_ORDERS, 1, settle_orders, &settle);
    lwp_parallel(jobs, table_count, 1, settle_tables, &settle);
    profile->locality = shard->locality;
    shard->locality = (struct lwp_locality_counts){0};
    lwp_locality_counts_renumber(&profile->locality, settle.numbers.objects, settle.numbers.regions);
    profile->flows = shard->flows;
    shard->flows = (struct lwp_communication_counts){0};
    lwp_merge_streams_finish(settle.streams, SETTLE_PIECES, settle_pieces, &settle);
    free(settle.numbers.contexts);
    free(settle.numbers.objects);
    free(settle.numbers.regions);
    profile->total = lwp_sum_tally(&shard->total);
    profile->stalled = lwp_sum_tally(&shard->stalled);
    profile->unknown_weight = (double)shard->unknown_weight;
    profile->samples = shard->samples;
    profile->samples_with_address = shard->samples_with_address;
    lwp_shard_free(shard);
}
