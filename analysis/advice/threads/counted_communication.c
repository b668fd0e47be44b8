/* In: flows (who read how much of what whom wrote, at which instruction), distances and pieces. Out: matrices by region.
 *
 * A flow counts for the program, for its function and for each loop around it; what the C library and threading libraries do for
 * themselves (locks, barriers, allocating) only for a region of that name. A loop's distances are those between two reads in it;
 * what lies between was measured among all that its function read of one writer. Regions with little communication are left out;
 * of many threads the top ones have rows of their own. */
#include "analysis/advice/threads/counted_communication.h"

#include "analysis/profile/regions.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum { REGIONS_MOST = 24, REGIONS_LEAST = 4, CELLS_MOST = 120000, DEPTH = 32 };

static const double region_share_least = 0.002; /* of all communication */

/* ---- threads ---- */

static int party_compare(const void *a, const void *b)
{
    const struct lwp_communication_party *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Index of a party, -1: there is none. */
static int party_find(const struct lwp_communication_counts *flows, uint32_t process, uint32_t number)
{
    const struct lwp_communication_party key = {.process = process, .number = number};
    const struct lwp_communication_party *found =
        flows->party_count ? bsearch(&key, flows->parties, flows->party_count, sizeof key, party_compare) : NULL;
    return found ? (int)(found - flows->parties) : -1;
}

static struct lwp_communication_rows counted_rows(struct lwp_profile *profile, struct lwp_counted_communication *found)
{
    struct lwp_communication_counts *flows = &profile->communication;
    if (flows->party_count)
        qsort(flows->parties, flows->party_count, sizeof *flows->parties, party_compare);
    double *amounts = lwp_arena_alloc(profile->arena, flows->party_count + 1, sizeof *amounts);
    for (size_t i = 0; i < flows->flow_count; i++) {
        const struct lwp_communication_flow *flow = &flows->flows[i];
        int from = party_find(flows, flow->process, flow->writer), to = party_find(flows, flow->process, flow->reader);
        if (from >= 0 && to >= 0 && !flow->site.runtime) {
            amounts[from] += (double)(flow->first + flow->again);
            amounts[to] += (double)(flow->first + flow->again);
        }
    }
    struct lwp_communication_rows rows = lwp_communication_rows(profile->arena, amounts, flows->party_count);
    found->count = rows.count;
    found->others = rows.others;
    found->threads = lwp_arena_alloc(profile->arena, found->count + 1, sizeof *found->threads);
    for (size_t i = 0; i < flows->party_count; i++)
        if (lwp_communication_has_row(&rows, i))
            found->threads[rows.of[i]] = &flows->parties[i];
    return rows;
}

/* ---- regions ---- */

struct region_index {
    struct lwp_profile *profile;
    struct lwp_counted_communication *found;
    struct lwp_map *map; /* key -> region */
    size_t room;
};

static const char *function_name(const struct lwp_profile *profile, uint32_t module, uint64_t address)
{
    const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, module, address);
    const char *name = place && place->frame_count ? place->frames[place->frame_count - 1].function : NULL;
    return name ? name : "unknown function";
}

static size_t region_of(struct region_index *index, uint64_t key, const struct lwp_communication_region *made)
{
    struct lwp_counted_communication *found = index->found;
    uint32_t *at = lwp_map_at(index->map, key);
    if (*at != LWP_MAP_NONE)
        return *at;
    *at = (uint32_t)found->region_count;
    LWP_GROW(&found->regions, found->region_count, &index->room);
    struct lwp_communication_region *region = &found->regions[found->region_count];
    size_t cells = found->count * found->count + 1;
    *region = *made;
    region->first = lwp_arena_alloc(index->profile->arena, cells, sizeof *region->first);
    region->again = lwp_arena_alloc(index->profile->arena, cells, sizeof *region->again);
    return found->region_count++;
}

static size_t function_of(struct region_index *index, const struct lwp_communication_site *place)
{
    uint64_t key = lwp_hash_mix(lwp_hash_mix(0x66756e63u, place->module), place->function);
    uint32_t known = lwp_map_get(index->map, key);
    if (known != LWP_MAP_NONE)
        return known;
    const char *name = function_name(index->profile, place->module, place->function);
    const struct lwp_symbolized *code = lwp_code_symbolize(index->profile->code, place->module, place->function);
    bool parallel = code && code->outlined;
    if (parallel && code->frames[code->frame_count - 1].line) /* several of a function have its name */
        name = lwp_arena_printf(index->profile->arena, "parallel region at %s:%u in %s",
                                lwp_path_last(code->frames[code->frame_count - 1].file), code->frames[code->frame_count - 1].line, name);
    return region_of(index, key,
                     &(struct lwp_communication_region){.kind = parallel ? LWP_COMMUNICATION_PARALLEL : LWP_COMMUNICATION_FUNCTION,
                                                        .name = name,
                                                        .region = lwp_regions_at(index->profile, place->module, place->function)});
}

