/* What each line of code (or a loop whose results are as they were) wastes, and how much time is at stake.
 *
 * Several pairs of one line differ in their data, their callers or the other access: they are one thing to change. The line is that of
 * the access that is not needed: the first of two stores, else the second access. In the C library it is the program's own call of
 * a copy, fill or comparison; what its other functions and allocators do among themselves is nobody's to change.
 *
 * The time at stake is a bound: sampled, the time around these accesses, but no more than that of their loop; counted, the loop's
 * part of all cycles (of the windows that were traced) times the part of what it does of this kind that is waste. Where a cure spares an
 * access and nothing else, no more than that takes. Where the cure is known there is an estimate, too:
 * - An initialisation, a fill or a copy that is left out: its time; at least half of it, since what it brought to the caches somebody
 *   else may have to fetch.
 * - A linear search: see redundancy_search.c.
 * - What is computed anew and comes out as it was: all of its loop, if all that the loop stores is so. Else the loop goes on and waits
 *   for its data as before, and what there is to save is among its instructions. */
#include "analysis/advice/redundancy/redundancy.h"

#include "analysis/advice/gain/gain_model.h"
#include "analysis/advice/redundancy/redundancy_counts.h"
#include "analysis/advice/redundancy/redundancy_search.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "base/order.h"
#include "base/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double lwp_redundancy_time = 0.02, lwp_redundancy_share = 0.1, lwp_redundancy_neighbours = 0.2;
static const double mostly = 0.5;

enum { CLIMB = 16 };

/* ---- which line ---- */

static bool name_among(const char *name, const char *const *names)
{
    while (*names && !strstr(name, *names))
        names++;
    return *names;
}

/* What the program asks the C library to do with its memory, under whatever name the processor's version has. */
static bool is_asked_for(const char *function)
{
    static const char *const begins[] = {"mem", "str", "wcs", "wmem", "bzero", "calloc", "stpcpy", "stpncpy"};
    const char *name = function + strspn(function, "_");
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return name_among(function, (const char *const[]){"std::fill", "std::__fill", "std::copy", "std::__copy", NULL});
}

static bool is_allocator(const char *function)
{
    static const char *const names[] = {"malloc",         "free",          "calloc", "realloc", "memalign",
                                        "posix_memalign", "aligned_alloc", "cfree",  "memptr"};
    for (const char *at = function; at; at = strchr(at + 1, '_')) /* je_malloc, __libc_free, _int_malloc */
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strcmp(at + (*at == '_'), names[i]) == 0)
                return true;
    return strncmp(function, "operator new", 12) == 0 || strncmp(function, "operator delete", 15) == 0;
}

static bool is_mathematical(const struct lwp_profile *profile, uint32_t module)
{
    const struct lwp_module *info = module == LWP_NONE ? NULL : lwp_code_module_info(profile->code, module);
    return info && info->path && strstr(info->path, "/libm");
}

static const struct lwp_symbolized *line_code(struct lwp_profile *profile, uint32_t context)
{
    const struct lwp_context_node *node = &profile->contexts[context];
    return context && node->module != LWP_NONE ? lwp_code_symbolize(profile->code, node->module, node->address) : NULL;
}

static const char *line_function(const struct lwp_symbolized *code)
{
    return code && code->frame_count && code->frames[0].function ? code->frames[0].function : "";
}

const struct lwp_frame *lwp_redundancy_frame(struct lwp_profile *profile, uint32_t context, uint32_t *at)
{
    const struct lwp_frame *first = NULL;
    *at = context;
    for (uint32_t node = context; node; node = profile->contexts[node].parent) {
        const struct lwp_symbolized *code = line_code(profile, node);
        if (!code || lwp_objects_system_library(profile, profile->contexts[node].module))
            continue;
        if (!first)
            *at = node;
        first = first ? first : &code->frames[0];
        for (uint32_t i = 0; i < code->frame_count; i++) {
            const struct lwp_frame *frame = &code->frames[i];
            if (!frame->file || lwp_path_is_system(frame->file))
                continue;
            *at = node;
            return frame;
        }
        if (!first->file) /* no line numbers: its callers are no better */
            return first;
    }
    return first;
}

