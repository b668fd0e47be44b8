/* Findings about redundant accesses and computations: one for each line of code. They rank with those about layouts: by the speed-up
 * expected where the cure's gain is known, else by half of what is at stake, nothing being known but that it lies between none and all;
 * without the waits for what a result is computed from, which may have to be read to see that it is the same. */
#include "analysis/advice/locality/long_lists.h"
#include "analysis/advice/redundancy/redundancy_counts.h"
#include "analysis/advice/redundancy/redundancy_search.h"
#include "analysis/findings/finding_parts.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/statistics/speedup.h"
#include "analysis/tables/redundancy_kinds.h"
#include "analysis/tables/severity.h"
#include "base/path.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) lwp_arena_printf(profile->arena, __VA_ARGS__)

/* Of all bytes that the program stores and loads, computes or writes to registers: where no time was measured. */
static const double redundant_bytes = 0.03;

static double redundancy_part(const struct lwp_redundancies *found, const struct lwp_redundant_line *line)
{
    const struct lwp_redundancy_total *totals = found->totals;
    double all = line->kind <= LWP_WATCHPOINT_SILENT_LOAD
                     ? totals[LWP_WATCHPOINT_DEAD_STORE].total + totals[LWP_WATCHPOINT_SILENT_LOAD].total
                     : totals[line->kind].total;
    return line->stake >= 0 ? line->stake : all > 0 ? fmin(1, line->amount / all) : 0;
}

static const char *redundancy_place(const struct lwp_profile *profile, const struct lwp_frame *frame)
{
    enum { LONG = 48 };
    const char *file = lwp_path_last(frame->file);
    char *brief = strlen(frame->function) > LONG ? lwp_function_brief(frame->function) : NULL;
    const char *function = brief && *brief ? lwp_arena_strndup(profile->arena, brief, strlen(brief)) : frame->function;
    free(brief);
    return file && frame->line ? SAY("%s (%s:%u)", function, file, frame->line) : function;
}

/* Where people look for an access: in their own code, which may have called the C library to do it. */
static const char *redundancy_location(struct lwp_profile *profile, uint32_t context)
{
    uint32_t at;
    const struct lwp_frame *frame = lwp_redundancy_frame(profile, context, &at);
    const struct lwp_context_node *node = &profile->contexts[at];
    if (node->module == LWP_NONE || !at)
        return "code without a name";
    if (!frame)
        frame = &lwp_code_symbolize(profile->code, node->module, node->address)->frames[0];
    if (!frame->function) {
        const char *name = lwp_path_last(lwp_code_module_info(profile->code, node->module)->path);
        return SAY("%s+%#llx", name ? name : "?", (unsigned long long)node->address);
    }
    return redundancy_place(profile, frame);
}

/* In the function that has the loop: what is loaded there may be by one that is inlined. */
static const char *redundancy_location_in_loop(struct lwp_profile *profile, uint32_t context)
{
    const uint32_t region = lwp_access_region(profile, context);
    const struct lwp_context_node *node = &profile->contexts[context];
    const char *function = region == LWP_NONE ? NULL : profile->regions[region].function;
    const struct lwp_symbolized *code = function ? lwp_code_symbolize(profile->code, node->module, node->address) : NULL;
    for (size_t i = 0; code && i < code->frame_count; i++)
        if (code->frames[i].function && strcmp(code->frames[i].function, function) == 0)
            return redundancy_place(profile, &code->frames[i]);
    return redundancy_location(profile, context);
}

/* From the functions on both paths: lines move. */
static const char *redundancy_id(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    const uint32_t ends[] = {item->first, item->second};
    uint64_t hash = 0;
    for (size_t i = 0; i < 2; i++)
        for (uint32_t at = ends[i]; at; at = profile->contexts[at].parent) {
            const struct lwp_context_node *node = &profile->contexts[at];
            if (node->module == LWP_NONE)
                continue;
            const struct lwp_symbolized *code = lwp_code_symbolize(profile->code, node->module, node->address);
            if (code->frame_count && code->frames[0].function)
                hash = lwp_hash_mix(hash, lwp_hash_text(code->frames[0].function));
        }
    return lwp_finding_id(profile, lwp_redundancy_rows[item->kind].rule, hash);
}

/* NULL: unknown, or without a name. */
static const char *redundancy_data(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    return item->pair->object == LWP_NONE ? NULL : lwp_objects_name(profile, item->pair->object);
}

/* Of a search, what it goes over: what leads it from one element to the next, or else is loaded in its loop. What a function compares there
 * may as well be the key. NULL: only that is known. */
static const struct lwp_redundancy *redundancy_searched(struct lwp_profile *profile, const struct lwp_redundancies *found,
                                                        const struct lwp_redundant_line *line)
{
    const struct lwp_redundancy *searched = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const struct lwp_redundancy *item = &found->items[i];
        const struct lwp_context_node *load = &profile->contexts[item->pair->second];
        if (&found->lines[item->line] != line || lwp_redundancy_search_place(profile, item->pair->second) != item->pair->second)
            continue;
        if (lwp_loop_leads(profile->code, load->module, load->address))
            return item;
        searched = searched ? searched : item;
    }
    return searched;
}

static const char *redundancy_search_title(struct lwp_profile *profile, const struct lwp_redundancies *found,
                                           const struct lwp_redundant_line *line)
{
    const struct lwp_redundancy *searched = redundancy_searched(profile, found, line);
    const struct lwp_redundancy *item = searched ? searched : &found->items[line->item];
    const char *data = searched ? redundancy_data(profile, searched) : NULL;
    return SAY("Do not search %s from one end to the other in %s: each time %s %.0f elements are looked at", data ? data : "the data",
               redundancy_location_in_loop(profile, lwp_redundancy_search_place(profile, item->pair->second)),
               line->searched_least ? "at least" : "some", lwp_two_digits(line->searched));
}

