/* In: rows of the traced locality (locality.h). Out: one advice for each loop, of the first kind in `kinds` that one of its rows
 * calls for, and advice on first touch for objects.
 *
 * Interchange: an instruction has a stride of more than a line, and each of its traversals begins within a line of the one
 *   before: the loop around it moves by little where this one moves by much. Only if all data of the loop together would take at most
 *   half of the lines then.
 * Padding: places a multiple of a cache way apart evict each other although the cache has room.
 * Fission: more concurrent streams than the prefetchers follow.
 * Fusion, blocking: data is reused after the second-level cache has lost it: by the next loop, or by each traversal.
 * Huge pages: accesses alternate between more pages than the TLB holds.
 * First touch: pages lie on another node than the one that uses them most.
 *
 * Limits: a trace does not show dependences between iterations or statements; the advice says so. */
#include "analysis/advice/locality/locality_advice.h"

#include "analysis/caches/tlb.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double share_least = 0.05;                   /* of all cost, that the loop's data must have */
static const double cycles_least = 4;                     /* for each access */
static const double cycles_left = 0.8;                    /* at most so much of the loop's cycles may remain */
static const double regular_share = 0.6;                  /* of the accesses, from which a stride speaks for all */
static const double interchange_lines = 0.5;              /* at most so much of the lines may remain */
static const double conflicts_least = 0.3;                /* of the accesses */
static const double far_least = 0.5, same_least = 0.8;    /* of the lines fetched; of those that are reused */
static const double page_walks_least = 0.2;               /* of the accesses */
static const double local_most = 0.7, local_better = 0.2; /* of the accesses */

/* What the kinds look at. */
struct advice {
    struct lwp_profile *profile;
    const struct lwp_locality *locality;
    const bool *regrouped; /* by object, whether regrouping is advised; NULL: not looked at */
    const struct lwp_locality_row *row;
    const struct lwp_region *region; /* the row's */
    const struct lwp_cache *caches;
    double accesses, cycles; /* the row's */
};

static double line_bytes(const struct advice *advice)
{
    return (double)((uint64_t)1 << advice->caches->line_shift);
}

/* Lines that an access takes when its instruction moves on by so many bytes. */
static double lines_per_access(const struct advice *advice, double stride)
{
    return fmin(1, fabs(stride) / line_bytes(advice));
}

/* Cycles of so many accesses when prefetchers fetch these lines ahead. */
static double cycles_ahead(double accesses, double lines)
{
    return accesses * (LWP_CACHE_L1_CYCLES + lines * LWP_CACHE_AHEAD_CYCLES);
}

static double streams_followed(const struct advice *advice)
{
    return advice->profile->machine.streams ? advice->profile->machine.streams : LWP_CACHE_STREAMS;
}

/* "at FILE:LINES", or "in FUNCTION". */
static const char *place_of(const struct advice *advice, const struct lwp_region *region)
{
    const char *lines = lwp_regions_lines(advice->profile, region);
    return lwp_arena_printf(advice->profile->arena, lines ? "at %s" : "in %s",
                            lines              ? lines
                            : region->function ? region->function
                                               : "code without a name");
}

static const char *name_of(const struct advice *advice)
{
    return lwp_objects_name(advice->profile, advice->row->object);
}

/* The loop around the row's; NULL: there is none. */
static const struct lwp_region *loop_around(const struct advice *advice)
{
    const struct lwp_region *parent = advice->region->parent == LWP_NONE ? NULL : &advice->profile->regions[advice->region->parent];
    return advice->region->is_function || !parent || parent->is_function ? NULL : parent;
}

/* `saved`: the part of all time, at most. */
static struct lwp_locality_tip tip_of(const struct advice *advice, double share, double saved)
{
    return (struct lwp_locality_tip){.row = (size_t)(advice->row - advice->locality->rows),
                                     .object = advice->row->object,
                                     .region = advice->row->region,
                                     .share = share,
                                     .gain = lwp_gain_speedup(saved / 2, saved)};
}

/* ---- interchange ---- */

