/* A comparison as text. In: what lwp_diff_build makes, nothing else. */
#include "analysis/diff/diff.h"

#include "analysis/json/json_value.h"
#include "analysis/output/terminal.h"
#include "analysis/review/review.h"
#include "analysis/statistics/speedup.h"
#include "analysis/tables/redundancy_kinds.h"
#include "base/columns.h"
#include "base/path.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

enum { LOOPS_SHOWN = 6, PARTS_SHOWN = 8 };

static const double share_shown = 0.01;

/* "12.3 % (11.0-13.9)": a share with the interval at `key`. */
static void text_interval(const struct lwp_terminal *text, double share, const json_t *object, const char *key)
{
    fprintf(text->out, "%.1f %% (%.1f-%.1f)", 100 * share, 100 * lwp_json_end(object, key, 0), 100 * lwp_json_end(object, key, 1));
}

static void text_run(const struct lwp_terminal *text, const char *heading, const json_t *run)
{
    char command[64];
    size_t i, used = 0;
    json_t *word;
    command[0] = '\0';
    json_array_foreach(json_object_get(run, "command"), i, word) {
        int wrote = snprintf(command + used, sizeof command - used, "%s%s", i ? " " : "", lwp_json_shown(word));
        if (wrote < 0 || (size_t)wrote >= sizeof command - used)
            break;
        used += (size_t)wrote;
    }
    fprintf(text->out, "%-9s %s\n", heading, *command ? command : lwp_json_string_or(run, "result", "?"));
    fprintf(text->out, "          %.2f s of CPU time, %.2f s on the clock; %s engine, %.0f samples", lwp_json_number(run, "cpu_s"),
            lwp_json_number(run, "wall_s"), lwp_json_string_or(run, "engine", "unknown"), lwp_json_number(run, "samples"));
    if (lwp_json_number(run, "runs") > 1)
        fprintf(text->out, "; mean of %.0f runs", lwp_json_number(run, "runs"));
    fprintf(text->out, "\n");
}

/* " 1.41x (95 %: 1.38-1.44) in CPU time,"; nothing where it is not known. */
static void text_ratio(const struct lwp_terminal *text, const json_t *program, const char *key, const char *key_ci, const char *of)
{
    double ratio = lwp_json_number(program, key);
    if (ratio >= 0)
        fprintf(text->out, " %.*fx", LWP_SPEEDUP(ratio));
    if (ratio >= 0 && json_is_array(json_object_get(program, key_ci)))
        fprintf(text->out, " (95 %%: %.*f-%.*f)", LWP_SPEEDUP(lwp_json_end(program, key_ci, 0)),
                LWP_SPEEDUP(lwp_json_end(program, key_ci, 1)));
    fputs(of, text->out);
}

static void text_program(const struct lwp_terminal *text, const json_t *diff)
{
    const json_t *program = json_object_get(diff, "program"), *control = json_object_get(program, "control"), *doubt;
    size_t i;
    if (lwp_json_number(program, "cpu_ratio") >= 0) {
        fputs("Speed-up ", text->out);
        text_ratio(text, program, "cpu_ratio", "cpu_ratio_ci", " in CPU time,");
        text_ratio(text, program, "wall_ratio", "wall_ratio_ci", " on the clock");
        fputs(json_is_array(json_object_get(program, "cpu_ratio_ci")) ? "\n" : " (one measurement)\n", text->out);
    }
    lwp_terminal_style(text, "1");
    fputs("Verdict   ", text->out);
    lwp_terminal_wrap(text, 10, lwp_json_string_or(program, "sentence", "?"));
    lwp_terminal_style(text, "0");
    if (json_is_object(control))
        fprintf(text->out, "Control   code that the change does not touch: %.2f s before, %.2f s after\n",
                lwp_json_number(control, "before_s"), lwp_json_number(control, "after_s"));
    json_array_foreach(json_object_get(diff, "doubts"), i, doubt) {
        if (strstr(lwp_json_string_or(program, "sentence", ""), lwp_json_string_or(doubt, "text", "?")))
            continue; /* said above */
        fprintf(text->out, "%-9s ", json_is_true(json_object_get(doubt, "serious")) ? "Doubt" : "Note");
        lwp_terminal_wrap(text, 10, lwp_json_string_or(doubt, "text", "?"));
    }
}

