/* Turns advice into findings: a stable id, a title a person understands, how much it matters, what to do next.
 * The id depends on names only (type, variable, allocating function), not on addresses, lines or samples, so that it
 * survives a rebuild and can be linked to and compared. */
#include "analysis/findings/findings_of_threads.h"

#include "analysis/profile/objects.h"
#include "base/path.h"

#include <ctype.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *finding_id(struct lwp_profile *profile, const char *kind, uint32_t index)
{
    char slug[64];
    size_t used = 0;
    const struct lwp_object *object = &profile->objects[index];
    const char *base =
        object->type && object->type->tag && *object->type->tag ? object->type->tag : lwp_objects_name(profile, index);
    for (const char *c = base; *c && used < 32; c++) {
        if (isalnum((unsigned char)*c) || *c == '_')
            slug[used++] = *c;
        else if (used && slug[used - 1] != '-')
            slug[used++] = '-';
    }
    slug[used] = '\0';
    struct lwp_frame frame;
    uint32_t node;
    uint64_t hash = lwp_hash_mix(lwp_hash_text(base), object->variable ? lwp_hash_text(object->variable) : 0);
    if (object->context && lwp_objects_site(profile, object->context, &frame, &node) && frame.function)
        hash = lwp_hash_mix(hash, lwp_hash_text(frame.function));
    return lwp_arena_printf(profile->arena, "%s-%s-%04x", kind, used ? slug : "object", (unsigned)(hash & 0xffff));
}

static const char *finding_split_step(struct lwp_profile *profile, const struct lwp_split *split)
{
    if (split->caution)
        return split->caution;
    if (split->kind == LWP_SPLIT_REORDER && split->align)
        return "Declare it as below, and allocate with aligned_alloc(): malloc() does not know of the alignment. "
               "Check what depends on the old order: initialisers without names, files and messages that hold the "
               "structure as bytes. Then run lwp collect again and compare with lwp diff.";
    if (split->kind == LWP_SPLIT_REORDER)
        return "Declare the fields in the order below. Check what depends on the old one: initialisers without "
               "names, files and messages that hold the structure as bytes, code in other languages. Then run lwp "
               "collect again and compare with lwp diff.";
    if (split->pooled)
        return "Take the nodes from an array of the hot structure instead of one by one from malloc, and keep the "
               "other parts in arrays beside it: the index of a node (p - array) leads to them, no pointer is "
               "needed. With a pointer and both parts from malloc one by one it is not expected to pay. Then run lwp "
               "collect again and compare with lwp diff.";
    if (split->layout->single)
        return "Keep the hot structure as the node and move the other fields behind its pointer. Allocate the two "
               "parts in blocks of their own (arrays or pools) for the high end of the range; from malloc one by one "
               "expect the low end. Then run lwp collect again and compare with lwp diff.";
    if (split->layout->linked)
        return lwp_arena_printf(
            profile->arena,
            "Pointers to elements (%s) go on to lead to the hot structure, which keeps the name and points to the "
            "rest: the elements lie in several arrays, so no index is common to the parts. Allocate the parts in "
            "arrays of their own. Then run lwp collect again and compare with lwp diff.",
            split->layout->pointed);
    if (split->layout->pointed)
        return lwp_arena_printf(profile->arena,
                                "Make one array of each structure below instead of one array of all. Pointers to "
                                "elements (%s) go on to lead to the hot structure, which keeps the name; the index "
                                "of what they point to (p - array) leads to the other parts, no pointer is needed. "
                                "Then run lwp collect again and compare with lwp diff.",
                                split->layout->pointed);
    return "Make one array of each structure below instead of one array of all; the same index leads to all parts of "
           "an element. Then run lwp collect again and compare with lwp diff.";
}

