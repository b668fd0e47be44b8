/* What became of watched accesses, as text: redundant pairs, and what threads do to each other's memory. */
#include "analysis/output/report_parts.h"

#include <string.h>

static const struct report_kind {
    const char *key, *title, *waste;
} report_kinds[] = {
    {"dead_store", "dead stores", "overwritten before anything read them"},
    {"silent_store", "silent stores", "left the value as it was"},
    {"silent_load", "silent loads", "loaded again what had not changed"},
    {"computation", "computations", "made again from the same values"},
    {"register", "registers", "written with the value they had"},
    {"spatial", "neighbours", "array elements equal to the one before"},
};
enum { REPORT_KINDS = sizeof report_kinds / sizeof *report_kinds };

static double report_end(const json_t *item, size_t which)
{
    return 100 * json_number_value(json_array_get(json_object_get(item, "share_ci"), which));
}

static void report_classes(const struct lwp_report *report, const json_t *classes)
{
    const json_t *class;
    size_t i;
    json_array_foreach(classes, i, class)
        lwp_report_say(report, "      %5.1f %%  of %.0f bytes %s, %s; %.1f %% of all instructions\n", 100 * lwp_review_number(class, "share"),
                       lwp_review_number(class, "bytes"), json_is_true(json_object_get(class, "loaded")) ? "loaded" : "computed",
                       json_is_true(json_object_get(class, "floating_point")) ? "floating point" : "other",
                       100 * lwp_review_number(class, "instructions"));
}

static const char *report_access_at(const struct lwp_report *report, const json_t *context)
{
    return lwp_review_frame_text(report->review, lwp_review_own_frame(report->review, context));
}

static void report_pairs(const struct lwp_report *report, const char *kind)
{
    enum { PAIRS_SHOWN = 3 };
    const json_t *pair;
    size_t i, shown = 0;
    json_array_foreach(json_object_get(report->root, "redundancies"), i, pair)
    {
        if (strcmp(lwp_json_string_or(pair, "kind", ""), kind) != 0 || lwp_review_number(pair, "share") < 0.01)
            continue;
        if (shown++ == PAIRS_SHOWN)
            return;
        const char *first = report_access_at(report, json_object_get(pair, "first"));
        const char *second = report_access_at(report, json_object_get(pair, "second"));
        if (json_object_get(pair, "own_share")) {
            const json_t *object = lwp_review_at(report->review, "objects", json_object_get(pair, "object"));
            lwp_report_say(report, "      %5.1f %%  of %s, stored in %s\n", 100 * lwp_review_number(pair, "own_share"),
                           lwp_json_string_or(object, "name", "unknown data"), first);
            continue;
        }
        lwp_report_say(report, "      %5.1f %%  ", 100 * lwp_review_number(pair, "share"));
        lwp_report_wrap(report->out, 15,
                        lwp_arena_printf(report->review->arena, "%s%s%s: %s", first, strcmp(first, second) ? ", then " : "",
                                         strcmp(first, second) ? second : "", lwp_review_cause(report->review, pair)));
    }
}

/* Where most of each kind is, whether or not it is worth a finding. */
void lwp_report_redundancies(const struct lwp_report *report)
{
    const json_t *totals = json_object_get(report->root, "redundancy_totals");
    bool begun = false;
    for (const struct report_kind *kind = report_kinds; kind < report_kinds + REPORT_KINDS; kind++) {
        const json_t *total = json_object_get(totals, kind->key);
        bool exact = json_is_true(json_object_get(total, "exact"));
        double undecided = lwp_review_number(total, "undecided");
        if (!json_is_object(total))
            continue;
        if (!begun)
            lwp_report_heading(report, exact ? "Redundant accesses (exact: of all that was stored, loaded or computed)"
                                             : "Redundant accesses (of all sampled stores or loads, 95 % interval)");
        begun = true;
        lwp_report_say(report, "  %-14s %5.1f %%  ", kind->title, 100 * lwp_review_number(total, "share"));
        if (exact)
            lwp_report_say(report, "%s\n%*s %.0f of %.0f %s\n", kind->waste, 24, "", lwp_review_number(total, "wasted"),
                           lwp_review_number(total, "decided"), lwp_json_string_or(total, "unit", "bytes"));
        else
            lwp_report_say(report, "(%.1f-%.1f)  %s\n", report_end(total, 0), report_end(total, 1), kind->waste);
        if (undecided >= 0.005)
            lwp_report_say(report, "%*s nothing is known of another %.1f %%\n", 16, "", 100 * undecided);
        report_classes(report, json_object_get(total, "classes"));
        report_pairs(report, kind->key);
    }
}

