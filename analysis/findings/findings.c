/* Turns advice into findings: a stable id, a title a person understands, how much it matters, what to do next.
 * The id depends on names only (type, variable, allocating function), not on addresses, lines or samples, so that it
 * survives a rebuild and can be linked to and compared. */
#include "analysis/findings/findings.h"

#include "analysis/advice/locality/long_lists.h"
#include "analysis/findings/finding_parts.h"
#include "analysis/findings/unsaid_containers.h"
#include "analysis/findings/unsaid_search.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/statistics/speedup.h"
#include "analysis/tables/severity.h"
#include "base/path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) lwp_arena_printf(profile->arena, __VA_ARGS__)

/* ---- structures to split or reorder ---- */

static const char *finding_split_id(struct lwp_profile *profile, uint32_t index)
{
    char slug[64];
    size_t used = 0;
    const struct lwp_object *object = &profile->objects[index];
    const char *base = object->type && object->type->tag && *object->type->tag ? object->type->tag : lwp_objects_name(profile, index);
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
    return lwp_finding_id(profile, SAY("split-%s", used ? slug : "object"), hash);
}

/* In Rust the counts lie before the value. */
static const char *finding_counted_step(struct lwp_profile *profile, const struct lwp_split *split)
{
    const char *container = split->layout->container;
    if (split->kind == LWP_SPLIT_POOL)
        return SAY("Keep the values in one Vec, and indices into it in the place of each %s, where none has to be dropped before all are. "
                   "Then run lwp collect again and compare with lwp diff.",
                   container);
    return SAY("Leave the last structure below in the %s and keep the rest in a Vec: from a Box each, it would lie between the values, and "
               "little or nothing would be gained.%s Then run lwp collect again and compare with lwp diff.",
               container, split->pooled ? " Keep the values themselves in a Vec, too: otherwise less is gained." : "");
}

/* In C++ the container allocates its nodes. */
static const char *finding_container_step(struct lwp_profile *profile, const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    const char *container = layout->container, *last = strrchr(container, ':') + 1;
    if (lwp_layout_is_counted(layout))
        return finding_counted_step(profile, split);
    if (split->kind == LWP_SPLIT_POOL)
        return SAY(
            "Give the container its nodes from large blocks: std::pmr::%s with a std::pmr::monotonic_buffer_resource, which has them "
            "one after the other and gives nothing back before it is destroyed; where many nodes are erased and inserted, with a "
            "std::pmr::unsynchronized_pool_resource (several threads: a synchronized one), whose blocks may be somewhat larger than the "
            "nodes. The resource must outlive the container. Nothing else changes. Then run lwp collect again and compare with lwp diff.",
            last);
    const char *both =
        split->pooled ? SAY(" Give it its nodes from a std::pmr::monotonic_buffer_resource or a std::pmr::unsynchronized_pool_resource "
                            "(std::pmr::%s): otherwise less is gained.",
                            last)
                      : "";
    const char *array = strstr(last, "list")
                            ? SAY(" A std::vector instead of the %s, in the same order, has no links that its loops would wait for: where "
                                  "elements may move as it grows, try that first. What it brings was not measured.",
                                  container)
                            : "";
    return SAY(
        "Leave the last structure below in the %s and keep the rest elsewhere, in large blocks of its own: in a std::pmr::deque with a "
        "std::pmr::monotonic_buffer_resource, whose elements stay where they are, or in a std::vector, with an index instead of the "
        "pointer. From new one by one, or in a plain std::deque, whose blocks are small, the rest would lie between the nodes, and less "
        "would be gained. What creates, copies and erases elements has to do so with both parts.%s Then run lwp collect again and compare "
        "with lwp diff.%s",
        container, both, array);
}

