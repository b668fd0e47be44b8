/* High distances call for data to be reused sooner (blocking, loop reordering, fusion, scheduling); data read in short pieces that
 * lie evenly apart for one piece of memory for each thread's part; a few pairs of threads that have most of the communication, and
 * reuse that differs much between them (homogeneity, balance), for thread mapping. Reported where at least a hundredth of all
 * accesses is such communication, a thousandth of them first reads. */
#include "analysis/advice/threads/communication_advice.h"

#include "analysis/profile/regions.h"
#include "analysis/tables/severity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_LINES = 4, LINE = 64 };

static const double share_least = 0.01, firsts_least = 0.001; /* of all accesses: communication, the first reads of it */
static const double most_of = 0.8;
static const double far_share = 0.1;      /* of reuse beyond a cache: worth a sentence */
static const double reuse_least = 1;      /* reads again for each first one, for distances to matter */
static const double reuse_of_all = 8;     /* ... that each thread goes through all of the others' data so often */
static const double even_pieces = 0.25;   /* by how much more than half of the pieces lie as far apart */
static const double balance_high = 50;    /* percent */
static const double variation_high = 0.5; /* standard deviation in a row of CRR, of the mean ratio */
static const double placement_better = 0.1;

static bool loop_is_of(const struct lwp_profile *profile, const struct lwp_communication_region *loop, const char *function)
{
    const char *name = loop->region == LWP_NONE ? NULL : profile->regions[loop->region].function;
    return loop->kind == LWP_COMMUNICATION_LOOP && name && strcmp(name, function) == 0;
}

/* Is the loop's code in the body of the function or parallel region? By address: several bodies have one function's name. */
static bool loop_is_in_body(const struct lwp_profile *profile, const struct lwp_communication_region *loop,
                            const struct lwp_communication_region *body)
{
    if (loop->kind != LWP_COMMUNICATION_LOOP || loop->region == LWP_NONE || body->region == LWP_NONE)
        return false;
    const struct lwp_region *inner = &profile->regions[loop->region], *outer = &profile->regions[body->region];
    return inner->module == outer->module && inner->module != LWP_NONE &&
           lwp_code_symbolize(profile->code, inner->module, inner->address)->function_low == outer->address;
}

/* Of regions in each other that communicate the same one is reported: of loops of which one holds all that the others do the
 * outermost; a loop in place of one around it that holds little else; no function of which much is in its loops. */
static bool region_is_reported(const struct lwp_profile *profile, const struct lwp_counted_communication *found,
                               const struct lwp_communication_region *region)
{
    bool is_loop = region->kind == LWP_COMMUNICATION_LOOP;
    uint64_t all = region->firsts + region->agains;
    if (region->kind == LWP_COMMUNICATION_PROGRAM || region->kind == LWP_COMMUNICATION_RUNTIME)
        return false;
    for (const struct lwp_communication_region *other = found->regions; other < found->regions + found->region_count; other++) {
        uint64_t its = other->firsts + other->agains;
        if (other == region || other->kind != LWP_COMMUNICATION_LOOP)
            continue;
        if (other->firsts == region->firsts && other->agains == region->agains && (!is_loop || other < region))
            return false;
        if (its < all && (double)its > most_of * (double)all && lwp_counted_communication_within(profile, other->region, region->region))
            return false;
        if (!is_loop && loop_is_in_body(profile, other, region) && 4 * its > all)
            return false;
    }
    return true;
}

static double region_share(const struct lwp_profile *profile, uint64_t reads)
{
    double all = (double)profile->communication.how.accesses;
    return all > 0 ? fmin(1, (double)reads / all) : 0;
}

static const char *region_where(struct lwp_profile *profile, const struct lwp_communication_region *region)
{
    const char *lines = region->region == LWP_NONE ? NULL : lwp_regions_lines(profile, &profile->regions[region->region]);
    return lines ? lines : region->name;
}

/* ---- distances ---- */

/* The loop beside one that reads hardly anything for the first time, in the same function, that reads so much for the first time:
 * both go over the same data. NULL: there is none. */
static const struct lwp_communication_region *reads_before(const struct lwp_profile *profile, const struct lwp_counted_communication *found,
                                                           const struct lwp_communication_region *region)
{
    const struct lwp_region *code = region->region == LWP_NONE ? NULL : &profile->regions[region->region];
    if (!code || region->kind != LWP_COMMUNICATION_LOOP || 10 * region->firsts > region->agains)
        return NULL;
    for (size_t i = 0; i < found->region_count; i++) {
        const struct lwp_communication_region *other = &found->regions[i];
        const struct lwp_region *its = other->region == LWP_NONE ? NULL : &profile->regions[other->region];
        if (other == region || other->kind != LWP_COMMUNICATION_LOOP || !its || its->parent != code->parent)
            continue;
        if (code->function && loop_is_of(profile, other, code->function) && 2 * other->firsts > region->agains)
            return other;
    }
    return NULL;
}

