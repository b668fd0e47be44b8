/* Proportional attribution (Witch, 4.4.2). Only a few of the sampled accesses can be watched, and fewer where a decision takes
 * long. So a decision stands for all accesses sampled in its calling context since the decision before (mu - eta), with three
 * refinements:
 * - Single gaps are mostly chance, and costs that differ by chance double the variance where a context is wasteful only at
 *   times. So the mean of the last few gaps counts. Only gaps before the decision: the one after it is the longer the more the
 *   decision cost, and a used value costs more than a dead one.
 * - A thread's first decision may take fifty times as long as others. What its gap has beyond six usual ones is spread over all
 *   decisions.
 * - One random part of an access is watched, and stands for all its bytes.
 * What is sampled after the last decision of a context is attributed in redundancy.c. Everything here is a sum of integers, so
 * the order of files does not matter. */
#include "analysis/profile/watchpoints.h"

#include "base/arena.h"

#include "analysis/program/code.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum {
    ORIGINS_MOST = 1 << 20,
    PAIRS_MOST = 1 << 20,
    FIRST_MOST = 6 /* times the mean of the other gaps */,
    RETURNS_AFTER_MOST = 10000000 /* µs, so that sums of squares fit */
};

/* NULL: it would be one too many. */
static struct lwp_watchpoint_origin *watchpoint_origin(struct lwp_watchpoints *watchpoints, enum lwp_watchpoint_kind kind, uint32_t first)
{
    uint32_t at = lwp_map_index(&watchpoints->origin_index, (uint64_t)first << 3 | kind, watchpoints->origin_count, ORIGINS_MOST);
    watchpoints->beyond += at == LWP_MAP_NONE;
    if (at == watchpoints->origin_count)
        LWP_PUSH(watchpoints->origin, (struct lwp_watchpoint_origin){.kind = kind, .first = first});
    return at == LWP_MAP_NONE ? NULL : &watchpoints->origins[at];
}

static bool watchpoint_has_pair(const struct lwp_watchpoints *watchpoints, uint64_t contexts, uint32_t object)
{
    uint64_t both = lwp_map_get(&watchpoints->pair_index, contexts);
    return both != LWP_MAP_NONE && lwp_map_get(&watchpoints->object_index, both << 32 | object) != LWP_MAP_NONE;
}

/* The pair of an origin, a second context and an object. NULL: it would be one too many. */
static struct lwp_watchpoint_pair *watchpoint_pair(struct lwp_watchpoints *watchpoints, const struct lwp_watchpoint_origin *origin,
                                                   uint32_t second, uint32_t object)
{
    const uint64_t contexts = (uint64_t)(origin - watchpoints->origins) << 32 | second;
    if (watchpoints->pair_count == PAIRS_MOST && !watchpoint_has_pair(watchpoints, contexts, object)) {
        watchpoints->beyond++;
        return NULL;
    }
    uint32_t *both = lwp_map_at(&watchpoints->pair_index, contexts);
    if (*both == LWP_MAP_NONE)
        *both = (uint32_t)watchpoints->pair_index.count;
    uint32_t *at = lwp_map_at(&watchpoints->object_index, (uint64_t)*both << 32 | object);
    if (lwp_number_new(at, watchpoints->pair_count))
        LWP_PUSH(watchpoints->pair,
                 (struct lwp_watchpoint_pair){.kind = origin->kind, .first = origin->first, .second = second, .object = object});
    return &watchpoints->pairs[*at];
}

static struct lwp_watchpoint_course *watchpoint_course(struct lwp_watchpoints *watchpoints, struct lwp_watchpoint_origin *origin)
{
    if (origin->file != watchpoints->file) {
        origin->file = watchpoints->file;
        origin->course = (uint32_t)watchpoints->course_count;
        LWP_PUSH(watchpoints->course, (struct lwp_watchpoint_course){0});
    }
    return &watchpoints->courses[origin->course];
}