static void finding_of_split(struct lwp_profile *profile, const struct lwp_splits *splits, size_t index,
                             struct lwp_finding *finding)
{
    const struct lwp_split *split = &splits->splits[index];
    const struct lwp_layout *layout = split->layout;
    const char *name = lwp_objects_name(profile, layout->objects[0]);
    double weight = 0, used = 0;
    for (size_t i = 0; i < layout->loop_count; i++) {
        uint64_t bytes = 0;
        for (size_t f = 0; f < layout->field_count; f++)
            bytes += layout->loops[i].uses[f] ? layout->fields[f].bytes : 0;
        weight += layout->loops[i].weight.weight;
        used += layout->loops[i].weight.weight * (double)bytes;
    }
    const char *type = layout->type ? layout->type->name
                                    : lwp_arena_printf(profile->arena, "the %llu-byte elements",
                                                       (unsigned long long)layout->element_bytes);
    const char *what = layout->type && strcmp(name, layout->type->name) != 0
                           ? lwp_arena_printf(profile->arena, "%s (%s)", type, name)
                           : type;
    if (!layout->type)
        what = lwp_arena_printf(profile->arena, "%s of %s", type, name);
    unsigned parts = (unsigned)(split->groups + split->cold);
    double mean = weight > 0 ? used / weight : 0;
    *finding = (struct lwp_finding){.kind = "split", .low = split->gain.low, .high = split->gain.high, .index = index};
    finding->id = finding_id(profile, "split", layout->objects[0]);
    if (split->kind == LWP_SPLIT_REORDER)
        finding->title =
            lwp_arena_printf(profile->arena, "Reorder %s%s: a visit then takes %.2f cache lines instead of %.2f", what,
                             split->align ? " and align it" : "", split->gain.after, split->gain.before);
    else if (split->caution)
        finding->title = lwp_arena_printf(
            profile->arena,
            "Keep the used parts of %s in arrays of your own: loops use %.0f of its %llu bytes at a time", what, mean,
            (unsigned long long)layout->element_bytes);
    else
        finding->title =
            lwp_arena_printf(profile->arena, "Split %s into %u parts: loops use %.0f of its %llu bytes at a time", what,
                             parts, mean, (unsigned long long)layout->element_bytes);
    finding->share = lwp_share_of(&layout->weight, &profile->total).value;
    double middle = (finding->low + finding->high) / 2;
    finding->severity = middle >= 1.15 ? "high" : middle >= 1.05 ? "medium" : "low";
    finding->next_step = finding_split_step(profile, split);
}

static int finding_name_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* From the names alone, in the order of the alphabet: which array waits longest differs from run to run. */
static const char *finding_regroup_id(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                      const struct lwp_regroup *regroup)
{
    const char *names[LWP_REGROUP_ARRAYS_MAX];
    char slug[40];
    size_t used = 0;
    uint64_t hash = 0;
    for (size_t i = 0; i < regroup->count; i++)
        names[i] = candidates->arrays[regroup->members[i]].name;
    qsort(names, regroup->count, sizeof *names, finding_name_compare);
    for (size_t i = 0; i < regroup->count; i++) {
        hash = lwp_hash_mix(hash, lwp_hash_text(names[i]));
        if (used + strlen(names[i]) + 2 < sizeof slug)
            used += (size_t)snprintf(slug + used, sizeof slug - used, "%s%s", used ? "-" : "", names[i]);
    }
    return lwp_arena_printf(profile->arena, "regroup-%s-%04x", used ? slug : "arrays", (unsigned)(hash & 0xffff));
}

static void finding_of_regroup(struct lwp_profile *profile, const struct lwp_regroups *regroups, size_t index,
                               struct lwp_finding *finding)
{
    const struct lwp_regroup_candidates *candidates = &regroups->candidates;
    const struct lwp_regroup *regroup = &regroups->regroups[index];
    const char *names = lwp_regroup_list(profile, candidates, regroup);
    *finding =
        (struct lwp_finding){.kind = "regroup", .low = regroup->gain.low, .high = regroup->gain.high, .index = index};
    finding->id = finding_regroup_id(profile, candidates, regroup);
    finding->title = lwp_arena_printf(
        profile->arena, "Make one array of the %zu arrays %s: loops use them at the same index", regroup->count, names);
    finding->share = lwp_share_of(&regroup->weight, &profile->total).value;
    double middle = (finding->low + finding->high) / 2;
    finding->severity = middle >= 1.15 ? "high" : middle >= 1.05 ? "medium" : "low";
    const char *example = candidates->arrays[regroup->members[0]].name;
    finding->next_step = lwp_arena_printf(
        profile->arena,
        "Allocate one array of the structure below instead of the %zu arrays, and write group[i].%s for %s[i]; fill "
        "its members in one loop. Then run lwp collect again and compare.",
        regroup->count, example, example);
}

/* ---- redundant pairs ---- */

enum { REDUNDANT_SHOWN = 5 };

static const double redundant_share = 0.1, redundant_time = 0.03;

/* What the pair is of the program: of its weight, or of all bytes that it stores and loads, computes or writes to
 * registers, where these were counted. */
static double finding_redundant_part(const struct lwp_redundancies *redundancies, const struct lwp_profile *profile,
                                     const struct lwp_redundancy *item)
{
    const struct lwp_redundancy_total *totals = redundancies->totals;
    double all = !profile->watched.exact                  ? profile->total.weight
                 : item->kind <= LWP_WATCHPOINT_SILENT_LOAD ? totals[LWP_WATCHPOINT_DEAD_STORE].total +
                                                               totals[LWP_WATCHPOINT_SILENT_LOAD].total
                                                         : totals[item->kind].total;
    return all > 0 ? fmin(1, item->amount / all) : 0;
}

