/* Data that is used again too late. Blocking: each walk goes over the same data as the one before, more than the second-level
 * cache holds. Fusion: a loop reads what the one beside it has read, when that is out of this cache. */
#include "analysis/advice/locality/locality_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double far_least = 0.5, again_least = 0.8; /* of the lines brought; of those that are used again */

/* Accesses to lines that were used before, so long ago that the second-level cache has lost them. */
static double advice_far(const struct lwp_profile *profile, const struct lwp_locality_row *row)
{
    const struct lwp_cache *caches = &profile->machines[LWP_MACHINE_HERE].caches;
    uint64_t lines = caches->level[caches->levels > 1].bytes >> caches->line_shift;
    double far = 0;
    for (unsigned i = lwp_locality_bucket(lines - 1) + 1; i < LWP_LOCALITY_BEYOND; i++)
        far += (double)row->count->distances[i];
    return far;
}

/* The region that used before what the row, in even steps, uses again from afar; LWP_NONE: it does not, or various ones did. */
static uint32_t advice_before(const struct lwp_profile *profile, const struct lwp_locality_row *row)
{
    int64_t before;
    double lines = (double)row->count->accesses * lwp_advice_lines(profile, (double)row->stride);
    if (row->stride_share < lwp_advice_regular || !row->stride || advice_far(profile, row) < far_least * lines ||
        lwp_locality_most(row, LWP_LOCALITY_BEFORE, &before) < again_least)
        return LWP_NONE;
    return (uint32_t)before;
}

/* Saves what the far accesses of the row wait for, when its region's other data stay as they are. */
static bool advice_nearer(const struct lwp_profile *profile, const struct lwp_locality *locality, size_t index, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = &locality->rows[index];
    double missed = (double)(row->count->accesses - row->count->found.at[LWP_CACHE_L1]), cycles = 0, share = 0;
    double waits = (double)row->count->found.cycles - (double)row->count->accesses * LWP_CACHE_L1_CYCLES;
    double saved = missed > 0 ? waits * fmin(1, advice_far(profile, row) / missed) : 0;
    for (size_t i = 0; i < locality->count; i++)
        if (locality->rows[i].region == row->region) {
            cycles += (double)locality->rows[i].count->found.cycles;
            share += locality->rows[i].share;
        }
    if (share < lwp_advice_share || cycles - saved > lwp_advice_left * cycles)
        return false;
    saved *= share / cycles;
    tip->row = index;
    tip->share = share;
    tip->gain = lwp_gain_speedup(saved / 2, saved);
    return true;
}

bool lwp_advise_blocking(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = advice->profile;
    const struct lwp_locality *locality = advice->locality;
    const struct lwp_locality_row *row = &locality->rows[index];
    const struct lwp_region *region = row->region == LWP_NONE ? NULL : &profile->regions[row->region];
    if (!region || region->is_function || region->parent == LWP_NONE || profile->regions[region->parent].is_function || row->count->stores)
        return false;
    if (row->outer || row->outer_share < lwp_advice_regular || advice_before(profile, row) != row->region || !advice_nearer(profile, locality, index, tip))
        return false;
    const char *name = lwp_objects_name(profile, row->object), *here = lwp_advice_place(profile, region);
    double block = (double)profile->machines[LWP_MACHINE_HERE].caches.level[0].bytes / 2;
    tip->kind = "blocking";
    tip->title = lwp_arena_printf(profile->arena, "The loop %s goes over %s again and again: %.0f %% of the lines have left the second-level cache in between", here, name,
                                  fmin(100, 100 * advice_far(profile, row) / fmax(1, (double)row->count->accesses * lwp_advice_lines(profile, (double)row->stride))));
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Blocking: let the loop %s go over %.0f bytes of %s (half of the first-level cache, %.0f steps of %lld bytes), finish the loop %s for "
                                      "that block, then take the next block, where no iteration needs what a later one would then not have stored yet. Then run lwp collect "
                                      "again and compare with lwp diff.",
                                      here, block, name, floor(block / (double)llabs(row->stride)), (long long)llabs(row->stride),
                                      lwp_advice_place(profile, &profile->regions[region->parent]));
    return true;
}

/* What a region does with an object; NULL: nothing. */
static const struct lwp_locality_row *advice_row(const struct lwp_locality *locality, uint32_t object, uint32_t region)
{
    for (size_t i = 0; i < locality->count; i++)
        if (locality->rows[i].object == object && locality->rows[i].region == region)
            return &locality->rows[i];
    return NULL;
}

static double advice_streams(const struct lwp_locality *locality, uint32_t region)
{
    double streams = 0;
    for (size_t i = 0; i < locality->count; i++)
        if (locality->rows[i].region == region)
            streams = fmax(streams, locality->rows[i].streams);
    return streams;
}

/* Loops one after the other, in one function and in the same loop if any. */
static bool advice_are_neighbours(const struct lwp_region *first, const struct lwp_region *second)
{
    return !first->is_function && !second->is_function && first->module == second->module && first->parent == second->parent && first->function &&
           second->function && strcmp(first->function, second->function) == 0 && first->last_line < second->first_line;
}

bool lwp_advise_fusion(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = advice->profile;
    const struct lwp_locality *locality = advice->locality;
    const struct lwp_locality_row *row = &locality->rows[index];
    uint32_t before = row->region == LWP_NONE ? LWP_NONE : advice_before(profile, row);
    if (before == LWP_NONE || before == row->region || !advice_are_neighbours(&profile->regions[before], &profile->regions[row->region]))
        return false;
    const struct lwp_locality_row *first = advice_row(locality, row->object, before);
    double most = profile->machine.streams ? profile->machine.streams : LWP_CACHE_STREAMS;
    if (!first || first->count->stores || row->count->stores || first->stride_share < lwp_advice_regular || first->stride != row->stride ||
        advice_streams(locality, before) + advice_streams(locality, row->region) > most || !advice_nearer(profile, locality, index, tip))
        return false;
    const char *name = lwp_objects_name(profile, row->object), *here = lwp_advice_place(profile, &profile->regions[row->region]);
    const char *there = lwp_advice_place(profile, &profile->regions[before]);
    tip->kind = "fusion";
    tip->title = lwp_arena_printf(profile->arena, "The loop %s reads %s again after the loop %s, when it has left the second-level cache", here, name, there);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Loop fusion: make one loop of the loops %s and %s, so that %s comes from memory once, where the second one does not need all results "
                                      "of the first. Otherwise go over it in blocks, with both loops for each. Then run lwp collect again and compare with lwp diff.",
                                      there, here, name);
    return true;
}
