/* Proportional attribution (Witch, 4.4.2). Few of the sampled accesses can be watched, and fewer where a watch takes
 * long to be decided. A decision therefore stands for all accesses sampled in its calling context since the one before
 * (mu - eta). + How many there were is mostly chance, and weights that differ by chance double the variance where a
 * context is wasteful only at times: so it is the mean of the last gaps that counts. Only of those before: the gap
 * after a decision is the longer the more it cost, and what is used costs more than what is dead. A thread's first
 * decision may come as late as fifty others take: what that gap has beyond six of theirs, all stand for. A piece of the
 * access is watched, chosen at random, so that it stands for all its bytes. What is sampled after the last decision of
 * a context is dealt out in redundancy.c. Everything here is a sum of whole numbers: the order of files does not matter. */
#include "analysis/profile/watchpoints.h"

#include "analysis/program/code.h"

#include <stdlib.h>
#include <string.h>

enum { ORIGINS_MOST = 1 << 20, PAIRS_MOST = 1 << 20, FIRST_MOST = 6 /* times the mean of the other gaps */ };

/* NULL: it would be one too many. */
static struct lwp_watchpoint_origin *watched_origin(struct lwp_watchpoints *watched, enum lwp_watchpoint_kind kind,
                                                 uint32_t first)
{
    const uint64_t key = (uint64_t)first << 3 | kind;
    if (watched->origin_count == ORIGINS_MOST && lwp_table_get(&watched->origin_index, key) == LWP_TABLE_NONE) {
        watched->beyond++;
        return NULL;
    }
    uint32_t *at = lwp_table_at(&watched->origin_index, key);
    if (*at == LWP_TABLE_NONE) {
        *at = (uint32_t)watched->origin_count;
        LWP_GROW(&watched->origins, watched->origin_count, &watched->origin_room);
        watched->origins[watched->origin_count++] = (struct lwp_watchpoint_origin){.kind = kind, .first = first};
    }
    return &watched->origins[*at];
}

static bool watched_has_pair(const struct lwp_watchpoints *watched, uint64_t contexts, uint32_t object)
{
    uint64_t both = lwp_table_get(&watched->pair_index, contexts);
    return both != LWP_TABLE_NONE && lwp_table_get(&watched->object_index, both << 32 | object) != LWP_TABLE_NONE;
}

/* The pair of an origin, a second context and an object. NULL: it would be one too many. */
static struct lwp_watchpoint_pair *watched_pair(struct lwp_watchpoints *watched, const struct lwp_watchpoint_origin *origin, uint32_t second, uint32_t object)
{
    const uint64_t contexts = (uint64_t)(origin - watched->origins) << 32 | second;
    if (watched->pair_count == PAIRS_MOST && !watched_has_pair(watched, contexts, object)) {
        watched->beyond++;
        return NULL;
    }
    uint32_t *both = lwp_table_at(&watched->pair_index, contexts);
    if (*both == LWP_TABLE_NONE)
        *both = (uint32_t)watched->pair_index.count;
    uint32_t *at = lwp_table_at(&watched->object_index, (uint64_t)*both << 32 | object);
    if (*at == LWP_TABLE_NONE) {
        *at = (uint32_t)watched->pair_count;
        LWP_GROW(&watched->pairs, watched->pair_count, &watched->pair_room);
        watched->pairs[watched->pair_count++] =
            (struct lwp_watchpoint_pair){.kind = origin->kind, .first = origin->first, .second = second, .object = object};
    }
    return &watched->pairs[*at];
}