/* The row's stride if its loop and the one around it changed places. What stands still in the loop moves as it now does
 * between traversals. */
static double stride_exchanged(const struct lwp_locality_row *row)
{
    if (row->stride)
        return row->outer_share > 0 ? (double)row->outer : (double)row->stride;
    uint64_t most = 0;
    int64_t other = 0;
    const struct lwp_locality_frequent *strides = &row->values[LWP_LOCALITY_STRIDE];
    for (size_t i = 0; i < strides->count; i++)
        if (strides->items[i].value && strides->items[i].count > most) {
            most = strides->items[i].count;
            other = strides->items[i].value;
        }
    return (double)other;
}

/* Whether an instruction goes from line to line, though not evenly, and its traversals begin beside each other: rows that were
 * allocated one by one, walked column by column. */
static bool row_scattered(const struct advice *advice, const struct lwp_locality_row *row)
{
    uint64_t far = 0;
    for (unsigned i = 2; i < LWP_LOCALITY_STRIDES; i++) /* two lines and more */
        far += row->count->lines[i];
    return (double)far >= regular_share * (double)row->count->accesses && row->outer && row->outer_share >= regular_share / 2 &&
           fabs((double)row->outer) < line_bytes(advice);
}

static bool advise_interchange(const struct advice *advice, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = advice->row;
    const struct lwp_region *around = loop_around(advice);
    double line = line_bytes(advice), lines_now = 0, lines_then = 0, cycles_now = 0, cycles_then = 0, share = 0;
    const bool scattered = row->stride_share < regular_share && row_scattered(advice, row);
    if (!around || (!scattered && (row->stride_share < regular_share || fabs((double)row->stride) <= line)) ||
        row->outer_share < regular_share / 2 || !row->outer || fabs((double)row->outer) >= line ||
        advice->cycles / advice->accesses < cycles_least)
        return false;
    for (size_t i = 0; i < advice->locality->count; i++) {
        const struct lwp_locality_row *other = &advice->locality->rows[i];
        if (other->region != row->region)
            continue;
        bool regular = other->stride_share >= regular_share, apart = !regular && row_scattered(advice, other);
        double accesses = (double)other->count->accesses, cycles = (double)other->count->found.cycles;
        double now = regular ? lines_per_access(advice, (double)other->stride) : 1;
        double then = regular || apart ? lines_per_access(advice, apart ? (double)other->outer : stride_exchanged(other)) : 1;
        lines_now += accesses * now;
        lines_then += accesses * then;
        cycles_now += cycles;
        cycles_then += regular || apart ? fmin(cycles, cycles_ahead(accesses, then)) : cycles;
        share += other->share;
    }
    if (share < share_least || lines_then > interchange_lines * lines_now || cycles_then >= cycles_now)
        return false;
    *tip = tip_of(advice, share, share * (1 - cycles_then / cycles_now));
    const char *name = name_of(advice), *here = place_of(advice, advice->region);
    tip->title = lwp_arena_printf(
        advice->profile->arena, "The loop %s traverses %s with a stride of %s; the loop around it has a stride of %lld: exchange the two",
        here, name, scattered ? "different lengths" : lwp_arena_printf(advice->profile->arena, "%lld bytes", llabs(row->stride)),
        (long long)llabs(row->outer));
    tip->next_step = lwp_arena_printf(
        advice->profile->arena,
        "Loop interchange: make the loop %s the inner one and the loop %s the outer one, if no loop-carried dependence forbids it ('lwp "
        "patch' checks that in C, and makes the change). %s is then traversed line by line. Then run lwp collect again and compare with "
        "lwp "
        "diff.",
        place_of(advice, around), here, name);
    return true;
}

/* ---- padding ---- */

/* The smallest stride that is a multiple of `way`; 0: most are not. */
static uint64_t stride_of_ways(const struct lwp_locality_row *row, uint64_t way)
{
    const struct lwp_locality_frequent *strides = &row->values[LWP_LOCALITY_STRIDE];
    uint64_t known = 0, multiples = 0, least = 0;
    for (size_t i = 0; i < strides->count; i++) {
        uint64_t stride = (uint64_t)llabs(strides->items[i].value);
        known += strides->items[i].count;
        if (!stride || stride % way)
            continue;
        multiples += strides->items[i].count;
        least = !least || stride < least ? stride : least;
    }
    return known && (double)multiples >= regular_share * (double)known ? least : 0;
}