/* Elements in the order of a loop. */
static const char *finding_order_step(struct lwp_profile *profile, const struct lwp_split *split)
{
    const char *how;
    if (lwp_layout_is_counted(split->layout))
        return SAY(
            "Once the order is final, move each value to a new %s, one after the other in that order, and let all that leads to "
            "an old one lead to its new one; drop the old ones after that. Where the order changes later, do it again. The gain counts "
            "what one such copy takes. Then run lwp collect again and compare with lwp diff.",
            split->layout->container);
    if (split->array && lwp_types_is_list_node(split->layout->type))
        return SAY(
            "Use a std::vector instead of the %s: it has the same order, and no link is awaited. Where elements are put in or taken out "
            "at its end nothing else changes; in the middle all behind them move, and as it grows all do: keep indices instead of "
            "iterators and pointers to them. Where they have to stay where they are, copy the list once it is complete, and keep the "
            "copy, whose nodes lie one after the other; of many lists copy all before the first old one is freed. That gains less. "
            "Then run lwp collect again and compare with lwp diff.",
            split->layout->container);
    if (split->array)
        how = SAY("Once the %s is complete, copy what it holds to a std::vector, and let the loops below go through that: it has the same "
                  "order, and no link is awaited; std::lower_bound() finds a key there. What the loops change, they change in the vector. "
                  "Where elements are inserted or erased later, copy it again.",
                  split->layout->container);
    else if (split->by_index)
        how = SAY(
            "Once the indices in %s are final, and if each element is there once, copy the elements into one array in that order: loops "
            "then go through it from front to back, without the indices. Other indices of elements, and arrays that are used at the "
            "same ones, have to be brought into that order, too. Where the order changes later, do it again.",
            lwp_objects_name(profile, split->pointers));
    else if (lwp_order_owned(profile, split->pointers))
        how =
            "Once the order of the pointers is final, move the elements into one array in that order, and use that instead: these pointers "
            "delete what they lead to, and so cannot lead into the array. Where the order changes later, elements move.";
    else if (split->pointers != LWP_NONE)
        how = SAY("Once the order of the pointers in %s is final, copy the elements into one array in that order and let the pointers lead "
                  "there; or keep the elements themselves in the array, without pointers. Where the order changes later, do it again.",
                  lwp_objects_name(profile, split->pointers));
    else if (split->layout->container)
        how = SAY(
            "Once the %s is complete, copy it and keep the copy (%s copy(name.begin(), name.end()); name.swap(copy);): its nodes are "
            "allocated one after the other, in its order. Of many lists copy all before the first old one is freed: else copies take its "
            "nodes, which lie anywhere. Iterators and pointers to elements have to be taken anew. Where elements may "
            "move as it grows, a std::vector in the same order is better still. Where elements are inserted and erased later, copy it "
            "again now and then.",
            split->layout->container, split->layout->container);
    else
        how =
            "Once the list is complete, copy its elements into one array in the order of their links, and link the copies: its loops then "
            "go through memory from front to back. Other pointers to elements have to lead to the copies. Where elements are inserted and "
            "removed later, do it again now and then.";
    return SAY("%s The gain counts what one such copy takes. Then run lwp collect again and compare with lwp diff.", how);
}

