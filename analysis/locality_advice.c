/* Loop interchange: an instruction walks in steps of more than a line, and each of its walks begins within a line of the
 * one before: the loop around it walks where this one jumps. Told only if all data of the loop together would take
 * at most half of the lines then. Fission: more walks side by side than prefetchers follow. Padding: places a multiple of
 * a cache way apart take each other's lines though the cache has room. Blocking: each walk goes over the same data as the
 * one before, more than the second-level cache holds. Fusion: a loop reads what the one beside it has read, when that is
 * out of this cache. Pages: so many pages by turns that a core does not know where they lie. Touch: pages on another node
 * than that which uses them most. Whether iterations or statements may change places
 * (dependences) a trace cannot tell: the advice says so. */
#include "analysis/locality_advice.h"

#include "analysis/objects.h"
#include "analysis/regions.h"
#include "analysis/translation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double regular = 0.6; /* share of the accesses for which a stride or a step speaks */
static const double worth_share = 0.05, worth_cycles = 4; /* of all weight; for each access */
static const double lines_left = 0.5, worth_left = 0.8;
static const double conflicts_least = 0.3; /* of the accesses */
static const double far_least = 0.5, again_least = 0.8; /* of the lines brought; of those that are used again */
static const double walks_least = 0.2; /* of the accesses */
static const double local_least = 0.7, local_better = 0.2; /* of the accesses */

static double advice_line(const struct lwp_profile *profile)
{
    return (double)((uint64_t)1 << profile->machines[LWP_MACHINE_HERE].caches.line_shift);
}

/* Lines an access takes when its instruction goes on by so many bytes. */
static double advice_lines(const struct lwp_profile *profile, double stride)
{
    return fmin(1, fabs(stride) / advice_line(profile));
}

static bool advice_is_bad(const struct lwp_profile *profile, const struct lwp_locality_row *row)
{
    double line = advice_line(profile), cycles = (double)row->count->found.cycles / (double)row->count->accesses;
    return row->stride_share >= regular && fabs((double)row->stride) > line && row->outer_share >= regular / 2 && row->outer &&
           fabs((double)row->outer) < line && cycles >= worth_cycles;
}

/* The stride in the loop's place if it and the one around it change theirs; what stands still in it goes where it goes now
 * between its walks. */
static double advice_exchanged(const struct lwp_locality_row *row)
{
    if (row->stride)
        return row->outer_share > 0 ? (double)row->outer : (double)row->stride;
    uint64_t most = 0;
    int64_t other = 0;
    for (size_t i = 0; i < LWP_OFTEN; i++)
        if (row->count->strides.value[i] && row->count->strides.count[i] > most) {
            most = row->count->strides.count[i];
            other = row->count->strides.value[i];
        }
    return (double)other;
}

struct advice_sum {
    double lines_now, lines_then, cycles_now, cycles_then, share;
};

static void advice_add(const struct lwp_profile *profile, const struct lwp_locality_row *row, struct advice_sum *sum)
{
    double accesses = (double)row->count->accesses, now = advice_lines(profile, (double)row->stride);
    double then = advice_lines(profile, advice_exchanged(row)), cycles = (double)row->count->found.cycles;
    bool regular_row = row->stride_share >= regular;
    if (!regular_row)
        now = then = 1;
    sum->lines_now += accesses * now;
    sum->lines_then += accesses * then;
    sum->cycles_now += cycles;
    sum->cycles_then += regular_row ? fmin(cycles, accesses * (LWP_CACHE_L1_CYCLES + then * LWP_CACHE_AHEAD_CYCLES)) : cycles;
    sum->share += row->share;
}

static const char *advice_place(struct lwp_profile *profile, const struct lwp_region *region)
{
    const char *lines = lwp_regions_lines(profile, region);
    return lines ? lwp_arena_printf(profile->arena, "at %s", lines)
                 : lwp_arena_printf(profile->arena, "in %s", region->function ? region->function : "code without a name");
}