static bool advise_padding(const struct advice *advice, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = advice->row;
    const struct lwp_cache_level *first = &advice->caches->level[0];
    uint64_t way = first->ways ? first->bytes / first->ways : 0, stride = way ? stride_of_ways(row, way) : 0;
    double conflicts = (double)row->count->conflicts, saved = conflicts * (LWP_CACHE_L2_CYCLES - LWP_CACHE_L1_CYCLES);
    if (!stride || conflicts < conflicts_least * advice->accesses || row->share < share_least ||
        advice->cycles < cycles_least * advice->accesses)
        return false;
    *tip = tip_of(advice, row->share, row->share * fmin(1, saved / advice->cycles));
    const char *name = name_of(advice);
    tip->title = lwp_arena_printf(
        advice->profile->arena,
        "The code %s uses %s with strides that are multiples of %llu bytes: %.0f %% of these accesses miss the first-level "
        "cache, which is large enough",
        place_of(advice, advice->region), name, (unsigned long long)way, 100 * conflicts / advice->accesses);
    tip->next_step = lwp_arena_printf(
        advice->profile->arena,
        "Padding: places of %s that are used together lie a multiple of %llu bytes apart, so that only %u of them fit in the cache at a "
        "time. Make each row or element %.0f bytes (a cache line) longer. Then run lwp collect again and compare with lwp diff.",
        name, (unsigned long long)way, first->ways, line_bytes(advice));
    return true;
}

/* ---- fission ---- */

static bool advise_fission(const struct advice *advice, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = advice->row;
    double followed = streams_followed(advice), accesses = 0, share = 0, now = 0, then = 0;
    if (advice->region->is_function || row->streams <= followed)
        return false;
    for (size_t i = 0; i < advice->locality->count; i++) {
        const struct lwp_locality_row *other = &advice->locality->rows[i];
        if (other->region != row->region)
            continue;
        if (advice->regrouped && advice->regrouped[other->object])
            return false; /* regrouping takes streams away, too: then that is the advice */
        double cycles = (double)other->count->found.cycles;
        accesses += (double)other->count->accesses;
        share += other->share;
        now += cycles;
        then += fmin(cycles, cycles_ahead((double)other->count->accesses, lines_per_access(advice, (double)other->stride)));
    }
    if (share < share_least || now < cycles_least * accesses || then > cycles_left * now)
        return false;
    *tip = tip_of(advice, share, share * (1 - then / now));
    tip->title =
        lwp_arena_printf(advice->profile->arena, "The loop %s has %.0f concurrent streams: more than the %.0f that prefetchers follow",
                         place_of(advice, advice->region), row->streams, followed);
    tip->next_step = lwp_arena_printf(
        advice->profile->arena,
        "Loop fission: make %.0f loops of it, each of which goes over some of the arrays, where no statement needs what one in a later "
        "loop would store; keep statements that use the same array together. Then run lwp collect again and compare with lwp diff.",
        ceil(2 * row->streams / followed));
    return true;
}

/* ---- fusion and blocking ---- */

/* Accesses to lines that were used before, so long ago that the second-level cache has lost them. */
static double accesses_far(const struct advice *advice)
{
    const struct lwp_cache *caches = advice->caches;
    uint64_t lines = caches->level[caches->levels > 1].bytes >> caches->line_shift;
    double far = 0;
    for (unsigned i = lwp_locality_bucket(lines - 1) + 1; i < LWP_LOCALITY_BEYOND; i++)
        far += (double)advice->row->count->distances[i];
    return far;
}

/* Lines that the row's accesses fetch. */
static double lines_fetched(const struct advice *advice)
{
    return advice->accesses * lines_per_access(advice, (double)advice->row->stride);
}