static size_t loop_of(struct region_index *index, uint32_t loop)
{
    const struct lwp_region *region = &index->profile->regions[loop];
    const char *lines = lwp_regions_lines(index->profile, region);
    return region_of(
        index, lwp_hash_mix(0x6c6f6f70u, loop),
        &(struct lwp_communication_region){.kind = LWP_COMMUNICATION_LOOP,
                                           .name = lwp_arena_printf(index->profile->arena, "loop at %s in %s", lines ? lines : "?",
                                                                    region->function ? region->function : "?"),
                                           .region = loop});
}

/* All regions that a place is in. */
static size_t regions_of(struct region_index *index, const struct lwp_communication_site *place, size_t in[DEPTH])
{
    struct lwp_profile *profile = index->profile;
    size_t count = 0;
    in[count++] =
        region_of(index, place->runtime ? 2 : 1,
                  &(struct lwp_communication_region){.kind = place->runtime ? LWP_COMMUNICATION_RUNTIME : LWP_COMMUNICATION_PROGRAM,
                                                     .name = place->runtime ? "C library and threading runtime" : "whole program",
                                                     .region = LWP_NONE});
    if (place->runtime || place->module == LWP_NONE)
        return count;
    in[count++] = function_of(index, place);
    for (uint32_t loop = lwp_regions_final(profile, place->region); loop != LWP_NONE && count < DEPTH;
         loop = lwp_regions_final(profile, profile->regions[loop].parent))
        if (!profile->regions[loop].is_function)
            in[count++] = loop_of(index, loop);
    return count;
}

static void count_flow(struct region_index *index, const struct lwp_communication_rows *rows, const struct lwp_communication_flow *flow)
{
    struct lwp_counted_communication *found = index->found;
    const struct lwp_communication_counts *flows = &index->profile->communication;
    int from = party_find(flows, flow->process, flow->writer), to = party_find(flows, flow->process, flow->reader);
    size_t in[DEPTH], count = from < 0 || to < 0 ? 0 : regions_of(index, &flow->site, in);
    for (size_t i = 0; i < count; i++) {
        struct lwp_communication_region *region = &found->regions[in[i]];
        size_t cell = (size_t)rows->of[from] * found->count + (size_t)rows->of[to];
        region->first[cell] += flow->first;
        region->again[cell] += flow->again;
        region->firsts += flow->first;
        region->agains += flow->again;
        region->element_bytes += (double)flow->bytes * (double)(flow->first + flow->again);
    }
}

static void distances_add(struct lwp_communication_distances *distances, const struct lwp_communication_reuse *reuse)
{
    LWP_GROW(&distances->buckets, distances->count, &distances->room);
    distances->buckets[distances->count++] = (struct lwp_distance_bucket){reuse->up_to, reuse->count};
}

static void count_reuse(struct region_index *index, const struct lwp_communication_reuse *reuse)
{
    size_t in[DEPTH], count = regions_of(index, &reuse->site, in);
    for (size_t i = 0; i < count; i++) {
        struct lwp_communication_region *region = &index->found->regions[in[i]];
        distances_add(&region->returns, reuse);
        uint32_t before = lwp_regions_final(index->profile, reuse->before.region);
        if (region->kind != LWP_COMMUNICATION_LOOP || lwp_regions_within(index->profile, before, region->region))
            distances_add(&region->distances, reuse);
    }
}

/* `even` counts the votes for the most common step, as in Misra-Gries: two counts add up where they agree; else the smaller one is
 * taken from the larger. */
static void count_pieces(struct region_index *index, const struct lwp_communication_fragments *pieces)
{
    size_t in[DEPTH], count = regions_of(index, &pieces->site, in);
    for (size_t i = 0; i < count; i++) {
        struct lwp_communication_pieces *sum = &index->found->regions[in[i]].pieces;
        sum->count += pieces->count;
        sum->lines += pieces->lines;
        sum->bytes += pieces->bytes;
        if (sum->step == pieces->step) {
            sum->even += pieces->even;
        } else if (sum->even < pieces->even) {
            sum->step = pieces->step;
            sum->even = pieces->even - sum->even;
        } else {
            sum->even -= pieces->even;
        }
    }
}

/* ---- what is reported ---- */

