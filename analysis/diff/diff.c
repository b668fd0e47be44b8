/* Compares two results and judges the prediction.
 *
 * In: two analysis.json. Out: the same questions answered for both, and sentences.
 *
 * The prediction is about the time of the whole program, so CPU time decides; wall time stands beside it. One run of each
 * is one measurement: then no interval is given.
 *
 * Whether the runs can be compared at all is asked first: machine, engine, arguments, end, amount of data, and the
 * control: loops that the change does not touch must take as long as before.
 * Limits: the same work is assumed when nothing speaks against it. */
#include "analysis/diff/diff.h"

#include "analysis/diff/diff_parts.h"
#include "analysis/statistics/speedup.h"
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) lwp_arena_printf(diff->arena, __VA_ARGS__)

enum { ROWS_LISTED = 500 };

/* ---- findings ---- */

static json_t *diff_finding_json(const json_t *finding)
{
    double low, high;
    return json_pack("{s:o,s:o,s:o}", "id", lwp_json_text(lwp_json_string(finding, "id")), "title",
                     lwp_json_text(lwp_json_string(finding, "title")), "expected_speedup",
                     lwp_diff_prediction(finding, &low, &high) ? lwp_json_range(low, high) : json_null());
}

static const struct lwp_diff_structure *diff_finding_owner(const struct lwp_diff_result *result, const json_t *finding)
{
    for (size_t i = 0; i < result->structure_count; i++)
        if (result->structures[i].finding == finding)
            return &result->structures[i];
    return NULL;
}

/* Unchanged: the same id, or the same kind of finding about a structure whose layout is as it was. */
static bool diff_finding_stays(const struct lwp_diff *diff, const struct lwp_diff_result *result, const json_t *finding,
                               const struct lwp_diff_result *other_result)
{
    const char *id = lwp_json_string(finding, "id"), *kind = lwp_json_string(finding, "kind");
    const struct lwp_diff_structure *owner = diff_finding_owner(result, finding);
    const json_t *other;
    size_t i;
    json_array_foreach(json_object_get(other_result->root, "findings"), i, other) {
        const char *its_id = lwp_json_string(other, "id"), *its_kind = lwp_json_string(other, "kind");
        const struct lwp_diff_structure *its_owner = diff_finding_owner(other_result, other);
        if (i >= ROWS_LISTED)
            break;
        if (id && its_id && strcmp(id, its_id) == 0)
            return true;
        if (owner && its_owner && kind && its_kind && strcmp(kind, its_kind) == 0 && owner->row == its_owner->row &&
            diff->rows.rows[owner->row].status == LWP_DIFF_SAME)
            return true;
    }
    return false;
}

static json_t *diff_findings(const struct lwp_diff *diff)
{
    json_t *gone = json_array(), *fresh = json_array(), *stays = json_array();
    for (int after = 0; after < 2; after++) {
        const struct lwp_diff_result *result = after ? &diff->after : &diff->before, *other = after ? &diff->before : &diff->after;
        const json_t *finding;
        size_t i;
        json_array_foreach(json_object_get(result->root, "findings"), i, finding) {
            bool same = diff_finding_stays(diff, result, finding, other);
            if (i >= ROWS_LISTED)
                break;
            if (!after || !same)
                json_array_append_new(after ? fresh : same ? stays : gone, diff_finding_json(finding));
        }
    }
    return lwp_json_new("gone", gone, "new", fresh, "unchanged", stays, NULL);
}

/* ---- the whole program ---- */

static bool diff_followed(const struct lwp_diff_row *row)
{
    return row->status == LWP_DIFF_CHANGED || row->status == LWP_DIFF_SPLIT || row->status == LWP_DIFF_REGROUPED;
}