/* False: nothing to be gained. */
static bool advice_interchange(struct lwp_profile *profile, const struct lwp_locality *locality, size_t index,
                               struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *bad = &locality->rows[index];
    const struct lwp_region *region = bad->region == LWP_NONE ? NULL : &profile->regions[bad->region];
    if (!region || region->is_function || region->parent == LWP_NONE || !advice_is_bad(profile, bad))
        return false;
    const struct lwp_region *around = &profile->regions[region->parent];
    if (around->is_function)
        return false;
    struct advice_sum sum = {0};
    for (size_t i = 0; i < locality->count; i++)
        if (locality->rows[i].region == bad->region)
            advice_add(profile, &locality->rows[i], &sum);
    if (sum.share < worth_share || sum.lines_then > lines_left * sum.lines_now || sum.cycles_then >= sum.cycles_now)
        return false;
    double saved = sum.share * (1 - sum.cycles_then / sum.cycles_now);
    const char *name = lwp_objects_name(profile, bad->object), *here = advice_place(profile, region);
    *tip = (struct lwp_locality_tip){.kind = "interchange", .row = index, .share = sum.share,
                                     .gain = lwp_gain_speedup(saved / 2, saved)};
    tip->title = lwp_arena_printf(profile->arena, "The loop %s walks over %s in steps of %lld bytes; the loop around it goes in steps of %lld: exchange the two",
                                  here, name, (long long)llabs(bad->stride), (long long)llabs(bad->outer));
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Loop interchange: make the loop %s the inner one and the loop %s the outer one, where no iteration needs what a "
                                      "later one would then not have stored yet. %s is then walked line by line. Then run lwp collect again and compare with lwp diff.",
                                      advice_place(profile, around), here, name);
    return true;
}

/* ---- streams ---- */

/* Joining arrays takes streams away, too: then that is the advice. */
static bool advice_is_joined(const struct lwp_regroups *regroups, uint32_t object)
{
    for (size_t i = 0; regroups && i < regroups->count; i++)
        for (size_t k = 0; k < regroups->regroups[i].count; k++)
            if (regroups->candidates.arrays[regroups->regroups[i].members[k]].object == object)
                return true;
    return false;
}

static bool advice_fission(struct lwp_profile *profile, const struct lwp_locality *locality, const struct lwp_regroups *regroups, size_t index,
                           struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = &locality->rows[index];
    const struct lwp_region *region = row->region == LWP_NONE ? NULL : &profile->regions[row->region];
    double most = profile->machine.streams ? profile->machine.streams : LWP_CACHE_STREAMS;
    struct advice_sum sum = {0};
    double accesses = 0;
    if (!region || region->is_function || row->streams <= most)
        return false;
    for (size_t i = 0; i < locality->count; i++) {
        const struct lwp_locality_row *other = &locality->rows[i];
        if (other->region != row->region)
            continue;
        if (advice_is_joined(regroups, other->object))
            return false;
        double ahead = (double)other->count->accesses * (LWP_CACHE_L1_CYCLES + advice_lines(profile, (double)other->stride) * LWP_CACHE_AHEAD_CYCLES);
        accesses += (double)other->count->accesses;
        sum.share += other->share;
        sum.cycles_now += (double)other->count->found.cycles;
        sum.cycles_then += fmin((double)other->count->found.cycles, ahead);
    }
    if (sum.share < worth_share || sum.cycles_now < worth_cycles * accesses || sum.cycles_then > worth_left * sum.cycles_now)
        return false;
    double saved = sum.share * (1 - sum.cycles_then / sum.cycles_now);
    const char *here = advice_place(profile, region);
    *tip = (struct lwp_locality_tip){.kind = "fission", .row = index, .share = sum.share, .gain = lwp_gain_speedup(saved / 2, saved)};
    tip->title = lwp_arena_printf(profile->arena, "The loop %s walks over %.0f places side by side: more than the %.0f that prefetchers follow", here, row->streams, most);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Loop fission: make %.0f loops of it, each of which goes over some of the arrays, where no statement needs what one in a later loop "
                                      "would store; keep statements that use the same array together. Then run lwp collect again and compare with lwp diff.",
                                      ceil(2 * row->streams / most));
    return true;
}