/* How much the next decision stands for. */
static uint64_t course_weight(struct lwp_watchpoint_course *course, uint64_t gap)
{
    uint64_t spread = 0, sum = 0;
    if (course->decided > 1) {
        uint64_t most = FIRST_MOST * (course->others / (course->decided - 1)), usual = course->first < most ? course->first : most;
        spread = (course->first - usual) / course->decided;
        gap = course->gap_count ? gap : usual;
    }
    course->gap[course->gap_count++ % LWP_WATCHPOINT_GAPS] = gap;
    unsigned count = course->gap_count < LWP_WATCHPOINT_GAPS ? course->gap_count : LWP_WATCHPOINT_GAPS;
    for (unsigned i = 0; i < count; i++)
        sum += course->gap[i];
    return sum / count + spread; // NOLINT(clang-analyzer-core.DivideZero): decisions are fewer than 2^32
}

void lwp_watchpoint_end(struct lwp_watchpoints *watchpoints)
{
    for (size_t i = 0; i < watchpoints->decision_count; i++) {
        const struct lwp_watchpoint_decision *decision = &watchpoints->decisions[i];
        struct lwp_watchpoint_origin *origin = &watchpoints->origins[decision->origin];
        uint64_t weight = course_weight(&watchpoints->courses[decision->course], decision->gap);
        if (decision->pair == LWP_NONE) {
            origin->dropped_weight += weight;
            continue;
        }
        struct lwp_watchpoint_pair *pair = &watchpoints->pairs[decision->pair];
        origin->decided_weight += weight;
        lwp_sum_add(decision->outcome == LWP_WATCHPOINT_USE     ? &pair->use
                    : decision->outcome == LWP_WATCHPOINT_WASTE ? &pair->waste
                                                                : &pair->close,
                    weight);
    }
    watchpoints->decision_count = 0;
    watchpoints->course_count = 0;
}

void lwp_watchpoint_begin(struct lwp_watchpoints *watchpoints)
{
    watchpoints->file++;
}

/* Whether the pair's accesses are to the same address again. */
static void watchpoint_note_address(struct lwp_watchpoint_pair *pair, uint64_t address, uint32_t file)
{
    if (pair->file == file && pair->address == address)
        pair->again++;
    else if (pair->file == file)
        pair->moved++;
    pair->file = file;
    pair->address = address;
}

void lwp_watchpoint_add(struct lwp_watchpoints *watchpoints, const struct lwp_watchpoint_verdict *verdict)
{
    if (verdict->outcome == LWP_WATCHPOINT_VOID)
        return;
    struct lwp_watchpoint_origin *origin = watchpoint_origin(watchpoints, verdict->kind, verdict->first);
    if (!origin)
        return;
    struct lwp_watchpoint_course *course = watchpoint_course(watchpoints, origin);
    if (verdict->count)
        lwp_sum_add_many(&origin->sampled, verdict->weight, verdict->count);
    else
        origin->sampled.weight += verdict->weight;
    course->pending += verdict->weight;
    if (verdict->outcome == LWP_WATCHPOINT_OPEN)
        return;
    struct lwp_watchpoint_pair *pair =
        verdict->outcome == LWP_WATCHPOINT_DROPPED ? NULL : watchpoint_pair(watchpoints, origin, verdict->second, verdict->object);
    LWP_PUSH(watchpoints->decision, (struct lwp_watchpoint_decision){.gap = course->pending,
                                                                     .origin = (uint32_t)(origin - watchpoints->origins),
                                                                     .course = origin->course,
                                                                     .pair = pair ? (uint32_t)(pair - watchpoints->pairs) : LWP_NONE,
                                                                     .outcome = verdict->outcome});
    *(course->decided++ ? &course->others : &course->first) += course->pending;
    course->pending = 0;
    if (!pair)
        return;
    origin->decided++;
    LWP_RAISE(pair->bytes, verdict->bytes);
    if (verdict->first == verdict->second && verdict->ns) {
        const uint64_t us = verdict->ns / 1000 < RETURNS_AFTER_MOST ? verdict->ns / 1000 : RETURNS_AFTER_MOST;
        pair->returns++;
        pair->returned_us += us;
        pair->returned_us2 += us * us;
        pair->returned_own_us += verdict->own_ns / 1000 < RETURNS_AFTER_MOST ? verdict->own_ns / 1000 : RETURNS_AFTER_MOST;
    }
    if (verdict->outcome != LWP_WATCHPOINT_USE)
        watchpoint_note_address(pair, verdict->address, watchpoints->file);
}

