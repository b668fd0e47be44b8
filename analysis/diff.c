/* Compares two results and judges the promise.
 *
 * In: two analysis.json. Out: the same questions answered for both, and sentences.
 *
 * The promise is about the time of the whole program, so CPU time decides; wall time stands beside it. One run on each
 * side is one measurement: then no interval is given. For one structure, what it saved is worked out from its loops:
 * how many seconds each took before and takes now, times the part of the loop's waiting that was for the structure. As
 * if that were the only change, this gives a speed-up of the program that can be held against the promise.
 *
 * Whether the runs can be compared at all is asked first: machine, engine, arguments, end, amount of data, and the
 * control: loops that the change does not touch must take as long as before.
 * Limits: the same work is assumed when nothing speaks against it. */
#include "analysis/diff.h"

#include "analysis/diff_doubts.h"
#include "base/utf8.h"
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LISTED = 500, LOOPS_LISTED = 64, PARTS_LISTED = 64 };

static const double share_listed = 0.001, noise = 0.03, z95 = 1.96;

struct diff {
    struct lwp_diff_side before, after;
    struct lwp_diff_rows rows;
    struct lwp_arena *arena;
    struct lwp_diff_doubts doubts;
    bool seconds; /* both sides' shares are of CPU time */
};

/* A speed-up with its 95 % interval, low < 0 when there is none. */
struct diff_ratio {
    double value, low, high;
};

static json_t *diff_text(const char *text)
{
    char *clean = text ? lwp_utf8_clean(text) : NULL;
    json_t *value = clean ? json_string(clean) : json_null();
    free(clean);
    return value;
}

static json_t *diff_real(double value)
{
    return isfinite(value) ? json_real(round(value * 1e6) / 1e6) : json_null();
}

static json_t *diff_known(double value)
{
    return value >= 0 ? diff_real(value) : json_null();
}

static json_t *diff_count(uint64_t value)
{
    return value ? json_integer((json_int_t)(value < INT64_MAX ? value : INT64_MAX)) : json_null();
}

static json_t *diff_pair(double low, double high)
{
    return low >= 0 ? json_pack("[o,o]", diff_real(low), diff_real(high)) : json_null();
}

static const char *diff_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- ratios and verdicts ---- */

static struct diff_ratio diff_time_ratio(double before, double before_error, double after, double after_error)
{
    struct diff_ratio ratio = {-1, -1, -1};
    if (before <= 0 || after <= 0)
        return ratio;
    ratio.value = before / after;
    if (before_error >= 0 && after_error >= 0) {
        double error = z95 * hypot(before_error / before, after_error / after);
        ratio.low = ratio.value * exp(-error);
        ratio.high = ratio.value * exp(error);
    }
    return ratio;
}

static bool diff_promise(const json_t *finding, double *low, double *high)
{
    const json_t *range = json_object_get(finding, "expected_speedup");
    *low = json_number_value(json_array_get(range, 0));
    *high = json_number_value(json_array_get(range, 1));
    return json_array_size(range) == 2 && *low >= 0.01 && *high >= *low && *high <= 1000;
}

/* A ratio is compared as it is printed: with two digits. */
static double diff_rounded(double value)
{
    return round(value * 100) / 100;
}

static const char *diff_verdict(struct diff *diff, struct diff_ratio got, double low, double high,
                                const char **sentence)
{
    double value = diff_rounded(got.value);
    const char *range = lwp_arena_printf(diff->arena, "%.2f-%.2fx", low, high);
    const char *interval = got.low >= 0 ? lwp_arena_printf(diff->arena, " (95 %%: %.2f-%.2f)", got.low, got.high) : "";
    if (value >= diff_rounded(low) && value <= diff_rounded(high)) {
        *sentence = lwp_arena_printf(diff->arena, "the promised %s arrived: %.2fx%s", range, value, interval);
        return "arrived";
    }
    if (value > high) {
        *sentence = lwp_arena_printf(diff->arena, "more than the promised %s: %.2fx%s", range, value, interval);
        return "more";
    }
    if (got.low >= 0 && got.high >= low) {
        *sentence = lwp_arena_printf(diff->arena, "cannot tell whether the promised %s arrived: %.2fx%s", range, value,
                                     interval);
        return "cannot_tell";
    }
    if (value <= 1 - noise) {
        *sentence = lwp_arena_printf(diff->arena, "slower instead of the promised %s: %.2fx%s", range, value, interval);
        return "slower";
    }
    *sentence = lwp_arena_printf(diff->arena, "%s than the promised %s: %.2fx%s",
                                 value < 1 + noise ? "no gain rather" : "less", range, value, interval);
    return value < 1 + noise ? "none" : "less";
}

