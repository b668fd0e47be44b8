#include "analysis/findings/findings_of_threads.h"

#include <stdlib.h>
#include <string.h>

/* ---- false sharing ---- */

enum { SHARINGS_SHOWN = 10 };

static const double sharing_share = 0.02;

/* That threads use the same bytes is often what the program is about: listed, no finding. */
static bool finding_is_sharing(const struct lwp_sharing *item)
{
    return item->is_false && item->share.low >= sharing_share;
}

static void finding_of_sharing(struct lwp_profile *profile, const struct lwp_sharings *sharings, size_t index,
                               struct lwp_finding *finding)
{
    const struct lwp_sharing *item = &sharings->items[index];
    const char *name = item->name;
    const char *a = item->uses[0].field, *b = item->uses[item->use_count - 1].field;
    uint64_t hash = lwp_hash_mix(lwp_hash_text(name), (uint64_t)item->uses[0].use->offset);
    *finding = (struct lwp_finding){.kind = "sharing", .index = index, .next_step = item->advice};
    finding->id = lwp_arena_printf(profile->arena, "false-sharing-%04x", (unsigned)(hash & 0xffff));
    const char *lines = item->lines == 1 ? "a cache line" : lwp_arena_printf(profile->arena, "%zu cache lines", item->lines);
    if (a && b && strcmp(a, b))
        finding->title = lwp_arena_printf(profile->arena,
                                          "%zu threads take %s of %s from each other though they use other bytes (%s and %s)",
                                          item->threads, lines, name, a, b);
    else
        finding->title = lwp_arena_printf(profile->arena,
                                          "%zu threads take %s of %s from each other though they use other bytes",
                                          item->threads, lines, name);
    finding->share = item->share.value;
    finding->severity = finding->share >= 0.2 ? "high" : finding->share >= 0.05 ? "medium" : "low";
}

/* ---- communication ---- */

/* From what it is about and the function: lines move. */
static void finding_of_exchange(struct lwp_profile *profile, const struct lwp_counted_communication *exchange, const struct lwp_communication_tips *tips,
                                size_t index, struct lwp_finding *finding)
{
    const struct lwp_communication_tip *tip = &tips->tips[index];
    const struct lwp_communication_region *region = &exchange->regions[tip->region];
    const struct lwp_region *code = region->region == LWP_NONE ? NULL : &profile->regions[region->region];
    const char *name = code && code->function ? code->function : region->name;
    *finding = (struct lwp_finding){.kind = "communication", .index = tip->region, .title = tip->title, .next_step = tip->next_step, .share = tip->share,
                                    .severity = tip->severity};
    finding->id = lwp_arena_printf(profile->arena, "%s-%04x", tip->kind, (unsigned)(lwp_hash_text(name) & 0xffff));
}

size_t lwp_findings_of_threads_room(const struct lwp_thread_findings *together)
{
    return SHARINGS_SHOWN + together->tips.count;
}

size_t lwp_findings_of_threads(struct lwp_profile *profile, const struct lwp_thread_findings *together, struct lwp_finding *findings)
{
    size_t count = 0;
    for (size_t i = 0; i < together->sharings.count && count < SHARINGS_SHOWN; i++)
        if (finding_is_sharing(&together->sharings.items[i]))
            finding_of_sharing(profile, &together->sharings, i, &findings[count++]);
    for (size_t i = 0; i < together->tips.count; i++)
        finding_of_exchange(profile, &together->exchange, &together->tips, i, &findings[count++]);
    return count;
}