/* Fills context, place, code and foreign. */
static void line_place(struct lwp_profile *profile, uint32_t access, struct lwp_redundant_line *line)
{
    const struct lwp_symbolized *code = line_code(profile, access);
    uint32_t module = profile->contexts[access].module, own;
    bool theirs = lwp_objects_system_library(profile, module) || (code && code->frames[0].file && lwp_path_is_system(code->frames[0].file));
    line->foreign = theirs && !is_mathematical(profile, module) && !is_asked_for(line_function(code));
    uint32_t at = access;
    for (int i = 0; at && i < CLIMB; i++, at = profile->contexts[at].parent)
        for (uint32_t f = 0; (code = line_code(profile, at)) && f < code->frame_count; f++)
            line->foreign |=
                code->frames[f].function && is_allocator(code->frames[f].function) && !strstr(code->frames[f].function, "calloc");
    const struct lwp_frame *frame = lwp_redundancy_frame(profile, access, &own);
    line->context = own;
    line->foreign |= lwp_objects_system_library(profile, profile->contexts[own].module);
    uint64_t where =
        frame && frame->line && frame->file ? lwp_hash_mix(lwp_hash_text(frame->file), frame->line) : profile->contexts[own].address;
    line->place =
        lwp_hash_mix(lwp_hash_mix(where, lwp_hash_text(frame && frame->function ? frame->function : "")), profile->contexts[own].module);
    line->code = line->place;
}

static uint32_t line_access(const struct lwp_redundancy *item)
{
    return item->kind == LWP_WATCHPOINT_DEAD_STORE ? item->pair->first : item->pair->second;
}

/* ---- how much time ---- */

/* What one instruction stored over values that are known. */
struct store_sum {
    uint32_t region;
    double changed, all;
    uint64_t samples;
};

/* What was decided in each region, by kind. */
struct region_sums {
    struct lwp_map index;
    double *sums;
    size_t sum_count, sum_room;
    uint32_t *changed_regions; /* regions one of whose stores mostly changes what is there, so that its loop has to go on */
    size_t changed_region_count, changed_region_room;
};

static double *region_sum(struct region_sums *sums, enum lwp_watchpoint_kind kind, uint32_t region)
{
    uint32_t *at = lwp_map_at(&sums->index, (uint64_t)region << 3 | kind);
    if (lwp_number_new(at, sums->sum_count))
        LWP_PUSH(sums->sum, 0.0);
    return &sums->sums[*at];
}

static void region_changes_fill(struct lwp_profile *profile, struct region_sums *sums)
{
    struct lwp_map index = {0};
    struct store_sum *stores = NULL;
    size_t store_count = 0, store_room = 0;
    for (size_t i = 0; i < profile->watchpoints.pair_count; i++) {
        const struct lwp_watchpoint_pair *pair = &profile->watchpoints.pairs[i];
        if (pair->kind != LWP_WATCHPOINT_SILENT_STORE || pair->second == LWP_NONE)
            continue;
        const struct lwp_context_node *node = &profile->contexts[pair->second];
        uint32_t *at = lwp_map_at(&index, lwp_hash_mix(node->module, node->address));
        if (lwp_number_new(at, store_count))
            LWP_PUSH(store, (struct store_sum){.region = lwp_access_region(profile, pair->second)});
        struct store_sum *sum = &stores[*at];
        sum->changed += (double)pair->use.weight; // NOLINT(clang-analyzer-core.NullDereference): a new number was pushed
        sum->all += (double)pair->use.weight + (double)pair->waste.weight + (double)pair->close.weight;
        sum->samples += pair->use.samples + pair->waste.samples + pair->close.samples;
    }
    for (size_t i = 0; i < store_count; i++)
        if (stores[i].samples >= LWP_REDUNDANCY_PAIRS && stores[i].changed > mostly * stores[i].all)
            LWP_PUSH(sums->changed_region, stores[i].region);
    lwp_map_fini(&index);
    free(stores);
}

static bool region_changes(const struct region_sums *sums, uint32_t region)
{
    for (size_t i = 0; i < sums->changed_region_count; i++)
        if (sums->changed_regions[i] == region)
            return true;
    return false;
}

