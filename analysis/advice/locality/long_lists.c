/* In: loops that search lists, and the tables that say where these begin. Out: advice to give such a table more entries.
 *
 * A hash table with fewer entries than nodes has as many nodes in each list as there are for an entry, and a search that finds something
 * goes through a half of them, one waiting for the other. With as many entries as nodes it goes to one or two. Both numbers are known from
 * what was allocated, without looks into the loop; what a node costs in a long list and alone, a run of both shows.
 * Limits: all nodes are taken for being searched for equally often, and for being in one table. Whether it is a hash table is not known:
 * its lists may be what belongs to each entry. */
#include "analysis/advice/locality/long_lists.h"

#include "analysis/advice/gain/chain.h"
#include "analysis/advice/gain/gain.h"
#include "analysis/advice/gain/loop_pattern.h"
#include "analysis/advice/gain/measured.h"
#include "analysis/advice/gain/timed.h"
#include "analysis/advice/placement/spread.h"
#include "analysis/elements/element_count.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/profile/streams.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/statistics/speedup.h"
#include "analysis/statistics/stride.h"

#include <math.h>
#include <string.h>

enum { TIPS_MOST = 4 };

static const double share_least = 1 - 1 / 1.1; /* of the time at least, however few samples there are */
static const double nodes_each_least = 4;      /* an entry: with fewer, a search hardly goes on */
/* Of nodes, a search: a table that doubles when it has as many nodes as entries has three for four of them on average. */
static const double visits_after = 1 + 0.75 / 2;
static const double gain_least = 1.1, sure_least = 0.95;

/* Of one loop. */
struct lists_use {
    uint32_t region, nodes_object;
    const struct lwp_stream *table;
    double nodes, entries, visits; /* visits: of nodes, each search */
    bool sure;                     /* how many entries there are: no fewer */
    double spacing;                /* bytes from one node to the next, on average */
};

/* Whether an access of the region to nodes goes to where the table's load has led. */
static bool lists_begin(const struct lwp_profile *profile, const struct lwp_stream *table, uint32_t region, uint32_t nodes)
{
    LWP_STREAMS_OF(profile, nodes, stream)
        if (lwp_regions_final(profile, stream->region) == region && stream->module == table->module &&
            lwp_code_begins(profile->code, table->module, table->address, stream->address))
            return true;
    return false;
}

static const struct lwp_stream *lists_table(const struct lwp_profile *profile, uint32_t region, uint32_t nodes)
{
    const struct lwp_stream *found = NULL;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->object != nodes && (!found || stream->accesses > found->accesses) && lwp_gain_leads_chains(profile, region, stream) &&
            lists_begin(profile, stream, region, nodes))
            found = stream;
    }
    return found;
}

/* Wherever they were allocated. */
static double lists_nodes(const struct lwp_profile *profile, const struct lwp_stream *table, uint32_t region, uint32_t nodes)
{
    const struct lwp_type *type = profile->objects[nodes].type;
    double count = 0;
    for (uint32_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *other = &profile->objects[i];
        if (i == nodes || (type && other->type == type && lists_begin(profile, table, region, i)))
            count += (double)lwp_element_count(other);
    }
    return count;
}

static double lists_spacing(const struct lwp_profile *profile, uint32_t object)
{
    enum { WORD = 8 };
    double error;
    const double spread = lwp_placement_spread(profile, &object, 1, &error);
    return WORD * ceil(fmax(spread, (double)profile->objects[object].element_bytes) / WORD);
}

/* How many entries the table has, at most: they are as large as its type says, or as all places are apart that were seen, or else no larger
 * than an address. */
static void lists_entries(const struct lwp_profile *profile, struct lists_use *use)
{
    const struct lwp_object *table = &profile->objects[use->table->object];
    const struct lwp_stride apart = lwp_stride_estimate(use->table->offsets.items, use->table->offsets.count);
    const bool seen = apart.probability >= sure_least && apart.bytes > sizeof(void *);
    const double each = table->element_bytes ? (double)table->element_bytes : seen ? (double)apart.bytes : 0;
    use->entries = floor((double)lwp_element_used(table) / fmax(sizeof(void *), each));
    use->sure = each > 0;
}