/* The shares of both, "before -> after"; `missing` where there is no such result. */
static void text_shares(const struct lwp_terminal *text, const json_t *both, const char *missing)
{
    static const char *const keys[] = {"before", "after"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *result = json_object_get(both, keys[i]);
        if (json_is_object(result))
            text_interval(text, lwp_json_number(result, "share"), result, "share_ci");
        else
            fputs(missing, text->out);
        fputs(i ? "" : " -> ", text->out);
    }
}

/* The numbers at `key` of both, "before -> after", '-' for what is not known; then `unit`. */
static void text_change(const struct lwp_terminal *text, const json_t *both, const char *key, const char *format, const char *unit)
{
    static const char *const keys[] = {"before", "after"};
    for (size_t i = 0; i < 2; i++) {
        double value = lwp_json_number(json_object_get(both, keys[i]), key);
        if (value >= 0)
            fprintf(text->out, format, strcmp(key, "share") ? value : 100 * value);
        else
            fputs("-", text->out);
        fputs(i ? unit : " -> ", text->out);
    }
}

static bool text_knows(const json_t *both, const char *key, bool after)
{
    return lwp_json_number(json_object_get(both, after ? "after" : "before"), key) >= 0;
}

static void text_part(const struct lwp_terminal *text, const char *heading, const json_t *part)
{
    char line[600];
    const char *type = lwp_json_string(part, "type"), *name = lwp_json_string_or(part, "name", "?");
    const json_t *group = json_object_get(part, "group");
    size_t i, used;
    json_t *field;
    fprintf(text->out, "   %-10s", heading);
    used = (size_t)snprintf(line, sizeof line, type ? "%.80s (%.80s)" : "%.80s", type ? type : name, name);
    if (lwp_json_number(part, "element_bytes") > 1)
        used += (size_t)snprintf(line + used, sizeof line - used, ", %.0f bytes", lwp_json_number(part, "element_bytes"));
    json_array_foreach(json_object_get(part, "fields"), i, field) {
        int wrote = snprintf(line + used, sizeof line - used, "%s%.40s", i ? ", " : ": ", json_string_value(field));
        if (wrote < 0 || used + (size_t)wrote + 40 >= sizeof line)
            break;
        used += (size_t)wrote;
    }
    if (json_is_integer(group))
        snprintf(line + used, sizeof line - used, " (advised group %d)", (int)json_integer_value(group) + 1);
    else if (json_is_string(group))
        snprintf(line + used, sizeof line - used, " (advised cold)");
    lwp_terminal_wrap(text, 13, line);
}

static void text_parts(const struct lwp_terminal *text, const char *heading, const json_t *parts)
{
    size_t i;
    json_t *part;
    json_array_foreach(parts, i, part) {
        if (i == PARTS_SHOWN) {
            fprintf(text->out, "             and %zu more\n", json_array_size(parts) - i);
            break;
        }
        text_part(text, i ? "" : heading, part);
    }
}

static void text_location(const json_t *result, char *location, size_t size)
{
    const char *file = lwp_path_last(lwp_json_string_or(result, "file", "?"));
    double first = lwp_json_number(result, "first_line"), last = lwp_json_number(result, "last_line");
    if (!json_is_object(result))
        snprintf(location, size, "not found");
    else if (first < 0)
        snprintf(location, size, "%.30s", file);
    else if (last > first)
        snprintf(location, size, "%.30s:%.0f-%.0f", file, first, last);
    else
        snprintf(location, size, "%.30s:%.0f", file, first);
}

