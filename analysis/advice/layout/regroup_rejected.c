/* Which arrays one would expect in one group and that are not, and why. */
#include "analysis/advice/layout/regroup_internal.h"

#include "analysis/profile/objects.h"

static const double shown_share = 0.02; /* of loops that use both: below it is not worth a word */

const char *lwp_regroup_reason_name(enum lwp_regroup_reason reason)
{
    static const char *const names[] = {
        [LWP_REGROUP_LOCATION] = "location", [LWP_REGROUP_LIFETIME] = "lifetime", [LWP_REGROUP_SCHEME] = "scheme",
        [LWP_REGROUP_RANGE] = "range",       [LWP_REGROUP_TIME] = "time",         [LWP_REGROUP_ORDER] = "order",
        [LWP_REGROUP_AFFINITY] = "affinity", [LWP_REGROUP_GAIN] = "gain",         [LWP_REGROUP_NONE] = "joined",
        [LWP_REGROUP_UNKNOWN] = "unknown"};
    return names[reason];
}

/* The part of an array's loops, by weight, that uses the other array too; NULL: of all loops. */
static double regroup_common(const struct lwp_regroup_candidates *candidates, const size_t *array, size_t a, size_t b)
{
    double common = 0, all = 0;
    for (size_t l = 0; l < candidates->loop_count; l++) {
        const struct lwp_regroup_loop *loop = &candidates->loops[l];
        all += !array || loop->uses[*array] ? loop->weight : 0;
        common += loop->uses[a] && loop->uses[b] ? loop->weight : 0;
    }
    return all > 0 ? common / all : 0;
}

struct lwp_regroup_verdict lwp_regroup_why(const struct lwp_regroup_candidates *candidates, size_t a, size_t b)
{
    struct lwp_regroup_verdict verdict = candidates->verdicts[a * candidates->count + b];
    if (verdict.reason == LWP_REGROUP_NONE)
        verdict = (struct lwp_regroup_verdict){LWP_REGROUP_AFFINITY, "loops that use one without the other would fetch both", false};
    if (verdict.reason == LWP_REGROUP_UNKNOWN)
        verdict.detail = "the samples do not show that they are traversed together";
    return verdict;
}

/* Called as everywhere else: the names of a declaration to paste are for those that it joins. */
static struct lwp_regroup_rejected regroup_rejected(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                                    size_t array, size_t with)
{
    const uint32_t object = candidates->arrays[array].object;
    return (struct lwp_regroup_rejected){object, lwp_objects_name(profile, object),
                                         lwp_objects_name(profile, candidates->arrays[with].object),
                                         lwp_regroup_why(candidates, array, with)};
}

void lwp_regroup_reject(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, const int *group, int which,
                        struct lwp_regroup *regroup, bool *reported)
{
    regroup->rejected = lwp_arena_alloc(profile->arena, LWP_REGROUP_REJECTED_MAX, sizeof *regroup->rejected);
    for (size_t c = 0; c < candidates->count && regroup->rejected_count < LWP_REGROUP_REJECTED_MAX; c++) {
        size_t closest = LWP_REGROUP_ARRAYS_MAX;
        double most = 0;
        for (size_t m = 0; m < candidates->count && group[c] != which; m++) {
            bool worth = group[m] == which && regroup_common(candidates, NULL, c, m) >= shown_share;
            double common = worth ? regroup_common(candidates, &c, c, m) : 0;
            /* A conflict says more than an affinity. */
            if (common > most && candidates->verdicts[c * candidates->count + m].reason <= LWP_REGROUP_ORDER)
                common += 1;
            if (common > most) {
                most = common;
                closest = m;
            }
        }
        if (closest == LWP_REGROUP_ARRAYS_MAX || (most > 1 ? most - 1 : most) < shown_share)
            continue;
        regroup->rejected[regroup->rejected_count++] = regroup_rejected(profile, candidates, c, closest);
        reported[c] = true;
    }
}

void lwp_regroup_apart(struct lwp_profile *profile, struct lwp_regroups *regroups, const bool *reported)
{
    regroups->apart = lwp_arena_alloc(profile->arena, LWP_REGROUP_REJECTED_MAX, sizeof *regroups->apart);
    const struct lwp_regroup_candidates *candidates = &regroups->candidates;
    for (size_t i = 0; i < candidates->count; i++)
        for (size_t j = 0; j < i; j++) {
            struct lwp_regroup_verdict verdict = lwp_regroup_why(candidates, i, j);
            double least = verdict.reason == LWP_REGROUP_AFFINITY ? shown_share : 0.5;
            if (reported[i] || reported[j] || regroup_common(candidates, NULL, i, j) < shown_share ||
                regroups->apart_count == LWP_REGROUP_REJECTED_MAX || verdict.reason > LWP_REGROUP_AFFINITY ||
                regroup_common(candidates, &i, i, j) < least || regroup_common(candidates, &j, j, i) < least)
                continue;
            regroups->apart[regroups->apart_count++] = regroup_rejected(profile, candidates, i, j);
        }
}
