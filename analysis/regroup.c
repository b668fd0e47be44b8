/* Finds arrays that should be one array of structures.
 *
 * Candidates are hot arrays: one block at a time of one allocation, or one static variable, with elements of known
 * size. Two belong together when lifetime, location and scheme agree (5.3.1), no loop of weight walks them apart
 * (regroup_order.c), the samples show positively that they are walked together, and their affinity over loops is high
 * (eq. 11). Groups grow by average linkage; two that conflict never end in one group. Of the groups only those are
 * advised that gain for certain (regroup_gain.c); why others are not is kept.
 * Limits: many blocks alive from one line of code (rows, arrays allocated in a loop) cannot be told apart and are no
 * candidates; at most 64 arrays and 64 loops are looked at. */
#include "analysis/regroup.h"

#include "analysis/affinity.h"
#include "analysis/objects.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES_NEEDED = 40,
    SAMPLES_GOOD = 150,
    SAMPLES_MANY = 500,
    ACCESSES_NEEDED = 6,
    REJECTED_MAX = 32,
    PRUNED = -2
};

static const double together = 0.5, shared_always = 0.99, share_worth = 0.002, gain_needed = 1.02, conflict_worth = 0.2,
                    outside_most = 0.15, shown_share = 0.02;
static const double apart = -1e6; /* affinity of what must not be joined: no average makes up for it */
static const uint64_t usual_l2 = 1 << 20, slack_ns = 5000000;

const char *lwp_regroup_reason_name(enum lwp_regroup_reason reason)
{
    static const char *const names[] = {"location", "lifetime", "scheme", "range",  "time",
                                        "order",    "affinity", "gain",   "joined", "order"};
    return names[reason];
}

/* ---- candidates ---- */

/* The module an array belongs to, and where in it the source makes it. */
static uint32_t regroup_module(struct lwp_profile *profile, const struct lwp_object *object, uint64_t *place)
{
    struct lwp_frame frame;
    uint32_t node;
    *place = object->start;
    if (object->kind == LWP_OBJECT_STATIC)
        return object->module;
    if (!object->context || !lwp_objects_site(profile, object->context, &frame, &node))
        return object->context ? profile->contexts[object->context].module : LWP_NONE;
    *place = frame.line ? frame.line : profile->contexts[node].address;
    return profile->contexts[node].module;
}

static bool regroup_is_split(const struct lwp_splits *splits, uint32_t object)
{
    for (size_t i = 0; i < splits->count; i++)
        for (size_t k = 0; k < splits->splits[i].layout->object_count; k++)
            if (splits->splits[i].layout->objects[k] == object)
                return true;
    return false;
}

static bool regroup_is_candidate(const struct lwp_profile *profile, uint32_t index)
{
    const struct lwp_object *object = &profile->objects[index];
    double share = profile->total.weight > 0 ? object->weight.weight / profile->total.weight : 0;
    if (!object->accessed || !lwp_objects_is_array(profile, index) || object->accesses < ACCESSES_NEEDED)
        return false;
    if (object->element_bytes == 0 || object->single || object->largest / object->element_bytes < 64)
        return false;
    if (object->bytes > object->largest + object->largest / 8) /* several blocks at a time */
        return false;
    return share >= share_worth || (double)object->accesses >= share_worth * 4 * (double)profile->samples_with_address;
}

static const struct lwp_profile *regroup_sorted;

