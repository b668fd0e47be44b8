/* What is reported of all candidates, whether or not there is advice: their classes (eq. 8), how loops go over each pair (eq. 9-10),
 * and why the two are apart. */
#include "analysis/advice/layout/regroup_internal.h"

void lwp_regroup_classes(const struct lwp_regroup_candidates *candidates, size_t *classes)
{
    size_t n = candidates->count, count = 0;
    for (size_t i = 0; i < n; i++) {
        bool fits = false;
        for (classes[i] = 0; classes[i] < count && !fits; classes[i] += !fits) {
            fits = true;
            for (size_t j = 0; j < i; j++)
                fits &= classes[j] != classes[i] || candidates->verdicts[i * n + j].reason > LWP_REGROUP_SCHEME;
        }
        count += !fits;
    }
}

struct lwp_regroup_pattern lwp_regroup_pattern(const struct lwp_regroup_candidates *candidates, size_t a, size_t b)
{
    struct lwp_regroup_pattern pattern = {.region = LWP_NONE};
    const size_t pair[2] = {a, b};
    for (size_t l = 0; l < candidates->loop_count && pattern.region == LWP_NONE; l++) { /* heaviest first */
        const struct lwp_regroup_loop *loop = &candidates->loops[l];
        bool seen = loop->uses[a] && loop->uses[b];
        for (int i = 0; i < 2 && seen; i++) {
            const struct lwp_regroup_array *array = &candidates->arrays[pair[i]];
            struct lwp_regroup_use use = {.array = array,
                                          .traversal = lwp_traversals_of(&candidates->traversals, array->object, loop->region)};
            seen = lwp_regroup_bounds(use, false, &pattern.low[i], &pattern.high[i]) &&
                   lwp_regroup_bounds(use, true, &pattern.from_ns[i], &pattern.to_ns[i]);
        }
        if (seen)
            pattern.region = loop->region;
    }
    pattern.conflict = pattern.region != LWP_NONE && (pattern.high[0] <= pattern.low[1] || pattern.high[1] <= pattern.low[0] ||
                                                      pattern.to_ns[0] <= pattern.from_ns[1] || pattern.to_ns[1] <= pattern.from_ns[0]);
    return pattern;
}

/* The advice that joins candidate `array` with others, or NULL. */
static const struct lwp_regroup *regroup_of(const struct lwp_regroups *regroups, size_t array)
{
    for (size_t g = 0; g < regroups->count; g++)
        for (size_t i = 0; i < regroups->regroups[g].count; i++)
            if (regroups->regroups[g].members[i] == array)
                return &regroups->regroups[g];
    return NULL;
}

struct lwp_regroup_verdict lwp_regroup_pair_verdict(const struct lwp_regroups *regroups, size_t a, size_t b)
{
    const struct lwp_regroup_candidates *candidates = &regroups->candidates;
    const struct lwp_regroup *of_a = regroup_of(regroups, a), *of_b = regroup_of(regroups, b);
    struct lwp_regroup_verdict verdict = candidates->verdicts[a * candidates->count + b];
    bool advised = of_a && of_a == of_b, clustered = regroups->cluster[a] >= 0 && regroups->cluster[a] == regroups->cluster[b];
    if (verdict.reason == LWP_REGROUP_NONE && !advised && clustered && !of_a && !of_b)
        return (struct lwp_regroup_verdict){LWP_REGROUP_GAIN, "one array of both is not expected to pay", false};
    return advised ? verdict : lwp_regroup_why(candidates, a, b);
}
