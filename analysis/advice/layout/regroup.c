/* Finds arrays that should be one array of structures.
 *
 * Candidates (regroup_candidates.c) are hot arrays: one block at a time of one allocation, or one static variable, with elements of
 * known size. Two belong in one group when lifetime, location and scheme agree (5.3.1), no loop of weight goes over them apart
 * (regroup_order.c), the samples show positively that loops use them at one index, and their affinity over loops is high (eq. 11).
 * Groups grow by average linkage; two that conflict never end in one group. Only groups that gain for certain are advised
 * (regroup_gain.c); why others are not is kept (regroup_rejected.c).
 * Limits: many blocks alive from one line of code (rows, arrays allocated in a loop) cannot be distinguished and are no candidates;
 * at most 64 arrays and 64 loops are looked at. */
#include "analysis/advice/layout/regroup_internal.h"
#include "analysis/advice/layout/split_internal.h"
#include "analysis/profile/objects.h"
#include "analysis/tables/severity.h"

#include <stdlib.h>
#include <string.h>

enum { PRUNED = -2 };

static const double shared_always = 0.99;
const double lwp_regroup_needs = 1.02;
static const double apart = -1e6; /* affinity of what must not be in one group: no average makes up for it */

/* The order in the structure: what needs more alignment first, so that nothing is padded; then as in the source. */
static int regroup_member_compare(const void *a, const void *b, void *arrays)
{
    const struct lwp_regroup_array *x = (struct lwp_regroup_array *)arrays + *(const size_t *)a;
    const struct lwp_regroup_array *y = (struct lwp_regroup_array *)arrays + *(const size_t *)b;
    if (x->alignment != y->alignment)
        return x->alignment > y->alignment ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

static void regroup_weigh(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, struct lwp_regroup *regroup)
{
    regroup->weight = (struct lwp_tally){0};
    for (size_t i = 0; i < regroup->count; i++)
        lwp_tally_merge(&regroup->weight, &profile->objects[candidates->arrays[regroup->members[i]].object].weight);
}

static const char *regroup_confidence(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                      const struct lwp_regroup *regroup)
{
    bool sure = true, typed = true;
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_object *object = &profile->objects[candidates->arrays[regroup->members[i]].object];
        sure &= object->type != NULL || object->element_probability > 0.99;
        typed &= object->type != NULL; /* by the addresses alone there is one witness only */
    }
    if (sure && typed && lwp_evidence_of(regroup->weight.samples) >= LWP_EVIDENCE_MUCH)
        return "high";
    return sure && lwp_evidence_of(regroup->weight.samples) >= LWP_EVIDENCE_GOOD ? "medium" : "low";
}

/* Whether some loop uses the array and not all of the others, or the others and not it. */
static bool regroup_strays(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup, size_t i)
{
    for (size_t k = 0; k < regroup->count; k++)
        if (k != i && candidates->affinity[regroup->members[i] * candidates->count + regroup->members[k]] < shared_always)
            return true;
    return false;
}

/* Leaves out arrays that cost more than they bring: a loop that uses one alone fetches all. One at a time, that without which the
 * gain is largest. Not where too little is gained anyway: then nothing is reported. */
static void regroup_prune(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, int *group,
                          struct lwp_regroup *regroup)
{
    size_t *members = lwp_arena_alloc(profile->arena, regroup->count, sizeof *members);
    while (regroup->count > 2 && regroup->gain.high >= lwp_regroup_needs) {
        struct lwp_regroup best = *regroup, less = *regroup;
        size_t without = regroup->count;
        less.count--;
        less.members = members;
        for (size_t i = 0; i < regroup->count; i++) {
            memcpy(members, regroup->members, i * sizeof *members);
            memcpy(members + i, regroup->members + i + 1, (less.count - i) * sizeof *members);
            regroup_weigh(profile, candidates, &less);
            lwp_regroup_gain(profile, candidates, &less);
            if (less.gain.low > best.gain.low + 0.005 && regroup_strays(candidates, regroup, i)) {
                best = less;
                without = i;
            }
        }
        if (without == regroup->count)
            return;
        group[regroup->members[without]] = PRUNED;
        size_t *kept = regroup->members;
        memmove(kept + without, kept + without + 1, (regroup->count - without - 1) * sizeof *kept);
        best.members = kept;
        *regroup = best;
    }
}

