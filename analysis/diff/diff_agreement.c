/* A sampling engine's result beside the exact engine's result of the same program: how far sampling is off.
 * Shares of structures are of different weights (time, simulated cycles), so that what differs is sampling and the
 * model of the caches together; fractions of redundant accesses are of the same thing, and differ by sampling alone. */
#include "analysis/diff/diff_parts.h"

#include "analysis/tables/engines.h"
#include "base/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 200, GROUPS_MAX = 64, LISTED_MAX = 500 };

static const double share_listed = 0.01;

/* ---- structures ---- */

static int agreement_compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int agreement_compare_number(const void *a, const void *b)
{
    json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;
    return (x > y) - (x < y);
}

/* "0,8,16": which parts of an element stay together, or the arrays that are joined; the same for the same advice. */
static const char *agreement_group(struct lwp_arena *arena, const json_t *offsets)
{
    json_int_t sorted[GROUPS_MAX];
    size_t count = json_array_size(offsets) < GROUPS_MAX ? json_array_size(offsets) : GROUPS_MAX;
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        sorted[i] = json_integer_value(json_array_get(offsets, i));
    qsort(sorted, count, sizeof *sorted, agreement_compare_number);
    for (size_t i = 0; i < count; i++)
        text = lwp_arena_printf(arena, "%s,%lld", text, (long long)sorted[i]);
    return text;
}

static const char *agreement_advice(struct lwp_arena *arena, const struct lwp_diff_structure *structure)
{
    const char *parts[GROUPS_MAX], *text = "";
    size_t count = 0, i;
    json_t *item;
    if (!structure || !structure->finding || !structure->advice)
        return NULL;
    json_array_foreach(json_object_get(structure->advice, structure->advice_is_regroup ? "names" : "groups"), i, item)
        if (count < GROUPS_MAX)
            parts[count++] = json_is_string(item) ? json_string_value(item) : agreement_group(arena, json_object_get(item, "offsets"));
    qsort(parts, count, sizeof *parts, agreement_compare_text);
    for (i = 0; i < count; i++)
        text = lwp_arena_printf(arena, "%s;%s", text, parts[i]);
    return text;
}

static const char *agreement_verdict(struct lwp_arena *arena, const struct lwp_diff_structure *sampled,
                                     const struct lwp_diff_structure *exact)
{
    const char *x = agreement_advice(arena, sampled), *y = agreement_advice(arena, exact);
    if (!x || !y)
        return x ? "only_sampled" : y ? "only_exact" : "none";
    return strcmp(x, y) == 0 ? "same" : "other";
}

static const struct lwp_diff_structure *agreement_first(const struct lwp_diff_result *result, const uint32_t *list, size_t count)
{
    return count ? &result->structures[list[0]] : NULL;
}

static json_t *agreement_structures(const struct lwp_diff *diff, bool sampled_first, double *apart)
{
    json_t *list = json_array();
    *apart = 0;
    for (size_t r = 0; r < diff->rows.count; r++) {
        const struct lwp_diff_row *row = &diff->rows.rows[r];
        const struct lwp_diff_structure *x = agreement_first(&diff->before, row->before, row->before_count),
                                        *y = agreement_first(&diff->after, row->after, row->after_count);
        const struct lwp_diff_structure *sampled = sampled_first ? x : y, *exact = sampled_first ? y : x;
        double from = sampled ? sampled->share : 0, truth = exact ? exact->share : 0;
        const struct lwp_diff_structure *named = sampled ? sampled : exact;
        *apart += fabs(from - truth) / 2;
        if (!named || fmax(from, truth) < share_listed || json_array_size(list) >= LISTED_MAX)
            continue;
        json_array_append_new(list,
                              json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "name", lwp_json_text(named->name), "type",
                                        lwp_json_text(named->type), "sampled", sampled ? lwp_json_real(from) : json_null(), "sampled_ci",
                                        sampled ? lwp_json_range(sampled->low, sampled->high) : json_null(), "exact",
                                        exact ? lwp_json_real(truth) : json_null(), "within",
                                        sampled && exact ? json_boolean(sampled->low <= truth && truth <= sampled->high) : json_null(),
                                        "advice", agreement_verdict(diff->arena, sampled, exact)));
    }
    return list;
}

/* ---- redundancies ---- */

/* All pairs of a kind and two source lines in one result. */
struct line_pair {
    const char *kind, *first, *second;
    double share, low, high;
    unsigned count;
    bool found; /* a finding says so */
};

struct line_pairs {
    struct line_pair list[PAIRS_MAX];
    size_t count;
};