static int regroup_object_compare(const void *a, const void *b)
{
    const struct lwp_object *x = &regroup_sorted->objects[*(const uint32_t *)a];
    const struct lwp_object *y = &regroup_sorted->objects[*(const uint32_t *)b];
    if (x->weight.weight != y->weight.weight)
        return x->weight.weight < y->weight.weight ? 1 : -1;
    if (x->accesses != y->accesses)
        return x->accesses < y->accesses ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

static void regroup_collect(struct lwp_profile *profile, const struct lwp_splits *splits,
                            struct lwp_regroup_candidates *candidates)
{
    uint32_t *order = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *order);
    size_t count = 0;
    for (size_t i = 0; i < profile->object_count; i++)
        if (regroup_is_candidate(profile, (uint32_t)i) && !regroup_is_split(splits, (uint32_t)i))
            order[count++] = (uint32_t)i;
    regroup_sorted = profile;
    qsort(order, count, sizeof *order, regroup_object_compare);
    if (count > LWP_REGROUP_ARRAYS_MAX)
        count = LWP_REGROUP_ARRAYS_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct lwp_object *object = &profile->objects[order[i]];
        uint64_t place, alignment = object->element_bytes & -object->element_bytes;
        uint32_t module = regroup_module(profile, object, &place);
        if (object->type && object->type->alignment > 1)
            alignment = object->type->alignment;
        candidates->arrays[i] =
            (struct lwp_regroup_array){.object = order[i],
                                       .module = module,
                                       .place = place,
                                       .start = object->element_start,
                                       .element_bytes = object->element_bytes,
                                       .elements = (object->largest - object->element_start) / object->element_bytes,
                                       .alignment = alignment < 16 ? alignment : 16,
                                       .on_heap = object->kind == LWP_OBJECT_HEAP,
                                       .type = object->type};
    }
    candidates->count = count;
    lwp_regroup_names(profile, candidates);
}

/* ---- loops ---- */

static int regroup_loop_compare(const void *a, const void *b)
{
    const struct lwp_regroup_loop *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->region > y->region) - (x->region < y->region);
}

static bool regroup_heavier(const struct lwp_stream *a, const struct lwp_stream *b)
{
    return !b || a->weight.weight > b->weight.weight ||
           (a->weight.weight >= b->weight.weight && a->accesses > b->accesses);
}

/* What the loop's code is like, where each array's heaviest access is. */
static void regroup_code(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                         struct lwp_regroup_loop *loop)
{
    const struct lwp_stream *heaviest = NULL;
    for (size_t c = 0; c < candidates->count; c++) {
        const struct lwp_stream *of = NULL;
        uint64_t vectors = 0;
        for (uint32_t s = profile->object_streams[candidates->arrays[c].object]; s != LWP_NONE;
             s = profile->streams[s].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[s];
            if (stream->region != loop->region)
                continue;
            if (stream->vector && stream->bytes > candidates->arrays[c].element_bytes)
                vectors += stream->accesses;
            if (regroup_heavier(stream, of))
                of = stream;
        }
        loop->vector[c] = vectors * 2 > loop->accesses[c];
        struct lwp_loop_shape shape;
        if (!of || !loop->uses[c] || of->module == LWP_NONE ||
            !lwp_loop_shape(profile->code, of->module, of->address, &shape))
            continue;
        loop->steps[c] = shape.steps;
        if (regroup_heavier(of, heaviest)) {
            heaviest = of;
            loop->shape = shape;
        }
    }
}

static void regroup_times(const struct lwp_regroup_candidates *candidates, struct lwp_regroup_loop *loop)
{
    loop->first_ns = UINT64_MAX;
    for (size_t c = 0; c < candidates->count; c++) {
        const struct lwp_walk *walk = lwp_walks_of(&candidates->walks, candidates->arrays[c].object, loop->region);
        for (uint32_t i = 0; walk && i < walk->count; i++) {
            uint64_t time = walk->places[i].time;
            loop->first_ns = time < loop->first_ns ? time : loop->first_ns;
            loop->last_ns = time > loop->last_ns ? time : loop->last_ns;
        }
    }
}