static const char *finding_split_step(struct lwp_profile *profile, const struct lwp_split *split)
{
    if (split->kind == LWP_SPLIT_ORDER)
        return finding_order_step(profile, split);
    if (split->kind == LWP_SPLIT_IN_PLACE)
        return SAY(
            "Keep the elements themselves in %s, instead of pointers to them: the same index leads to them. That needs an element of "
            "its own for each pointer, which no other pointer there leads to, and pointers that are not exchanged later. Other "
            "pointers to elements lead into the array, which may not move any more then: give it its size first. A null pointer "
            "becomes an empty element. Then run lwp collect again and compare with lwp diff.",
            lwp_objects_name(profile, split->pointers));
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
    if (split->layout->container)
        return finding_container_step(profile, split);
    if (split->kind == LWP_SPLIT_POOL)
        return SAY("Take the nodes of this type from blocks of many (some thousand) that are allocated at once, one after the other in the "
                   "order in which they are needed; put freed ones on a list of free nodes and take them from there first. Nodes that are "
                   "members of other structures stay where they are. Nothing else changes. Then run lwp collect again and compare with lwp "
                   "diff.");
    if (split->pooled)
        return "Take the nodes from an array of the hot structure instead of one by one from malloc, and keep the "
               "other parts in arrays beside it: the index of a node (p - array) leads to them, no pointer is "
               "needed. With a pointer and both parts from malloc one by one it is not expected to pay. Then run lwp "
               "collect again and compare with lwp diff.";
    if (split->layout->single)
        return "Keep the hot structure as the node and move the other fields behind its pointer. Allocate each "
               "part in blocks of its own (an array or a pool): from malloc one by one, hot and cold parts would "
               "alternate in memory, and nothing would be gained. Then run lwp collect again and compare with lwp diff.";
    if (split->layout->linked)
        return SAY("Pointers to elements (%s) go on to lead to the hot structure, which keeps the name and points to the "
                   "rest: the elements lie in several arrays, so no index is common to the parts. Allocate the parts in "
                   "arrays of their own. Then run lwp collect again and compare with lwp diff.",
                   split->layout->pointed);
    if (split->layout->pointed)
        return SAY("Make one array of each structure below instead of one array of all. Pointers to "
                   "elements (%s) go on to lead to the hot structure, which keeps the name; the index "
                   "of what they point to (p - array) leads to the other parts, no pointer is needed. "
                   "Then run lwp collect again and compare with lwp diff.",
                   split->layout->pointed);
    return "Make one array of each structure below instead of one array of all; the same index leads to all parts of "
           "an element. Then run lwp collect again and compare with lwp diff.";
}

/* Bytes of an element, of a container's of what the program keeps in it, that a loop uses, in the mean over its loops by weight. */
static double finding_used_bytes(const struct lwp_layout *layout)
{
    double weight = 0, used = 0;
    for (size_t i = 0; i < layout->loop_count; i++) {
        uint64_t bytes = 0;
        for (size_t f = 0; f < layout->field_count; f++)
            bytes += layout->loops[i].uses[f] && !lwp_layout_is_fixed(layout, &layout->fields[f]) ? layout->fields[f].bytes : 0;
        weight += layout->loops[i].weight.weight;
        used += layout->loops[i].weight.weight * (double)bytes;
    }
    return weight > 0 ? used / weight : 0;
}

/* "the nodes of a std::map (prices)", "a std::rc::Rc (all)". */
static const char *finding_nodes(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    const char *name = lwp_objects_name(profile, layout->objects[0]);
    if (lwp_layout_is_counted(layout))
        return strcmp(name, layout->type->name) != 0 ? SAY("a %s (%s)", layout->container, name) : SAY("a %s", layout->container);
    return strcmp(name, layout->type->name) != 0 ? SAY("the nodes of a %s (%s)", layout->container, name)
                                                 : SAY("the nodes of a %s", layout->container);
}

/* "struct neuron (layer)", "struct neuron", "the 64-byte elements of layer". */
static const char *finding_split_subject(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    const char *name = lwp_objects_name(profile, layout->objects[0]);
    if (layout->payload)
        return SAY("%s in %s", layout->payload->name, finding_nodes(profile, layout));
    if (!layout->type)
        return SAY("the %llu-byte elements of %s", (unsigned long long)layout->element_bytes, name);
    return strcmp(name, layout->type->name) != 0 ? SAY("%s (%s)", layout->type->name, name) : layout->type->name;
}

/* The loops that gain. */
static void finding_loops(struct lwp_profile *profile, const struct lwp_gain *gain, struct lwp_finding *finding)
{
    uint32_t *regions = lwp_arena_alloc(profile->arena, gain->loop_count + 1, sizeof *regions);
    for (size_t i = 0; i < gain->loop_count; i++)
        if (gain->loops[i].after < gain->loops[i].before && gain->loops[i].region != LWP_NONE)
            regions[finding->region_count++] = gain->loops[i].region;
    finding->regions = regions;
}