static bool lists_find(struct lwp_profile *profile, const struct lwp_sampled_row *row, struct lists_use *use)
{
    const struct lwp_region *region = &profile->regions[row->region];
    const struct lwp_object *nodes = &profile->objects[row->object];
    if (region->is_function || region->module == LWP_NONE || !lwp_objects_is_data(nodes) || nodes->element_bytes < 2 * sizeof(void *) ||
        lwp_share_of(&region->weight, &profile->total).low < share_least ||
        lwp_loop_search_by_call(profile->code, region->module, region->address) != LWP_LOOP_SEARCH_LIST)
        return false;
    const struct lwp_stream *table = lists_table(profile, row->region, row->object);
    if (!table)
        return false;
    *use = (struct lists_use){.region = row->region,
                              .nodes_object = row->object,
                              .table = table,
                              .nodes = lists_nodes(profile, table, row->region, row->object),
                              .spacing = lists_spacing(profile, row->object)};
    lists_entries(profile, use);
    use->visits = 1 + use->nodes / use->entries / 2;
    return use->entries >= 2 && use->nodes >= nodes_each_least * use->entries;
}

static void lists_pattern(const struct lwp_profile *profile, const struct lists_use *use, double visits, double entries,
                          struct lwp_pattern *pattern)
{
    const uint64_t element = profile->objects[use->nodes_object].element_bytes;
    struct lwp_loop_shape shape = {0};
    memset(pattern, 0, sizeof *pattern); /* padding too: patterns are compared as bytes */
    pattern->array_count = 1;
    pattern->elements = (uint64_t)use->nodes;
    pattern->far = 1;
    pattern->threads = 1;
    pattern->search = lwp_gain_search(visits);
    pattern->endings = lwp_gain_endings(visits, pattern->search);
    if (pattern->search)
        pattern->heads = (uint64_t)fmax(1, round(entries * pattern->search / use->nodes)) * sizeof(void *);
    pattern->arrays[0] = (struct lwp_pattern_array){.walk = LWP_PATTERN_CHAINED, .spacing = (uint64_t)use->spacing};
    LWP_STREAMS_OF(profile, use->nodes_object, stream) {
        if (lwp_regions_final(profile, stream->region) != use->region || !stream->offsets.count || stream->module == LWP_NONE ||
            pattern->access_count == LWP_PATTERN_ACCESSES)
            continue;
        const uint64_t offset = lwp_stride_residue((int64_t)stream->offsets.items[0], element);
        const unsigned bytes = stream->bytes > 8 ? 8 : stream->bytes;
        lwp_loop_shape(profile->code, stream->module, stream->address, &shape);
        if (offset + bytes > element)
            continue;
        if (lwp_loop_leads(profile->code, stream->module, stream->address))
            pattern->arrays[0].link = offset;
        else
            pattern->accesses[pattern->access_count++] =
                (struct lwp_pattern_access){.offset = offset, .bytes = bytes, .store = stream->stores > stream->loads};
    }
    lwp_gain_computes(&shape.work, 1, pattern);
}

/* Whether the processor begins a search while it waits for the one before, if both are short: the code that the table is read in is a loop
 * without calls. */
static bool lists_overlap(struct lwp_profile *profile, const struct lists_use *use)
{
    struct lwp_loop_shape shape;
    return lwp_loop_shape(profile->code, use->table->module, use->table->address, &shape) && shape.work.tail > 0;
}

/* The time of a search in lists of few nodes to that of one today. A node costs as much there as today, or less where searches overlap. */
static struct lwp_gain_range lists_ratio(struct lwp_profile *profile, const struct lists_use *use, double *likely)
{
    struct lwp_pattern today, after;
    struct lwp_pattern_times times;
    const double each = use->nodes / use->entries, fewest = 1 + each / 4; /* of those that are searched for often, some come first */
    lists_pattern(profile, use, use->visits, use->entries, &today);
    lists_pattern(profile, use, visits_after, use->nodes, &after);
    const double alone = lwp_gain_times(profile, use->region, &today, &after, &times) ? fmin(1, times.ratio) : 1;
    *likely = fmin(1, (lists_overlap(profile, use) ? alone : 1) * visits_after / use->visits);
    return (struct lwp_gain_range){alone / each, fmin(1, visits_after / fewest)};
}