/* A loop whose stalls all hide behind computing still shows who is used together: its accesses weigh a little. */
static void regroup_loops(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates)
{
    enum { FOUND_MAX = 1024 };
    struct lwp_map *index = lwp_map_new();
    struct lwp_regroup_loop *loops = NULL;
    size_t count = 0, room = 0;
    double mean = profile->total.samples ? profile->total.weight / (double)profile->total.samples : 1;
    for (size_t c = 0; c < candidates->count; c++)
        for (uint32_t s = profile->object_streams[candidates->arrays[c].object]; s != LWP_NONE;
             s = profile->streams[s].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[s];
            if (stream->region == LWP_NONE)
                continue;
            uint32_t *at = lwp_map_at(index, stream->region);
            if (*at == LWP_MAP_NONE) {
                if (count == FOUND_MAX)
                    continue;
                *at = (uint32_t)count;
                LWP_GROW(&loops, count, &room);
                memset(&loops[count], 0, sizeof *loops);
                loops[count++].region = stream->region;
            }
            struct lwp_regroup_loop *loop = &loops[*at];
            lwp_tally_merge(&loop->of[c], &stream->weight);
            loop->accesses[c] += stream->accesses;
            loop->weight += stream->weight.weight + 0.02 * mean * (double)stream->accesses;
        }
    if (count)
        qsort(loops, count, sizeof *loops, regroup_loop_compare);
    candidates->loop_count = count < LWP_REGROUP_LOOPS_MAX ? count : LWP_REGROUP_LOOPS_MAX;
    candidates->loops = lwp_arena_alloc(profile->arena, candidates->loop_count + 1, sizeof *loops);
    for (size_t l = 0; l < candidates->loop_count; l++) {
        candidates->loops[l] = loops[l];
        struct lwp_regroup_loop *loop = &candidates->loops[l];
        for (size_t c = 0; c < candidates->count; c++)
            /* One access in a hundred may be another loop's, or another array's. */
            loop->uses[c] = loop->accesses[c] >= 2 &&
                            loop->accesses[c] * 100 > profile->objects[candidates->arrays[c].object].accesses;
        regroup_code(profile, candidates, loop);
        regroup_times(candidates, loop);
    }
    free(loops);
    lwp_map_free(index);
}

static void regroup_walks(const struct lwp_profile *profile, struct lwp_regroup_candidates *candidates)
{
    uint32_t *regions = malloc((profile->region_count + 1) * sizeof *regions);
    lwp_walks_init(&candidates->walks);
    if (!regions)
        abort();
    for (size_t i = 0; i < profile->region_count; i++)
        regions[i] = profile->regions[i].same_as;
    lwp_walks_merge(&candidates->walks, &profile->walks, NULL, regions);
    free(regions);
}

/* ---- pairs ---- */

/* The share of an array's use outside of the other's lifetime. To fill it before the other is made is no obstacle. */
static double regroup_outside(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                              const struct lwp_regroup_array *array, const struct lwp_object *other)
{
    double all = 0, outside = 0;
    if (profile->objects[array->object].first_ns + slack_ns >= other->born_ns &&
        profile->objects[array->object].last_ns <= other->died_ns)
        return 0;
    for (size_t l = 0; l < candidates->loop_count; l++) {
        const struct lwp_walk *walk = lwp_walks_of(&candidates->walks, array->object, candidates->loops[l].region);
        for (uint32_t i = 0; walk && i < walk->count; i++) {
            uint64_t time = walk->places[i].time;
            double part = (double)walk->accesses / walk->count;
            all += part;
            outside += time + slack_ns < other->born_ns || (time > other->died_ns && time - other->died_ns > slack_ns)
                           ? part
                           : 0;
        }
    }
    return all > 0 ? outside / all : 0;
}

/* 5.3.1. */
static struct lwp_regroup_verdict regroup_classes(struct lwp_profile *profile,
                                                  const struct lwp_regroup_candidates *candidates,
                                                  const struct lwp_regroup_array *a, const struct lwp_regroup_array *b)
{
    const struct lwp_object *x = &profile->objects[a->object], *y = &profile->objects[b->object];
    if (x->kind != y->kind)
        return (struct lwp_regroup_verdict){LWP_REGROUP_LOCATION, "one is static data, the other is allocated", false};
    if (a->module != b->module)
        return (struct lwp_regroup_verdict){LWP_REGROUP_LOCATION, "they belong to different modules", false};
    if (regroup_outside(profile, candidates, a, y) > outside_most ||
        regroup_outside(profile, candidates, b, x) > outside_most)
        return (struct lwp_regroup_verdict){LWP_REGROUP_LIFETIME, "one is used when the other does not exist", false};
    if (x->kind != LWP_OBJECT_STATIC && x->allocations != y->allocations)
        return (struct lwp_regroup_verdict){
            LWP_REGROUP_LIFETIME,
            lwp_arena_printf(profile->arena, "they are allocated %llu times and %llu times",
                             (unsigned long long)x->allocations, (unsigned long long)y->allocations),
            false};
    uint64_t more = a->elements > b->elements ? a->elements : b->elements;
    uint64_t less = a->elements > b->elements ? b->elements : a->elements;
    if (more - less > more / 1000)
        return (struct lwp_regroup_verdict){
            LWP_REGROUP_SCHEME,
            lwp_arena_printf(profile->arena, "they have %llu elements and %llu elements",
                             (unsigned long long)a->elements, (unsigned long long)b->elements),
            false};
    return (struct lwp_regroup_verdict){LWP_REGROUP_NONE, NULL, false};
}