static void finding_of_split(struct lwp_profile *profile, const struct lwp_split *split, struct lwp_finding *finding)
{
    const struct lwp_layout *layout = split->layout;
    const char *what = finding_split_subject(profile, layout);
    double mean = finding_used_bytes(layout);
    const bool part = layout->payload && split->kind == LWP_SPLIT_PARTS;
    unsigned long long element = part ? layout->payload->bytes : layout->element_bytes;
    *finding = (struct lwp_finding){.kind = "split"};
    lwp_finding_share(profile, &layout->weight, finding);
    lwp_finding_gain(finding, split->gain.speedup, split->gain.low, split->gain.high);
    finding_loops(profile, &split->gain, finding);
    finding->objects = layout->objects;
    finding->object_count = layout->object_count;
    finding->id = finding_split_id(profile, layout->objects[0]);
    if (split->kind == LWP_SPLIT_REORDER)
        finding->title = SAY("Reorder %s%s: a visit then takes %.2f cache lines instead of %.2f", what, split->align ? " and align it" : "",
                             split->gain.after, split->gain.before);
    else if (split->kind == LWP_SPLIT_POOL && layout->container && !lwp_layout_is_counted(layout))
        finding->title = SAY("Take %s from a memory resource: their %llu bytes lie %llu bytes apart on average",
                             finding_nodes(profile, layout), element, (unsigned long long)split->gain.spacing);
    else if (split->kind == LWP_SPLIT_POOL)
        finding->title = SAY("Take %s from a pool: its %llu bytes lie %llu bytes apart on average", what, element,
                             (unsigned long long)split->gain.spacing);
    else if (split->array && lwp_types_is_list_node(layout->type))
        finding->title = SAY("Keep what %s hold in a std::vector: loops only go from each to the next, and wait for the links",
                             finding_nodes(profile, layout));
    else if (split->array)
        finding->title = SAY("Copy what %s keep to a sorted std::vector: loops only go from each to the next, and wait for the links",
                             finding_nodes(profile, layout));
    else if (split->kind == LWP_SPLIT_ORDER)
        finding->title =
            SAY("Lay %s down in the order of %s: each lies %s the one before", layout->container ? finding_nodes(profile, layout) : what,
                split->pointers != LWP_NONE
                    ? SAY("the %s in %s", split->by_index ? "indices" : "pointers", lwp_objects_name(profile, split->pointers))
                : layout->container ? "the list"
                                    : "their links",
                split->gain.scattered ? "far from" : "near, but not right behind,");
    else if (split->kind == LWP_SPLIT_IN_PLACE)
        finding->title = SAY("Keep %s in the place of the pointers in %s: loops wait for a pointer first, and then for what it leads to",
                             what, lwp_objects_name(profile, split->pointers));
    else if (split->caution)
        finding->title =
            SAY("Keep the used parts of %s in arrays of your own: loops use %.0f of its %llu bytes at a time", what, mean, element);
    else
        finding->title = SAY("Split %s into %u groups: loops use %.0f of its %llu bytes at a time", what,
                             (unsigned)(split->groups + split->cold), mean, element);
    finding->next_step = finding_split_step(profile, split);
    if (split->pool > 0)
        finding->next_step =
            SAY("%s The nodes as they are, from a %s, would alone give %.*fx.", finding->next_step,
                layout->container && !lwp_layout_is_counted(layout) ? "memory resource (std::pmr::monotonic_buffer_resource)" : "pool",
                LWP_SPEEDUP(split->pool));
}

/* ---- arrays to regroup ---- */

static int finding_name_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* From the names in alphabetical order: which array is stalled longest differs from run to run. */
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
    return lwp_finding_id(profile, SAY("regroup-%s", used ? slug : "arrays"), hash);
}