/* ---- used again too late ---- */

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
    double lines = (double)row->count->accesses * advice_lines(profile, (double)row->stride);
    if (row->stride_share < regular || !row->stride || advice_far(profile, row) < far_least * lines ||
        lwp_often_most(&row->count->before, &before) < again_least)
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
    if (share < worth_share || cycles - saved > worth_left * cycles)
        return false;
    saved *= share / cycles;
    tip->row = index;
    tip->share = share;
    tip->gain = lwp_gain_speedup(saved / 2, saved);
    return true;
}

static bool advice_blocking(struct lwp_profile *profile, const struct lwp_locality *locality, size_t index, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = &locality->rows[index];
    const struct lwp_region *region = row->region == LWP_NONE ? NULL : &profile->regions[row->region];
    if (!region || region->is_function || region->parent == LWP_NONE || profile->regions[region->parent].is_function || row->count->stores)
        return false;
    if (row->outer || row->outer_share < regular || advice_before(profile, row) != row->region || !advice_nearer(profile, locality, index, tip))
        return false;
    const char *name = lwp_objects_name(profile, row->object), *here = advice_place(profile, region);
    double block = (double)profile->machines[LWP_MACHINE_HERE].caches.level[0].bytes / 2;
    tip->kind = "blocking";
    tip->title = lwp_arena_printf(profile->arena, "The loop %s goes over %s again and again: %.0f %% of the lines have left the second-level cache in between", here, name,
                                  fmin(100, 100 * advice_far(profile, row) / fmax(1, (double)row->count->accesses * advice_lines(profile, (double)row->stride))));
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Blocking: let the loop %s go over %.0f bytes of %s (half of the first-level cache, %.0f steps of %lld bytes), finish the loop %s for "
                                      "that block, then take the next block, where no iteration needs what a later one would then not have stored yet. Then run lwp collect "
                                      "again and compare with lwp diff.",
                                      here, block, name, floor(block / (double)llabs(row->stride)), (long long)llabs(row->stride),
                                      advice_place(profile, &profile->regions[region->parent]));
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

static bool advice_fusion(struct lwp_profile *profile, const struct lwp_locality *locality, size_t index, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = &locality->rows[index];
    uint32_t before = row->region == LWP_NONE ? LWP_NONE : advice_before(profile, row);
    if (before == LWP_NONE || before == row->region || !advice_are_neighbours(&profile->regions[before], &profile->regions[row->region]))
        return false;
    const struct lwp_locality_row *first = advice_row(locality, row->object, before);
    double most = profile->machine.streams ? profile->machine.streams : LWP_CACHE_STREAMS;
    if (!first || first->count->stores || row->count->stores || first->stride_share < regular || first->stride != row->stride ||
        advice_streams(locality, before) + advice_streams(locality, row->region) > most || !advice_nearer(profile, locality, index, tip))
        return false;
    const char *name = lwp_objects_name(profile, row->object), *here = advice_place(profile, &profile->regions[row->region]);
    const char *there = advice_place(profile, &profile->regions[before]);
    tip->kind = "fusion";
    tip->title = lwp_arena_printf(profile->arena, "The loop %s reads %s again after the loop %s, when it has left the second-level cache", here, name, there);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Loop fusion: make one loop of the loops %s and %s, so that %s comes from memory once, where the second one does not need all results "
                                      "of the first. Otherwise go over it in blocks, with both loops for each. Then run lwp collect again and compare with lwp diff.",
                                      there, here, name);
    return true;
}

/* ---- pages ---- */