static void text_loops(const struct lwp_terminal *text, const json_t *structure)
{
    size_t i, shown = 0;
    const json_t *loop;
    json_array_foreach(json_object_get(structure, "loops"), i, loop) {
        const json_t *before = json_object_get(loop, "before"), *after = json_object_get(loop, "after");
        char from[96], to[96];
        if (fmax(lwp_json_number(before, "waiting_share"), lwp_json_number(after, "waiting_share")) < share_shown / 2 ||
            shown++ == LOOPS_SHOWN)
            break;
        text_location(before, from, sizeof from);
        text_location(after, to, sizeof to);
        char *function = lwp_visible(lwp_json_string_or(loop, "function", "(no name)"), false, (size_t)text->columns / 2);
        fprintf(text->out, "   loop      %s, %s -> %s\n             ", function ? function : "?", from, to);
        free(function);
        if (text_knows(loop, "seconds", false))
            text_change(text, loop, "seconds", "%.2f", " s");
        else
            text_change(text, loop, "share", "%.1f", " %");
        if (text_knows(loop, "lines_per_element", false) && text_knows(loop, "lines_per_element", true)) {
            fputs(", ", text->out);
            text_change(text, loop, "lines_per_element", "%.2f", " lines");
        }
        putc('\n', text->out);
    }
}

static void text_prediction(const struct lwp_terminal *text, const json_t *structure)
{
    if (lwp_json_string(structure, "tried"))
        fprintf(text->out, "   tried     %s by lwp patch --try\n", lwp_json_string(structure, "tried"));
    if (!json_is_string(json_object_get(structure, "sentence")))
        return;
    fputs("   verdict   ", text->out);
    lwp_terminal_wrap(text, 13, lwp_json_string(structure, "sentence"));
    if (lwp_json_number(structure, "arrived") >= 0 && !lwp_json_is(structure, "verdict", "not_followed") &&
        !lwp_json_is(structure, "verdict", "cannot_tell"))
        fputs("             (for the whole program, from the time its loops lost)\n", text->out);
}

static void text_structure(const struct lwp_terminal *text, const json_t *structure)
{
    const char *status = lwp_json_string_or(structure, "status", "?"), *type = lwp_json_string(structure, "type");
    const char *name = lwp_json_string_or(structure, "name", "?");
    bool same = strcmp(status, "same") == 0;
    size_t others = json_array_size(json_object_get(structure, "whole"));
    lwp_terminal_style(text, "1");
    fprintf(text->out, type && strcmp(type, name) ? "\n%s (%s)" : "\n%s", type ? type : name, name);
    if (others > 1)
        fprintf(text->out, " and %zu more", others - 1);
    fprintf(text->out, ": %s\n", same ? "layout as before" : status);
    lwp_terminal_style(text, "0");
    fputs("   share     ", text->out);
    text_shares(text, structure, "-");
    putc('\n', text->out);
    if (text_knows(structure, "waiting_s", false) || text_knows(structure, "waiting_s", true)) {
        fputs("   stalled   ", text->out);
        text_change(text, structure, "waiting_s", "%.2f", " s; with its loops ");
        text_change(text, structure, "loops_s", "%.2f", " s\n");
    }
    if (text_knows(structure, "lines_per_element", false) && text_knows(structure, "lines_per_element", true)) {
        fputs("   lines     ", text->out);
        text_change(text, structure, "lines_per_element", "%.2f", " cache lines for each element visited\n");
    }
    if (!same && strcmp(status, "gone") != 0 && strcmp(status, "new") != 0) {
        text_parts(text, "was", json_object_get(structure, "whole"));
        text_parts(text, "is", json_object_get(structure, "parts"));
    }
    text_loops(text, structure);
    text_prediction(text, structure);
}

static void text_redundancies(const struct lwp_terminal *text, const json_t *redundancies)
{
    static const char *const verdicts[][2] = {{"less", "less for certain"}, {"more", "more for certain"}, {"within", "no sure difference"}};
    if (!json_is_object(redundancies))
        return;
    lwp_terminal_heading(text, "Redundant accesses (of all sampled stores or loads, 95 %)");
    for (size_t i = 0; i < LWP_REDUNDANCY_SAMPLED; i++) {
        const json_t *kind = json_object_get(redundancies, lwp_redundancy_rows[i].key);
        fprintf(text->out, "   %-13s ", lwp_redundancy_rows[i].title);
        text_shares(text, kind, "unknown");
        for (size_t k = 0; k < sizeof verdicts / sizeof *verdicts; k++)
            if (lwp_json_is(kind, "verdict", verdicts[k][0]))
                fprintf(text->out, ": %s", verdicts[k][1]);
        putc('\n', text->out);
    }
}