/* The region that used last what the row, sequentially, reuses from afar; LWP_NONE: it does not, or several regions did. */
static uint32_t region_before(const struct advice *advice)
{
    const struct lwp_locality_row *row = advice->row;
    int64_t before;
    if (row->stride_share < regular_share || !row->stride || accesses_far(advice) < far_least * lines_fetched(advice) ||
        lwp_locality_most(row, LWP_LOCALITY_BEFORE, &before) < same_least)
        return LWP_NONE;
    return (uint32_t)before;
}

/* Saves the stalls of the row's far accesses; the loop's other data stays as it is. */
static bool tip_nearer(const struct advice *advice, struct lwp_locality_tip *tip)
{
    double missed = advice->accesses - (double)advice->row->count->found.at[LWP_CACHE_L1], cycles = 0, share = 0;
    double stalled = advice->cycles - advice->accesses * LWP_CACHE_L1_CYCLES;
    double saved = missed > 0 ? stalled * fmin(1, accesses_far(advice) / missed) : 0;
    for (size_t i = 0; i < advice->locality->count; i++)
        if (advice->locality->rows[i].region == advice->row->region) {
            cycles += (double)advice->locality->rows[i].count->found.cycles;
            share += advice->locality->rows[i].share;
        }
    if (share < share_least || cycles - saved > cycles_left * cycles)
        return false;
    *tip = tip_of(advice, share, saved * (share / cycles));
    return true;
}

/* Loops one after the other, in one function and in the same loop if any. */
static bool regions_follow(const struct lwp_region *first, const struct lwp_region *second)
{
    return !first->is_function && !second->is_function && first->module == second->module && first->parent == second->parent &&
           first->function && second->function && strcmp(first->function, second->function) == 0 && first->last_line < second->first_line;
}

static bool advise_fusion(const struct advice *advice, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = advice->row, *first = NULL;
    uint32_t before = region_before(advice);
    if (before == LWP_NONE || before == row->region || !regions_follow(&advice->profile->regions[before], advice->region))
        return false;
    double streams = 0, streams_before = 0;
    for (size_t i = 0; i < advice->locality->count; i++) {
        const struct lwp_locality_row *other = &advice->locality->rows[i];
        if (other->region == before && other->object == row->object && !first)
            first = other;
        if (other->region == before)
            streams_before = fmax(streams_before, other->streams);
        if (other->region == row->region)
            streams = fmax(streams, other->streams);
    }
    if (!first || first->count->stores || row->count->stores || first->stride_share < regular_share || first->stride != row->stride ||
        streams_before + streams > streams_followed(advice) || !tip_nearer(advice, tip))
        return false;
    const char *name = name_of(advice), *here = place_of(advice, advice->region),
               *there = place_of(advice, &advice->profile->regions[before]);
    tip->title = lwp_arena_printf(
        advice->profile->arena, "The loop %s reads %s again after the loop %s, when it has left the second-level cache", here, name, there);
    tip->next_step = lwp_arena_printf(advice->profile->arena,
                                      "Loop fusion: make one loop of the loops %s and %s, so that %s comes from memory once, where the "
                                      "second one does not need all results of the first. Otherwise go over it in blocks, with both loops "
                                      "for each. Then run lwp collect again and compare with lwp diff.",
                                      there, here, name);
    return true;
}

static bool advise_blocking(const struct advice *advice, struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = advice->row;
    const struct lwp_region *around = loop_around(advice);
    if (!around || row->count->stores || row->outer || row->outer_share < regular_share || region_before(advice) != row->region ||
        !tip_nearer(advice, tip))
        return false;
    const char *name = name_of(advice), *here = place_of(advice, advice->region);
    double block = (double)advice->caches->level[0].bytes / 2;
    tip->title =
        lwp_arena_printf(advice->profile->arena,
                         "The loop %s goes over %s again and again: %.0f %% of the lines have left the second-level cache in between", here,
                         name, fmin(100, 100 * accesses_far(advice) / fmax(1, lines_fetched(advice))));
    tip->next_step = lwp_arena_printf(
        advice->profile->arena,
        "Blocking: let the loop %s go over %.0f bytes of %s (half of the first-level cache, %.0f elements at a stride of %lld bytes), "
        "finish the loop %s "
        "for that block, then take the next block, if no loop-carried dependence forbids it. Then run lwp collect again and compare with "
        "lwp diff.",
        here, block, name, floor(block / (double)llabs(row->stride)), (long long)llabs(row->stride), place_of(advice, around));
    return true;
}