/* What the end of a search that was not foreseen delays is code behind the loop, in the one around it. */
static double lists_around(const struct lwp_profile *profile, uint32_t region)
{
    const uint32_t outer = lwp_regions_final(profile, profile->regions[region].parent);
    return outer == LWP_NONE ? 0 : lwp_share_of(&profile->regions[outer].weight, &profile->total).value;
}

static void lists_gain(struct lwp_profile *profile, const struct lists_use *use, struct lwp_locality_tip *tip)
{
    double likely;
    const struct lwp_share share = lwp_share_of(&profile->regions[use->region].weight, &profile->total);
    const struct lwp_gain_range ratio = lists_ratio(profile, use, &likely);
    const double sampled = lwp_gain_sampled(profile), most = fmin(1, share.high + lists_around(profile, use->region));
    tip->share = share.value;
    tip->speedup = 1 / (1 - sampled * share.value * (1 - likely));
    tip->gain.low = 1 / (1 - sampled * share.low * (1 - ratio.high));
    tip->gain.high = 1 / (1 - sampled * fmin(most, 0.99) * (1 - ratio.low));
}

static void lists_say(struct lwp_profile *profile, const struct lists_use *use, struct lwp_locality_tip *tip)
{
    const struct lwp_region *region = &profile->regions[use->region];
    const char *lines = lwp_regions_lines(profile, region), *table = lwp_objects_name(profile, use->table->object);
    tip->title = lwp_arena_printf(
        profile->arena,
        "Make the lists of %s shorter: it has %.0f entries%s for some %.0f nodes, so that a search %s goes through some %.0f of them%s",
        table, use->entries, use->sure ? "" : " at most", lwp_two_digits(use->nodes),
        lines              ? lwp_arena_printf(profile->arena, "at %s", lines)
        : region->function ? lwp_arena_printf(profile->arena, "in %s", region->function)
                           : "in code without a name",
        lwp_two_digits(use->visits), use->sure ? "" : " or more");
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "If %s is a hash table, give it as many entries as there are nodes, or let it grow: whenever it has more nodes than entries, "
        "make a table of twice as many entries and put all nodes in there. If its lists are something else, keep what is searched for in "
        "a hash table of that size. The gain is for nodes that are searched for equally often. Then run lwp collect again and compare with "
        "lwp diff.",
        table);
}

bool lwp_long_lists_are_in(const struct lwp_locality_tips *tips, uint32_t region)
{
    for (size_t i = 0; i < tips->count; i++)
        if (tips->tips[i].kind == LWP_TIP_LISTS && tips->tips[i].region == region)
            return true;
    return false;
}

bool lwp_long_lists_are_of(const struct lwp_locality_tips *tips, uint32_t nodes)
{
    for (size_t i = 0; i < tips->count; i++)
        if (tips->tips[i].kind == LWP_TIP_LISTS && tips->tips[i].object == nodes)
            return true;
    return false;
}

void lwp_long_lists_advise(struct lwp_profile *profile, const struct lwp_sampled_locality *sampled, struct lwp_locality_tips *tips)
{
    if (!profile->code || profile->engine == LWPS_ENGINE_EXACT)
        return;
    struct lwp_locality_tip *all = lwp_arena_alloc(profile->arena, tips->count + TIPS_MOST, sizeof *all);
    if (tips->count)
        memcpy(all, tips->tips, tips->count * sizeof *all);
    tips->tips = all;
    const size_t room = tips->count + TIPS_MOST;
    for (size_t i = 0; i < sampled->count && tips->count < room; i++) {
        struct lists_use use;
        struct lwp_locality_tip *tip = &tips->tips[tips->count];
        if (lwp_long_lists_are_in(tips, sampled->rows[i].region) || !lists_find(profile, &sampled->rows[i], &use))
            continue;
        uint32_t *object = lwp_arena_alloc(profile->arena, 1, sizeof *object);
        *object = use.nodes_object;
        *tip = (struct lwp_locality_tip){.kind = LWP_TIP_LISTS,
                                         .row = i,
                                         .object = use.nodes_object,
                                         .region = use.region,
                                         .samples = profile->regions[use.region].weight.samples,
                                         .objects = object,
                                         .object_count = 1};
        lists_gain(profile, &use, tip);
        if (tip->speedup < gain_least)
            continue;
        lists_say(profile, &use, tip);
        tips->count++;
    }
}