/* Of the accesses that were or were not needed; sampled, of those whose fate is known (redundancy.c has their weights). */
static void region_sums_fill(struct lwp_profile *profile, struct region_sums *sums)
{
    region_changes_fill(profile, sums);
    for (size_t i = 0; i < profile->watchpoints.origin_count && !profile->watchpoints.exact; i++) {
        const struct lwp_watchpoint_origin *origin = &profile->watchpoints.origins[i];
        double decided = (double)origin->decided_weight, ended = decided + (double)origin->dropped_weight;
        if (decided > 0)
            *region_sum(sums, origin->kind, lwp_access_region(profile, origin->first)) += (double)origin->sampled.weight * decided / ended;
    }
    if (!profile->watchpoints.exact)
        return;
    for (size_t i = 0; i < profile->watchpoints.pair_count; i++) {
        const struct lwp_watchpoint_pair *pair = &profile->watchpoints.pairs[i];
        uint32_t at = lwp_access_region(profile, pair->kind == LWP_WATCHPOINT_DEAD_STORE ? pair->first : pair->second);
        *region_sum(sums, pair->kind, at) += (double)pair->use.weight + (double)pair->waste.weight + (double)pair->close.weight;
    }
}

static struct lwp_share region_time(const struct lwp_profile *profile, uint32_t region)
{
    struct lwp_share time = {0};
    if (region == LWP_NONE || profile->total.weight <= 0)
        return time;
    time = lwp_share_of(&profile->regions[region].weight, &profile->total);
    double part = lwp_gain_sampled(profile);
    return (struct lwp_share){time.value * part, time.low * part, time.high * part};
}

/* What the cure spares: an access, and no more than that. What is stored twice is loaded, too, by the next pass, which waits for it: the
 * place of an interpreter's next instruction, in a variable instead of in memory, made clox 1.08x as fast. */
static bool is_one_access(const struct lwp_redundancy *item)
{
    switch (item->why) {
    case LWP_CAUSE_SPILL:
    case LWP_CAUSE_KEPT_IN_MEMORY:
    case LWP_CAUSE_MISSED_INLINING:
    case LWP_CAUSE_VOLATILE:
    case LWP_CAUSE_KEPT_EXTREME:
    case LWP_CAUSE_UNKNOWN:
        return item->kind <= LWP_WATCHPOINT_SILENT_LOAD;
    default:
        return false;
    }
}

/* Of a region's time, what is no stall; *own: the stalls on one of its accesses. */
static double unstalled_time(const struct lwp_profile *profile, uint32_t region, const struct lwp_context_node *access, double *own)
{
    double part = lwp_gain_sampled(profile) / profile->total.weight, others = 0;
    *own = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->module == access->module && stream->address == access->address)
            *own += stream->weight.weight * part;
        else if (lwp_regions_final(profile, stream->region) == region)
            others += stream->weight.weight * part;
    }
    return fmax(0, region_time(profile, region).value - *own - others);
}

/* The time of one access of its loop: its part of the instructions in the time that is not stalled on others, or the stalls seen on it.
 * A load that finds what was loaded before has no stalls: they are those of the first time. */
static double access_time(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    enum { INSTRUCTION_BYTES = 4 };
    const uint32_t context = line_access(item);
    uint32_t region = lwp_access_region(profile, context);
    const struct lwp_context_node *node = &profile->contexts[context];
    const struct lwp_symbolized *code = line_code(profile, context);
    struct lwp_loop_shape shape;
    double instructions = 0;
    if (!code || region_time(profile, region).value <= 0)
        return 1;
    if (lwp_loop_shape(profile->code, node->module, node->address, &shape))
        instructions = shape.work.instructions;
    else if (code->function_high > code->function_low)
        instructions = (double)(code->function_high - code->function_low) / INSTRUCTION_BYTES;
    double part = instructions > 1 ? 1 / instructions : 1, stalls, unstalled = unstalled_time(profile, region, node, &stalls);
    return fmax(unstalled * part, item->kind == LWP_WATCHPOINT_SILENT_LOAD ? 0 : stalls);
}

/* What is stored stays as it was more often than not, in a loop that does little else: then the loop is what there is to skip. */
static bool is_computed_anew(struct lwp_profile *profile, const struct region_sums *sums, const struct lwp_redundancy *item)
{
    enum { STORES_MOST = 4 };
    const struct lwp_context_node *node = &profile->contexts[line_access(item)];
    struct lwp_loop_shape shape;
    return item->kind == LWP_WATCHPOINT_SILENT_STORE && item->why == LWP_CAUSE_REDUNDANT_COMPUTATION && item->own >= mostly &&
           lwp_loop_shape(profile->code, node->module, node->address, &shape) && shape.stores <= STORES_MOST &&
           !region_changes(sums, lwp_access_region(profile, line_access(item)));
}