/* ---- structures ---- */

struct diff_sum {
    double share, low, high, time_share;
    uint64_t samples, elements, element_bytes, bytes;
};

static struct diff_sum diff_sum(const struct lwp_diff_side *side, const uint32_t *list, size_t count)
{
    struct diff_sum sum = {0};
    double down = 0, up = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lwp_diff_structure *part = &side->structures[list[i]];
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
    sum.element_bytes = count == 1 ? side->structures[list[0]].element_bytes : 0;
    return sum;
}

static json_t *diff_side_json(const struct lwp_diff_side *side, const uint32_t *list, size_t count, double lines)
{
    if (!count)
        return json_null();
    struct diff_sum sum = diff_sum(side, list, count);
    bool ns = lwp_diff_seconds(side, 0) >= 0;
    json_t *json = json_object();
    json_object_set_new(json, "share", diff_real(sum.share));
    json_object_set_new(json, "share_ci", diff_pair(sum.low, sum.high));
    json_object_set_new(json, "weight",
                        ns ? diff_real(sum.share * side->cpu_s * 1e9) : diff_known(sum.share * side->weight));
    json_object_set_new(json, "waiting_s", diff_known(lwp_diff_seconds(side, sum.share)));
    json_object_set_new(json, "loops_s", diff_known(lwp_diff_seconds(side, sum.time_share)));
    json_object_set_new(json, "samples", json_integer((json_int_t)(sum.samples & INT64_MAX)));
    json_object_set_new(json, "element_bytes", diff_count(sum.element_bytes));
    json_object_set_new(json, "elements", diff_count(sum.elements));
    json_object_set_new(json, "bytes", diff_count(sum.bytes));
    json_object_set_new(json, "lines_per_element", diff_known(lines));
    return json;
}

static json_t *diff_part_json(const struct lwp_diff_side *side, const struct lwp_diff_structure *part, int group)
{
    json_t *fields = json_array();
    for (size_t f = 0; f < part->field_count; f++)
        json_array_append_new(fields, diff_text(part->fields[f].name));
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", diff_text(part->name), "type", diff_text(part->type),
                     "allocated_in", diff_text(part->site), "element_bytes", diff_count(part->element_bytes), "fields",
                     fields, "share", diff_real(part->share), "waiting_s",
                     diff_known(lwp_diff_seconds(side, part->share)), "group",
                     group == -2   ? json_null()
                     : group == -1 ? json_string("cold")
                                   : json_integer(group));
}

static json_t *diff_parts_json(const struct lwp_diff_side *side, const uint32_t *list, size_t count,
                               const struct lwp_diff_structure *whole)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < count && i < PARTS_LISTED; i++) {
        const struct lwp_diff_structure *part = &side->structures[list[i]];
        json_array_append_new(parts, diff_part_json(side, part, whole ? lwp_diff_group(whole, part) : -2));
    }
    return parts;
}

/* One loop of a row: what each side's structures have to do with it. */
struct diff_row_loop {
    uint32_t loop;        /* of BEFORE, or of AFTER when only there */
    double before, after; /* shares of waiting */
    double sums[2][2];    /* lines in order and jumping, before and after; -1: not known */
    double lines[2];      /* before and after; -1: not known */
};

/* Adds a structure's part of lines; one that is not known makes the sum unknown. */
static void diff_add_lines(double *sum, double lines)
{
    *sum = lines < 0 || *sum < 0 ? -1 : *sum + lines;
}

static size_t diff_row_uses(const struct diff *diff, const struct lwp_diff_row *row, struct diff_row_loop *loops,
                            size_t room)
{
    size_t count = 0;
    for (int after = 0; after < 2; after++) {
        const struct lwp_diff_side *side = after ? &diff->after : &diff->before;
        size_t structures = after ? row->after_count : row->before_count;
        for (size_t i = 0; i < structures; i++) {
            const struct lwp_diff_structure *part = &side->structures[after ? row->after[i] : row->before[i]];
            for (size_t u = 0; u < part->use_count; u++) {
                const struct lwp_diff_use *use = &part->uses[u];
                uint32_t loop = after ? side->loops[use->loop].match : use->loop;
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
                for (int jumping = 0; jumping < 2; jumping++)
                    diff_add_lines(&loops[at].sums[after][jumping], use->lines[jumping]);
            }
        }
    }
    return count;
}

