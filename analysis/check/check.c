/* What is judged is what is sure: the low end of an expected gain, which already rests on the low end of the measured
 * interval, or, where no gain is predicted, the low end of the part of the program that a finding concerns. So a check
 * does not change its mind from run to run unless the program does. */
#include "analysis/check/check.h"

#include "analysis/json/json_value.h"
#include "analysis/output/terminal.h"
#include "analysis/statistics/speedup.h"
#include "analysis/tables/engines.h"
#include "analysis/tables/redundancy_kinds.h"
#include "analysis/tables/severity.h"

#include "base/columns.h"

#include <stdlib.h>
#include <string.h>

struct check {
    const struct lwp_review *review;
    const struct lwp_budget *budget;
    struct lwp_baseline *baseline;
    struct lwp_judgement *judgement;
    bool unmeasured; /* a budget is about what was not measured */
};

#define SAY(...) lwp_arena_printf(check->review->arena, __VA_ARGS__)

static void check_add(struct check *check, struct lwp_judged_line line)
{
    check->judgement->lines[check->judgement->count++] = line;
    check->judgement->failed += line.result == LWP_JUDGED_FAILS;
}

/* ---- enough was measured ---- */

static void check_samples(struct check *check)
{
    const json_t *run = json_object_get(check->review->root, "run");
    double samples = lwp_json_amount(run, "samples_with_address");
    struct lwp_judged_line line = {.state = "", .rule = "measured", .subject = ""};
    if (lwp_engine_named(lwp_json_string(run, "engine"))->exact) {
        line.why = "counted by the exact engine";
    } else if (samples < check->budget->samples) {
        line.result = LWP_JUDGED_SKIPPED;
        line.why = SAY("%.0f samples with an address are fewer than %.0f: let the program run longer, or sample more (" LWP_SAMPLE_MORE ")",
                       samples, check->budget->samples);
        check->unmeasured = true;
    } else {
        line.why = SAY("%.0f samples with an address", samples);
    }
    check_add(check, line);
}

/* ---- findings ---- */

static const char *check_amount(const struct check *check, const struct lwp_review_item *item, double sure)
{
    return item->low > 0 ? SAY("%s%.*fx faster", item->low < item->high ? "at least " : "", LWP_SPEEDUP(sure))
                         : SAY("%s%.1f %% of the program", item->exact ? "" : "at least ", 100 * sure);
}

static const char *check_limit(const struct check *check, const struct lwp_review_item *item, double limit)
{
    return item->low > 0 ? SAY("%.*fx", LWP_SPEEDUP(limit)) : SAY("%.1f %%", 100 * limit);
}

static void check_item(struct check *check, const struct lwp_review_item *item)
{
    struct lwp_budget_limits limits = lwp_budget_of(check->budget, item->rule);
    struct lwp_baseline_entry *known = check->baseline ? lwp_baseline_find(check->baseline, item) : NULL;
    double sure = item->low > 0 ? item->low : item->part_low, limit = known ? known->accepted : item->low > 0 ? limits.gain : limits.share;
    struct lwp_judged_line line = {.state = !check->baseline ? ""
                                            : known          ? "known"
                                                             : "new",
                                   .rule = item->rule,
                                   .subject = item->subject,
                                   .item = item};
    const char *amount = check_amount(check, item, sure), *allowed = check_limit(check, item, limit);
    if (known)
        known->met = true;
    bool over = limit >= 0 && sure > limit;
    if (lwp_review_is_unsure(item))
        line.why = SAY("%s, but confidence is low: not enough to fail", amount);
    else if (over)
        line.why = SAY("%s, %s %s", amount, known ? "more than the baseline's" : "more than the allowed", allowed);
    else
        line.why = SAY("%s, %s %s", amount, known ? "within the baseline's" : "within the allowed", allowed);
    line.result = over && !lwp_review_is_unsure(item) ? LWP_JUDGED_FAILS : LWP_JUDGED_PASSES;
    check_add(check, line);
}

static void check_gone(struct check *check, const struct lwp_baseline_entry *entry)
{
    struct lwp_judged_line line = {
        .state = "gone", .rule = entry->rule, .subject = entry->subject, .why = "not found any more: --write-baseline takes it out"};
    if (!lwp_baseline_looked_for(check->review, entry)) {
        line.result = LWP_JUDGED_SKIPPED;
        line.state = "known";
        line.why = "not measured in this run";
    }
    check_add(check, line);
}

/* ---- totals ---- */