/* What there is to save of a value that is computed anew where the loop goes on, and waits for its data all the same. */
static double computing_time(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    if (item->kind != LWP_WATCHPOINT_SILENT_STORE || item->why != LWP_CAUSE_REDUNDANT_COMPUTATION)
        return INFINITY;
    const uint32_t region = lwp_access_region(profile, line_access(item));
    double stalls, unstalled = unstalled_time(profile, region, &profile->contexts[line_access(item)], &stalls);
    return unstalled + stalls;
}

/* Counting a length goes with all of its instructions: those of the loop of the C library's function, and those around it, which count as
 * code of the loop that calls it. false: the access is not in such a loop. */
static bool length_time(struct lwp_profile *profile, const struct lwp_redundancy *item, struct lwp_share *time)
{
    const uint32_t region = lwp_access_region(profile, line_access(item));
    const struct lwp_context_node *node = &profile->contexts[line_access(item)];
    const struct lwp_symbolized *code = line_code(profile, line_access(item));
    if (item->why != LWP_CAUSE_COUNTED_LENGTH || profile->watchpoints.exact || region == LWP_NONE || !code ||
        profile->regions[region].module != node->module || profile->regions[region].address < code->function_low ||
        profile->regions[region].address >= code->function_high)
        return false;
    const uint64_t samples = lwp_locations_samples(profile, node->module, code->function_low, code->function_high);
    const double each = profile->total.weight / (double)profile->total.samples, part = lwp_gain_sampled(profile);
    const struct lwp_tally function = {each * (double)samples, each * each * (double)samples, samples};
    const struct lwp_share own = region_time(profile, region), all = lwp_share_of(&function, &profile->total);
    *time = (struct lwp_share){fmax(own.value, all.value * part), fmax(own.low, all.low * part), fmax(own.high, all.high * part)};
    return true;
}

/* The loop of the access that is not needed. Of two places only the first one's time was sampled, and then it is no bound. */
static double item_bound(struct lwp_profile *profile, struct region_sums *sums, const struct lwp_redundancy *item)
{
    if (profile->total.weight <= 0)
        return -1;
    uint32_t region = lwp_access_region(profile, line_access(item));
    struct lwp_share time = region_time(profile, region);
    double all = *region_sum(sums, item->kind, region);
    if (profile->watchpoints.exact)
        return time.value > 0 && all > 0 ? time.value * fmin(1, item->amount / all) : -1; /* no window met the loop */
    double around = item->amount / profile->total.weight * lwp_gain_sampled(profile);
    if (time.value <= 0)
        return fmin(1, around);
    if (region != lwp_access_region(profile, item->pair->first))
        return fmin(1, time.high * item->own);
    const double part = all > 0 ? fmin(1, item->amount / all) : 0;
    struct lwp_share length;
    if (part > 0 && length_time(profile, item, &length))
        return fmin(1, length.high * part);
    return fmin(1, is_computed_anew(profile, sums, item) && part > 0 ? time.high * part : fmin(around, time.high));
}

/* The item's part of what its instruction wastes in one way, on whatever data and however it was called: the time of the instruction
 * is spent once. */
static double item_part(const struct lwp_profile *profile, const struct lwp_redundancies *found, const struct lwp_redundancy *item)
{
    const struct lwp_context_node *its = &profile->contexts[line_access(item)];
    double all = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct lwp_redundancy *other = &found->items[i];
        const struct lwp_context_node *node = &profile->contexts[line_access(other)];
        if (other->kind == item->kind && other->approximate == item->approximate && node->module == its->module &&
            node->address == its->address)
            all += other->amount;
    }
    return all > 0 ? item->amount / all : 1;
}

static double item_stake(struct lwp_profile *profile, const struct lwp_redundancies *found, struct region_sums *sums,
                         const struct lwp_redundancy *item, double *likely)
{
    const double bound = *likely = item_bound(profile, sums, item);
    if (bound <= 0)
        return bound;
    const double computing = computing_time(profile, item);
    const double most = is_one_access(item)                                                   ? access_time(profile, item)
                        : region_changes(sums, lwp_access_region(profile, line_access(item))) ? computing
                                                                                              : INFINITY;
    const double stake = isinf(most) ? bound : fmin(bound, most * item->own * item_part(profile, found, item));
    *likely = fmin(stake, computing);
    return stake;
}

/* ---- what a cure saves ---- */

