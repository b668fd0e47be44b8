/* One structure, before and after: shares, seconds, parts, loops, and what became of the prediction about it.
 *
 * What a structure saved follows from its loops: how many seconds each took before and takes now, times the structure's
 * part of the loop's stalls. As if that were the only change, this gives a speed-up of the program that can be compared
 * with the prediction. Limits: nothing is said when less than 70 % of its stalls are in loops that both results have. */
#include "analysis/diff/diff_parts.h"

#include "analysis/review/tried.h"

#include <math.h>
#include <stdlib.h>

enum { TRAFFIC_MAX = 500, LOOPS_LISTED = 64, PARTS_LISTED = 64 };

static const double share_listed = 0.001, z95 = 1.96;

struct diff_sum {
    double share, low, high, time_share;
    uint64_t samples, elements, element_bytes, bytes;
};

static struct diff_sum diff_sum(const struct lwp_diff_result *result, const uint32_t *list, size_t count)
{
    struct diff_sum sum = {0};
    double down = 0, up = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lwp_diff_structure *part = &result->structures[list[i]];
        sum.share += part->share;
        sum.time_share += part->time_share;
        down = hypot(down, part->share - part->low);
        up = hypot(up, part->high - part->share);
        sum.samples += part->samples;
        sum.bytes += part->bytes;
        if (part->elements > sum.elements)
            sum.elements = part->elements;
    }
    sum.share = fmin(1, sum.share);
    sum.time_share = fmin(1, sum.time_share);
    sum.low = fmax(0, sum.share - down);
    sum.high = fmin(1, sum.share + up);
    sum.element_bytes = count == 1 ? result->structures[list[0]].element_bytes : 0;
    return sum;
}

static json_t *diff_structure_json(const struct lwp_diff_result *result, const uint32_t *list, size_t count, double lines)
{
    if (!count)
        return json_null();
    struct diff_sum sum = diff_sum(result, list, count);
    bool seconds = lwp_diff_seconds(result, 0) >= 0;
    return lwp_json_new(
        "share", lwp_json_real(sum.share), "share_ci", lwp_json_range(sum.low, sum.high), "weight",
        seconds ? lwp_json_real(sum.share * result->cpu_s * 1e9) : lwp_json_measured(sum.share * result->weight), "waiting_s",
        lwp_json_measured(lwp_diff_seconds(result, sum.share)), "loops_s", lwp_json_measured(lwp_diff_seconds(result, sum.time_share)),
        "samples", json_integer((json_int_t)(sum.samples & INT64_MAX)), "element_bytes", lwp_json_known(sum.element_bytes), "elements",
        lwp_json_known(sum.elements), "bytes", lwp_json_known(sum.bytes), "lines_per_element", lwp_json_measured(lines), NULL);
}

static json_t *diff_part_json(const struct lwp_diff_result *result, const struct lwp_diff_structure *part, int group)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", lwp_json_text(part->name), "type", lwp_json_text(part->type),
                     "allocated_in", lwp_json_text(part->site), "element_bytes", lwp_json_known(part->element_bytes), "fields",
                     LWP_JSON_LIST(f, part->field_count, lwp_json_text(part->fields[f].name)), "share", lwp_json_real(part->share),
                     "waiting_s", lwp_json_measured(lwp_diff_seconds(result, part->share)), "group",
                     group == -2   ? json_null()
                     : group == -1 ? json_string("cold")
                                   : json_integer(group));
}

static json_t *diff_parts_json(const struct lwp_diff_result *result, const uint32_t *list, size_t count,
                               const struct lwp_diff_structure *whole)
{
    return LWP_JSON_LIST(
        i, count < PARTS_LISTED ? count : PARTS_LISTED,
        diff_part_json(result, &result->structures[list[i]], whole ? lwp_diff_group(whole, &result->structures[list[i]]) : -2));
}

/* One loop of a row: what the structures of each result have to do with it. */
struct diff_row_loop {
    uint32_t loop;        /* of BEFORE, or of AFTER when only there */
    double before, after; /* stalled shares */
    double sums[2][2];    /* lines when sequential and random, before and after; -1: not known */
    double lines[2];      /* before and after; -1: not known */
};

/* Adds a structure's part of lines; one that is not known makes the sum unknown. */
static void diff_add_lines(double *sum, double lines)
{
    *sum = lines < 0 || *sum < 0 ? -1 : *sum + lines;
}