/* Silent loads are no finding of their own: that data is read again and unchanged is what most programs live from. They
 * are listed, and the largest explain themselves there. */
static bool finding_is_redundancy(const struct lwp_redundancies *redundancies, const struct lwp_profile *profile,
                                  const struct lwp_redundancy *item)
{
    return item->kind != LWP_WATCHPOINT_SILENT_LOAD && item->share.low >= redundant_share &&
           finding_redundant_part(redundancies, profile, item) >= redundant_time;
}

/* Where people look for an access: in their own code, which may have called the C library to do it. */
static const char *finding_at(struct lwp_profile *profile, uint32_t context)
{
    const struct lwp_context_node *node = &profile->contexts[context];
    while (node->parent && node->module != LWP_NONE && lwp_objects_library_code(profile, node->module))
        node = &profile->contexts[node->parent];
    const struct lwp_symbolized *place =
        node->module == LWP_NONE ? NULL : lwp_code_symbolize(profile->code, node->module, node->address);
    if (!place)
        return "code without a name";
    if (!place->frames[0].function) {
        const char *name = lwp_path_last(lwp_code_module_info(profile->code, node->module)->path);
        return lwp_arena_printf(profile->arena, "%s+%#llx", name ? name : "?", (unsigned long long)node->address);
    }
    const struct lwp_frame *frame = &place->frames[0];
    const char *file = lwp_path_last(frame->file);
    if (file && frame->line)
        return lwp_arena_printf(profile->arena, "%s (%s:%u)", frame->function, file, frame->line);
    return frame->function;
}

static const char *const finding_redundant_names[LWP_WATCHPOINT_KINDS] = {"dead-store",  "silent-store", "silent-load",
                                                                       "computation", "register",     "spatial"};

/* From the functions on both paths: lines move. */
static const char *finding_redundancy_id(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    const uint32_t ends[] = {item->first, item->second};
    uint64_t hash = 0;
    for (size_t i = 0; i < 2; i++)
        for (uint32_t at = ends[i]; at; at = profile->contexts[at].parent) {
            const struct lwp_context_node *node = &profile->contexts[at];
            if (node->module == LWP_NONE)
                continue;
            const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, node->module, node->address);
            if (place->frame_count && place->frames[0].function)
                hash = lwp_hash_mix(hash, lwp_hash_text(place->frames[0].function));
        }
    return lwp_arena_printf(profile->arena, "%s-%04x",
                            finding_redundant_names[item->kind],
                            (unsigned)(hash & 0xffff));
}

static const char *finding_redundancy_title(struct lwp_profile *profile, const struct lwp_redundancy *item,
                                            const char *first, const char *second)
{
    double percent = 100 * item->share.value;
    const char *then = strcmp(first, second) ? lwp_arena_printf(profile->arena, "in %s", second) : "there";
    switch (item->kind) {
    case LWP_WATCHPOINT_DEAD_STORE:
        return lwp_arena_printf(profile->arena, "%.0f %% of all stores are made in %s and overwritten unread %s", percent,
                                first, then);
    case LWP_WATCHPOINT_COMPUTATION:
        return lwp_arena_printf(profile->arena, "%.0f %% of all computations are made in %s and again %s", percent, first,
                                then);
    case LWP_WATCHPOINT_REGISTER:
        return lwp_arena_printf(profile->arena, "%.0f %% of all bytes written to registers are in %s what is there already",
                                percent, second);
    case LWP_WATCHPOINT_SPATIAL:
        return lwp_arena_printf(profile->arena, "%.0f %% of the elements of %s that %s stores equal the one before", 100 * item->own,
                                item->pair->object == LWP_NONE ? "an array" : lwp_objects_name(profile, item->pair->object), second);
    default:
        return lwp_arena_printf(profile->arena, "%.0f %% of all stores write in %s what is there already", percent, second);
    }
}

static void finding_of_redundancy(struct lwp_profile *profile, const struct lwp_redundancies *redundancies,
                                  size_t index, struct lwp_finding *finding)
{
    const struct lwp_redundancy *item = &redundancies->items[index];
    const char *first = finding_at(profile, item->pair->first), *second = finding_at(profile, item->pair->second);
    *finding = (struct lwp_finding){.kind = "redundancy", .index = index};
    finding->id = finding_redundancy_id(profile, item);
    finding->title = finding_redundancy_title(profile, item, first, second);
    finding->share = finding_redundant_part(redundancies, profile, item);
    finding->severity = finding->share >= 0.25 ? "medium" : "low";
    finding->next_step = lwp_arena_printf(profile->arena, "%s %s", item->meaning, item->remedy);
}