static bool is_left_out(enum lwp_cause cause)
{
    return cause == LWP_CAUSE_USELESS_INITIALISATION || cause == LWP_CAUSE_REPEATED_FILL || cause == LWP_CAUSE_UNREAD_COPY ||
           cause == LWP_CAUSE_COUNTED_LENGTH;
}

/* A search takes the time of its whole loop, however few of all bytes its loads bring: those of a string's first byte, say. */
static bool line_is_search(const struct lwp_redundancies *found, const struct lwp_redundant_line *line)
{
    const struct lwp_redundancy *item = &found->items[line->item];
    return lwp_redundancy_is_search(item->why) && line->stake >= lwp_redundancy_share && item->own >= mostly;
}

static bool line_is_sure(const struct lwp_redundancies *found, const struct lwp_redundant_line *line)
{
    const bool many = line->samples >= LWP_REDUNDANCY_PAIRS;
    if (line_is_search(found, line))
        return many;
    return line->time.value < lwp_redundancy_share || (many && line->time.low >= lwp_redundancy_share);
}

static void line_saves(struct lwp_profile *profile, const struct lwp_redundancies *found, struct lwp_redundant_line *line)
{
    const struct lwp_redundancy *item = &found->items[line->item];
    if (lwp_redundancy_is_search(item->why))
        lwp_redundancy_search(profile, item, line);
    else if (is_left_out(item->why) && line->stake > 0 && !item->approximate) {
        struct lwp_share time;
        const double sure = line->stake * line->time.low / line->time.value;
        if (length_time(profile, item, &time) && time.high > 0) {
            /* The first count, which stays, has brought the text to the caches. Behind one that ends when nobody foresaw it, the loop that
             * asked for it waits, too: how long, samples do not say. */
            const double both = region_time(profile, lwp_access_region(profile, line_access(item))).value +
                                region_time(profile, lwp_access_region(profile, line->context)).value;
            line->saved =
                (struct lwp_share){line->stake * time.value / time.high, sure * time.low / time.high, fmin(1, fmax(line->stake, both))};
            line->stake = line->saved.high;
        } else {
            line->saved = (struct lwp_share){line->stake, sure / 2, line->stake};
        }
    }
}

/* ---- all ---- */

static int line_compare_same(const struct lwp_redundant_line *x, const struct lwp_redundant_line *y)
{
    return LWP_COMPARE(x->code, y->code) ?: LWP_COMPARE(x->kind, y->kind) ?: LWP_COMPARE(x->approximate, y->approximate);
}

static int line_compare_items(const void *a, const void *b)
{
    const struct lwp_redundant_line *x = a, *y = b;
    return line_compare_same(x, y) ?: LWP_COMPARE(x->item, y->item); /* the largest comes first in the list */
}

static int line_compare(const void *a, const void *b)
{
    const struct lwp_redundant_line *x = a, *y = b;
    double p = fmax(x->stake, x->saved.value), q = fmax(y->stake, y->saved.value);
    return LWP_COMPARE(q, p) ?: LWP_COMPARE(y->share.value, x->share.value) ?: LWP_COMPARE(x->item, y->item);
}

/* Parts of one share that have nothing in common. */
static void share_add(struct lwp_share *to, const struct lwp_share *share)
{
    double below = hypot(to->value - to->low, share->value - share->low), above = hypot(to->high - to->value, share->high - share->value);
    to->value = fmin(1, to->value + share->value);
    to->low = fmax(0, to->value - below);
    to->high = fmin(1, to->value + above);
}

/* What is at stake is what the cure of the largest item spares. */
static void line_add(const struct lwp_redundancies *found, struct lwp_redundant_line *line, const struct lwp_redundant_line *more)
{
    share_add(&line->share, &more->share);
    share_add(&line->time, &more->time);
    line->amount += more->amount;
    line->samples += more->samples;
    if (more->stake > 0 && found->items[more->item].why == found->items[line->item].why)
        line->stake = fmin(1, fmax(0, line->stake) + more->stake);
    line->likely = fmin(line->stake, fmax(line->likely, more->likely));
}

/* One for each item, then one for each that is the same. */
static size_t lines_join(const struct lwp_redundancies *found, struct lwp_redundant_line *lines, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(lines, count, sizeof *lines, line_compare_items);
    for (size_t i = 0; i < count; i++)
        if (kept && line_compare_same(&lines[kept - 1], &lines[i]) == 0)
            line_add(found, &lines[kept - 1], &lines[i]);
        else
            lines[kept++] = lines[i];
    return kept;
}