static bool tip_distance(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                         const struct lwp_communication_region *region, struct lwp_communication_tip *tip)
{
    const struct lwp_caches *caches = &profile->machine;
    const struct {
        const char *name;
        double elements;
    } levels[] = {{"last-level cache", region->max_cutoff},
                  {"second-level cache", (double)caches->l2_bytes / region->element_bytes},
                  {"first-level cache", (double)caches->l1_bytes / region->element_bytes}};
    double again = (double)region->agains / (double)(region->firsts ? region->firsts : 1), far = 0;
    if (!region->returns.count || again < reuse_least)
        return false;
    size_t level = 0;
    for (; level < sizeof levels / sizeof *levels; level++) {
        far = levels[level].elements > 0 ? lwp_distances_above(region->returns.buckets, region->returns.count, levels[level].elements) : 0;
        if (far >= far_share)
            break;
    }
    if (far < far_share)
        return false;
    const char *where = region_where(profile, region), *pattern = lwp_communication_pattern(region->first, found->count);
    const struct lwp_communication_region *before = reads_before(profile, found, region);
    bool all = pattern && strcmp(pattern, "all to all") == 0 && again >= reuse_of_all;
    tip->kind = "distance";
    tip->title = lwp_arena_printf(
        profile->arena,
        "High communication reuse distance at %s: threads read each other's data again after %llu other elements, too late for the %s",
        where, (unsigned long long)lwp_distances_quantile(region->returns.buckets, region->returns.count, 1 - far / 2), levels[level].name);
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "%.0f %% of what is read again of another thread's data at %s comes after more other elements than the %s holds (%.0f). Use it "
        "again sooner: "
        "block the arrays so that a block of at most %.0f elements is used up before the next (array blocking, loop interchange)%s%s%s.",
        100 * far, where, levels[level].name, levels[level].elements, levels[level].elements / 2,
        before ? lwp_arena_printf(profile->arena, "; fuse it with the loop at %s, which goes over the same data before it",
                                  region_where(profile, before))
               : "",
        region->kind == LWP_COMMUNICATION_PARALLEL ? "; give each thread neighbouring iterations (schedule(static), or a larger chunk)"
                                                   : "",
        all ? lwp_arena_printf(profile->arena,
                               "; each thread goes through all that the others wrote, %.0f times: where only elements near each other "
                               "matter, keep them sorted by cells of space and look at neighbouring cells only",
                               again)
            : "");
    return true;
}

/* ---- pieces ---- */

static bool tip_pieces(struct lwp_profile *profile, const struct lwp_communication_region *region, struct lwp_communication_tip *tip)
{
    const struct lwp_communication_pieces *pieces = &region->pieces;
    double count = (double)pieces->count, lines = (double)pieces->lines / count, bytes = (double)pieces->bytes / count;
    double apart = fabs((double)pieces->step);
    if (!pieces->count || lines > PIECE_LINES || (double)pieces->even < even_pieces * count || apart <= lines * LINE)
        return false;
    const char *where = region_where(profile, region);
    tip->kind = "pieces";
    tip->title = lwp_arena_printf(profile->arena, "What threads read of each other at %s lies in pieces of %.0f bytes, %.0f bytes apart",
                                  where, bytes, apart);
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "Make what one thread hands to another contiguous: allocate each thread's blocks in one piece (an array of contiguous blocks in "
        "place of rows that run through all of them), or copy the part that is read into a buffer. Of the lines read at %s %.0f %% are the "
        "other thread's data; the rest of each line is fetched for nothing and, where its owner writes it, taken back.",
        where, fmin(100, 100 * bytes / (lines * LINE)));
    return true;
}

/* ---- threads ---- */

/* The largest number of processors that share a cache and are not all; 0: there is none. */
static size_t processors_sharing(const struct lwp_profile *profile, size_t *processors)
{
    const json_t *machine = json_object_get(profile->run, "machine"), *cache;
    size_t i, sharing = 0;
    *processors = (size_t)json_integer_value(json_object_get(machine, "cores"));
    json_array_foreach(json_object_get(machine, "caches"), i, cache) {
        size_t shared_by = (size_t)json_integer_value(json_object_get(cache, "shared_by"));
        if (shared_by > sharing && shared_by > 1 && shared_by < *processors)
            sharing = shared_by;
    }
    json_int_t nodes = json_integer_value(json_object_get(machine, "numa_nodes"));
    return sharing ? sharing : nodes > 1 ? *processors / (size_t)nodes : 0;
}