static void check_total(struct check *check, size_t kind)
{
    const json_t *total = json_object_get(json_object_get(check->review->root, "redundancy_totals"), lwp_redundancy_rows[kind].key);
    double limit = check->budget->totals[kind];
    struct lwp_judged_line line = {.state = "", .rule = "total", .subject = lwp_redundancy_rows[kind].key};
    if (limit < 0)
        return;
    if (!json_is_object(total)) {
        line.result = LWP_JUDGED_SKIPPED;
        line.why = "not measured in this run: lwp collect --detect redundancy";
        check->unmeasured = true;
    } else {
        bool exact = json_is_true(json_object_get(total, "exact"));
        double sure = exact ? lwp_json_amount(total, "share") : lwp_json_end(total, "share_ci", 0);
        line.result = sure > limit ? LWP_JUDGED_FAILS : LWP_JUDGED_PASSES;
        line.why = SAY("%s%.1f %%, %s %.1f %%", exact ? "" : "at least ", 100 * sure,
                       sure > limit ? "more than the allowed" : "within the allowed", 100 * limit);
    }
    check_add(check, line);
}

/* ---- all ---- */

/* What fails first, then what could not be judged; equal ones stay in order. */
static void check_sort(struct lwp_judgement *judgement, struct lwp_arena *arena)
{
    static const enum lwp_judged order[] = {LWP_JUDGED_FAILS, LWP_JUDGED_SKIPPED, LWP_JUDGED_PASSES};
    struct lwp_judged_line *sorted = lwp_arena_alloc(arena, judgement->count + 1, sizeof *sorted);
    size_t count = 0;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < judgement->count; i++)
            if (judgement->lines[i].result == order[k])
                sorted[count++] = judgement->lines[i];
    judgement->lines = sorted;
}

enum lwp_check_verdict lwp_check_judge(const struct lwp_review *review, const struct lwp_budget *budget, struct lwp_baseline *baseline,
                                       struct lwp_judgement *judgement)
{
    struct check made = {.review = review, .budget = budget, .baseline = baseline, .judgement = judgement}, *check = &made;
    size_t room = 1 + review->count + LWP_WATCHPOINT_KINDS + (baseline ? baseline->count : 0);
    *judgement = (struct lwp_judgement){.lines = lwp_arena_alloc(review->arena, room, sizeof *judgement->lines)};
    check_samples(check);
    for (size_t kind = 0; kind < LWP_WATCHPOINT_KINDS; kind++)
        check_total(check, kind);
    for (size_t i = 0; i < review->count; i++)
        check_item(check, &review->items[i]);
    for (size_t i = 0; baseline && i < baseline->count; i++)
        if (!baseline->entries[i].met)
            check_gone(check, &baseline->entries[i]);
    check_sort(judgement, review->arena);
    if (judgement->failed)
        judgement->sentence = SAY("%zu of %zu checks failed", judgement->failed, judgement->count);
    else if (check->unmeasured)
        judgement->sentence = "cannot tell: not enough was measured";
    else
        judgement->sentence = judgement->count == 1 ? "passed: nothing was found" : SAY("passed: %zu checks", judgement->count);
    return judgement->failed ? LWP_CHECK_FAILS : check->unmeasured ? LWP_CHECK_CANNOT_TELL : LWP_CHECK_PASSES;
}

/* ---- as text ---- */

enum { WHERE = 16 };

static void check_line(const struct lwp_terminal *to, const struct lwp_review *review, const struct lwp_judged_line *line)
{
    FILE *out = to->out;
    static const char *const results[] = {"passes", "FAILS", "unknown"}, *const colours[] = {"32", "1;31", "33"};
    lwp_terminal_style(to, colours[line->result]);
    fprintf(out, "%-8s", results[line->result]);
    lwp_terminal_style(to, "0");
    fprintf(out, "%-*s", WHERE - 8, line->state);
    lwp_terminal_wrap(to, WHERE, lwp_arena_printf(review->arena, "%s%s%s", line->rule, *line->subject ? ": " : "", line->subject));
    fprintf(out, "%*s", WHERE, "");
    lwp_terminal_wrap(to, WHERE, line->why);
    if (line->result == LWP_JUDGED_FAILS && line->item) {
        fprintf(out, "%*s", WHERE, "");
        lwp_terminal_wrap(to, WHERE, line->item->title);
        if (line->item->location_count)
            fprintf(out, "%*s%s\n", WHERE, "", lwp_review_lines(review, &line->item->locations[0]));
    }
}

void lwp_check_print(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, bool colour)
{
    const struct lwp_terminal to = {out, colour, lwp_columns(out)};
    for (size_t i = 0; i < judgement->count; i++)
        check_line(&to, review, &judgement->lines[i]);
    lwp_terminal_style(&to, "1");
    fprintf(out, "\n%s\n", judgement->sentence);
    lwp_terminal_style(&to, "0");
}