static const char *agreement_location(const struct lwp_diff *diff, const struct lwp_diff_result *result, const json_t *context)
{
    const json_t *frame = json_array_get(json_object_get(lwp_json_at(result->root, "contexts", context), "frames"), 0);
    const char *function = lwp_json_string(frame, "function"), *file = lwp_json_string(frame, "file");
    if (!function)
        return NULL;
    if (!file)
        return function;
    return lwp_arena_printf(diff->arena, "%s (%s:%lld)", function, lwp_path_last(file),
                            (long long)json_integer_value(json_object_get(frame, "line")));
}

static struct line_pair *agreement_pair(struct line_pairs *pairs, const struct line_pair *wanted)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->list[i].kind, wanted->kind) == 0 && strcmp(pairs->list[i].first, wanted->first) == 0 &&
            strcmp(pairs->list[i].second, wanted->second) == 0)
            return &pairs->list[i];
    if (pairs->count == PAIRS_MAX)
        return NULL;
    pairs->list[pairs->count] = *wanted;
    return &pairs->list[pairs->count++];
}

static bool agreement_is_finding(const struct lwp_diff_result *result, size_t index)
{
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(result->root, "findings"), i, finding) {
        const json_t *reference = json_object_get(json_object_get(finding, "refs"), "redundancy");
        if (json_is_integer(reference) && json_integer_value(reference) == (json_int_t)index)
            return true;
    }
    return false;
}

static void agreement_collect(const struct lwp_diff *diff, const struct lwp_diff_result *result, struct line_pairs *pairs)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(result->root, "redundancies"), i, item) {
        struct line_pair one = {.kind = lwp_json_string(item, "kind"),
                                .first = agreement_location(diff, result, json_object_get(item, "first")),
                                .second = agreement_location(diff, result, json_object_get(item, "second"))};
        struct line_pair *pair = one.kind && one.first && one.second ? agreement_pair(pairs, &one) : NULL;
        if (!pair)
            continue;
        pair->share += lwp_json_amount(item, "share");
        pair->low = lwp_json_end(item, "share_ci", 0);
        pair->high = lwp_json_end(item, "share_ci", 1);
        pair->count++;
        pair->found |= agreement_is_finding(result, i);
    }
}

static json_t *agreement_redundancies(const struct lwp_diff *diff, const struct lwp_diff_result *sampled,
                                      const struct lwp_diff_result *exact)
{
    struct line_pairs *x = lwp_arena_alloc(diff->arena, 1, sizeof *x), *y = lwp_arena_alloc(diff->arena, 1, sizeof *y);
    json_t *list = json_array();
    agreement_collect(diff, sampled, x);
    agreement_collect(diff, exact, y);
    for (size_t i = 0; i < y->count; i++) /* those of `exact` alone follow */
        agreement_pair(x, &(struct line_pair){.kind = y->list[i].kind, .first = y->list[i].first, .second = y->list[i].second});
    for (size_t i = 0; i < x->count; i++) {
        const struct line_pair *one = &x->list[i];
        const struct line_pair none = {.kind = one->kind, .first = one->first, .second = one->second};
        const struct line_pair *other = agreement_pair(y, &none);
        other = other ? other : &none;
        if (!one->found && !other->found)
            continue;
        json_array_append_new(list,
                              json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:b}", "kind", one->kind, "first", lwp_json_text(one->first), "second",
                                        lwp_json_text(one->second), "sampled", one->count ? lwp_json_real(one->share) : json_null(),
                                        "sampled_ci", one->count == 1 ? lwp_json_range(one->low, one->high) : json_null(), "exact",
                                        other->count ? lwp_json_real(other->share) : json_null(), "confirmed", one->found && other->found));
    }
    return list;
}

json_t *lwp_diff_agreement(const struct lwp_diff *diff)
{
    bool before = lwp_engine_named(diff->before.engine)->exact, after = lwp_engine_named(diff->after.engine)->exact;
    double apart;
    if (before == after || !*diff->before.engine || !*diff->after.engine)
        return json_null();
    json_t *structures = agreement_structures(diff, after, &apart);
    const struct lwp_diff_result *sampled = after ? &diff->before : &diff->after, *exact = after ? &diff->after : &diff->before;
    return json_pack("{s:s,s:s,s:o,s:o,s:o}", "sampled", after ? "before" : "after", "exact", after ? "after" : "before", "weight_apart",
                     lwp_json_real(apart), "structures", structures, "redundancies", agreement_redundancies(diff, sampled, exact));
}
