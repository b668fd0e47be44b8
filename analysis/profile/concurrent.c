/* The differences between addresses that belong together show how the streams of a loop lie in the sets of a cache.
 * Those of a block's start do not: streams begin anywhere in their blocks, and many blocks may be of one allocation. */
#include "analysis/profile/concurrent.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>

enum { LOOPS_MOST = 1 << 12 };

static struct lwp_concurrent *concurrent_of(struct lwp_concurrents *concurrents, uint32_t region)
{
    if (!concurrents->index)
        concurrents->index = lwp_map_new();
    uint32_t at = lwp_map_get(concurrents->index, region);
    if (at != LWP_MAP_NONE)
        return &concurrents->items[at];
    if (concurrents->count == LOOPS_MOST)
        return NULL;
    *lwp_map_at(concurrents->index, region) = (uint32_t)concurrents->count;
    return LWP_APPEND(&concurrents->items, &concurrents->count, &concurrents->room, (struct lwp_concurrent){.region = region});
}

/* Vitter's algorithm R: the item to be replaced, or where it is appended; LWP_CONCURRENT_KEPT: it is not kept. */
static uint64_t concurrent_place(struct lwp_concurrents *concurrents, size_t count, uint64_t seen)
{
    if (count < LWP_CONCURRENT_KEPT)
        return count;
    uint64_t place = lwp_hash_mix(concurrents->random++, seen) % seen;
    return place < LWP_CONCURRENT_KEPT ? place : LWP_CONCURRENT_KEPT;
}

static void concurrent_pair(struct lwp_concurrents *concurrents, struct lwp_concurrent *to, const struct lwp_concurrent_pair *pair)
{
    uint64_t place = concurrent_place(concurrents, to->pair_count, ++to->pairs_seen);
    if (place == to->pair_count && place < LWP_CONCURRENT_KEPT)
        LWP_PUSH(to->pair, *pair);
    else if (place < LWP_CONCURRENT_KEPT)
        to->pairs[place] = *pair;
}

static void concurrent_stall(struct lwp_concurrents *concurrents, struct lwp_concurrent *to, const struct lwp_concurrent_stall *stall)
{
    uint64_t place = concurrent_place(concurrents, to->stall_count, ++to->stalls_seen);
    if (place == to->stall_count && place < LWP_CONCURRENT_KEPT)
        LWP_PUSH(to->stall, *stall);
    else if (place < LWP_CONCURRENT_KEPT)
        to->stalls[place] = *stall;
}

static struct lwp_concurrent_access concurrent_access(const struct lwp_traversal_access *access)
{
    return (struct lwp_concurrent_access){
        .code = access->code, .address = access->address, .start = access->address - access->offset, .object = access->object};
}

void lwp_concurrents_sample(struct lwp_concurrents *concurrents, const struct lwp_traversal_access *accesses, int count)
{
    for (int i = 0; i < count; i++) {
        bool pairs = i && accesses[i].close && accesses[i - 1].region == accesses[i].region;
        struct lwp_concurrent *to = pairs || accesses[i].weight ? concurrent_of(concurrents, accesses[i].region) : NULL;
        if (to && accesses[i].weight)
            concurrent_stall(concurrents, to, &(struct lwp_concurrent_stall){concurrent_access(&accesses[i]), accesses[i].weight});
        for (int k = i; to && k-- > 0 && accesses[k + 1].close && accesses[k].region == accesses[i].region;) {
            concurrent_pair(concurrents, to,
                            &(struct lwp_concurrent_pair){concurrent_access(&accesses[k]), concurrent_access(&accesses[i])});
            if (accesses[k].code == accesses[i].code)
                break; /* what is before is of another iteration */
        }
    }
}

void lwp_concurrents_free(struct lwp_concurrents *concurrents)
{
    for (size_t i = 0; i < concurrents->count; i++) {
        free(concurrents->items[i].pairs);
        free(concurrents->items[i].stalls);
    }
    free(concurrents->items);
    lwp_map_free(concurrents->index);
    *concurrents = (struct lwp_concurrents){0};
}