/* A conflict counts when the loops with it weigh enough; of several the heaviest is named. */
static struct lwp_regroup_verdict regroup_walked(const struct lwp_regroup_seen *seen, double affinity)
{
    if (affinity < together)
        return (struct lwp_regroup_verdict){LWP_REGROUP_AFFINITY,
                                            seen->separate > seen->common ? "no run of a loop uses both"
                                            : seen->common <= 0           ? "no loop uses both"
                                                                : "most of their use is in loops without the other",
                                            false};
    if (seen->conflict > conflict_worth * seen->common)
        return seen->worst;
    if (seen->joined > 0 && seen->joined >= 0.5 * (seen->common - seen->conflict))
        return (struct lwp_regroup_verdict){LWP_REGROUP_NONE, NULL, false};
    return (struct lwp_regroup_verdict){LWP_REGROUP_UNKNOWN, NULL, false};
}

static void regroup_judge(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates)
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
            struct lwp_regroup_verdict verdict =
                regroup_classes(profile, candidates, &candidates->arrays[i], &candidates->arrays[j]);
            if (verdict.reason == LWP_REGROUP_NONE)
                verdict = regroup_walked(&seen[i * n + j], candidates->affinity[i * n + j]);
            candidates->verdicts[i * n + j] = candidates->verdicts[j * n + i] = verdict;
        }
}

/* ---- groups ---- */

/* The part of an array's loops, by weight, that uses the other array too. */
static double regroup_common(const struct lwp_regroup_candidates *candidates, size_t array, size_t other)
{
    double common = 0, own = 0;
    for (size_t l = 0; l < candidates->loop_count; l++) {
        const struct lwp_regroup_loop *loop = &candidates->loops[l];
        own += loop->uses[array] ? loop->weight : 0;
        common += loop->uses[array] && loop->uses[other] ? loop->weight : 0;
    }
    return own > 0 ? common / own : 0;
}

static struct lwp_regroup_verdict regroup_why(const struct lwp_regroup_candidates *candidates, size_t a, size_t b)
{
    struct lwp_regroup_verdict verdict = candidates->verdicts[a * candidates->count + b];
    if (verdict.reason == LWP_REGROUP_NONE)
        verdict = (struct lwp_regroup_verdict){LWP_REGROUP_AFFINITY,
                                               "loops that use one without the other would fetch both", false};
    if (verdict.reason == LWP_REGROUP_UNKNOWN)
        verdict.detail = "the samples do not show that they are walked together";
    return verdict;
}

/* How much of all use of candidates is in loops that use both: below a little it is not worth a word. */
static double regroup_shared(const struct lwp_regroup_candidates *candidates, size_t a, size_t b)
{
    double common = 0, all = 0;
    for (size_t l = 0; l < candidates->loop_count; l++) {
        const struct lwp_regroup_loop *loop = &candidates->loops[l];
        all += loop->weight;
        common += loop->uses[a] && loop->uses[b] ? loop->weight : 0;
    }
    return all > 0 ? common / all : 0;
}

