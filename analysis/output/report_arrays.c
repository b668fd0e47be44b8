/* Pairs of arrays, whether or not they are to be joined: their affinity, whether loops use them in conflict, and why they stay apart. */
#include "analysis/output/report_parts.h"

enum { PAIRS_SHOWN = 10 };

/* Pairs of different classes that no loop uses together are not worth a line. */
static bool report_pair_worth(const json_t *pair)
{
    return lwp_json_amount(pair, "affinity") >= 0.005;
}

static const char *report_array_name(const struct lwp_report *report, const json_t *arrays, const json_t *pair, const char *which)
{
    const json_t *array = json_array_get(arrays, (size_t)lwp_json_amount(pair, which));
    return lwp_json_string_or(lwp_json_entry(report->root, "objects", array, "object"), "name", "?");
}

static void report_array_pair(const struct lwp_report *report, const json_t *arrays, const json_t *pair)
{
    const json_t *conflict = json_object_get(pair, "conflict");
    const char *seen = json_is_true(conflict) ? "yes" : json_is_false(conflict) ? "no" : "?";
    const char *detail = lwp_json_string(pair, "detail");
    fprintf(report->out, "  %8.2f  %8s  %-8s  ", lwp_json_amount(pair, "affinity"), seen, lwp_json_string_or(pair, "reason", "?"));
    lwp_terminal_wrap(&report->to, 32,
                      lwp_arena_printf(report->review->arena, "%s, %s%s%s", report_array_name(report, arrays, pair, "a"),
                                       report_array_name(report, arrays, pair, "b"), detail ? ": " : "", detail ? detail : ""));
}

void lwp_report_arrays(const struct lwp_report *report)
{
    const json_t *part = json_object_get(report->root, "arrays"), *pairs = json_object_get(part, "pairs"), *pair;
    size_t i, shown = 0, more = 0;
    json_array_foreach(pairs, i, pair) {
        if (!report_pair_worth(pair))
            continue;
        if (shown == 0)
            lwp_terminal_heading(&report->to, "Arrays   affinity  conflict  joined or why not");
        if (shown < PAIRS_SHOWN)
            report_array_pair(report, json_object_get(part, "arrays"), pair);
        shown++;
        more += shown > PAIRS_SHOWN;
    }
    if (more)
        fprintf(report->out, "  ... and %zu more pairs\n", more);
}