/* The advice says how many lines a visit takes before; that tells which way the loop walks, and with it the lines now.
 */
static void diff_row_lines(const json_t *advice, struct diff_row_loop *loops, size_t count)
{
    const json_t *row, *rows = json_object_get(json_object_get(advice, "traffic"), "loops");
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const json_t *id = json_object_get(row, "loop");
        double before = json_number_value(json_object_get(row, "before"));
        if (i >= ROWS_LISTED)
            break;
        for (size_t k = 0; k < count && json_is_integer(id) && before > 0; k++) {
            struct diff_row_loop *loop = &loops[k];
            if (json_integer_value(id) != (json_int_t)loop->loop)
                continue;
            bool jumps = fabs(loop->sums[0][1] - before) < fabs(loop->sums[0][0] - before);
            loop->lines[0] = before;
            if (fabs(loop->sums[0][jumps] - before) <= 0.1 * before && loop->after > 0 && loop->sums[1][jumps] > 0)
                loop->lines[1] = loop->sums[1][jumps];
        }
    }
}

static const struct lwp_diff_structure *diff_advised(const struct diff *diff, const struct lwp_diff_row *row)
{
    for (size_t i = 0; i < row->before_count; i++)
        if (diff->before.structures[row->before[i]].finding)
            return &diff->before.structures[row->before[i]];
    return NULL;
}

static size_t diff_row_loops(const struct diff *diff, const struct lwp_diff_row *row, struct diff_row_loop *loops,
                             size_t room)
{
    const struct lwp_diff_structure *advised = diff_advised(diff, row);
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

static json_t *diff_loop_side(const struct lwp_diff_side *side, uint32_t index, double waiting, double lines)
{
    if (index == LWP_DIFF_NONE)
        return json_null();
    const struct lwp_diff_loop *loop = &side->loops[index];
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "file", diff_text(loop->file), "first_line",
                     diff_count(loop->first_line), "last_line", diff_count(loop->last_line), "share",
                     diff_real(loop->share), "seconds", diff_known(lwp_diff_seconds(side, loop->share)),
                     "waiting_share", diff_real(fmin(1, waiting)), "lines_per_element", diff_known(lines));
}

/* The seconds the row's loops lost, and their variance; false: too little of its time is in loops found again. */
static bool diff_saved(const struct diff *diff, const struct diff_row_loop *loops, size_t count, double all_before,
                       double *saved, double *variance)
{
    double found = 0;
    *saved = *variance = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lwp_diff_loop *old = &diff->before.loops[loops[i].loop];
        if (old->match == LWP_DIFF_NONE || loops[i].before <= 0 || old->waiting <= 0)
            continue;
        const struct lwp_diff_loop *now = &diff->after.loops[old->match];
        double part = fmin(1, loops[i].before / old->waiting);
        double x = lwp_diff_seconds(&diff->before, old->share), y = lwp_diff_seconds(&diff->after, now->share);
        *saved += part * (x - y);
        *variance += part * part * (x * x / fmax(1, (double)old->samples) + y * y / fmax(1, (double)now->samples));
        found += loops[i].before;
    }
    return found >= 0.7 * all_before && all_before > 0;
}