static void finding_of_regroup(struct lwp_profile *profile, const struct lwp_regroups *regroups, size_t index, struct lwp_finding *finding)
{
    const struct lwp_regroup_candidates *candidates = &regroups->candidates;
    const struct lwp_regroup *regroup = &regroups->regroups[index];
    const char *example = candidates->arrays[regroup->members[0]].name;
    *finding = (struct lwp_finding){.kind = "regroup"};
    lwp_finding_share(profile, &regroup->weight, finding);
    lwp_finding_gain(finding, regroup->gain.speedup, regroup->gain.low, regroup->gain.high);
    finding_loops(profile, &regroup->gain, finding);
    uint32_t *objects = lwp_arena_alloc(profile->arena, regroup->count, sizeof *objects);
    for (size_t i = 0; i < regroup->count; i++)
        objects[finding->object_count++] = candidates->arrays[regroup->members[i]].object;
    finding->objects = objects;
    finding->id = finding_regroup_id(profile, candidates, regroup);
    finding->title = SAY("Make one array of the %zu arrays %s: loops use them at the same index", regroup->count,
                         lwp_regroup_list(profile, candidates, regroup));
    finding->next_step = SAY("Allocate one array of the structure below instead of the %zu arrays, and write group[i].%s for %s[i]; fill "
                             "its members in one loop. Then run lwp collect again and compare.",
                             regroup->count, example, example);
}

/* ---- arrays that collide in a cache ---- */

/* Several blocks of one allocation have one name. */
static const char *finding_conflict_names(struct lwp_profile *profile, const struct lwp_conflict *conflict)
{
    enum { NAMED = 6 };
    const char *names[NAMED];
    size_t named = 0, i = 0;
    for (size_t blocks; i < conflict->count && named < NAMED; i += blocks) {
        for (blocks = 1; i + blocks < conflict->count && conflict->arrays[i + blocks].object == conflict->arrays[i].object; blocks++)
            ;
        names[named++] = blocks > 1 ? SAY("%s (%zu)", conflict->arrays[i].name, blocks) : conflict->arrays[i].name;
    }
    return lwp_arena_list(profile->arena, names, named, conflict->count - i);
}

static const char *finding_conflict_step(struct lwp_profile *profile, const struct lwp_conflict *conflict)
{
    const char *first = conflict->arrays[0].name;
    unsigned long long way = conflict->way_bytes, line = conflict->line_bytes, row = conflict->row_bytes;
    if (conflict->remedy == LWP_CONFLICT_ROWS)
        return SAY("Make each row of %s %llu bytes longer: %llu + %llu bytes from one to the next. Lines %llu bytes "
                   "apart then fall into "
                   "different sets. Then run lwp collect again and compare.",
                   first, (unsigned long long)conflict->pad_bytes, row, (unsigned long long)conflict->pad_bytes, row);
    uint64_t apart = conflict->count > 1 ? conflict->arrays[conflict->count - 1].move / (conflict->count - 1) : 0;
    bool even = apart > 0;
    for (size_t i = 0; i < conflict->count; i++)
        even &= conflict->arrays[i].move == i * apart;
    const char *what = even ? SAY("Let each begin %llu bytes further than the one before", (unsigned long long)apart)
                            : SAY("Move each by another multiple of %llu bytes, as listed", line);
    return SAY("%s, counted within %llu bytes: where it is allocated or declared, make it so much longer and start so "
               "much later. The "
               "loops stay as they are. Then run lwp collect again and compare.",
               what, way);
}