static bool advice_pages(struct lwp_profile *profile, const struct lwp_locality *locality, size_t index, struct lwp_locality_tip *tip)
{
    enum { KIB = 1024 };
    const struct lwp_locality_row *row = &locality->rows[index];
    const struct lwp_region *region = row->region == LWP_NONE ? NULL : &profile->regions[row->region];
    double accesses = (double)row->count->accesses, walks = (double)row->count->walks, cycles = walks * LWP_TRANSLATION_CYCLES;
    double saved = row->share * cycles / (cycles + (double)row->count->found.cycles);
    enum lwp_object_kind kind = profile->objects[row->object].kind;
    if (!region || walks < walks_least * accesses || saved < worth_share || kind == LWP_OBJECT_STACK || kind == LWP_OBJECT_UNKNOWN)
        return false;
    const char *name = lwp_objects_name(profile, row->object), *here = advice_place(profile, region);
    *tip = (struct lwp_locality_tip){.kind = "pages", .row = index, .share = row->share, .gain = lwp_gain_speedup(saved / 2, saved)};
    tip->title = lwp_arena_printf(profile->arena, "The code %s uses %s on more pages by turns than a processor knows the places of: %.0f %% of these accesses look them up", here, name,
                                  100 * walks / accesses);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Huge pages: %s on pages of 2 MiB, or use what lies on one page together (sort the accesses, or keep what is used apart from what is not, side by "
                                      "side). %u pages of 4 KiB reach %u KiB. Where /sys/kernel/mm/transparent_hugepage/enabled says always the system may do so already: lwp does not see that.",
                                      kind == LWP_OBJECT_HEAP ? lwp_arena_printf(profile->arena, "put %s with aligned_alloc and madvise(MADV_HUGEPAGE), or GLIBC_TUNABLES=glibc.malloc.hugetlb=1,", name)
                                                              : lwp_arena_printf(profile->arena, "allocate %s with aligned_alloc and madvise(MADV_HUGEPAGE)", name),
                                      LWP_TRANSLATION_PAGES, LWP_TRANSLATION_PAGES * ((1 << LWP_TRANSLATION_PAGE_SHIFT) / KIB));
    return true;
}

/* ---- sets ---- */

/* What all steps are a multiple of; 0: they are not, of most accesses. */
static uint64_t advice_multiple(const struct lwp_locality_row *row, uint64_t of)
{
    const struct lwp_often *strides = &row->count->strides;
    uint64_t known = 0, all = 0, least = 0;
    for (size_t i = 0; i < LWP_OFTEN; i++) {
        uint64_t step = (uint64_t)llabs(strides->value[i]);
        known += strides->count[i];
        if (!strides->count[i] || !step || step % of)
            continue;
        all += strides->count[i];
        least = !least || step < least ? step : least;
    }
    return known && (double)all >= regular * (double)known ? least : 0;
}

static bool advice_padding(struct lwp_profile *profile, const struct lwp_locality *locality, size_t index, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = &locality->rows[index];
    const struct lwp_cache_level *first = &profile->machines[LWP_MACHINE_HERE].caches.level[0];
    const struct lwp_region *region = row->region == LWP_NONE ? NULL : &profile->regions[row->region];
    uint64_t way = first->ways ? first->bytes / first->ways : 0, step = way ? advice_multiple(row, way) : 0;
    double accesses = (double)row->count->accesses, conflicts = (double)row->count->conflicts, cycles = (double)row->count->found.cycles;
    double saved = conflicts * (LWP_CACHE_L2_CYCLES - LWP_CACHE_L1_CYCLES);
    if (!region || !step || conflicts < conflicts_least * accesses || row->share < worth_share || cycles < worth_cycles * accesses)
        return false;
    const char *name = lwp_objects_name(profile, row->object), *here = advice_place(profile, region);
    saved = row->share * fmin(1, saved / cycles);
    *tip = (struct lwp_locality_tip){.kind = "padding", .row = index, .share = row->share, .gain = lwp_gain_speedup(saved / 2, saved)};
    tip->title = lwp_arena_printf(profile->arena, "The code %s uses %s in steps of multiples of %llu bytes: %.0f %% of these accesses miss the first-level cache, which is large enough",
                                  here, name, (unsigned long long)way, 100 * conflicts / accesses);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Padding: places of %s that are used together lie a multiple of %llu bytes apart, so that only %u of them fit in the cache at a time. Make each row or "
                                      "element %.0f bytes (a cache line) longer. Then run lwp collect again and compare with lwp diff.",
                                      name, (unsigned long long)way, first->ways, advice_line(profile));
    return true;
}