/* ---- pages ---- */

static bool advise_pages(const struct advice *advice, struct lwp_locality_tip *tip)
{
    enum { PAGES_KIB = LWP_TLB_PAGES * ((1 << LWP_TLB_PAGE_SHIFT) / 1024) };
    const struct lwp_locality_row *row = advice->row;
    double walks = (double)row->count->walks, cycles = walks * LWP_TLB_CYCLES, saved = row->share * cycles / (cycles + advice->cycles);
    enum lwp_object_kind kind = advice->profile->objects[row->object].kind;
    if (walks < page_walks_least * advice->accesses || saved < share_least || kind == LWP_OBJECT_STACK || kind == LWP_OBJECT_UNKNOWN)
        return false;
    *tip = tip_of(advice, row->share, saved);
    const char *name = name_of(advice);
    tip->title =
        lwp_arena_printf(advice->profile->arena,
                         "The code %s uses %s on more pages at a time than the TLB covers: %.0f %% of these accesses need a page walk",
                         place_of(advice, advice->region), name, 100 * walks / advice->accesses);
    tip->next_step = lwp_arena_printf(
        advice->profile->arena,
        "Huge pages: %s %s with aligned_alloc and madvise(MADV_HUGEPAGE)%s on pages of 2 MiB, or use what lies on one page together (sort "
        "the accesses, or keep what is used apart from what is not, side by side). %u pages of 4 KiB reach %u KiB. Where "
        "/sys/kernel/mm/transparent_hugepage/enabled says always the system may do so already: lwp does not see that.",
        kind == LWP_OBJECT_HEAP ? "put" : "allocate", name, kind == LWP_OBJECT_HEAP ? ", or GLIBC_TUNABLES=glibc.malloc.hugetlb=1," : "",
        LWP_TLB_PAGES, PAGES_KIB);
    return true;
}

/* ---- first touch ---- */

/* About the costliest row of an object. No gain is predicted: the model of the caches has no nodes. */
static bool advise_touch(const struct advice *advice, const struct lwp_touched *touched, struct lwp_locality_tip *tip)
{
    const struct lwp_locality *locality = advice->locality;
    double all = (double)touched->accesses, now = (double)touched->local / all, best = (double)touched->best / all, share = 0;
    size_t index = locality->count;
    for (size_t i = 0; i < locality->count; i++)
        if (locality->rows[i].object == touched->object) {
            index = i < index ? i : index;
            share += locality->rows[i].share;
        }
    if (index == locality->count || share < share_least || now > local_most || best < now + local_better)
        return false;
    const char *name = lwp_objects_name(advice->profile, touched->object);
    *tip = (struct lwp_locality_tip){
        .kind = LWP_TIP_TOUCH, .row = index, .object = touched->object, .region = locality->rows[index].region, .share = share};
    tip->title = lwp_arena_printf(advice->profile->arena,
                                  "%.0f %% of the accesses to %s are to memory of another NUMA node: it lies where it was touched first",
                                  100 * (1 - now), name);
    tip->next_step =
        lwp_arena_printf(advice->profile->arena,
                         "First-touch initialisation: let each thread initialise the part of %s that it works on later (the same loop, the "
                         "same schedule), with threads that stay where they are (OMP_PROC_BIND=true, taskset): up to %.0f %% of the "
                         "accesses would be to the own node. Otherwise numactl --interleave=all spreads it.",
                         name, 100 * best);
    return true;
}

/* ---- all of them ---- */