/* What a loop computes anew is one thing to skip, however many results it stores, and a search one, whatever it looks at. */
static void line_widen(struct lwp_profile *profile, const struct region_sums *sums, const struct lwp_redundancy *item,
                       struct lwp_redundant_line *line)
{
    const bool search = lwp_redundancy_is_search(item->why);
    const uint32_t access = line_access(item);
    const uint32_t region =
        search ? lwp_redundancy_search_region(profile, lwp_redundancy_search_place(profile, access)) : lwp_access_region(profile, access);
    if ((search || is_computed_anew(profile, sums, item)) && region != LWP_NONE && !profile->regions[region].is_function)
        line->code = lwp_hash_mix(region, UINT64_MAX);
}

void lwp_redundancy_lines(struct lwp_profile *profile, struct lwp_redundancies *found)
{
    struct lwp_redundant_line *of_items = lwp_arena_alloc(profile->arena, found->count + 1, sizeof *of_items), *lines;
    struct region_sums sums = {0};
    region_sums_fill(profile, &sums);
    for (size_t i = 0; i < found->count; i++) {
        const struct lwp_redundancy *item = &found->items[i];
        of_items[i] = (struct lwp_redundant_line){.kind = item->kind,
                                                  .approximate = item->approximate,
                                                  .item = (uint32_t)i,
                                                  .share = item->share,
                                                  .time = item->time,
                                                  .amount = item->amount,
                                                  .samples = item->samples};
        of_items[i].stake = item_stake(profile, found, &sums, item, &of_items[i].likely);
        line_place(profile, line_access(item), &of_items[i]);
        line_widen(profile, &sums, item, &of_items[i]);
    }
    lwp_map_fini(&sums.index);
    free(sums.sums);
    free(sums.changed_regions);
    lines = lwp_arena_alloc(profile->arena, found->count + 1, sizeof *lines);
    memcpy(lines, of_items, found->count * sizeof *lines);
    found->lines = lines;
    found->line_count = lines_join(found, lines, found->count);
    for (size_t i = 0; i < found->line_count; i++) {
        line_saves(profile, found, &lines[i]);
        lines[i].sure = line_is_sure(found, &lines[i]);
    }
    if (found->line_count)
        qsort(lines, found->line_count, sizeof *lines, line_compare);
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; k < found->line_count; k++)
            if (line_compare_same(&of_items[i], &lines[k]) == 0)
                found->items[i].line = (uint32_t)k;
}

/* Numbers that are only about the same are what any sum that grows leaves behind: listed, but no finding of stores and loads. Those who
 * have neighbours and registers looked at ask for it. */
bool lwp_redundancy_matters(const struct lwp_redundancies *found, const struct lwp_redundant_line *line)
{
    const double nearly_always = 0.9;
    enum lwp_cause why = found->items[line->item].why;
    if (!line->sure || line->foreign || why == LWP_CAUSE_VOLATILE || why == LWP_CAUSE_KEPT_EXTREME ||
        (line->time.low < lwp_redundancy_share && !line_is_search(found, line)) || (line->stake >= 0 && line->stake < lwp_redundancy_time))
        return false;
    if ((line->saved.high > 0 || lwp_redundancy_is_search(why)) &&
        line->saved.value < lwp_redundancy_time) /* a scan of a few elements, or of who knows how many, is no slower than another search */
        return false;
    switch (line->kind) {
    case LWP_WATCHPOINT_DEAD_STORE:
        return !line->approximate;
    case LWP_WATCHPOINT_SILENT_STORE: /* a value that changes at times has to be stored, unless something is known of why it does not */
        return !line->approximate && why != LWP_CAUSE_SPILL && (why != LWP_CAUSE_UNKNOWN || found->items[line->item].own >= nearly_always);
    case LWP_WATCHPOINT_SILENT_LOAD:
        return !line->approximate &&
               (lwp_redundancy_is_search(why) || why == LWP_CAUSE_COUNTED_LENGTH || (why == LWP_CAUSE_KEPT_IN_MEMORY && line->stake >= 0));
    case LWP_WATCHPOINT_SPATIAL: /* values far apart in an array save no work */
        return why != LWP_CAUSE_UNKNOWN && found->items[line->item].neighbours >= lwp_redundancy_neighbours;
    default:
        return why != LWP_CAUSE_UNKNOWN;
    }
}