/* Its threads in the order of their bytes, then who reads what of whom, the largest parts. */
void lwp_report_sharing(const struct lwp_report *report)
{
    const json_t *sharing = json_object_get(report->root, "sharing"), *item, *site;
    size_t i, k;
    if (json_array_size(sharing))
        lwp_report_heading(report, "Cache lines between threads");
    json_array_foreach(sharing, i, item)
    {
        lwp_report_say(report, "  %5.1f %%  %s sharing of %s\n", 100 * lwp_review_number(item, "share"),
                       lwp_json_string_or(item, "kind", "?"), lwp_json_string_or(item, "name", "unknown data"));
        json_array_foreach(json_object_get(item, "sites"), k, site)
        {
            const json_t *offset = json_array_get(json_object_get(item, "offsets"), k);
            lwp_report_say(report, "           thread %.0f  byte %" JSON_INTEGER_FORMAT " of the line  %s%s\n",
                           lwp_review_number(site, "thread"), json_integer_value(offset),
                           lwp_json_string_or(site, "field", ""),
                           json_array_size(json_object_get(site, "stored")) ? "" : "  (reads only)");
        }
    }
}

enum { CELLS_SHOWN = 10 };

static void report_flows(const struct lwp_report *report, const json_t *region, const json_t *threads)
{
    const json_t *shares = json_object_get(region, "true"), *intervals = json_object_get(region, "true_ci");
    size_t count = json_array_size(threads);
    double below = 2;
    for (int shown = 0; shown < CELLS_SHOWN; shown++) {
        double best = 0;
        for (size_t i = 0; i < count * count; i++) {
            double share = json_number_value(json_array_get(json_array_get(shares, i / count), i % count));
            if (share < below && share > best)
                best = share;
        }
        if (best < 0.01)
            return;
        if (shown == 0)
            lwp_report_heading(report, "Communication (share of what threads read of each other's stores, 95 % interval)");
        for (size_t i = 0; i < count * count; i++) {
            if (json_number_value(json_array_get(json_array_get(shares, i / count), i % count)) != best)
                continue;
            const json_t *from = json_array_get(threads, i / count), *to = json_array_get(threads, i % count);
            const json_t *interval = json_array_get(json_array_get(intervals, i / count), i % count);
            lwp_report_say(report, "  %5.1f %%  (%.1f-%.1f)  %s %.0f -> %s %.0f\n", 100 * best,
                           100 * json_number_value(json_array_get(interval, 0)),
                           100 * json_number_value(json_array_get(interval, 1)),
                           lwp_json_string_or(from, "name", "thread"), lwp_review_number(from, "tid"),
                           lwp_json_string_or(to, "name", "thread"), lwp_review_number(to, "tid"));
        }
        below = best;
    }
}

void lwp_report_communication(const struct lwp_report *report)
{
    const json_t *communication = json_object_get(report->root, "communication");
    if (strcmp(lwp_json_string_or(communication, "unit", ""), "count") == 0)
        lwp_report_exchange(report, communication);
    else
        report_flows(report, json_array_get(json_object_get(communication, "regions"), 0), json_object_get(communication, "threads"));
}