/* ---- nodes ---- */

/* The heaviest row of an object whose accesses mostly go to another node, as its pages are where somebody else touched them. */
static bool advice_touch(struct lwp_profile *profile, const struct lwp_locality *locality, const struct lwp_touched *touched, struct lwp_locality_tip *tip)
{
    double all = (double)touched->accesses, now = (double)touched->local / all, best = (double)touched->best / all, share = 0;
    size_t index = locality->count;
    for (size_t i = 0; i < locality->count; i++)
        if (locality->rows[i].object == touched->object) {
            index = i < index ? i : index;
            share += locality->rows[i].share;
        }
    if (index == locality->count || share < worth_share || now > local_least || best < now + local_better)
        return false;
    const char *name = lwp_objects_name(profile, touched->object);
    *tip = (struct lwp_locality_tip){.kind = "touch", .row = index, .share = share};
    tip->title = lwp_arena_printf(profile->arena, "%.0f %% of the accesses to %s are to memory of another NUMA node: it lies where it was touched first", 100 * (1 - now), name);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "First-touch initialisation: let each thread initialise the part of %s that it works on later (the same loop, the same schedule), with threads that "
                                      "stay where they are (OMP_PROC_BIND=true, taskset): up to %.0f %% of the accesses would be to the own node. Otherwise numactl --interleave=all spreads it.",
                                      name, 100 * best);
    return true;
}

void lwp_locality_advise(struct lwp_profile *profile, const struct lwp_locality *locality, const struct lwp_regroups *regroups,
                         struct lwp_locality_tips *tips)
{
    const struct lwp_locality_counts *counts = &profile->locality;
    *tips = (struct lwp_locality_tips){.tips = lwp_arena_alloc(profile->arena, locality->count + counts->touched_count + 1, sizeof *tips->tips)};
    if (!lwp_gain_known(profile))
        return;
    for (size_t i = 0; i < locality->count; i++) {
        bool told = false;
        for (size_t k = 0; k < tips->count; k++)
            told |= locality->rows[tips->tips[k].row].region == locality->rows[i].region;
        struct lwp_locality_tip *tip = &tips->tips[tips->count];
        tips->count += !told && (advice_interchange(profile, locality, i, tip) || advice_padding(profile, locality, i, tip) ||
                                 advice_fission(profile, locality, regroups, i, tip) || advice_fusion(profile, locality, i, tip) ||
                                 advice_blocking(profile, locality, i, tip) || advice_pages(profile, locality, i, tip));
    }
    for (size_t i = 0; i < counts->touched_count && !counts->gaps; i++)
        tips->count += advice_touch(profile, locality, &counts->touched[i], &tips->tips[tips->count]);
}

static bool advice_is_of_loops(const struct lwp_locality_tip *tip)
{
    return strcmp(tip->kind, "interchange") == 0 || strcmp(tip->kind, "fission") == 0;
}

bool lwp_locality_tips_change(const struct lwp_locality *locality, const struct lwp_locality_tips *tips, uint32_t object)
{
    for (size_t i = 0; i < tips->count; i++)
        for (size_t k = 0; k < locality->count; k++)
            if (advice_is_of_loops(&tips->tips[i]) && locality->rows[k].object == object && locality->rows[k].region == locality->rows[tips->tips[i].row].region)
                return true;
    return false;
}