static void finding_of_conflict(struct lwp_profile *profile, const struct lwp_conflict *conflict, struct lwp_finding *finding)
{
    const char *function = profile->regions[conflict->region].function,
               *lines = lwp_regions_lines(profile, &profile->regions[conflict->region]);
    const char *names = finding_conflict_names(profile, conflict), *place = lines ? lines : function ? function : "code without a name";
    *finding = (struct lwp_finding){.kind = "conflict"};
    lwp_finding_share(profile, &conflict->weight, finding);
    lwp_finding_gain(finding, conflict->gain.speedup, conflict->gain.low, conflict->gain.high);
    finding_loops(profile, &conflict->gain, finding);
    uint32_t *objects = lwp_arena_alloc(profile->arena, conflict->count, sizeof *objects);
    for (size_t i = 0; i < conflict->count; i++)
        objects[finding->object_count++] = conflict->arrays[i].object;
    finding->objects = objects;
    finding->id = lwp_finding_id(profile, "set-conflict",
                                 lwp_hash_mix(lwp_hash_text(conflict->arrays[0].name), lwp_hash_text(function ? function : "")));
    finding->title = conflict->remedy == LWP_CONFLICT_ROWS
                         ? SAY("Make the rows of %s longer: the loop at %s has %.0f lines of it in one set of the "
                               "cache, which holds %u",
                               names, place, conflict->lines, conflict->ways)
                         : SAY("Move the %zu arrays %s apart: the loop at %s has %.0f lines of them in one set of the "
                               "cache, which holds %u",
                               conflict->count, names, place, conflict->lines, conflict->ways);
    finding->next_step = finding_conflict_step(profile, conflict);
}

/* ---- threads ---- */

enum { SHARINGS_SHOWN = 10 };

static const double sharing_share = 0.02;

/* That threads use the same bytes is often what the program is about: listed, no finding. */
static bool finding_is_sharing(const struct lwp_sharing *item)
{
    return item->is_false && item->share.low >= sharing_share;
}

static void finding_of_sharing(struct lwp_profile *profile, const struct lwp_sharing *item, struct lwp_finding *finding)
{
    const char *a = item->uses[0].field, *b = item->uses[item->use_count - 1].field;
    *finding = (struct lwp_finding){.kind = "sharing",
                                    .next_step = item->advice,
                                    .share = item->share.value,
                                    .share_low = item->share.low,
                                    .share_high = item->share.high};
    finding->severity = lwp_severity(LWP_SEVERITY_OF_SHARING, finding->share);
    if (lwp_gain_known(profile))
        finding->rank = lwp_finding_rank(finding->share);
    finding->id = lwp_finding_id(profile, "false-sharing", lwp_hash_mix(lwp_hash_text(item->name), (uint64_t)item->uses[0].use->offset));
    finding->title = SAY("False sharing: %zu threads use different bytes of %s of %s%s", item->threads,
                         item->lines == 1 ? "a cache line" : SAY("%zu cache lines", item->lines), item->name,
                         a && b && strcmp(a, b) ? SAY(" (%s and %s)", a, b) : "");
}

/* The id is from the function: lines move. */
static void finding_of_communication(struct lwp_profile *profile, const struct lwp_thread_findings *threads,
                                     const struct lwp_communication_tip *tip, struct lwp_finding *finding)
{
    const struct lwp_communication_region *region = &threads->counted.regions[tip->region];
    const struct lwp_region *code = region->region == LWP_NONE ? NULL : &profile->regions[region->region];
    *finding = (struct lwp_finding){.kind = "communication",
                                    .index = tip->region,
                                    .title = tip->title,
                                    .next_step = tip->next_step,
                                    .share = tip->share,
                                    .severity = tip->severity};
    finding->id = lwp_finding_id(profile, tip->kind, lwp_hash_text(code && code->function ? code->function : region->name));
}

/* ---- loops ---- */