/* Whether the group is worth advising; if not, why. */
static bool regroup_try(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates, int *group, int which,
                        struct lwp_regroup *regroup)
{
    size_t *members = lwp_arena_alloc(profile->arena, candidates->count, sizeof *members);
    uint64_t l2 = lwp_gain_caches(profile->machine).l2_bytes, bytes = 0;
    *regroup = (struct lwp_regroup){.members = members};
    for (size_t c = 0; c < candidates->count; c++)
        if (group[c] == which)
            members[regroup->count++] = c;
    if (regroup->count < 2)
        return false;
    regroup_weigh(profile, candidates, regroup);
    qsort_r(members, regroup->count, sizeof *members, regroup_member_compare, candidates->arrays);
    /* Members are chosen by estimates: there are many choices, and what is measured differs a little each time. */
    double seconds = profile->measure_seconds;
    profile->measure_seconds = 0;
    lwp_regroup_gain(profile, candidates, regroup);
    regroup_prune(profile, candidates, group, regroup);
    profile->measure_seconds = seconds;
    regroup_weigh(profile, candidates, regroup);
    lwp_regroup_gain(profile, candidates, regroup);
    for (size_t i = 0; i < regroup->count; i++)
        bytes += profile->objects[candidates->arrays[members[i]].object].largest;
    if (regroup->count < 2)
        return false;
    if (bytes <= l2 / 2 || lwp_share_of(&regroup->weight, &profile->total).value < 0.02)
        return false;
    if (!lwp_evidence_of(regroup->weight.samples) && regroup->gain.high >= lwp_regroup_needs) {
        lwp_profile_note(
            profile,
            "Too few samples (%llu) on %s to advise on regrouping them; let the program run longer or sample more (" LWP_SAMPLE_MORE ").",
            (unsigned long long)regroup->weight.samples, lwp_regroup_list(profile, candidates, regroup));
        return false;
    }
    return true;
}

static int regroup_compare(const void *a, const void *b)
{
    const struct lwp_regroup *x = a, *y = b;
    double p = x->gain.low + x->gain.high, q = y->gain.low + y->gain.high;
    return (p < q) - (p > q);
}

void lwp_regroup_advise(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_regroups *regroups)
{
    struct lwp_regroup_candidates *candidates = &regroups->candidates;
    double weights[LWP_REGROUP_ARRAYS_MAX] = {0}, *affinity;
    bool reported[LWP_REGROUP_ARRAYS_MAX] = {false};
    int group[LWP_REGROUP_ARRAYS_MAX];
    memset(regroups, 0, sizeof *regroups);
    lwp_regroup_collect(profile, splits, candidates);
    lwp_regroup_judge(profile, candidates);
    size_t n = candidates->count;
    affinity = lwp_arena_alloc(profile->arena, n * n + 1, sizeof *affinity);
    regroups->regroups = lwp_arena_alloc(profile->arena, n + 1, sizeof *regroups->regroups);
    regroups->left = lwp_arena_alloc(profile->arena, n + 1, sizeof *regroups->left);
    for (size_t i = 0; i < n; i++) {
        weights[i] = 1e-9;
        for (size_t l = 0; l < candidates->loop_count; l++)
            weights[i] += candidates->loops[l].uses[i] ? candidates->loops[l].weight : 0;
        for (size_t j = 0; j < n; j++)
            affinity[i * n + j] = candidates->verdicts[i * n + j].reason == LWP_REGROUP_NONE ? candidates->affinity[i * n + j] : apart;
    }
    size_t groups = lwp_affinity_cluster(affinity, weights, n, lwp_regroup_affinity_least, 0, group);
    memcpy(regroups->cluster, group, sizeof regroups->cluster);
    for (size_t g = 0; g < groups; g++) {
        struct lwp_regroup *regroup = &regroups->regroups[regroups->count];
        if (!regroup_try(profile, candidates, group, (int)g, regroup))
            continue;
        for (size_t i = 0; i < n; i++)
            reported[i] |= regroups->cluster[i] == (int)g;
        if (regroup->gain.low < lwp_regroup_needs) {
            regroups->left[regroups->left_count++] = *regroup;
            if (regroup->gain.high < lwp_regroup_needs)
                lwp_profile_note(profile,
                                 "Loops use %s at the same index, but regrouping them is not expected to pay: the program would be %.2fx "
                                 "as fast at most.",
                                 lwp_regroup_list(profile, candidates, regroup), regroup->gain.high);
            continue;
        }
        lwp_regroup_reject(profile, candidates, group, (int)g, regroup, reported);
        regroup->confidence = regroup_confidence(profile, candidates, regroup);
        regroup->declaration = lwp_regroup_declaration(profile, candidates, regroup);
        regroups->count++;
    }
    qsort(regroups->regroups, regroups->count, sizeof *regroups->regroups, regroup_compare);
    lwp_regroup_apart(profile, regroups, reported);
}

const bool *lwp_regroup_members(struct lwp_profile *profile, const struct lwp_regroups *regroups)
{
    bool *members = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *members);
    for (size_t i = 0; i < regroups->count; i++)
        for (size_t k = 0; k < regroups->regroups[i].count; k++)
            members[regroups->candidates.arrays[regroups->regroups[i].members[k]].object] = true;
    return members;
}

void lwp_regroup_free(struct lwp_regroups *regroups)
{
    lwp_traversals_fini(&regroups->candidates.traversals);
}
