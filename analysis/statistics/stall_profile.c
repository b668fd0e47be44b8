#include "analysis/statistics/stall_profile.h"

#include "base/arena.h"
#include "base/order.h"

#include <stdlib.h>

enum { PATHS_MOST = 1 << 20, TIMES_MOST = 1 << 20, BIN_SHIFT_FIRST = 20 }; /* 1 ms */

static struct lwp_stall_path *stall_path(struct lwp_stall_profile *profile, uint32_t context, uint32_t object)
{
    uint64_t key = (uint64_t)context << 32 | object;
    uint32_t at = lwp_map_index(&profile->path_index, key, profile->path_count, PATHS_MOST);
    profile->refused |= at == LWP_MAP_NONE;
    if (at == LWP_MAP_NONE)
        return NULL;
    if (at == profile->path_count)
        LWP_PUSH(profile->path, (struct lwp_stall_path){.context = context, .object = object});
    return &profile->paths[at];
}

static void stall_time(struct lwp_stall_profile *profile, uint32_t object, uint32_t bin, uint64_t weight)
{
    uint64_t key = (uint64_t)object << 32 | bin;
    uint32_t at = lwp_map_index(&profile->time_index, key, profile->time_count, TIMES_MOST);
    profile->refused |= at == LWP_MAP_NONE;
    if (at == LWP_MAP_NONE)
        return;
    if (at == profile->time_count)
        LWP_PUSH(profile->time, (struct lwp_stall_time){.object = object, .bin = bin});
    profile->times[at].weight += weight; // NOLINT(clang-analyzer-core.NullDereference): those of a count
}

/* The bin that a bin is in when all are 2^by times as wide. */
static uint32_t stall_wider(uint32_t bin, uint32_t by)
{
    return by < 32 ? bin >> by : 0;
}

/* Bins become so wide. */
static void stall_widen(struct lwp_stall_profile *profile, uint32_t shift)
{
    struct lwp_stall_time *times = profile->times;
    size_t count = profile->time_count;
    uint32_t by = shift - profile->bin_shift;
    profile->bin_shift = shift;
    if (!count)
        return;
    profile->times = NULL;
    profile->time_count = profile->time_room = 0;
    lwp_map_clear(&profile->time_index);
    for (size_t i = 0; i < count; i++)
        stall_time(profile, times[i].object, stall_wider(times[i].bin, by), times[i].weight);
    free(times);
}

void lwp_stall_profile_add(struct lwp_stall_profile *profile, uint32_t context, uint32_t object, uint64_t since_start, uint64_t weight)
{
    struct lwp_stall_path *path = stall_path(profile, context, object);
    if (path)
        lwp_sum_add(&path->sum, weight);
    if (!profile->bin_shift)
        profile->bin_shift = BIN_SHIFT_FIRST;
    uint32_t shift = profile->bin_shift;
    while (since_start >> shift >= LWP_STALL_BINS)
        shift++;
    if (shift > profile->bin_shift)
        stall_widen(profile, shift);
    stall_time(profile, object, (uint32_t)(since_start >> shift), weight);
}

void lwp_stall_profile_merge(struct lwp_stall_profile *into, struct lwp_stall_profile *from)
{
    if (from->bin_shift > into->bin_shift)
        stall_widen(into, from->bin_shift);
    for (size_t i = 0; i < from->path_count; i++) {
        struct lwp_stall_path *path = stall_path(into, from->paths[i].context, from->paths[i].object);
        if (path)
            lwp_sum_merge(&path->sum, &from->paths[i].sum);
    }
    for (size_t i = 0; i < from->time_count; i++)
        stall_time(into, from->times[i].object, stall_wider(from->times[i].bin, into->bin_shift - from->bin_shift), from->times[i].weight);
    into->refused |= from->refused;
    lwp_stall_profile_free(from);
}

static int stall_path_compare(const void *a, const void *b)
{
    const struct lwp_stall_path *x = a, *y = b;
    return LWP_COMPARE(x->context, y->context) ?: LWP_COMPARE(x->object, y->object);
}

static int stall_time_compare(const void *a, const void *b)
{
    const struct lwp_stall_time *x = a, *y = b;
    return LWP_COMPARE(x->object, y->object) ?: LWP_COMPARE(x->bin, y->bin);
}

void lwp_stall_profile_renumber(struct lwp_stall_profile *profile, const uint32_t *contexts, const uint32_t *objects)
{
    for (size_t i = 0; i < profile->path_count; i++) {
        profile->paths[i].context = contexts[profile->paths[i].context];
        profile->paths[i].object = objects[profile->paths[i].object];
    }
    for (size_t i = 0; i < profile->time_count; i++)
        profile->times[i].object = objects[profile->times[i].object];
    LWP_SORT(profile->paths, profile->path_count, stall_path_compare);
    LWP_SORT(profile->times, profile->time_count, stall_time_compare);
}

void lwp_stall_profile_free(struct lwp_stall_profile *profile)
{
    free(profile->paths);
    free(profile->times);
    lwp_map_fini(&profile->path_index);
    lwp_map_fini(&profile->time_index);
    *profile = (struct lwp_stall_profile){0};
}