/* Counted, not sampled: each byte costs the same. */
static void watchpoint_sum(struct lwp_sum *sum, uint64_t bytes)
{
    lwp_sum_add_many(sum, bytes, bytes);
}

void lwp_watchpoint_count(struct lwp_watchpoints *watchpoints, const struct lwp_watchpoint_count *count)
{
    struct lwp_watchpoint_origin *origin = watchpoint_origin(watchpoints, count->kind, count->first);
    uint64_t decided = count->use + count->waste + count->close;
    watchpoints->exact = true;
    if (!origin)
        return;
    watchpoint_sum(&origin->sampled, decided + count->open);
    origin->dropped_weight += count->open;
    struct lwp_watchpoint_pair *pair = decided ? watchpoint_pair(watchpoints, origin, count->second, count->object) : NULL;
    if (!pair) {
        origin->dropped_weight += decided;
        return;
    }
    origin->decided_weight += decided;
    origin->decided += decided;
    watchpoint_sum(&pair->use, count->use);
    watchpoint_sum(&pair->waste, count->waste);
    watchpoint_sum(&pair->close, count->close);
    pair->times += count->times;
    pair->again += count->again;
    pair->moved += count->times > count->again ? count->times - count->again : 0;
    LWP_RAISE(pair->bytes, count->bytes);
}

void lwp_watchpoint_stored(struct lwp_watchpoints *watchpoints, bool is_float, const struct lwp_watchpoint_registers *more)
{
    watchpoints->stored[is_float].bytes += more->bytes;
    watchpoints->stored[is_float].same += more->same;
    watchpoints->stored[is_float].close += more->close;
}

void lwp_watchpoint_registers(struct lwp_watchpoints *watchpoints, bool loaded, bool is_float, const struct lwp_watchpoint_registers *more)
{
    struct lwp_watchpoint_registers *to = &watchpoints->registers[loaded][is_float];
    to->bytes += more->bytes;
    to->same += more->same;
    to->close += more->close;
    to->instructions += more->instructions;
    to->of_instructions += more->of_instructions;
}

void lwp_watchpoint_contribute(struct lwp_watchpoints *watchpoints, const struct lwp_watchpoint_contribution *more)
{
    for (size_t i = 0; i < watchpoints->contribution_count; i++) {
        struct lwp_watchpoint_contribution *to = &watchpoints->contributions[i];
        if (to->kind != more->kind || to->moves != more->moves || to->thread != more->thread)
            continue;
        to->all += more->all;
        to->waste += more->waste;
        to->close += more->close;
        return;
    }
    LWP_APPEND(&watchpoints->contributions, &watchpoints->contribution_count, &watchpoints->contribution_room, *more);
}

void lwp_watchpoint_read_elsewhere(struct lwp_watchpoints *watchpoints, uint32_t object)
{
    uint32_t *at = lwp_map_at(&watchpoints->read_index, object);
    if (*at != LWP_MAP_NONE)
        return;
    *at = (uint32_t)watchpoints->read_count;
    LWP_APPEND(&watchpoints->read_elsewhere, &watchpoints->read_count, &watchpoints->read_room, object);
}

/* A pair without room counts as undecided. */
static void watchpoint_undecide(struct lwp_watchpoint_origin *origin, const struct lwp_watchpoint_pair *pair)
{
    uint64_t weight = pair->use.weight + pair->waste.weight + pair->close.weight;
    origin->decided -= pair->use.samples + pair->waste.samples + pair->close.samples;
    origin->decided_weight -= weight;
    origin->dropped_weight += weight;
}