static struct diff_ratio diff_row_ratio(const struct diff *diff, const struct lwp_diff_row *row,
                                        const struct diff_row_loop *loops, size_t count)
{
    struct diff_ratio ratio = {-1, -1, -1};
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

static bool diff_followed(const struct lwp_diff_row *row)
{
    return row->status == LWP_DIFF_CHANGED || row->status == LWP_DIFF_SPLIT || row->status == LWP_DIFF_REGROUPED;
}

static json_t *diff_row_json(struct diff *diff, const struct lwp_diff_row *row)
{
    struct diff_row_loop *loops = lwp_arena_alloc(diff->arena, LOOPS_LISTED, sizeof *loops);
    size_t count = diff_row_loops(diff, row, loops, LOOPS_LISTED);
    const struct lwp_diff_structure *first =
        row->before_count ? &diff->before.structures[row->before[0]] : &diff->after.structures[row->after[0]];
    const struct lwp_diff_structure *advised = diff_advised(diff, row);
    struct diff_ratio ratio = row->before_count && row->after_count ? diff_row_ratio(diff, row, loops, count)
                                                                    : (struct diff_ratio){-1, -1, -1};
    double low, high;
    bool promised = advised && diff_promise(advised->finding, &low, &high);
    const char *verdict = NULL, *sentence = NULL;
    if (promised && row->status == LWP_DIFF_SAME) {
        verdict = "not_followed";
        sentence = "its layout is as before";
    } else if (promised && row->status == LWP_DIFF_GONE) {
        verdict = "cannot_tell";
        sentence = "it is not found in the second result, nor are parts of it";
    } else if (promised && (diff->doubts.reason || ratio.value < 0)) {
        verdict = "cannot_tell";
        sentence =
            diff->doubts.reason ? diff->doubts.reason : "too little of its time is in loops that both results have";
    } else if (promised) {
        verdict = diff_verdict(diff, ratio, low, high, &sentence);
    }
    qsort(loops, count, sizeof *loops, diff_loop_compare);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct lwp_diff_loop *old = &diff->before.loops[loops[i].loop];
        json_array_append_new(
            list, json_pack("{s:o,s:o,s:o}", "function", diff_text(old->function), "before",
                            diff_loop_side(&diff->before, loops[i].loop, loops[i].before, loops[i].lines[0]), "after",
                            diff_loop_side(&diff->after, old->match, loops[i].after, loops[i].lines[1])));
    }
    json_t *json = json_object();
    json_object_set_new(json, "name", diff_text(first->name));
    json_object_set_new(json, "type", diff_text(first->type));
    json_object_set_new(json, "kind", diff_text(first->kind));
    json_object_set_new(json, "allocated_in", diff_text(first->site));
    json_object_set_new(json, "status", json_string(diff_statuses[row->status]));
    json_object_set_new(json, "before",
                        diff_side_json(&diff->before, row->before, row->before_count, diff_lines(loops, count, false)));
    json_object_set_new(json, "after",
                        diff_side_json(&diff->after, row->after, row->after_count, diff_lines(loops, count, true)));
    json_object_set_new(json, "whole", diff_parts_json(&diff->before, row->before, row->before_count, NULL));
    json_object_set_new(json, "parts", diff_parts_json(&diff->after, row->after, row->after_count, advised));
    json_object_set_new(json, "loops", list);
    json_object_set_new(json, "finding", diff_text(advised ? diff_string(advised->finding, "id") : NULL));
    json_object_set_new(json, "promised", promised ? diff_pair(low, high) : json_null());
    json_object_set_new(json, "arrived", diff_known(ratio.value));
    json_object_set_new(json, "arrived_ci", ratio.value >= 0 ? diff_pair(ratio.low, ratio.high) : json_null());
    json_object_set_new(json, "verdict", diff_text(verdict));
    json_object_set_new(json, "sentence", diff_text(sentence));
    return json;
}

static bool diff_row_matters(const struct diff *diff, const struct lwp_diff_row *row)
{
    bool finding = false;
    for (size_t i = 0; i < row->before_count; i++)
        finding |= diff->before.structures[row->before[i]].finding != NULL;
    for (size_t i = 0; i < row->after_count; i++)
        finding |= diff->after.structures[row->after[i]].finding != NULL;
    return finding || diff_sum(&diff->before, row->before, row->before_count).share >= share_listed ||
           diff_sum(&diff->after, row->after, row->after_count).share >= share_listed;
}

/* ---- findings ---- */

static json_t *diff_finding_json(const json_t *finding)
{
    double low, high;
    return json_pack("{s:o,s:o,s:o}", "id", diff_text(diff_string(finding, "id")), "title",
                     diff_text(diff_string(finding, "title")), "expected_speedup",
                     diff_promise(finding, &low, &high) ? diff_pair(low, high) : json_null());
}

static const struct lwp_diff_structure *diff_finding_owner(const struct lwp_diff_side *side, const json_t *finding)
{
    for (size_t i = 0; i < side->structure_count; i++)
        if (side->structures[i].finding == finding)
            return &side->structures[i];
    return NULL;
}

/* Unchanged: the same id, or the same kind of finding about a structure whose layout is as it was. */
static bool diff_finding_stays(const struct diff *diff, const struct lwp_diff_side *side, const json_t *finding,
                               const json_t *others, const struct lwp_diff_side *other_side)
{
    const char *id = diff_string(finding, "id"), *kind = diff_string(finding, "kind");
    const struct lwp_diff_structure *owner = diff_finding_owner(side, finding);
    const json_t *other;
    size_t i;
    json_array_foreach(others, i, other)
    {
        const char *its_id = diff_string(other, "id"), *its_kind = diff_string(other, "kind");
        if (i >= ROWS_LISTED)
            break;
        if (id && its_id && strcmp(id, its_id) == 0)
            return true;
        const struct lwp_diff_structure *its_owner = diff_finding_owner(other_side, other);
        if (owner && its_owner && kind && its_kind && strcmp(kind, its_kind) == 0 && owner->row == its_owner->row &&
            diff->rows.rows[owner->row].status == LWP_DIFF_SAME)
            return true;
    }
    return false;
}

