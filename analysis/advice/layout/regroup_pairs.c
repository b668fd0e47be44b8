/* Whether two arrays may be in one group: lifetime, location and scheme (5.3.1), how loops go over them (regroup_loop.c), and their
 * affinity over loops (eq. 11). */
#include "analysis/advice/layout/regroup_internal.h"
#include "analysis/profile/objects.h"

static const double conflict_worth = 0.2, outside_most = 0.15;
static const uint64_t slack_ns = 5000000;

/* Whether a loop stores the object's values and never loads them. */
static bool regroup_fills(const struct lwp_profile *profile, uint32_t object, uint32_t region)
{
    bool stores = false;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->object != object || stream->region != region)
            continue;
        if (stream->loads)
            return false;
        stores |= stream->stores > 0;
    }
    return stores;
}

/* The share of an array's use outside of the other's lifetime. To fill it before the other is made is no obstacle, however long it takes. */
static double regroup_outside(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                              const struct lwp_regroup_array *array, const struct lwp_object *other)
{
    double all = 0, outside = 0;
    const uint64_t made = other->allocated_ns;
    if (profile->objects[array->object].first_ns + slack_ns >= made &&
        profile->objects[array->object].last_ns <= other->freed_ns)
        return 0;
    for (size_t l = 0; l < candidates->loop_count; l++) {
        const struct lwp_traversal *traversal = lwp_traversals_of(&candidates->traversals, array->object, candidates->loops[l].region);
        double before = 0;
        for (uint32_t i = 0; traversal && i < traversal->count; i++) {
            uint64_t time = traversal->places[i].time;
            double part = (double)traversal->accesses / traversal->count;
            all += part;
            before += time + slack_ns < made ? part : 0;
            outside += time > other->freed_ns && time - other->freed_ns > slack_ns ? part : 0;
        }
        outside += before > 0 && !regroup_fills(profile, array->object, candidates->loops[l].region) ? before : 0;
    }
    return all > 0 ? outside / all : 0;
}

static struct lwp_regroup_verdict regroup_kinds(struct lwp_profile *profile, enum lwp_object_kind a, enum lwp_object_kind b)
{
    static const char *const are[] = {[LWP_OBJECT_HEAP] = "allocated",
                                      [LWP_OBJECT_STATIC] = "static data",
                                      [LWP_OBJECT_STACK] = "on a stack",
                                      [LWP_OBJECT_MMAP] = "mapped",
                                      [LWP_OBJECT_UNKNOWN] = "unknown memory"};
    return (struct lwp_regroup_verdict){
        LWP_REGROUP_LOCATION, lwp_arena_printf(profile->arena, "one is %s, the other is %s", are[a < b ? a : b], are[a < b ? b : a]), false};
}

/* 5.3.1. */
static struct lwp_regroup_verdict regroup_classes(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                                  const struct lwp_regroup_array *a, const struct lwp_regroup_array *b)
{
    const struct lwp_object *x = &profile->objects[a->object], *y = &profile->objects[b->object];
    if (x->kind != y->kind)
        return regroup_kinds(profile, x->kind, y->kind);
    if (a->module != b->module)
        return (struct lwp_regroup_verdict){LWP_REGROUP_LOCATION, "they belong to different modules", false};
    if (regroup_outside(profile, candidates, a, y) > outside_most || regroup_outside(profile, candidates, b, x) > outside_most)
        return (struct lwp_regroup_verdict){LWP_REGROUP_LIFETIME, "one is used when the other does not exist", false};
    if (x->kind != LWP_OBJECT_STATIC && (!x->allocations || !y->allocations)) /* killed before that was written */
        return (struct lwp_regroup_verdict){LWP_REGROUP_LIFETIME, "how often they are allocated is not known", false};
    if (x->kind != LWP_OBJECT_STATIC && x->allocations != y->allocations)
        return (struct lwp_regroup_verdict){LWP_REGROUP_LIFETIME,
                                            lwp_arena_printf(profile->arena, "one is allocated %llu time%s, the other %llu",
                                                             (unsigned long long)x->allocations, x->allocations == 1 ? "" : "s",
                                                             (unsigned long long)y->allocations),
                                            false};
    uint64_t more = a->elements > b->elements ? a->elements : b->elements;
    uint64_t less = a->elements > b->elements ? b->elements : a->elements;
    if (more - less > more / 1000)
        return (struct lwp_regroup_verdict){LWP_REGROUP_SCHEME,
                                            lwp_arena_printf(profile->arena, "they have %llu elements and %llu elements",
                                                             (unsigned long long)a->elements, (unsigned long long)b->elements),
                                            false};
    return (struct lwp_regroup_verdict){LWP_REGROUP_NONE, NULL, false};
}

/* A conflict counts when the loops with it weigh enough; of several the heaviest is named. */
static struct lwp_regroup_verdict regroup_used(const struct lwp_regroup_seen *seen, double affinity)
{
    if (affinity < lwp_regroup_affinity_least)
        return (struct lwp_regroup_verdict){LWP_REGROUP_AFFINITY,
                                            seen->separate > seen->common ? "no run of a loop uses both"
                                            : seen->common <= 0           ? "no loop uses both"
                                                                          : "most of their use is in loops without the other",
                                            false};
    if (seen->conflict > conflict_worth * seen->common)
        return seen->worst;
    if (seen->together > 0 && seen->together >= 0.5 * (seen->common - seen->conflict))
        return (struct lwp_regroup_verdict){LWP_REGROUP_NONE, NULL, false};
    return (struct lwp_regroup_verdict){LWP_REGROUP_UNKNOWN, NULL, false};
}

void lwp_regroup_judge(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates)
{
    size_t n = candidates->count;
    double own[LWP_REGROUP_ARRAYS_MAX] = {0};
    candidates->verdicts = lwp_arena_alloc(profile->arena, n * n + 1, sizeof *candidates->verdicts);
    candidates->affinity = lwp_arena_alloc(profile->arena, n * n + 1, sizeof *candidates->affinity);
    struct lwp_regroup_seen *seen = lwp_arena_alloc(profile->arena, n * n + 1, sizeof *seen);
    for (size_t l = 0; l < candidates->loop_count; l++) {
        const struct lwp_regroup_loop *loop = &candidates->loops[l];
        size_t used = 0;
        for (size_t c = 0; c < n; c++)
            used += loop->uses[c];
        for (size_t c = 0; c < n; c++)
            own[c] += loop->uses[c] ? loop->weight / (double)used : 0;
        lwp_regroup_look(profile, candidates, loop, seen);
    }
    for (size_t i = 0; i < n; i++) /* eq. 11, each loop's weight in even parts for the arrays it uses */
        for (size_t j = 0; j < n; j++) {
            double parts = i < j ? seen[i * n + j].parts : seen[j * n + i].parts;
            candidates->affinity[i * n + j] = own[i] + own[j] > 0 ? parts / (own[i] + own[j]) : 0;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            struct lwp_regroup_verdict verdict = regroup_classes(profile, candidates, &candidates->arrays[i], &candidates->arrays[j]);
            if (verdict.reason == LWP_REGROUP_NONE)
                verdict = regroup_used(&seen[i * n + j], candidates->affinity[i * n + j]);
            candidates->verdicts[i * n + j] = candidates->verdicts[j * n + i] = verdict;
        }
}