void lwp_watchpoint_merge(struct lwp_watchpoints *into, struct lwp_watchpoints *from)
{
    for (size_t i = 0; i < from->origin_count; i++) {
        const struct lwp_watchpoint_origin *origin = &from->origins[i];
        struct lwp_watchpoint_origin *to = watchpoint_origin(into, origin->kind, origin->first);
        if (!to)
            continue;
        lwp_sum_merge(&to->sampled, &origin->sampled);
        to->decided_weight += origin->decided_weight;
        to->dropped_weight += origin->dropped_weight;
        to->decided += origin->decided;
    }
    for (size_t i = 0; i < from->pair_count; i++) {
        const struct lwp_watchpoint_pair *pair = &from->pairs[i];
        struct lwp_watchpoint_origin *origin = watchpoint_origin(into, pair->kind, pair->first);
        struct lwp_watchpoint_pair *to = origin ? watchpoint_pair(into, origin, pair->second, pair->object) : NULL;
        if (!to) {
            if (origin)
                watchpoint_undecide(origin, pair);
            continue;
        }
        lwp_sum_merge(&to->use, &pair->use);
        lwp_sum_merge(&to->waste, &pair->waste);
        lwp_sum_merge(&to->close, &pair->close);
        to->times += pair->times;
        to->returns += pair->returns;
        to->returned_us += pair->returned_us;
        to->returned_us2 += pair->returned_us2;
        to->returned_own_us += pair->returned_own_us;
        to->again += pair->again;
        to->moved += pair->moved;
        LWP_RAISE(to->bytes, pair->bytes);
    }
    into->exact |= from->exact;
    into->beyond += from->beyond;
    for (unsigned i = 0; i < 4; i++)
        lwp_watchpoint_registers(into, i / 2, i % 2, &from->registers[i / 2][i % 2]);
    for (unsigned i = 0; i < 2; i++)
        lwp_watchpoint_stored(into, i, &from->stored[i]);
    for (size_t i = 0; i < from->contribution_count; i++)
        lwp_watchpoint_contribute(into, &from->contributions[i]);
    for (size_t i = 0; i < from->read_count; i++)
        lwp_watchpoint_read_elsewhere(into, from->read_elsewhere[i]);
    lwp_watchpoint_free(from);
}

static int watchpoint_origin_compare(const void *a, const void *b)
{
    const struct lwp_watchpoint_origin *x = a, *y = b;
    return LWP_COMPARE(x->kind, y->kind) ?: LWP_COMPARE(x->first, y->first);
}

static int watchpoint_pair_compare(const void *a, const void *b)
{
    const struct lwp_watchpoint_pair *x = a, *y = b;
    return LWP_COMPARE(x->kind, y->kind) ?: LWP_COMPARE(x->first, y->first)
           ?: LWP_COMPARE(x->second, y->second) ?: LWP_COMPARE(x->object, y->object);
}

void lwp_watchpoints_renumber(struct lwp_watchpoints *watchpoints, const uint32_t *contexts, const uint32_t *objects)
{
    for (size_t i = 0; i < watchpoints->origin_count; i++)
        watchpoints->origins[i].first = contexts[watchpoints->origins[i].first];
    for (size_t i = 0; i < watchpoints->pair_count; i++) {
        struct lwp_watchpoint_pair *pair = &watchpoints->pairs[i];
        pair->first = contexts[pair->first];
        pair->second = contexts[pair->second];
        if (pair->object != LWP_NONE)
            pair->object = objects[pair->object];
    }
    for (size_t i = 0; i < watchpoints->read_count; i++)
        watchpoints->read_elsewhere[i] = objects[watchpoints->read_elsewhere[i]];
    LWP_SORT(watchpoints->read_elsewhere, watchpoints->read_count, lwp_compare_u32);
    LWP_SORT(watchpoints->origins, watchpoints->origin_count, watchpoint_origin_compare);
    LWP_SORT(watchpoints->pairs, watchpoints->pair_count, watchpoint_pair_compare);
}

bool lwp_watchpoint_is_read_elsewhere(const struct lwp_watchpoints *watchpoints, uint32_t object)
{
    return watchpoints->read_count &&
           bsearch(&object, watchpoints->read_elsewhere, watchpoints->read_count, sizeof *watchpoints->read_elsewhere, lwp_compare_u32);
}

void lwp_watchpoint_free(struct lwp_watchpoints *watchpoints)
{
    lwp_map_fini(&watchpoints->origin_index);
    lwp_map_fini(&watchpoints->pair_index);
    lwp_map_fini(&watchpoints->object_index);
    lwp_map_fini(&watchpoints->read_index);
    free(watchpoints->contributions);
    free(watchpoints->read_elsewhere);
    free(watchpoints->decisions);
    free(watchpoints->courses);
    free(watchpoints->origins);
    free(watchpoints->pairs);
    *watchpoints = (struct lwp_watchpoints){0};
}