static json_t *diff_findings(const struct diff *diff)
{
    json_t *gone = json_array(), *fresh = json_array(), *stays = json_array(), *finding;
    const json_t *before = json_object_get(diff->before.root, "findings"),
                 *after = json_object_get(diff->after.root, "findings");
    size_t i;
    json_array_foreach(before, i, finding)
    {
        if (i >= ROWS_LISTED)
            break;
        bool same = diff_finding_stays(diff, &diff->before, finding, after, &diff->after);
        json_array_append_new(same ? stays : gone, diff_finding_json(finding));
    }
    json_array_foreach(after, i, finding)
    {
        if (i >= ROWS_LISTED)
            break;
        if (!diff_finding_stays(diff, &diff->after, finding, before, &diff->before))
            json_array_append_new(fresh, diff_finding_json(finding));
    }
    return json_pack("{s:o,s:o,s:o}", "gone", gone, "new", fresh, "unchanged", stays);
}

/* ---- the whole program ---- */

/* Each finding's promise is for the program with that one change: what they save adds up. */
static bool diff_promised(const struct diff *diff, double *low, double *high, json_t *followed, size_t *advised_count)
{
    double saved_low = 0, saved_high = 0;
    bool any = false;
    *advised_count = 0;
    for (size_t r = 0; r < diff->rows.count; r++) {
        const struct lwp_diff_row *row = &diff->rows.rows[r];
        const struct lwp_diff_structure *advised = diff_advised(diff, row);
        double from, to;
        if (!advised || !diff_promise(advised->finding, &from, &to))
            continue;
        ++*advised_count;
        if (!diff_followed(row))
            continue;
        any = true;
        saved_low += 1 - 1 / from;
        saved_high += 1 - 1 / to;
        json_array_append_new(followed, diff_text(diff_string(advised->finding, "id")));
    }
    *low = 1 / (1 - fmin(0.98, saved_low));
    *high = 1 / (1 - fmin(0.98, saved_high));
    return any;
}

static json_t *diff_doubts_json(const struct lwp_diff_doubts *doubts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < doubts->count; i++)
        json_array_append_new(list, json_pack("{s:s,s:b,s:o}", "kind", doubts->list[i].kind, "serious",
                                              doubts->list[i].serious, "text", diff_text(doubts->list[i].text)));
    return list;
}

static json_t *diff_control_json(const struct lwp_diff_doubts *doubts)
{
    return doubts->control ? json_pack("{s:o,s:o,s:o}", "before_s", diff_real(doubts->before_s), "after_s",
                                       diff_real(doubts->after_s), "ratio_ci", diff_pair(doubts->low, doubts->high))
                           : json_null();
}

static json_t *diff_program(struct diff *diff)
{
    const struct lwp_diff_side *x = &diff->before, *y = &diff->after;
    struct diff_ratio cpu = diff_time_ratio(x->cpu_s, x->cpu_error, y->cpu_s, y->cpu_error);
    struct diff_ratio wall = diff_time_ratio(x->wall_s, x->wall_error, y->wall_s, y->wall_error);
    json_t *followed = json_array();
    double low, high;
    size_t advised;
    const char *verdict, *sentence;
    bool promised = diff_promised(diff, &low, &high, followed, &advised);
    const char *got = cpu.value < 0 ? "unknown" : lwp_arena_printf(diff->arena, "%.2fx", cpu.value);
    if (diff->doubts.reason) {
        verdict = "cannot_tell";
        sentence = lwp_arena_printf(diff->arena, "cannot tell: %s", diff->doubts.reason);
    } else if (cpu.value < 0) {
        verdict = "cannot_tell";
        sentence = "cannot tell: the CPU time of a run is not known";
    } else if (!advised) {
        verdict = "nothing_promised";
        sentence = lwp_arena_printf(diff->arena, "nothing was promised; the program takes %.2f s instead of %.2f s: %s",
                                    y->cpu_s, x->cpu_s, got);
    } else if (!promised) {
        verdict = "not_followed";
        sentence = lwp_arena_printf(
            diff->arena,
            "no structure that lwp gave advice on was changed; the program takes %.2f s instead of %.2f s: %s",
            y->cpu_s, x->cpu_s, got);
    } else {
        verdict = diff_verdict(diff, cpu, low, high, &sentence);
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o}", "cpu_ratio", diff_known(cpu.value), "cpu_ratio_ci",
                     diff_pair(cpu.low, cpu.high), "wall_ratio", diff_known(wall.value), "wall_ratio_ci",
                     diff_pair(wall.low, wall.high), "promised", promised ? diff_pair(low, high) : json_null(),
                     "followed", followed, "control", diff_control_json(&diff->doubts), "verdict", verdict, "sentence",
                     diff_text(sentence));
}