const char *const lwp_tip_keys[LWP_TIP_KINDS] = {
    [LWP_TIP_INTERCHANGE] = "interchange", [LWP_TIP_FISSION] = "fission", [LWP_TIP_PADDING] = "padding", [LWP_TIP_FUSION] = "fusion",
    [LWP_TIP_BLOCKING] = "blocking",       [LWP_TIP_PAGES] = "pages",     [LWP_TIP_LISTS] = "lists",     [LWP_TIP_TOUCH] = "touch",
};

/* In this order: what changes the loops most comes first, since it may make the others needless. */
static const struct {
    enum lwp_tip_kind kind;
    bool (*advise)(const struct advice *, struct lwp_locality_tip *);
} kinds[] = {
    {LWP_TIP_INTERCHANGE, advise_interchange}, {LWP_TIP_PADDING, advise_padding},   {LWP_TIP_FISSION, advise_fission},
    {LWP_TIP_FUSION, advise_fusion},           {LWP_TIP_BLOCKING, advise_blocking}, {LWP_TIP_PAGES, advise_pages},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool advise_any(const struct advice *advice, struct lwp_locality_tip *tip)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].advise(advice, tip)) {
            tip->kind = kinds[i].kind;
            return true;
        }
    return false;
}

static bool is_advised(const struct lwp_locality *locality, const struct lwp_locality_tips *tips, uint32_t region)
{
    for (size_t i = 0; i < tips->count; i++)
        if (locality->rows[tips->tips[i].row].region == region)
            return true;
    return false;
}

void lwp_locality_advise(struct lwp_profile *profile, const struct lwp_locality *locality, const bool *regrouped,
                         struct lwp_locality_tips *tips)
{
    const struct lwp_locality_counts *counts = &profile->locality;
    struct advice advice = {
        .profile = profile, .locality = locality, .regrouped = regrouped, .caches = &profile->machines[LWP_MACHINE_HERE].caches};
    *tips = (struct lwp_locality_tips){
        .tips = lwp_arena_alloc(profile->arena, locality->count + counts->touched_count + 1, sizeof *tips->tips)};
    if (!lwp_gain_known(profile))
        return;
    for (size_t i = 0; i < locality->count; i++) {
        const struct lwp_locality_row *row = advice.row = &locality->rows[i];
        if (row->region == LWP_NONE || is_advised(locality, tips, row->region))
            continue;
        advice.region = &profile->regions[row->region];
        advice.accesses = (double)row->count->accesses;
        advice.cycles = (double)row->count->found.cycles;
        tips->count += advise_any(&advice, &tips->tips[tips->count]);
    }
    for (size_t i = 0; i < counts->touched_count && !counts->gaps; i++)
        tips->count += advise_touch(&advice, &counts->touched[i], &tips->tips[tips->count]);
}

/* ... that go over the data, so that advice on its layout must wait. */
static bool changes_loops(const struct lwp_locality_tip *tip)
{
    return tip->kind == LWP_TIP_INTERCHANGE || tip->kind == LWP_TIP_FISSION;
}

bool lwp_locality_tips_change(const struct lwp_locality *locality, const struct lwp_locality_tips *tips, uint32_t object, double speedup)
{
    double saved = 0; /* of all time, by all loops over the object */
    for (size_t i = 0; i < tips->count; i++) {
        const struct lwp_locality_tip *tip = &tips->tips[i];
        bool over = false;
        const bool stays = tip->kind == LWP_TIP_PAGES || tip->kind == LWP_TIP_LISTS; /* each element, as it is visited */
        for (size_t k = 0; k < tip->object_count && !stays; k++)
            over |= tip->objects[k] == object;
        saved += over && tip->speedup > 0 ? 1 - 1 / tip->speedup : 0;
    }
    if (saved > 0 && 1 / (1 - fmin(saved, 0.99)) >= speedup)
        return true;
    for (size_t i = 0; i < tips->count; i++)
        for (size_t k = 0; k < locality->count; k++)
            if (changes_loops(&tips->tips[i]) && locality->rows[k].object == object &&
                locality->rows[k].region == locality->rows[tips->tips[i].row].region)
                return true;
    return false;
}