/* OMP_PLACES that puts thread i on the i-th place, group by group: "{0},{2},{1},{3}". */
static const char *places_of(struct lwp_profile *profile, const size_t *group, size_t threads, size_t size)
{
    const char *text = "";
    size_t filled[LWP_COMMUNICATION_THREADS] = {0};
    for (size_t i = 0; i < threads; i++)
        text = lwp_arena_printf(profile->arena, "%s%s{%zu}", text, i ? "," : "", group[i] * size + filled[group[i]]++);
    return text;
}

/* "0 2, 1 3". */
static const char *groups_of(struct lwp_profile *profile, const size_t *group, size_t threads)
{
    const char *text = "", *before = "";
    for (size_t wanted = 0; wanted < threads; wanted++, before = ", ")
        for (size_t i = 0; i < threads; i++)
            if (group[i] == wanted) {
                text = lwp_arena_printf(profile->arena, "%s%s%zu", text, before, i);
                before = " ";
            }
    return text;
}

/* Threads that have a hundredth of the communication. */
static size_t threads_busy(const struct lwp_counted_communication *found, const struct lwp_communication_region *region)
{
    size_t busy = 0;
    for (size_t i = 0; i < found->count; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < found->count; k++)
            sum += region->first[i * found->count + k] + region->first[k * found->count + i];
        busy += 100 * sum > region->firsts;
    }
    return busy;
}

/* Of the whole program, since threads are placed once. Where no groups of processors share a cache, pairs stand for them. */
static bool tip_mapping(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                        const struct lwp_communication_region *region, struct lwp_communication_tip *tip)
{
    size_t group[LWP_COMMUNICATION_THREADS], plain[LWP_COMMUNICATION_THREADS], processors, size = processors_sharing(profile, &processors);
    bool here = size && found->count <= processors;
    size = here ? size : 2;
    bool uneven = lwp_communication_variation(region->ratios, found->count) > variation_high || region->balance > balance_high;
    if (region->kind != LWP_COMMUNICATION_PROGRAM || found->others || threads_busy(found, region) <= size || !uneven)
        return false;
    for (size_t i = 0; i < found->count; i++)
        plain[i] = i / size;
    lwp_communication_group(region->first, found->count, size, group);
    double within = lwp_communication_within(region->first, found->count, group);
    double before = lwp_communication_within(region->first, found->count, plain);
    if (within < before + placement_better)
        return false;
    tip->kind = "mapping";
    tip->group = memcpy(lwp_arena_alloc(profile->arena, found->count, sizeof *group), group, found->count * sizeof *group);
    tip->within = within;
    tip->before = before;
    tip->title = lwp_arena_printf(profile->arena,
                                  "Threads that communicate most are not the ones that start one after the other: side by side %.0f %% of "
                                  "the communication would stay between neighbours, not %.0f %%",
                                  100 * within, 100 * before);
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "Thread mapping: let these threads, numbered in the order they start, run where they share a cache: %s (homogeneity %.3g, balance "
        "%.0f %%). %s%s%s",
        groups_of(profile, group, found->count), region->homogeneity, region->balance,
        here ? "OMP_PROC_BIND=true OMP_PLACES=\"" : "For OpenMP set OMP_PROC_BIND=true and OMP_PLACES, else taskset -cp PROCESSOR TID; ",
        here ? places_of(profile, group, found->count, size) : "lscpu -e tells which processors share caches.",
        here ? "\" (for other threads: taskset -cp PROCESSOR TID in that order; lscpu -e tells which processors share caches)." : "");
    return true;
}

/* `share`: of all accesses, those that the tip is about; below `least` of it it is not worth it. */
static void tips_add(struct lwp_communication_tips *tips, struct lwp_communication_tip tip, double share, double least)
{
    double worth = share / least;
    tip.share = share;
    tip.severity = lwp_severity(LWP_SEVERITY_OF_COMMUNICATION, worth);
    if (worth >= 1)
        tips->tips[tips->count++] = tip;
}

void lwp_communication_advise(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                              struct lwp_communication_tips *tips)
{
    *tips = (struct lwp_communication_tips){.tips = lwp_arena_alloc(profile->arena, 2 * found->region_count + 1, sizeof *tips->tips)};
    for (size_t i = 0; found->measured && i < found->region_count; i++) {
        const struct lwp_communication_region *region = &found->regions[i];
        struct lwp_communication_tip tip = {.region = i}, pieces = tip;
        bool reported = region_is_reported(profile, found, region);
        if (reported ? tip_distance(profile, found, region, &tip) : tip_mapping(profile, found, region, &tip))
            tips_add(tips, tip, region_share(profile, region->firsts + region->agains), share_least);
        if (reported && tip_pieces(profile, region, &pieces))
            tips_add(tips, pieces, region_share(profile, region->firsts), firsts_least);
    }
}