static size_t diff_row_uses(const struct lwp_diff *diff, const struct lwp_diff_row *row, struct diff_row_loop *loops, size_t room)
{
    size_t count = 0;
    for (int after = 0; after < 2; after++) {
        const struct lwp_diff_result *result = after ? &diff->after : &diff->before;
        size_t structures = after ? row->after_count : row->before_count;
        for (size_t i = 0; i < structures; i++) {
            const struct lwp_diff_structure *part = &result->structures[after ? row->after[i] : row->before[i]];
            for (size_t u = 0; u < part->use_count; u++) {
                const struct lwp_diff_use *use = &part->uses[u];
                uint32_t loop = after ? result->loops[use->loop].match : use->loop;
                size_t at = 0;
                if (loop == LWP_DIFF_NONE)
                    continue;
                while (at < count && loops[at].loop != loop)
                    at++;
                if (at == count) {
                    if (count == room)
                        continue;
                    loops[count++] = (struct diff_row_loop){.loop = loop, .lines = {-1, -1}};
                }
                *(after ? &loops[at].after : &loops[at].before) += use->share;
                for (int random = 0; random < 2; random++)
                    diff_add_lines(&loops[at].sums[after][random], use->lines[random]);
            }
        }
    }
    return count;
}

/* The advice says how many lines a visit takes before; that shows how the loop traverses them, and with it the lines now. */
static void diff_row_lines(const json_t *advice, struct diff_row_loop *loops, size_t count)
{
    const json_t *row, *rows = json_object_get(json_object_get(advice, "traffic"), "loops");
    size_t i;
    json_array_foreach(rows, i, row) {
        const json_t *id = json_object_get(row, "loop");
        double before = json_number_value(json_object_get(row, "before"));
        if (i >= TRAFFIC_MAX)
            break;
        for (size_t k = 0; k < count && json_is_integer(id) && before > 0; k++) {
            struct diff_row_loop *loop = &loops[k];
            if (json_integer_value(id) != (json_int_t)loop->loop)
                continue;
            bool random = fabs(loop->sums[0][1] - before) < fabs(loop->sums[0][0] - before);
            loop->lines[0] = before;
            if (fabs(loop->sums[0][random] - before) <= 0.1 * before && loop->after > 0 && loop->sums[1][random] > 0)
                loop->lines[1] = loop->sums[1][random];
        }
    }
}

const struct lwp_diff_structure *lwp_diff_advised(const struct lwp_diff *diff, const struct lwp_diff_row *row)
{
    for (size_t i = 0; i < row->before_count; i++)
        if (diff->before.structures[row->before[i]].finding)
            return &diff->before.structures[row->before[i]];
    return NULL;
}

static size_t diff_row_loops(const struct lwp_diff *diff, const struct lwp_diff_row *row, struct diff_row_loop *loops, size_t room)
{
    const struct lwp_diff_structure *advised = lwp_diff_advised(diff, row);
    size_t count = diff_row_uses(diff, row, loops, room);
    if (advised)
        diff_row_lines(advised->advice, loops, count);
    return count;
}

static int diff_loop_compare(const void *a, const void *b)
{
    const struct diff_row_loop *x = a, *y = b;
    double p = fmax(x->before, x->after), q = fmax(y->before, y->after);
    return p != q ? (p < q) - (p > q) : (x->loop > y->loop) - (x->loop < y->loop);
}

static json_t *diff_loop_json(const struct lwp_diff_result *result, uint32_t index, double stalled, double lines)
{
    if (index == LWP_DIFF_NONE)
        return json_null();
    const struct lwp_diff_loop *loop = &result->loops[index];
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "file", lwp_json_text(loop->file), "first_line", lwp_json_known(loop->first_line),
                     "last_line", lwp_json_known(loop->last_line), "share", lwp_json_real(loop->share), "seconds",
                     lwp_json_measured(lwp_diff_seconds(result, loop->share)), "waiting_share", lwp_json_real(fmin(1, stalled)),
                     "lines_per_element", lwp_json_measured(lines));
}

/* The seconds the row's loops lost, and their variance; false: too little of its time is in loops found again. */
static bool diff_saved(const struct lwp_diff *diff, const struct diff_row_loop *loops, size_t count, double all_before, double *saved,
                       double *variance)
{
    double found = 0;
    *saved = *variance = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lwp_diff_loop *old = &diff->before.loops[loops[i].loop];
        if (old->match == LWP_DIFF_NONE || loops[i].before <= 0 || old->stalled <= 0)
            continue;
        const struct lwp_diff_loop *now = &diff->after.loops[old->match];
        double part = fmin(1, loops[i].before / old->stalled);
        double x = lwp_diff_seconds(&diff->before, old->share), y = lwp_diff_seconds(&diff->after, now->share);
        *saved += part * (x - y);
        *variance += part * part * (x * x / fmax(1, (double)old->samples) + y * y / fmax(1, (double)now->samples));
        found += loops[i].before;
    }
    return found >= 0.7 * all_before && all_before > 0;
}

static struct lwp_diff_ratio diff_row_ratio(const struct lwp_diff *diff, const struct lwp_diff_row *row, const struct diff_row_loop *loops,
                                            size_t count)
{
    struct lwp_diff_ratio ratio = {-1, -1, -1};
    double saved, variance, total = diff->before.cpu_s;
    struct diff_sum before = diff_sum(&diff->before, row->before, row->before_count);
    if (!diff->seconds || total <= 0 || !diff_saved(diff, loops, count, before.share, &saved, &variance))
        return ratio;
    double error = z95 * sqrt(variance);
    ratio.value = 1 / (1 - fmin(0.99, saved / total));
    ratio.low = 1 / (1 - fmin(0.99, (saved - error) / total));
    ratio.high = 1 / (1 - fmin(0.99, (saved + error) / total));
    return ratio;
}