/* Each finding's prediction is for the program with that one change: what they save adds up. *central: < 0 where one has none. */
static bool diff_predicted(const struct lwp_diff *diff, double *low, double *central, double *high, json_t *followed, size_t *advised_count)
{
    double saved_low = 0, saved = 0, saved_high = 0;
    bool any = false, all_central = true;
    *advised_count = 0;
    for (size_t r = 0; r < diff->rows.count; r++) {
        const struct lwp_diff_row *row = &diff->rows.rows[r];
        const struct lwp_diff_structure *advised = lwp_diff_advised(diff, row);
        double from, to;
        if (!advised || !lwp_diff_prediction(advised->finding, &from, &to))
            continue;
        ++*advised_count;
        if (!diff_followed(row))
            continue;
        any = true;
        saved_low += 1 - 1 / from;
        saved_high += 1 - 1 / to;
        double likely = lwp_json_number(advised->finding, "speedup");
        all_central = all_central && likely > 0;
        saved += likely > 0 ? 1 - 1 / likely : 0;
        json_array_append_new(followed, lwp_json_text(lwp_json_string(advised->finding, "id")));
    }
    *low = 1 / (1 - fmin(0.98, saved_low));
    *high = 1 / (1 - fmin(0.98, saved_high));
    *central = any && all_central ? 1 / (1 - fmin(0.98, saved)) : -1;
    return any;
}

static json_t *diff_doubts_json(const struct lwp_diff_doubts *doubts)
{
    return LWP_JSON_LIST(i, doubts->count,
                         json_pack("{s:s,s:b,s:o}", "kind", doubts->list[i].kind, "serious", doubts->list[i].serious, "text",
                                   lwp_json_text(doubts->list[i].text)));
}

static json_t *diff_control_json(const struct lwp_diff_doubts *doubts)
{
    return doubts->control ? json_pack("{s:o,s:o,s:o}", "before_s", lwp_json_real(doubts->before_s), "after_s",
                                       lwp_json_real(doubts->after_s), "ratio_ci", lwp_json_range(doubts->low, doubts->high))
                           : json_null();
}

static json_t *diff_program(struct lwp_diff *diff)
{
    const struct lwp_diff_result *x = &diff->before, *y = &diff->after;
    struct lwp_diff_ratio cpu = lwp_diff_time_ratio(x->cpu_s, x->cpu_error, y->cpu_s, y->cpu_error, x->runs + y->runs);
    struct lwp_diff_ratio wall = lwp_diff_time_ratio(x->wall_s, x->wall_error, y->wall_s, y->wall_error, x->runs + y->runs);
    if (strcmp(x->engine, y->engine) != 0 || strcmp(x->unit, y->unit) != 0)
        cpu = wall = lwp_diff_time_ratio(-1, -1, -1, -1, 0); /* an engine's own time is in it */
    json_t *followed = json_array();
    double low, central, high;
    size_t advised;
    const char *verdict, *sentence;
    bool predicted = diff_predicted(diff, &low, &central, &high, followed, &advised);
    const char *got = cpu.value < 0 ? "unknown" : SAY("%.*fx", LWP_SPEEDUP(cpu.value));
    if (diff->doubts.reason) {
        verdict = "cannot_tell";
        sentence = SAY("cannot tell: %s", diff->doubts.reason);
    } else if (cpu.value < 0) {
        verdict = "cannot_tell";
        sentence = "cannot tell: the CPU time of a run is not known";
    } else if (!advised) {
        verdict = "nothing_promised";
        sentence = SAY("nothing was predicted; the program takes %.2f s instead of %.2f s: %s", y->cpu_s, x->cpu_s, got);
    } else if (!predicted) {
        verdict = "not_followed";
        sentence = SAY("no structure that lwp gave advice on was changed; the program takes %.2f s instead of %.2f s: %s", y->cpu_s,
                       x->cpu_s, got);
    } else {
        verdict = lwp_diff_verdict(diff->arena, cpu, low, high, &sentence);
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o}", "cpu_ratio", lwp_json_measured(cpu.value), "cpu_ratio_ci",
                     lwp_json_range(cpu.low, cpu.high), "wall_ratio", lwp_json_measured(wall.value), "wall_ratio_ci",
                     lwp_json_range(wall.low, wall.high), "promised", predicted ? lwp_json_range(low, high) : json_null(), "predicted", lwp_json_measured(central), "followed",
                     followed, "control", diff_control_json(&diff->doubts), "verdict", verdict, "sentence", lwp_json_text(sentence));
}