/* Arrays that share loops with the group and are left out, with the reason against the member they share most with. */
static void regroup_rejects(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                            const int *group, int which, struct lwp_regroup *regroup, bool *told)
{
    regroup->rejected = lwp_arena_alloc(profile->arena, REJECTED_MAX, sizeof *regroup->rejected);
    for (size_t c = 0; c < candidates->count && regroup->rejected_count < REJECTED_MAX; c++) {
        size_t closest = LWP_REGROUP_ARRAYS_MAX;
        double most = 0;
        for (size_t m = 0; m < candidates->count && group[c] != which; m++) {
            bool worth = group[m] == which && regroup_shared(candidates, c, m) >= shown_share;
            double common = worth ? regroup_common(candidates, c, m) : 0;
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
        regroup->rejected[regroup->rejected_count++] =
            (struct lwp_regroup_rejected){.object = candidates->arrays[c].object,
                                          .name = candidates->arrays[c].name,
                                          .with = candidates->arrays[closest].name,
                                          .verdict = regroup_why(candidates, c, closest)};
        told[c] = true;
    }
}

/* The order in the structure: what needs more alignment first, so that nothing is padded; then as in the source. */
static bool regroup_before(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b)
{
    if (a->alignment != b->alignment)
        return a->alignment > b->alignment;
    return a->place != b->place ? a->place < b->place : a->object < b->object;
}

static void regroup_order(const struct lwp_regroup_candidates *candidates, size_t *members, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i;
             k > 0 && regroup_before(&candidates->arrays[members[k]], &candidates->arrays[members[k - 1]]); k--) {
            size_t kept = members[k];
            members[k] = members[k - 1];
            members[k - 1] = kept;
        }
}

static const char *regroup_confidence(const struct lwp_profile *profile,
                                      const struct lwp_regroup_candidates *candidates,
                                      const struct lwp_regroup *regroup)
{
    bool sure = true;
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_object *object = &profile->objects[candidates->arrays[regroup->members[i]].object];
        sure &= object->type != NULL || object->element_probability > 0.99;
    }
    if (sure && regroup->weight.samples >= SAMPLES_MANY)
        return "high";
    return sure && regroup->weight.samples >= SAMPLES_GOOD ? "medium" : "low";
}

/* Whether some loop uses the array and not all of the others, or the others and not it. */
static bool regroup_strays(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup, size_t i)
{
    for (size_t k = 0; k < regroup->count; k++)
        if (k != i &&
            candidates->affinity[regroup->members[i] * candidates->count + regroup->members[k]] < shared_always)
            return true;
    return false;
}

/* Leaves out arrays that cost more than they bring: a loop that uses one alone fetches all. Not where too little is
 * gained anyway: then nothing is said of it. */