static double diff_lines(const struct diff_row_loop *loops, size_t count, bool after)
{
    double sum = 0, weight = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        all += loops[i].before;
        if (loops[i].lines[0] < 0 || loops[i].lines[1] < 0)
            continue;
        sum += loops[i].before * loops[i].lines[after];
        weight += loops[i].before;
    }
    return weight > 0.5 * all ? sum / weight : -1;
}

static const char *const diff_statuses[] = {"same", "changed", "split", "regrouped", "gone", "new"};

/* What its patch brought where lwp patch had tried it. */
static json_t *diff_tried(const json_t *finding)
{
    char *text = lwp_tried_text(finding);
    json_t *tried = text ? json_string(text) : json_null();
    free(text);
    return tried;
}

json_t *lwp_diff_row_json(struct lwp_diff *diff, const struct lwp_diff_row *row)
{
    struct diff_row_loop *loops = lwp_arena_alloc(diff->arena, LOOPS_LISTED, sizeof *loops);
    size_t count = diff_row_loops(diff, row, loops, LOOPS_LISTED);
    const struct lwp_diff_structure *first =
        row->before_count ? &diff->before.structures[row->before[0]] : &diff->after.structures[row->after[0]];
    const struct lwp_diff_structure *advised = lwp_diff_advised(diff, row);
    struct lwp_diff_ratio ratio =
        row->before_count && row->after_count ? diff_row_ratio(diff, row, loops, count) : (struct lwp_diff_ratio){-1, -1, -1};
    double low, high;
    bool predicted = advised && lwp_diff_prediction(advised->finding, &low, &high);
    const char *verdict = NULL, *sentence = NULL;
    if (predicted && row->status == LWP_DIFF_SAME) {
        verdict = "not_followed";
        sentence = "its layout is as before";
    } else if (predicted && row->status == LWP_DIFF_GONE) {
        verdict = "cannot_tell";
        sentence = "it is not found in the second result, nor are parts of it";
    } else if (predicted && (diff->doubts.reason || ratio.value < 0)) {
        verdict = "cannot_tell";
        sentence = diff->doubts.reason ? diff->doubts.reason : "too little of its time is in loops that both results have";
    } else if (predicted) {
        verdict = lwp_diff_verdict(diff->arena, ratio, low, high, &sentence);
    }
    qsort(loops, count, sizeof *loops, diff_loop_compare);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct lwp_diff_loop *old = &diff->before.loops[loops[i].loop];
        json_array_append_new(list, json_pack("{s:o,s:o,s:o}", "function", lwp_json_text(old->function), "before",
                                              diff_loop_json(&diff->before, loops[i].loop, loops[i].before, loops[i].lines[0]), "after",
                                              diff_loop_json(&diff->after, old->match, loops[i].after, loops[i].lines[1])));
    }
    return lwp_json_new("name", lwp_json_text(first->name), "type", lwp_json_text(first->type), "kind", lwp_json_text(first->kind),
                        "allocated_in", lwp_json_text(first->site), "status", json_string(diff_statuses[row->status]), "before",
                        diff_structure_json(&diff->before, row->before, row->before_count, diff_lines(loops, count, false)), "after",
                        diff_structure_json(&diff->after, row->after, row->after_count, diff_lines(loops, count, true)), "whole",
                        diff_parts_json(&diff->before, row->before, row->before_count, NULL), "parts",
                        diff_parts_json(&diff->after, row->after, row->after_count, advised), "loops", list, "finding",
                        lwp_json_text(advised ? lwp_json_string(advised->finding, "id") : NULL), "promised",
                        predicted ? lwp_json_range(low, high) : json_null(), "arrived", lwp_json_measured(ratio.value), "arrived_ci",
                        ratio.value >= 0 ? lwp_json_range(ratio.low, ratio.high) : json_null(), "verdict", lwp_json_text(verdict),
                        "sentence", lwp_json_text(sentence), "tried", advised ? diff_tried(advised->finding) : json_null(), NULL);
}

bool lwp_diff_row_matters(const struct lwp_diff *diff, const struct lwp_diff_row *row)
{
    bool finding = false;
    for (size_t i = 0; i < row->before_count; i++)
        finding |= diff->before.structures[row->before[i]].finding != NULL;
    for (size_t i = 0; i < row->after_count; i++)
        finding |= diff->after.structures[row->after[i]].finding != NULL;
    return finding || diff_sum(&diff->before, row->before, row->before_count).share >= share_listed ||
           diff_sum(&diff->after, row->after, row->after_count).share >= share_listed;
}