static void text_agreed_structure(const struct lwp_terminal *text, const json_t *row)
{
    static const char *const advice[][2] = {{"same", "; the same advice"},
                                            {"other", "; other advice"},
                                            {"only_sampled", "; advice by sampling only"},
                                            {"only_exact", "; advice by the exact engine only"}};
    double sampled = lwp_json_number(row, "sampled"), exact = lwp_json_number(row, "exact");
    fprintf(text->out, "   %-32.60s ", lwp_json_string_or(row, "type", lwp_json_string_or(row, "name", "?")));
    if (sampled < 0) {
        fprintf(text->out, "not seen by sampling, exact %.1f %%", 100 * exact);
    } else if (exact < 0) {
        fprintf(text->out, "%.1f %% sampled, not seen by the exact engine", 100 * sampled);
    } else {
        text_interval(text, sampled, row, "sampled_ci");
        fprintf(text->out, " sampled, %.1f %% exact", 100 * exact);
    }
    for (size_t k = 0; k < sizeof advice / sizeof *advice; k++)
        if (lwp_json_is(row, "advice", advice[k][0]))
            fputs(advice[k][1], text->out);
    putc('\n', text->out);
}

static void text_agreed_pair(const struct lwp_terminal *text, const json_t *row)
{
    double sampled = lwp_json_number(row, "sampled"), exact = lwp_json_number(row, "exact");
    fprintf(text->out, "   %s %s, %s: ", lwp_json_string_or(row, "kind", "?"), lwp_json_string_or(row, "first", "?"),
            lwp_json_string_or(row, "second", "?"));
    if (sampled >= 0 && json_is_array(json_object_get(row, "sampled_ci")))
        text_interval(text, sampled, row, "sampled_ci");
    else if (sampled >= 0)
        fprintf(text->out, "%.1f %%", 100 * sampled);
    fputs(sampled < 0 ? "not sampled, " : " sampled, ", text->out);
    if (exact < 0)
        fprintf(text->out, "not in the exact engine's list");
    else
        fprintf(text->out, "%.1f %% exact", 100 * exact);
    fprintf(text->out, "%s\n", json_is_true(json_object_get(row, "confirmed")) ? ": confirmed by both" : "");
}

static void text_agreement(const struct lwp_terminal *text, const json_t *agreement)
{
    const json_t *row;
    size_t i;
    if (!json_is_object(agreement))
        return;
    lwp_terminal_heading(text, "Agreement of sampling with the exact engine");
    json_array_foreach(json_object_get(agreement, "structures"), i, row)
        text_agreed_structure(text, row);
    fprintf(text->out, "   %.1f %% of the cost is on other structures\n", 100 * lwp_json_number(agreement, "weight_apart"));
    json_array_foreach(json_object_get(agreement, "redundancies"), i, row)
        text_agreed_pair(text, row);
}

/* ---- what moves, and will stop scaling ---- */

static void text_steps(FILE *out, const json_t *row, bool first)
{
    double steps = lwp_json_number(row, "steps_left");
    if (steps < 0)
        return;
    fprintf(out, "      distances grow %.2f-fold, and are beyond the caches %s", lwp_json_number(row, "growth"),
            steps == 0 ? "already\n" : "");
    if (steps > 0)
        fprintf(out, "after %.0f more such step%s: %s\n", ceil(steps), steps > 1 ? "s" : "",
                first ? "this will stop scaling first" : "this will stop scaling");
}

static void text_communicated(FILE *out, const json_t *result)
{
    fprintf(out, "%.0f words, read again %.0f times", lwp_json_number(result, "communicated"), lwp_json_number(result, "reused"));
    if (lwp_json_number(result, "p90") >= 0)
        fprintf(out, ", distances: median %.0f, 90 %% up to %.0f", lwp_json_number(result, "median"), lwp_json_number(result, "p90"));
}