static struct lwp_watchpoint_course *watched_course(struct lwp_watchpoints *watched, struct lwp_watchpoint_origin *origin)
{
    if (origin->file != watched->file) {
        origin->file = watched->file;
        origin->course = (uint32_t)watched->course_count;
        LWP_GROW(&watched->courses, watched->course_count, &watched->course_room);
        watched->courses[watched->course_count++] = (struct lwp_watchpoint_course){0};
    }
    return &watched->courses[origin->course];
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

void lwp_watchpoint_end(struct lwp_watchpoints *watched)
{
    for (size_t i = 0; i < watched->decision_count; i++) {
        const struct lwp_watchpoint_decision *decision = &watched->decisions[i];
        struct lwp_watchpoint_origin *origin = &watched->origins[decision->origin];
        uint64_t weight = course_weight(&watched->courses[decision->course], decision->gap);
        if (decision->pair == LWP_NONE) {
            origin->dropped_weight += weight;
            continue;
        }
        struct lwp_watchpoint_pair *pair = &watched->pairs[decision->pair];
        origin->decided_weight += weight;
        lwp_sum_add(decision->outcome == LWP_WATCHPOINT_USE     ? &pair->use
                    : decision->outcome == LWP_WATCHPOINT_WASTE ? &pair->waste
                                                             : &pair->close,
                    weight);
    }
    watched->decision_count = 0;
    watched->course_count = 0;
}

void lwp_watchpoint_begin(struct lwp_watchpoints *watched)
{
    watched->file++;
}

/* Whether the pair's accesses come back to one place. */
static void watched_place(struct lwp_watchpoint_pair *pair, uint64_t address, uint32_t file)
{
    if (pair->file == file && pair->address == address)
        pair->again++;
    else if (pair->file == file)
        pair->moved++;
    pair->file = file;
    pair->address = address;
}

void lwp_watchpoint_add(struct lwp_watchpoints *watched, const struct lwp_watchpoint_verdict *verdict)
{
    if (verdict->outcome == LWP_WATCHPOINT_VOID)
        return;
    struct lwp_watchpoint_origin *origin = watched_origin(watched, verdict->kind, verdict->first);
    if (!origin)
        return;
    struct lwp_watchpoint_course *course = watched_course(watched, origin);
    if (verdict->count)
        lwp_sum_add_many(&origin->sampled, verdict->weight, verdict->count);
    else
        origin->sampled.weight += verdict->weight;
    course->pending += verdict->weight;
    if (verdict->outcome == LWP_WATCHPOINT_OPEN)
        return;
    struct lwp_watchpoint_pair *pair =
        verdict->outcome == LWP_WATCHPOINT_DROPPED ? NULL : watched_pair(watched, origin, verdict->second, verdict->object);
    LWP_GROW(&watched->decisions, watched->decision_count, &watched->decision_room);
    watched->decisions[watched->decision_count++] =
        (struct lwp_watchpoint_decision){.gap = course->pending, .origin = (uint32_t)(origin - watched->origins), .course = origin->course,
                                      .pair = pair ? (uint32_t)(pair - watched->pairs) : LWP_NONE, .outcome = verdict->outcome};
    *(course->decided++ ? &course->others : &course->first) += course->pending;
    course->pending = 0;
    if (!pair)
        return;
    origin->decided++;
    if (verdict->bytes > pair->bytes)
        pair->bytes = verdict->bytes;
    if (verdict->outcome != LWP_WATCHPOINT_USE)
        watched_place(pair, verdict->address, watched->file);
}

/* Each is as good as the others, so that weights take no part in anything but sums. */
static void watched_sum(struct lwp_sum *sum, uint64_t bytes)
{
    lwp_sum_add_many(sum, bytes, bytes);
}

void lwp_watchpoint_count(struct lwp_watchpoints *watched, const struct lwp_watchpoint_count *count)
{
    struct lwp_watchpoint_origin *origin = watched_origin(watched, count->kind, count->first);
    uint64_t decided = count->use + count->waste + count->close;
    watched->exact = true;
    if (!origin)
        return;
    watched_sum(&origin->sampled, decided + count->open);
    origin->dropped_weight += count->open;
    struct lwp_watchpoint_pair *pair = decided ? watched_pair(watched, origin, count->second, count->object) : NULL;
    if (!pair) {
        origin->dropped_weight += decided;
        return;
    }
    origin->decided_weight += decided;
    origin->decided += decided;
    watched_sum(&pair->use, count->use);
    watched_sum(&pair->waste, count->waste);
    watched_sum(&pair->close, count->close);
    pair->times += count->times;
    pair->again += count->again;
    pair->moved += count->times > count->again ? count->times - count->again : 0;
    if (count->bytes > pair->bytes)
        pair->bytes = count->bytes;
}

void lwp_watchpoint_registers(struct lwp_watchpoints *watched, bool loaded, bool is_float,
                           const struct lwp_watchpoint_registers *more)
{
    struct lwp_watchpoint_registers *to = &watched->registers[loaded][is_float];
    to->bytes += more->bytes;
    to->same += more->same;
    to->close += more->close;
    to->instructions += more->instructions;
    to->of_instructions += more->of_instructions;
}

void lwp_watchpoint_read_elsewhere(struct lwp_watchpoints *watched, uint32_t object)
{
    uint32_t *at = lwp_table_at(&watched->read_index, object);
    if (*at != LWP_TABLE_NONE)
        return;
    *at = (uint32_t)watched->read_count;
    LWP_GROW(&watched->read_elsewhere, watched->read_count, &watched->read_room);
    watched->read_elsewhere[watched->read_count++] = object;
}

/* What there is no room for: as if nothing could be told of it. */
static void watched_undecide(struct lwp_watchpoint_origin *origin, const struct lwp_watchpoint_pair *pair)
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
        struct lwp_watchpoint_origin *to = watched_origin(into, origin->kind, origin->first);
        if (!to)
            continue;
        lwp_sum_merge(&to->sampled, &origin->sampled);
        to->decided_weight += origin->decided_weight;
        to->dropped_weight += origin->dropped_weight;
        to->decided += origin->decided;
    }
    for (size_t i = 0; i < from->pair_count; i++) {
        const struct lwp_watchpoint_pair *pair = &from->pairs[i];
        struct lwp_watchpoint_origin *origin = watched_origin(into, pair->kind, pair->first);
        struct lwp_watchpoint_pair *to = origin ? watched_pair(into, origin, pair->second, pair->object) : NULL;
        if (!to) {
            if (origin)
                watched_undecide(origin, pair);
            continue;
        }
        lwp_sum_merge(&to->use, &pair->use);
        lwp_sum_merge(&to->waste, &pair->waste);
        lwp_sum_merge(&to->close, &pair->close);
        to->times += pair->times;
        to->again += pair->again;
        to->moved += pair->moved;
        if (pair->bytes > to->bytes)
            to->bytes = pair->bytes;
    }
    into->exact |= from->exact;
    into->beyond += from->beyond;
    for (unsigned i = 0; i < 4; i++)
        lwp_watchpoint_registers(into, i / 2, i % 2, &from->registers[i / 2][i % 2]);
    for (size_t i = 0; i < from->read_count; i++)
        lwp_watchpoint_read_elsewhere(into, from->read_elsewhere[i]);
    lwp_watchpoint_free(from);
}