static void finding_of_tip(struct lwp_profile *profile, const struct lwp_locality_tip *tip, struct lwp_finding *finding)
{
    const char *function = tip->region == LWP_NONE ? NULL : profile->regions[tip->region].function;
    *finding = (struct lwp_finding){.kind = "locality",
                                    .index = tip->row,
                                    .title = tip->title,
                                    .next_step = tip->next_step,
                                    .share = tip->share,
                                    .samples = tip->samples};
    if (tip->stake > 0)
        lwp_finding_gain_unknown(finding, tip->stake);
    else
        lwp_finding_gain(finding, tip->speedup > 0 ? tip->speedup : (tip->gain.low + tip->gain.high) / 2, tip->gain.low, tip->gain.high);
    const bool pages = tip->kind == LWP_TIP_PAGES, several = pages && tip->object_count;
    finding->objects = several ? tip->objects : &tip->object; /* of loops in another order the data stay as they are */
    finding->object_count = several ? tip->object_count : pages || tip->kind == LWP_TIP_PADDING;
    finding->regions = &tip->region;
    finding->region_count = tip->region != LWP_NONE;
    finding->id =
        lwp_finding_id(profile, lwp_tip_keys[tip->kind],
                       lwp_hash_mix(lwp_hash_text(lwp_objects_name(profile, tip->object)), function ? lwp_hash_text(function) : 0));
}

/* Streams that collide are why more of them are walked side by side than caches keep: moving arrays comes first. */
static bool finding_tip_deferred(const struct lwp_answers *answers, const struct lwp_locality_tip *tip)
{
    const struct lwp_locality_row *row = &answers->locality.rows[tip->row];
    if (tip->kind != LWP_TIP_FISSION && tip->kind != LWP_TIP_PADDING)
        return false;
    for (size_t i = 0; i < answers->conflicts.count; i++)
        for (size_t k = 0; k < answers->conflicts.conflicts[i].gain.loop_count; k++)
            if (answers->conflicts.conflicts[i].gain.loops[k].region == row->region)
                return true;
    return false;
}

/* Another order of loops comes first: data may be laid out well for it. So do shorter lists, where a layout was not run in today's. */
static bool finding_deferred(struct lwp_profile *profile, const struct lwp_answers *answers, uint32_t object, const struct lwp_gain *gain)
{
    const bool deferred = lwp_locality_tips_change(&answers->locality, &answers->tips, object, gain->speedup) ||
                          (!gain->measured && lwp_long_lists_are_of(&answers->tips, object));
    if (deferred)
        lwp_profile_note(profile,
                         "No other layout is advised for %s: loops over it are to be changed first, after which it may be right "
                         "as it is.",
                         lwp_objects_name(profile, object));
    return deferred;
}

static bool finding_regroup_deferred(struct lwp_profile *profile, const struct lwp_answers *answers, const struct lwp_regroup *regroup)
{
    for (size_t i = 0; i < regroup->count; i++)
        if (lwp_conflicts_about(&answers->conflicts, answers->regroups.candidates.arrays[regroup->members[i]].object))
            return true; /* the lines that regrouping would save are those that collide */
    for (size_t i = 0; i < regroup->count; i++)
        if (finding_deferred(profile, answers, answers->regroups.candidates.arrays[regroup->members[i]].object, &regroup->gain))
            return true;
    return false;
}

/* ---- all ---- */

/* Nothing that few samples say is of high severity: with fewer, a run without findings is said to have too few (silence.c). */
static void finding_temper(struct lwp_finding *finding)
{
    if (finding->samples && lwp_evidence_of(finding->samples) < LWP_EVIDENCE_SOME)
        lwp_finding_temper(finding);
}

enum { REDUNDANT_SHOWN = 5 };

static bool finding_same_loop(const struct lwp_finding *a, const struct lwp_finding *b)
{
    for (size_t i = 0; i < a->region_count; i++)
        for (size_t k = 0; k < b->region_count; k++)
            if (a->regions[i] == b->regions[k])
                return true;
    return false;
}

static bool finding_same_data(const struct lwp_finding *a, const struct lwp_finding *b)
{
    for (size_t i = 0; i < a->object_count; i++)
        for (size_t k = 0; k < b->object_count; k++)
            if (a->objects[i] == b->objects[k])
                return true;
    return false;
}