static void text_distance(FILE *out, const json_t *result)
{
    double median = lwp_json_number(result, "median"), missing = lwp_json_number(result, "missing");
    fprintf(out, median >= 0 ? "%.0f lines" : "beyond", median);
    if (missing >= 0)
        fprintf(out, " (%.0f %% miss L1)", 100 * missing);
}

/* Each row before and after, by `print`; null prints nothing. */
static void text_scaling(const struct lwp_terminal *text, const char *heading, const json_t *rows, bool communication)
{
    void (*print)(FILE * out, const json_t *result) = communication ? text_communicated : text_distance;
    const json_t *row;
    size_t i;
    if (json_array_size(rows))
        lwp_terminal_heading(text, heading);
    json_array_foreach(rows, i, row) {
        if (communication)
            fprintf(text->out, "   %s: ", lwp_json_string_or(row, "name", "?"));
        else
            fprintf(text->out, "   %s in %s: ", lwp_json_string_or(row, "object", "?"), lwp_json_string_or(row, "function", "?"));
        print(text->out, json_object_get(row, "before"));
        fputs(" -> ", text->out);
        print(text->out, json_object_get(row, "after"));
        putc('\n', text->out);
        text_steps(text->out, row, communication && i == 0);
    }
}

/* `agree`: the two results are two engines' views of one program. */
static void text_findings(const struct lwp_terminal *text, const json_t *findings, const json_t *agree)
{
    static const char *const keys[] = {"gone", "new", "unchanged"};
    bool engines = json_is_object(agree), exact_first = lwp_json_is(agree, "exact", "before");
    const char *const said[] = {!engines      ? "gone"
                                : exact_first ? "exact"
                                              : "sampled",
                                !engines      ? "new"
                                : exact_first ? "sampled"
                                              : "exact",
                                engines ? "both" : "unchanged"};
    size_t i;
    json_t *finding;
    lwp_terminal_heading(text, engines ? "Findings (both: confirmed by both engines)" : "Findings");
    bool any = false;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        json_array_foreach(json_object_get(findings, keys[k]), i, finding) {
            any = true;
            fprintf(text->out, "   %-9s ", said[k]);
            lwp_terminal_wrap(text, 13, lwp_json_string_or(finding, "title", lwp_json_string_or(finding, "id", "?")));
        }
    if (!any)
        fprintf(text->out, "   none on either side\n");
}

static void text_print(FILE *out, json_t *diff, bool all, bool colour, int columns)
{
    const struct lwp_terminal text = {out, colour, columns};
    size_t i, hidden = 0;
    json_t *structure;
    lwp_review_clean(diff);
    text_run(&text, "Before", json_object_get(diff, "before"));
    text_run(&text, "After", json_object_get(diff, "after"));
    text_program(&text, diff);
    json_array_foreach(json_object_get(diff, "structures"), i, structure) {
        double x = lwp_json_number(json_object_get(structure, "before"), "share");
        double y = lwp_json_number(json_object_get(structure, "after"), "share");
        if (all || x >= share_shown || y >= share_shown || json_is_string(json_object_get(structure, "finding")))
            text_structure(&text, structure);
        else
            hidden++;
    }
    if (hidden)
        fprintf(out, "\n%zu more below 1 %%: --all shows them\n", hidden);
    text_redundancies(&text, json_object_get(diff, "redundancies"));
    text_scaling(&text, "Communication between threads", json_object_get(diff, "communication"), true);
    text_scaling(&text, "Other lines between two uses of one (median)", json_object_get(diff, "locality"), false);
    text_agreement(&text, json_object_get(diff, "agreement"));
    text_findings(&text, json_object_get(diff, "findings"), json_object_get(diff, "agreement"));
    lwp_terminal_notes(&text, 3, json_object_get(diff, "notes"));
}

void lwp_diff_print(FILE *out, json_t *diff, bool all, bool colour)
{
    struct lwp_wrapped wrapped;
    text_print(lwp_wrapped_open(&wrapped, out), diff, all, colour, lwp_columns(out));
    lwp_wrapped_close(&wrapped);
}
