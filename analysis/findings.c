/* Turns advice into findings: a stable id, a title a person understands, how much it matters, what to do next.
 * The id depends on names only (type, variable, allocating function), not on addresses, lines or samples, so that it
 * survives a rebuild and can be linked to and compared. */
#include "analysis/findings.h"

#include "analysis/objects.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *finding_id(struct lwp_profile *profile, const char *kind, const struct lwp_object *object)
{
    char slug[64];
    size_t used = 0;
    const char *base = object->type && object->type->tag && *object->type->tag ? object->type->tag : object->name;
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

static void finding_of_split(struct lwp_profile *profile, const struct lwp_splits *splits, size_t index,
                             struct lwp_finding *finding)
{
    const struct lwp_split *split = &splits->splits[index];
    const struct lwp_layout *layout = split->layout;
    const struct lwp_object *object = &profile->objects[layout->objects[0]];
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
    const char *what = layout->type && strcmp(object->name, layout->type->name) != 0
                           ? lwp_arena_printf(profile->arena, "%s (%s)", type, object->name)
                           : type;
    if (!layout->type)
        what = lwp_arena_printf(profile->arena, "%s of %s", type, object->name);
    unsigned parts = (unsigned)(split->groups + split->cold);
    double mean = weight > 0 ? used / weight : 0;
    *finding = (struct lwp_finding){.kind = "split", .low = split->gain.low, .high = split->gain.high, .split = index};
    finding->id = finding_id(profile, "split", object);
    finding->title =
        lwp_arena_printf(profile->arena, "Split %s into %u parts: loops use %.0f of its %llu bytes at a time", what,
                         parts, mean, (unsigned long long)layout->element_bytes);
    finding->share = lwp_share_of(&layout->weight, &profile->total).value;
    double middle = (finding->low + finding->high) / 2;
    finding->severity = middle >= 1.15 ? "high" : middle >= 1.05 ? "medium" : "low";
    finding->next_step =
        layout->single
            ? "Keep the hot structure as the node and move the other fields behind its pointer. Allocate the two parts "
              "in "
              "blocks of their own (arrays or pools): side by side from malloc they would lie as far apart as before. "
              "Then run lwp collect again and compare."
            : "Make one array of each structure below instead of one array of all, then run lwp collect again and "
              "compare.";
}

void lwp_findings_rank(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_findings *findings)
{
    findings->findings = lwp_arena_alloc(profile->arena, splits->count + 1, sizeof *findings->findings);
    findings->count = splits->count;
    for (size_t i = 0; i < splits->count; i++) { /* splits are ranked already */
        finding_of_split(profile, splits, i, &findings->findings[i]);
        for (size_t j = 0; j < i; j++)
            if (strcmp(findings->findings[j].id, findings->findings[i].id) == 0)
                findings->findings[i].id = lwp_arena_printf(profile->arena, "%s-%zu", findings->findings[i].id, i);
    }
}
