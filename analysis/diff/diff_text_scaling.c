/* What lwp diff says of communication and distances that move, and of what will stop scaling, as text. */
#include "analysis/diff/diff_text_scaling.h"
#include "analysis/json/json_value.h"

#include <math.h>
#include <stdbool.h>

static void print_steps(FILE *out, const json_t *row, bool first)
{
    double steps = lwp_json_number(row, "steps_left");
    if (steps < 0)
        return;
    fprintf(out, "      distances grow %.2f-fold, and are beyond the caches %s", lwp_json_number(row, "growth"), steps == 0 ? "already\n" : "");
    if (steps > 0)
        fprintf(out, "after %.0f more such step%s: %s\n", ceil(steps), steps > 1 ? "s" : "", first ? "this will stop scaling first" : "this will stop scaling");
}

static void print_communicated(FILE *out, const json_t *side)
{
    fprintf(out, "%.0f words, read again %.0f times", lwp_json_number(side, "communicated"), lwp_json_number(side, "reused"));
    if (lwp_json_number(side, "p90") >= 0)
        fprintf(out, ", distances: median %.0f, 90 %% up to %.0f", lwp_json_number(side, "median"), lwp_json_number(side, "p90"));
}

void lwp_diff_print_communication(FILE *out, const json_t *regions)
{
    const json_t *region;
    size_t i;
    json_array_foreach(regions, i, region)
    {
        fprintf(out, "   %s: ", lwp_json_string_or(region, "name", "?"));
        print_communicated(out, json_object_get(region, "before"));
        fprintf(out, " -> ");
        print_communicated(out, json_object_get(region, "after"));
        fprintf(out, "\n");
        print_steps(out, region, i == 0);
    }
}

static void print_distance(FILE *out, const json_t *side)
{
    double median = lwp_json_number(side, "median"), missing = lwp_json_number(side, "missing");
    if (median >= 0)
        fprintf(out, "%.0f lines", median);
    else
        fprintf(out, "beyond");
    if (missing >= 0)
        fprintf(out, " (%.0f %% miss L1)", 100 * missing);
}

void lwp_diff_print_locality(FILE *out, const json_t *rows)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        fprintf(out, "   %s in %s: ", lwp_json_string_or(row, "object", "?"), lwp_json_string_or(row, "function", "?"));
        print_distance(out, json_object_get(row, "before"));
        fprintf(out, " -> ");
        print_distance(out, json_object_get(row, "after"));
        fprintf(out, "\n");
        print_steps(out, row, false);
    }
}
