/* The report as text, as wide as the terminal: what was run, what to change and why, then what else
 * was measured. In: a review and its analysis.json, whose texts the review has made fit for a terminal. */
#include "analysis/output/report_parts.h"

#include "base/columns.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS_SHOWN = 8, LOOPS_SHOWN = 5 };

static const double size_sure = 0.95;

static void report_command(const struct lwp_report *report, const json_t *command)
{
    enum { LABEL = 10 };
    int columns = report->to.columns - LABEL;
    const char *line = "";
    size_t i;
    json_t *word;
    json_array_foreach(command, i, word) {
        line = lwp_arena_printf(report->review->arena, "%s%s%s", line, i ? " " : "", lwp_json_shown(word));
        if (i == (size_t)columns) /* the rest will not be seen */
            break;
    }
    char *shown = lwp_visible(*line ? line : "(command not known)", false, (size_t)columns);
    fprintf(report->out, "Run       %s\n", shown ? shown : "?");
    free(shown);
}

/* What ended otherwise than a program that has done its work may not have done it. */
static void report_ending(const struct lwp_report *report, const json_t *ended)
{
    const double signal = lwp_json_amount(ended, "signal"), code = lwp_json_amount(ended, "code");
    if (signal > 0)
        fprintf(report->out, "Ended     by signal %.0f\n", signal);
    else if (code > 0)
        fprintf(report->out, "Ended     with status %.0f\n", code);
}

static void report_run(const struct lwp_report *report)
{
    const json_t *run = json_object_get(report->root, "run");
    const char *added = lwp_review_cost(report->review);
    FILE *out = report->out;
    report_command(report, json_object_get(run, "command"));
    fprintf(out, "Measured  %s engine, %.0f samples, %.0f with an address, %.0f lost\n", lwp_json_string_or(run, "engine", "unknown"),
            lwp_json_amount(run, "samples"), lwp_json_amount(run, "samples_with_address"), lwp_json_amount(run, "samples_lost"));
    bool timed = lwp_json_amount(run, "cpu_s") > 0;
    fprintf(out, timed ? "Cost      %.2f s of CPU time" : "Cost      CPU time not recorded", lwp_json_amount(run, "cpu_s"));
    if (timed && lwp_json_amount(run, "samples") > 0 && json_is_number(json_object_get(run, "stall_share")))
        fprintf(out, ", %.0f %% of it memory stall", lwp_json_percent(run, "stall_share"));
    if (added)
        fprintf(out, "; lwp added %s", added);
    putc('\n', out);
    report_ending(report, json_object_get(run, "exit"));
    const char *seen = lwp_json_string(json_object_get(report->root, "coverage"), "sentence");
    if (seen) {
        fprintf(out, "Seen      ");
        lwp_terminal_wrap(&report->to, 10, seen);
    }
    const json_t *types = json_object_get(report->root, "types");
    if (json_is_object(types))
        fprintf(report->out, "Types     known for %.0f %% of the time spent on heap, mapped and static data\n",
                lwp_json_percent(types, "share"));
}

static void report_objects(const struct lwp_report *report)
{
    size_t i, shown = 0;
    bool open = false;
    json_t *object;
    lwp_terminal_heading(&report->to, "Data          share (95 %)         size  element  name");
    json_array_foreach(json_object_get(report->root, "objects"), i, object) {
        char element[32] = "-", share[48];
        const char *size = "-";
        if (lwp_json_amount(object, "share") < 0.005 || shown++ == OBJECTS_SHOWN)
            break;
        if (lwp_json_amount(object, "bytes") > 0)
            size = lwp_review_bytes(report->review, lwp_json_amount(object, "bytes"));
        const json_t *sure = json_object_get(object, "element_probability");
        bool unsure = json_is_number(sure) && json_number_value(sure) < size_sure;
        if (lwp_json_amount(object, "element_bytes") > 0) {
            snprintf(element, sizeof element, "%s%.0f", unsure ? "~" : "", lwp_json_amount(object, "element_bytes"));
            open |= unsure;
        }
        snprintf(share, sizeof share, "%5.1f %% (%.1f-%.1f)", lwp_json_percent(object, "share"), 100 * lwp_json_end(object, "share_ci", 0),
                 100 * lwp_json_end(object, "share_ci", 1));
        const char *type = lwp_json_string(object, "type");
        int used = fprintf(report->out, "%-8s %-20s %11s %8s  ", lwp_json_string_or(object, "kind", "?"), share, size, element);
        const char *name = lwp_review_object(report->review, object);
        lwp_terminal_name(&report->to, used, name, type && strcmp(type, name) ? type : NULL);
    }
    if (!shown)
        fprintf(report->out, "  (no data object takes 0.5 %% of the time or more)\n");
    if (open)
        fprintf(report->out, "  ~ less than 95 %% sure: too few samples, or equal parts that may be elements\n");
}

static void report_loops(const struct lwp_report *report)
{
    size_t i, shown = 0;
    json_t *loop;
    json_array_foreach(json_object_get(report->root, "loops"), i, loop) {
        /* They come hottest first, but a nested one brings its parents along. */
        if (lwp_json_amount(loop, "share") < 0.02 || shown == LOOPS_SHOWN)
            continue;
        if (shown++ == 0)
            lwp_terminal_heading(&report->to, "Code     share  hottest loops");
        int used = fprintf(report->out, "%-8s %4.1f %%  ", lwp_json_string_or(loop, "kind", "loop"), lwp_json_percent(loop, "share"));
        lwp_terminal_name(&report->to, used, lwp_review_loop_text(report->review, loop), NULL);
    }
}

static void report_brief(const struct lwp_report *report)
{
    const json_t *run = json_object_get(report->root, "run");
    const char *added = lwp_review_cost(report->review);
    lwp_report_findings_brief(report);
    fprintf(report->out, "%.0f samples (%.0f lost) by the %s engine", lwp_json_amount(run, "samples"), lwp_json_amount(run, "samples_lost"),
            lwp_json_string_or(run, "engine", "unknown"));
    if (added)
        fprintf(report->out, "; lwp added %s", added);
    fprintf(report->out, "\n");
}

static void report_print(FILE *out, const struct lwp_review *review, const char *dir, bool brief, bool colour, int columns)
{
    struct lwp_report report = {.to = {out, colour, columns}, .out = out, .review = review, .root = review->root};
    if (brief) {
        report_brief(&report);
        return;
    }
    report_run(&report);
    lwp_report_findings(&report);
    report_objects(&report);
    lwp_report_memory(&report);
    lwp_report_left_alone(&report);
    lwp_report_arrays(&report);
    report_loops(&report);
    lwp_report_redundancies(&report);
    lwp_report_sharing(&report);
    lwp_report_communication(&report);
    lwp_report_locality(&report);
    lwp_terminal_notes(&report.to, 2, json_object_get(json_object_get(report.root, "run"), "notes"));
    char *shown = lwp_visible(dir, false, 0);
    fprintf(out, "\nLook at it in a browser with:  lwp serve %s\n", shown ? shown : "?");
    free(shown);
}

void lwp_report_print(FILE *out, const struct lwp_review *review, const char *dir, bool brief, bool colour)
{
    struct lwp_wrapped wrapped;
    report_print(lwp_wrapped_open(&wrapped, out), review, dir, brief, colour, lwp_columns(out));
    lwp_wrapped_close(&wrapped);
}