static json_t *diff_run_json(const struct lwp_diff_side *side)
{
    json_t *command = json_object_get(side->run, "command");
    json_t *json = json_object();
    json_object_set_new(json, "result", diff_text(side->label));
    json_object_set_new(json, "command", json_is_array(command) ? json_deep_copy(command) : json_array());
    json_object_set_new(json, "host", diff_text(diff_string(side->run, "host")));
    json_object_set_new(json, "cpu", diff_text(diff_string(json_object_get(side->run, "machine"), "cpu")));
    json_object_set_new(json, "engine", *side->engine ? diff_text(side->engine) : json_null());
    json_object_set_new(json, "weight_unit", *side->unit ? diff_text(side->unit) : json_null());
    json_object_set_new(json, "runs", json_integer(side->runs));
    json_object_set_new(json, "threads", diff_count(side->threads));
    json_object_set_new(json, "samples", json_integer((json_int_t)(side->samples & INT64_MAX)));
    json_object_set_new(json, "cpu_s", diff_known(side->cpu_s));
    json_object_set_new(json, "wall_s", diff_known(side->wall_s));
    return json;
}

static json_t *diff_notes(const struct diff *diff)
{
    json_t *notes = json_array();
    if (diff->before.cpu_error < 0 || diff->after.cpu_error < 0)
        json_array_append_new(
            notes, json_string("One run on a side is one measurement: how much the times vary from run to run is not "
                               "known, so the program's ratio has no interval. Merge several runs on "
                               "each side (lwp analyze A B C -o FILE) to get one."));
    if (!diff->seconds)
        json_array_append_new(notes,
                              json_string("The weights are not CPU time on both sides: shares only are compared."));
    if (diff->before.left_out || diff->after.left_out)
        json_array_append_new(notes, json_string("Only the heaviest objects of each result are compared."));
    return notes;
}

json_t *lwp_diff_build(const json_t *before, const char *before_label, const json_t *after, const char *after_label,
                       struct lwp_error *err)
{
    struct diff diff = {.arena = lwp_arena_new()};
    json_t *root = NULL;
    if (lwp_diff_side_read(&diff.before, before, before_label, diff.arena, err) ||
        lwp_diff_side_read(&diff.after, after, after_label, diff.arena, err))
        goto out;
    diff.seconds = lwp_diff_seconds(&diff.before, 0) >= 0 && lwp_diff_seconds(&diff.after, 0) >= 0;
    lwp_diff_match(&diff.before, &diff.after, diff.arena, &diff.rows);
    lwp_diff_doubts_find(&diff.before, &diff.after, &diff.rows, diff.arena, &diff.doubts);
    json_t *structures = json_array();
    for (size_t r = 0; r < diff.rows.count && json_array_size(structures) < ROWS_LISTED; r++)
        if (diff_row_matters(&diff, &diff.rows.rows[r]))
            json_array_append_new(structures, diff_row_json(&diff, &diff.rows.rows[r]));
    root = json_object();
    json_object_set_new(root, "schema", json_string("lwp-diff"));
    json_object_set_new(root, "version", json_string("1.0"));
    json_object_set_new(root, "lwp_version", json_string(LWP_VERSION));
    json_object_set_new(root, "before", diff_run_json(&diff.before));
    json_object_set_new(root, "after", diff_run_json(&diff.after));
    json_object_set_new(root, "comparable", json_boolean(!diff.doubts.reason));
    json_object_set_new(root, "doubts", diff_doubts_json(&diff.doubts));
    json_object_set_new(root, "program", diff_program(&diff));
    json_object_set_new(root, "structures", structures);
    json_object_set_new(root, "findings", diff_findings(&diff));
    json_object_set_new(root, "notes", diff_notes(&diff));
out:
    lwp_arena_free(diff.arena);
    return root;
}