static void regroup_prune(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, int *group,
                          struct lwp_regroup *regroup)
{
    size_t *members = lwp_arena_alloc(profile->arena, regroup->count, sizeof *members);
    while (regroup->count > 2 && regroup->gain.high >= gain_needed) {
        struct lwp_regroup best = *regroup, less = *regroup;
        size_t without = regroup->count;
        less.count--;
        less.members = members;
        for (size_t i = 0; i < regroup->count; i++) {
            memcpy(members, regroup->members, i * sizeof *members);
            memcpy(members + i, regroup->members + i + 1, (less.count - i) * sizeof *members);
            less.weight = (struct lwp_tally){0};
            for (size_t k = 0; k < less.count; k++)
                lwp_tally_merge(&less.weight, &profile->objects[candidates->arrays[members[k]].object].weight);
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
    uint64_t l2 = profile->machine.l2_bytes ? profile->machine.l2_bytes : usual_l2, bytes = 0;
    *regroup = (struct lwp_regroup){.members = members};
    for (size_t c = 0; c < candidates->count; c++)
        if (group[c] == which) {
            members[regroup->count++] = c;
            lwp_tally_merge(&regroup->weight, &profile->objects[candidates->arrays[c].object].weight);
        }
    if (regroup->count < 2)
        return false;
    regroup_order(candidates, members, regroup->count);
    lwp_regroup_gain(profile, candidates, regroup);
    regroup_prune(profile, candidates, group, regroup);
    bytes = 0;
    regroup->weight = (struct lwp_tally){0};
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_object *object = &profile->objects[candidates->arrays[members[i]].object];
        lwp_tally_merge(&regroup->weight, &object->weight);
        bytes += object->largest;
    }
    if (regroup->count < 2)
        return false;
    if (bytes <= l2 / 2 || lwp_share_of(&regroup->weight, &profile->total).value < 0.02)
        return false;
    if (regroup->weight.samples < SAMPLES_NEEDED && regroup->gain.high >= gain_needed) {
        lwp_profile_note(profile,
                         "Too few samples (%llu) on %s to advise on joining them; let the program run longer or sample "
                         "faster (-F).",
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

/* Pairs that share most of their loops and were not joined, where no advice says so. */
static void regroup_apart(struct lwp_regroups *regroups, const bool *told)
{
    const struct lwp_regroup_candidates *candidates = &regroups->candidates;
    for (size_t i = 0; i < candidates->count; i++)
        for (size_t j = 0; j < i; j++) {
            struct lwp_regroup_verdict verdict = regroup_why(candidates, i, j);
            double least = verdict.reason == LWP_REGROUP_AFFINITY ? shown_share : 0.5;
            if (told[i] || told[j] || regroup_shared(candidates, i, j) < shown_share ||
                regroups->apart_count == REJECTED_MAX || verdict.reason > LWP_REGROUP_AFFINITY ||
                regroup_common(candidates, i, j) < least || regroup_common(candidates, j, i) < least)
                continue;
            regroups->apart[regroups->apart_count++] =
                (struct lwp_regroup_rejected){.object = candidates->arrays[i].object,
                                              .name = candidates->arrays[i].name,
                                              .with = candidates->arrays[j].name,
                                              .verdict = verdict};
        }
}

void lwp_regroup_advise(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_regroups *regroups)
{
    struct lwp_regroup_candidates *candidates = &regroups->candidates;
    double weights[LWP_REGROUP_ARRAYS_MAX] = {0}, *joined;
    bool told[LWP_REGROUP_ARRAYS_MAX] = {false};
    int group[LWP_REGROUP_ARRAYS_MAX];
    memset(regroups, 0, sizeof *regroups);
    regroup_collect(profile, splits, candidates);
    regroup_walks(profile, candidates);
    regroup_loops(profile, candidates);
    regroup_judge(profile, candidates);
    size_t n = candidates->count;
    joined = lwp_arena_alloc(profile->arena, n * n + 1, sizeof *joined);
    regroups->regroups = lwp_arena_alloc(profile->arena, n + 1, sizeof *regroups->regroups);
    regroups->apart = lwp_arena_alloc(profile->arena, REJECTED_MAX, sizeof *regroups->apart);
    for (size_t i = 0; i < n; i++) {
        weights[i] = 1e-9;
        for (size_t l = 0; l < candidates->loop_count; l++)
            weights[i] += candidates->loops[l].uses[i] ? candidates->loops[l].weight : 0;
        for (size_t j = 0; j < n; j++)
            joined[i * n + j] =
                candidates->verdicts[i * n + j].reason == LWP_REGROUP_NONE ? candidates->affinity[i * n + j] : apart;
    }
    size_t groups = lwp_affinity_cluster(joined, weights, n, together, 0, group);
    for (size_t g = 0; g < groups; g++) {
        struct lwp_regroup *regroup = &regroups->regroups[regroups->count];
        int before[LWP_REGROUP_ARRAYS_MAX];
        memcpy(before, group, sizeof before);
        if (!regroup_try(profile, candidates, group, (int)g, regroup))
            continue;

        for (size_t i = 0; i < n; i++)
            told[i] |= before[i] == (int)g;
        if (regroup->gain.low < gain_needed) {
            lwp_profile_note(profile,
                             "Loops use %s at the same index, but joining them is not expected to pay: they are "
                             "walked in order, where each has its cache lines used up anyway, or too little time is "
                             "spent waiting for them.",
                             lwp_regroup_list(profile, candidates, regroup));
            continue;
        }
        regroup_rejects(profile, candidates, group, (int)g, regroup, told);
        regroup->confidence = regroup_confidence(profile, candidates, regroup);
        regroup->declaration = lwp_regroup_declaration(profile, candidates, regroup);
        regroups->count++;
    }
    qsort(regroups->regroups, regroups->count, sizeof *regroups->regroups, regroup_compare);
    regroup_apart(regroups, told);
}

void lwp_regroup_free(struct lwp_regroups *regroups)
{
    lwp_walks_fini(&regroups->candidates.walks);
}