/* A loop's time can be gained once, and of data that were laid out in another way already nothing was predicted: of two findings about
 * one loop, or about the layout of the same data, the later says so. */
static void findings_overlap(struct lwp_profile *profile, struct lwp_finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i && findings[i].rank > 0 && !findings[i].shares_with; j++) {
            const bool loop = finding_same_loop(&findings[i], &findings[j]);
            if (!(findings[j].rank > 0) || (!loop && !finding_same_data(&findings[i], &findings[j])))
                continue;
            findings[i].shares_with = findings[j].id;
            findings[i].next_step = SAY("%s It %s as finding %zu: the two gains do not add up; measure again after the first change.",
                                        findings[i].next_step, loop ? "saves time of the same loop" : "is about the same data", j + 1);
        }
}

void lwp_findings_rank(struct lwp_profile *profile, struct lwp_answers *answers)
{
    const struct lwp_splits *splits = &answers->splits;
    const struct lwp_regroups *regroups = &answers->regroups;
    const struct lwp_redundancies *redundancies = &answers->redundancies;
    const struct lwp_thread_findings *threads = &answers->threads;
    const struct lwp_locality_tips *tips = &answers->tips;
    const struct lwp_conflicts *conflicts = &answers->conflicts;
    size_t room = splits->count + regroups->count + conflicts->count + REDUNDANT_SHOWN, count = 0, i;
    struct lwp_finding *findings =
        lwp_arena_alloc(profile->arena, room + SHARINGS_SHOWN + threads->tips.count + tips->count, sizeof *findings);
    for (i = 0; i < splits->count; i++)
        if (!finding_deferred(profile, answers, splits->splits[i].layout->objects[0], &splits->splits[i].gain)) {
            finding_of_split(profile, &splits->splits[i], &findings[count]);
            findings[count++].index = i;
        }
    for (i = 0; i < regroups->count; i++)
        if (!finding_regroup_deferred(profile, answers, &regroups->regroups[i])) {
            finding_of_regroup(profile, regroups, i, &findings[count]);
            findings[count++].index = i;
        }
    for (i = 0; i < conflicts->count; i++) {
        finding_of_conflict(profile, &conflicts->conflicts[i], &findings[count]);
        findings[count++].index = i;
    }
    count += lwp_findings_of_redundancies(profile, redundancies, tips, &findings[count], REDUNDANT_SHOWN);
    const size_t before = count;
    for (i = 0; i < threads->sharings.count && count < before + SHARINGS_SHOWN; i++)
        if (finding_is_sharing(&threads->sharings.items[i])) {
            finding_of_sharing(profile, &threads->sharings.items[i], &findings[count]);
            findings[count++].index = i;
        }
    for (i = 0; i < threads->tips.count; i++)
        finding_of_communication(profile, threads, &threads->tips.tips[i], &findings[count++]);
    for (i = 0; i < tips->count; i++)
        if (!finding_tip_deferred(answers, &tips->tips[i]))
            finding_of_tip(profile, &tips->tips[i], &findings[count++]);
    for (i = 0; i < count; i++)
        finding_temper(&findings[i]);
    lwp_finding_sort(findings, count);
    for (i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(findings[j].id, findings[i].id) == 0)
                findings[i].id = SAY("%s-%zu", findings[i].id, i);
    findings_overlap(profile, findings, count);
    answers->findings = (struct lwp_findings){findings, count};
    lwp_reasons_find(profile, splits, regroups, conflicts, &answers->locality, tips, &answers->reasons);
    lwp_coverage_find(profile, &answers->coverage);
    lwp_silence_find(profile, &answers->coverage, &answers->reasons, count, &answers->silence);
    lwp_unsaid_search_say(profile, redundancies, tips, &answers->silence);
    lwp_unsaid_containers_say(profile, &answers->silence);
}