static const char *redundancy_title(struct lwp_profile *profile, const struct lwp_redundancies *found,
                                    const struct lwp_redundant_line *line)
{
    const struct lwp_redundancy *item = &found->items[line->item];
    if (lwp_redundancy_is_search(item->why))
        return redundancy_search_title(profile, found, line);
    const char *first = redundancy_location(profile, item->pair->first), *second = redundancy_location(profile, item->pair->second);
    const char *data = redundancy_data(profile, item);
    bool same = strcmp(first, second) == 0, by_time = lwp_redundancy_by_time(&line->share);
    const char *of = by_time ? lwp_redundancy_rows[item->kind].of_time : lwp_redundancy_rows[item->kind].of;
    double percent = 100 * (by_time ? line->time.value : line->share.value);
    switch (item->kind) {
    case LWP_WATCHPOINT_DEAD_STORE:
        return SAY("%s stores what nobody reads before %s overwrites it: %.0f %% %s", first, same ? "the same line" : second, percent, of);
    case LWP_WATCHPOINT_SILENT_LOAD:
        if (item->why == LWP_CAUSE_COUNTED_LENGTH)
            return SAY("%s counts the length of %s again: %.0f %% %s", second, data ? data : "a text", percent, of);
        return SAY("%s loads again what has not changed: %.0f %% %s", second, percent, of);
    case LWP_WATCHPOINT_COMPUTATION:
        return SAY("%s computes again what %s has computed: %.0f %% %s", second, same ? "the same line" : first, percent, of);
    case LWP_WATCHPOINT_REGISTER:
        return SAY("%s writes to registers %s is there already: %.0f %% %s", second, item->approximate ? "close to what" : "what", percent,
                   of);
    case LWP_WATCHPOINT_SPATIAL:
        return SAY("%.0f %% of the elements of %s that %s stores %s the one before", 100 * item->neighbours, data ? data : "an array",
                   second, item->approximate ? "are close to" : "equal");
    default:
        return SAY("%s stores what is there already: %.0f %% %s", second, percent, of);
    }
}

/* What the parts of the time are that the cure saves, as speed-ups of the whole program. */
static void redundancy_gain(struct lwp_finding *finding, const struct lwp_redundant_line *line)
{
    enum { NEVER_MORE = 100 };
    const struct lwp_share *saved = &line->saved;
    if (saved->high > 0)
        lwp_finding_gain(finding, fmin(NEVER_MORE, 1 / (1 - saved->value)), fmin(NEVER_MORE, 1 / (1 - saved->low)),
                         fmin(NEVER_MORE, 1 / (1 - saved->high)));
    else if (line->stake > 0)
        finding->rank = lwp_finding_rank(line->likely);
    finding->stake = fmax(0, line->stake);
}

/* The loop that the line is in: what is saved there is of its time. */
static void redundancy_loop(struct lwp_profile *profile, struct lwp_finding *finding, const struct lwp_redundant_line *line)
{
    const struct lwp_context_node *node = &profile->contexts[line->context];
    const uint32_t region = line->context && node->module != LWP_NONE && !node->is_function
                                ? lwp_regions_final(profile, lwp_regions_at(profile, node->module, node->address))
                                : LWP_NONE;
    if (region == LWP_NONE || profile->regions[region].is_function)
        return;
    uint32_t *regions = lwp_arena_alloc(profile->arena, 1, sizeof *regions);
    *regions = region;
    finding->regions = regions;
    finding->region_count = 1;
}

static struct lwp_finding redundancy_finding(struct lwp_profile *profile, const struct lwp_redundancies *found,
                                             const struct lwp_redundant_line *line)
{
    const struct lwp_redundancy *item = &found->items[line->item];
    struct lwp_finding finding = {.kind = "redundancy", .share = redundancy_part(found, line), .index = line->item};
    finding.severity = lwp_severity(LWP_SEVERITY_OF_REDUNDANCY, item->approximate ? 0 : finding.share);
    redundancy_gain(&finding, line);
    redundancy_loop(profile, &finding, line);
    finding.id = redundancy_id(profile, item);
    finding.title = redundancy_title(profile, found, line);
    finding.next_step = SAY("%s %s", item->meaning, item->remedy);
    return finding;
}

/* Whether it is advised already to search in shorter lists. */
static bool redundancy_is_long_list(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct lwp_locality_tips *tips)
{
    return lwp_redundancy_is_search(item->why) &&
           lwp_long_lists_are_in(tips, lwp_redundancy_search_region(profile, lwp_redundancy_search_place(profile, item->pair->second)));
}

/* Lines come with most time at stake first: what else a line wastes is not said again. */
size_t lwp_findings_of_redundancies(struct lwp_profile *profile, const struct lwp_redundancies *found, const struct lwp_locality_tips *tips,
                                    struct lwp_finding *findings, size_t room)
{
    const struct lwp_redundant_line **said = lwp_arena_alloc(profile->arena, room + 1, sizeof *said);
    size_t count = 0;
    for (size_t i = 0; i < found->line_count && count < room; i++) {
        const struct lwp_redundant_line *line = &found->lines[i];
        size_t k = 0;
        if (!lwp_redundancy_matters(found, line) || redundancy_part(found, line) < (line->stake < 0 ? redundant_bytes : 0) ||
            redundancy_is_long_list(profile, &found->items[line->item], tips))
            continue;
        while (k < count && said[k]->code != line->code && said[k]->place != line->place)
            k++;
        if (k < count)
            continue;
        findings[count] = redundancy_finding(profile, found, line);
        said[count++] = line;
    }
    return count;
}
