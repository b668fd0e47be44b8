/* Compares two results and judges the promise.
 *
 * In: two analysis.json. Out: the same questions answered for both, and sentences.
 *
 * The promise is about the time of the whole program, so CPU time decides; wall time stands beside it. One run on each
 * side is one measurement: then no interval is given.
 *
 * Whether the runs can be compared at all is asked first: machine, engine, arguments, end, amount of data, and the
 * control: loops that the change does not touch must take as long as before.
 * Limits: the same work is assumed when nothing speaks against it. */
#include "analysis/diff/diff.h"

#include "analysis/diff/diff_internal.h"
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LISTED = 500 };

/* ---- findings ---- */

static json_t *diff_finding_json(const json_t *finding)
{
    double low, high;
    return json_pack("{s:o,s:o,s:o}", "id", lwp_json_text(lwp_json_string(finding, "id")), "title",
                     lwp_json_text(lwp_json_string(finding, "title")), "expected_speedup",
                     lwp_diff_prediction(finding, &low, &high) ? lwp_json_range(low, high) : json_null());
}

static const struct lwp_diff_structure *diff_finding_owner(const struct lwp_diff_result *side, const json_t *finding)
{
    for (size_t i = 0; i < side->structure_count; i++)
        if (side->structures[i].finding == finding)
            return &side->structures[i];
    return NULL;
}

/* Unchanged: the same id, or the same kind of finding about a structure whose layout is as it was. */
static bool diff_finding_stays(const struct lwp_diff *diff, const struct lwp_diff_result *side, const json_t *finding,
                               const json_t *others, const struct lwp_diff_result *other_side)
{
    const char *id = lwp_json_string(finding, "id"), *kind = lwp_json_string(finding, "kind");
    const struct lwp_diff_structure *owner = diff_finding_owner(side, finding);
    const json_t *other;
    size_t i;
    json_array_foreach(others, i, other) {
        const char *its_id = lwp_json_string(other, "id"), *its_kind = lwp_json_string(other, "kind");
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

static json_t *diff_findings(const struct lwp_diff *diff)
{
    json_t *gone = json_array(), *fresh = json_array(), *stays = json_array(), *finding;
    const json_t *before = json_object_get(diff->before.root, "findings"),
                 *after = json_object_get(diff->after.root, "findings");
    size_t i;
    json_array_foreach(before, i, finding) {
        if (i >= ROWS_LISTED)
            break;
        bool same = diff_finding_stays(diff, &diff->before, finding, after, &diff->after);
        json_array_append_new(same ? stays : gone, diff_finding_json(finding));
    }
    json_array_foreach(after, i, finding) {
        if (i >= ROWS_LISTED)
            break;
        if (!diff_finding_stays(diff, &diff->after, finding, before, &diff->before))
            json_array_append_new(fresh, diff_finding_json(finding));
    }
    return json_pack("{s:o,s:o,s:o}", "gone", gone, "new", fresh, "unchanged", stays);
}

/* ---- the whole program ---- */

static bool diff_followed(const struct lwp_diff_row *row)
{
    return row->status == LWP_DIFF_CHANGED || row->status == LWP_DIFF_SPLIT || row->status == LWP_DIFF_REGROUPED;
}

/* Each finding's promise is for the program with that one change: what they save adds up. */
static bool diff_promised(const struct lwp_diff *diff, double *low, double *high, json_t *followed,
                          size_t *advised_count)
{
    double saved_low = 0, saved_high = 0;
    bool any = false;
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
        json_array_append_new(followed, lwp_json_text(lwp_json_string(advised->finding, "id")));
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
                                              doubts->list[i].serious, "text", lwp_json_text(doubts->list[i].text)));
    return list;
}

static json_t *diff_control_json(const struct lwp_diff_doubts *doubts)
{
    return doubts->control
               ? json_pack("{s:o,s:o,s:o}", "before_s", lwp_json_real(doubts->before_s), "after_s",
                           lwp_json_real(doubts->after_s), "ratio_ci", lwp_json_range(doubts->low, doubts->high))
               : json_null();
}

static json_t *diff_program(struct lwp_diff *diff)
{
    const struct lwp_diff_result *x = &diff->before, *y = &diff->after;
    struct lwp_diff_ratio cpu = lwp_diff_time_ratio(x->cpu_s, x->cpu_error, y->cpu_s, y->cpu_error, x->runs + y->runs);
    struct lwp_diff_ratio wall =
        lwp_diff_time_ratio(x->wall_s, x->wall_error, y->wall_s, y->wall_error, x->runs + y->runs);
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
        verdict = lwp_diff_verdict(diff->arena, cpu, low, high, &sentence);
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o}", "cpu_ratio", lwp_json_measured(cpu.value), "cpu_ratio_ci",
                     lwp_json_range(cpu.low, cpu.high), "wall_ratio", lwp_json_measured(wall.value), "wall_ratio_ci",
                     lwp_json_range(wall.low, wall.high), "promised",
                     promised ? lwp_json_range(low, high) : json_null(), "followed", followed, "control",
                     diff_control_json(&diff->doubts), "verdict", verdict, "sentence", lwp_json_text(sentence));
}

static json_t *diff_run_json(const struct lwp_diff_result *side)
{
    json_t *command = json_object_get(side->run, "command");
    json_t *json = json_object();
    json_object_set_new(json, "result", lwp_json_text(side->label));
    json_object_set_new(json, "command", json_is_array(command) ? json_deep_copy(command) : json_array());
    json_object_set_new(json, "host", lwp_json_text(lwp_json_string(side->run, "host")));
    json_object_set_new(json, "cpu", lwp_json_text(lwp_json_string(json_object_get(side->run, "machine"), "cpu")));
    json_object_set_new(json, "engine", *side->engine ? lwp_json_text(side->engine) : json_null());
    json_object_set_new(json, "weight_unit", *side->unit ? lwp_json_text(side->unit) : json_null());
    json_object_set_new(json, "runs", json_integer(side->runs));
    json_object_set_new(json, "threads", lwp_json_known(side->threads));
    json_object_set_new(json, "samples", json_integer((json_int_t)(side->samples & INT64_MAX)));
    json_object_set_new(json, "cpu_s", lwp_json_measured(side->cpu_s));
    json_object_set_new(json, "wall_s", lwp_json_measured(side->wall_s));
    return json;
}

static json_t *diff_notes(const struct lwp_diff *diff)
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
    json_object_set_new(root, "redundancies", lwp_diff_redundancies(&diff));
    json_object_set_new(root, "communication", lwp_diff_communication(&diff));
    json_object_set_new(root, "locality", lwp_diff_locality(&diff));
    json_object_set_new(root, "agreement", lwp_diff_agreement(&diff));
    json_object_set_new(root, "findings", diff_findings(&diff));
    json_object_set_new(root, "notes", diff_notes(&diff));
out:
    lwp_arena_free(diff.arena);
    return root;
}