/* ---- loops ---- */

static void finding_of_tip(struct lwp_profile *profile, const struct lwp_locality *locality, const struct lwp_locality_tip *tip,
                           struct lwp_finding *finding)
{
    const struct lwp_locality_row *row = &locality->rows[tip->row];
    *finding = (struct lwp_finding){.kind = "locality", .index = tip->row, .title = tip->title, .next_step = tip->next_step,
                                    .share = tip->share, .low = tip->gain.low, .high = tip->gain.high};
    double middle = (finding->low + finding->high) / 2;
    finding->severity = middle >= 1.15 ? "high" : middle >= 1.05 ? "medium" : "low";
    const char *function = row->region == LWP_NONE ? NULL : profile->regions[row->region].function;
    uint64_t hash = lwp_hash_mix(lwp_hash_text(lwp_objects_name(profile, row->object)), function ? lwp_hash_text(function) : 0);
    finding->id = lwp_arena_printf(profile->arena, "%s-%04x", tip->kind, (unsigned)(hash & 0xffff));
}

/* How data should be laid out is another question once the loops over it are in another order: that is told first. */
static bool finding_waits(struct lwp_profile *profile, const struct lwp_locality *locality, const struct lwp_locality_tips *tips,
                          uint32_t object)
{
    bool waits = tips && lwp_locality_tips_change(locality, tips, object);
    if (waits)
        lwp_profile_note(profile, "No other layout is advised for %s: loops over it are to be changed first, after which it may be right "
                                  "as it is.", lwp_objects_name(profile, object));
    return waits;
}

static bool finding_regroup_waits(struct lwp_profile *profile, const struct lwp_locality *locality, const struct lwp_locality_tips *tips,
                                  const struct lwp_regroups *regroups, size_t index)
{
    const struct lwp_regroup *regroup = &regroups->regroups[index];
    for (size_t i = 0; i < regroup->count; i++)
        if (finding_waits(profile, locality, tips, regroups->candidates.arrays[regroup->members[i]].object))
            return true;
    return false;
}

static int finding_severity(const struct lwp_finding *finding)
{
    return *finding->severity == 'h' ? 2 : *finding->severity == 'm';
}

/* By what they bring; of those for which that is not predicted the more severe first. */
static int finding_compare(const void *a, const void *b)
{
    const struct lwp_finding *x = a, *y = b;
    double p = x->low + x->high, q = y->low + y->high;
    if (p == q && x->low == 0) {
        p = finding_severity(x), q = finding_severity(y);
        if (p == q)
            p = x->share, q = y->share;
    }
    return p != q ? (p < q) - (p > q) : strcmp(x->id, y->id);
}

void lwp_findings_rank(struct lwp_profile *profile, const struct lwp_splits *splits,
                       const struct lwp_regroups *regroups, const struct lwp_redundancies *redundancies,
                       const struct lwp_thread_findings *together, const struct lwp_locality *locality,
                       const struct lwp_locality_tips *tips, struct lwp_findings *findings)
{
    size_t room = splits->count + (regroups ? regroups->count : 0) + (redundancies ? REDUNDANT_SHOWN : 0), count = 0;
    size_t threads = together ? lwp_findings_of_threads_room(together) : 0;
    findings->findings = lwp_arena_alloc(profile->arena, room + threads + (tips ? tips->count : 0), sizeof *findings->findings);
    for (size_t i = 0; i < splits->count; i++)
        if (!finding_waits(profile, locality, tips, splits->splits[i].layout->objects[0]))
            finding_of_split(profile, splits, i, &findings->findings[count++]);
    for (size_t i = 0; regroups && i < regroups->count; i++)
        if (!finding_regroup_waits(profile, locality, tips, regroups, i))
            finding_of_regroup(profile, regroups, i, &findings->findings[count++]);
    for (size_t i = 0; redundancies && i < redundancies->count && count < room; i++)
        if (finding_is_redundancy(redundancies, profile, &redundancies->items[i]))
            finding_of_redundancy(profile, redundancies, i, &findings->findings[count++]);
    if (together)
        count += lwp_findings_of_threads(profile, together, findings->findings + count);
    for (size_t i = 0; tips && i < tips->count; i++)
        finding_of_tip(profile, locality, &tips->tips[i], &findings->findings[count++]);
    findings->count = count;
    qsort(findings->findings, count, sizeof *findings->findings, finding_compare);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(findings->findings[j].id, findings->findings[i].id) == 0)
                findings->findings[i].id = lwp_arena_printf(profile->arena, "%s-%zu", findings->findings[i].id, i);
}