static int watched_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int watched_number_compare(const void *a, const void *b)
{
    return watched_compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int watched_origin_compare(const void *a, const void *b)
{
    const struct lwp_watchpoint_origin *x = a, *y = b;
    return x->kind != y->kind ? watched_compare(x->kind, y->kind) : watched_compare(x->first, y->first);
}

static int watched_pair_compare(const void *a, const void *b)
{
    const struct lwp_watchpoint_pair *x = a, *y = b;
    if (x->kind != y->kind)
        return watched_compare(x->kind, y->kind);
    if (x->first != y->first)
        return watched_compare(x->first, y->first);
    return x->second != y->second ? watched_compare(x->second, y->second) : watched_compare(x->object, y->object);
}

void lwp_watchpoints_renumber(struct lwp_watchpoints *watched, const uint32_t *contexts, const uint32_t *objects)
{
    for (size_t i = 0; i < watched->origin_count; i++)
        watched->origins[i].first = contexts[watched->origins[i].first];
    for (size_t i = 0; i < watched->pair_count; i++) {
        struct lwp_watchpoint_pair *pair = &watched->pairs[i];
        pair->first = contexts[pair->first];
        pair->second = contexts[pair->second];
        if (pair->object != LWP_NONE)
            pair->object = objects[pair->object];
    }
    for (size_t i = 0; i < watched->read_count; i++)
        watched->read_elsewhere[i] = objects[watched->read_elsewhere[i]];
    if (watched->read_count)
        qsort(watched->read_elsewhere, watched->read_count, sizeof *watched->read_elsewhere, watched_number_compare);
    if (watched->origin_count)
        qsort(watched->origins, watched->origin_count, sizeof *watched->origins, watched_origin_compare);
    if (watched->pair_count)
        qsort(watched->pairs, watched->pair_count, sizeof *watched->pairs, watched_pair_compare);
}

bool lwp_watchpoint_is_read_elsewhere(const struct lwp_watchpoints *watched, uint32_t object)
{
    return watched->read_count && bsearch(&object, watched->read_elsewhere, watched->read_count,
                                          sizeof *watched->read_elsewhere, watched_number_compare);
}

void lwp_watchpoint_free(struct lwp_watchpoints *watched)
{
    lwp_table_free(&watched->origin_index);
    lwp_table_free(&watched->pair_index);
    lwp_table_free(&watched->object_index);
    lwp_table_free(&watched->read_index);
    free(watched->read_elsewhere);
    free(watched->decisions);
    free(watched->courses);
    free(watched->origins);
    free(watched->pairs);
    *watched = (struct lwp_watchpoints){0};
}