static int region_compare(const void *a, const void *b)
{
    const struct lwp_communication_region *x = a, *y = b;
    uint64_t more = x->firsts + x->agains, less = y->firsts + y->agains;
    if ((x->kind == LWP_COMMUNICATION_PROGRAM) != (y->kind == LWP_COMMUNICATION_PROGRAM))
        return x->kind == LWP_COMMUNICATION_PROGRAM ? -1 : 1;
    if (more != less)
        return more < less ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The last cache, all of which a thread may have: what the paper calls the total size. */
static double cache_bytes(const struct lwp_caches *caches)
{
    return (double)(caches->l3_bytes ? caches->l3_bytes : caches->l2_bytes ? caches->l2_bytes : caches->l1_bytes);
}

static void region_describe(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                            struct lwp_communication_region *region)
{
    double events = (double)(region->firsts + region->agains), cache = cache_bytes(&profile->machine);
    double alone = (double)profile->communication.how.alone_bytes;
    region->ratios = lwp_arena_alloc(profile->arena, found->count * found->count + 1, sizeof *region->ratios);
    lwp_communication_ratios(region->first, region->again, found->count, region->ratios);
    region->homogeneity = lwp_communication_homogeneity(region->ratios, found->count);
    region->balance = lwp_communication_balance(region->ratios, found->count);
    region->element_bytes = events > 0 ? region->element_bytes / events : 0;
    if (region->element_bytes > 0) {
        region->max_cutoff = cache / region->element_bytes;
        region->min_cutoff = cache > alone ? (cache - alone) / region->element_bytes : 0;
    }
}

/* Sorted, into the arena; or given up. */
static void distances_finish(struct lwp_profile *profile, struct lwp_communication_distances *distances, bool keep)
{
    struct lwp_distance_bucket *made = distances->buckets;
    distances->count = keep ? lwp_distances_sort(made, distances->count) : 0;
    distances->buckets = lwp_arena_alloc(profile->arena, distances->count + 1, sizeof *made);
    if (distances->count)
        memcpy(distances->buckets, made, distances->count * sizeof *made);
    free(made);
}

/* Those with most communication, as many as analysis.json has room for, into the arena. */
static void regions_keep(struct lwp_profile *profile, struct lwp_counted_communication *found)
{
    struct lwp_communication_region *all = found->regions;
    size_t cells = found->count * found->count, count = found->region_count;
    size_t most = cells ? CELLS_MOST / (3 * cells) : REGIONS_MOST;
    most = most > REGIONS_MOST ? REGIONS_MOST : most < REGIONS_LEAST ? REGIONS_LEAST : most;
    qsort(all, count, sizeof *all, region_compare);
    double least = count ? region_share_least * (double)(all[0].firsts + all[0].agains) : 0;
    found->regions = lwp_arena_alloc(profile->arena, most + 1, sizeof *found->regions);
    found->region_count = 0;
    for (size_t i = 0; i < count; i++) {
        bool keep = found->region_count < most && (!i || (double)(all[i].firsts + all[i].agains) >= least);
        distances_finish(profile, &all[i].distances, keep);
        distances_finish(profile, &all[i].returns, keep);
        if (!keep)
            continue;
        region_describe(profile, found, &all[i]);
        found->regions[found->region_count++] = all[i];
    }
    free(all);
}

static void counted_notes(struct lwp_profile *profile, const struct lwp_counted_communication *found)
{
    const struct lwps_flows *how = &profile->communication.how;
    if (how->thinned)
        lwp_profile_note(profile,
                         "The program used so much memory that communication was followed on some of its cache lines only, in the end on "
                         "one of %llu: counts are estimates.",
                         1ull << (how->thinned & 63));
    if (how->distances_thinned)
        lwp_profile_note(
            profile,
            "Distances of communication were measured on some of the elements only, in the end on one of %llu: they are estimates.",
            1ull << (how->distances_thinned & 63));
    if (found->others)
        lwp_profile_note(profile, "The %zu threads that communicate least are reported together as \"others\".", found->others);
    lwp_profile_note(profile, "Communication was counted while one thread ran at a time: which thread comes first, and how often one looks "
                              "in vain, is that of this run.");
}

void lwp_counted_communication_find(struct lwp_profile *profile, struct lwp_counted_communication *found)
{
    const struct lwp_communication_counts *flows = &profile->communication;
    *found = (struct lwp_counted_communication){.measured = flows->measured};
    if (!found->measured)
        return;
    struct region_index index = {.profile = profile, .found = found, .map = lwp_map_new()};
    static const struct lwp_communication_site anywhere = {.module = LWP_NONE};
    size_t in[DEPTH];
    const struct lwp_communication_rows rows = counted_rows(profile, found);
    regions_of(&index, &anywhere, in);
    for (size_t i = 0; i < flows->flow_count; i++)
        count_flow(&index, &rows, &flows->flows[i]);
    for (size_t i = 0; i < flows->reuse_count; i++)
        count_reuse(&index, &flows->reuses[i]);
    for (size_t i = 0; i < flows->piece_count; i++)
        count_pieces(&index, &flows->pieces[i]);
    lwp_map_free(index.map);
    regions_keep(profile, found);
    counted_notes(profile, found);
}