static json_t *diff_run_json(const struct lwp_diff_result *result)
{
    const json_t *run = result->run, *machine = json_object_get(run, "machine");
    json_t *command = json_object_get(run, "command");
    return lwp_json_new("result", lwp_json_text(result->label), "command", json_is_array(command) ? json_deep_copy(command) : json_array(),
                        "host", lwp_json_text(lwp_json_string(run, "host")), "cpu", lwp_json_text(lwp_json_string(machine, "cpu")),
                        "engine", lwp_json_text(*result->engine ? result->engine : NULL), "weight_unit",
                        lwp_json_text(*result->unit ? result->unit : NULL), "runs", json_integer(result->runs), "threads",
                        lwp_json_known(result->threads), "samples", json_integer((json_int_t)(result->samples & INT64_MAX)), "cpu_s",
                        lwp_json_measured(result->cpu_s), "wall_s", lwp_json_measured(result->wall_s), NULL);
}

static json_t *diff_notes(const struct lwp_diff *diff)
{
    json_t *notes = json_array();
    if (diff->before.cpu_error < 0 || diff->after.cpu_error < 0)
        json_array_append_new(notes, json_string("One run on a side is one measurement: how much the times vary from run to run is not "
                                                 "known, so the program's ratio has no interval. Merge several runs on "
                                                 "each side (lwp analyze A B C -o FILE) to get one."));
    if (!diff->seconds)
        json_array_append_new(notes, json_string("The costs are not CPU time on both sides: shares only are compared."));
    if (diff->before.left_out || diff->after.left_out)
        json_array_append_new(notes, json_string("Only the heaviest objects of each result are compared."));
    return notes;
}

json_t *lwp_diff_build(const json_t *before, const char *before_label, const json_t *after, const char *after_label, struct lwp_error *err)
{
    struct lwp_diff diff = {.arena = lwp_arena_new()};
    json_t *root = NULL;
    if (lwp_diff_result_read(&diff.before, before, before_label, diff.arena, err) ||
        lwp_diff_result_read(&diff.after, after, after_label, diff.arena, err))
        goto out;
    diff.seconds = lwp_diff_seconds(&diff.before, 0) >= 0 && lwp_diff_seconds(&diff.after, 0) >= 0;
    lwp_diff_match(&diff.before, &diff.after, diff.arena, &diff.rows);
    lwp_diff_doubts_find(&diff.before, &diff.after, &diff.rows, diff.arena, &diff.doubts);
    json_t *structures = json_array();
    for (size_t r = 0; r < diff.rows.count && json_array_size(structures) < ROWS_LISTED; r++)
        if (lwp_diff_row_matters(&diff, &diff.rows.rows[r]))
            json_array_append_new(structures, lwp_diff_row_json(&diff, &diff.rows.rows[r]));
    root = lwp_json_new("schema", json_string("lwp-diff"), "version", json_string("1.0"), "lwp_version", json_string(LWP_VERSION), "before",
                        diff_run_json(&diff.before), "after", diff_run_json(&diff.after), "comparable", json_boolean(!diff.doubts.reason),
                        "doubts", diff_doubts_json(&diff.doubts), "program", diff_program(&diff), "structures", structures, "redundancies",
                        lwp_diff_redundancies(&diff), "communication", lwp_diff_communication(&diff), "locality", lwp_diff_locality(&diff),
                        "agreement", lwp_diff_agreement(&diff), "findings", diff_findings(&diff), "notes", diff_notes(&diff), NULL);
out:
    lwp_arena_free(diff.arena);
    return root;
}
