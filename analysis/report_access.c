/* What became of watched accesses, as text: redundant pairs, and what threads do to each other's memory. */
#include "analysis/report_parts.h"

#include "base/path.h"

/* Its name, or "sort+0x6e8c" without symbols. */
static void report_function(const struct lwp_report *report, const json_t *frame, char *text, size_t size)
{
    const char *function = lwp_report_text(frame, "function", NULL);
    const json_t *module = lwp_report_at(report, "modules", json_object_get(frame, "module"));
    const json_t *address = json_object_get(frame, "address");
    if (function || !module || !json_is_integer(address))
        snprintf(text, size, "%s", function ? function : "unknown code");
    else
        snprintf(text, size, "%s+%#llx", lwp_path_last(lwp_report_text(module, "path", "?")),
                 (unsigned long long)json_integer_value(address));
}

static const struct report_kind {
    const char *key, *title, *of, *done, *waste;
} report_kinds[] = {
    {"dead_store", "dead stores", "stores", "stored in", "overwritten before anything read them"},
    {"silent_store", "silent stores", "stores", "stored in", "left the value as it was"},
    {"silent_load", "silent loads", "loads", "loaded in", "loaded again what had not changed"},
    {"computation", "computations", "computations", "computed in", "made again from the same values"},
    {"register", "registers", "bytes written to registers", "written in", "written with the value they had"},
    {"spatial", "neighbours", "elements looked at", "stored in", "elements of arrays equal to the one before"},
};
enum { REPORT_KINDS = sizeof report_kinds / sizeof *report_kinds };

static const struct report_kind *report_kind(const char *key)
{
    size_t i = 0;
    while (i < REPORT_KINDS - 1 && strcmp(report_kinds[i].key, key))
        i++;
    return &report_kinds[i];
}

/* A call path from the access outwards, as far as it helps. */
static void report_path(const struct lwp_report *report, const char *what, const json_t *context)
{
    enum { FRAMES_SHOWN = 6 };
    const json_t *frames = json_object_get(lwp_report_at(report, "contexts", context), "frames");
    size_t i;
    json_t *frame;
    json_array_foreach(frames, i, frame)
    {
        if (i == FRAMES_SHOWN) {
            lwp_report_say(report, "               ...\n");
            break;
        }
        char name[120];
        const char *file = json_string_value(json_object_get(frame, "file"));
        report_function(report, frame, name, sizeof name);
        lwp_report_say(report, "   %-11s %s", i ? "" : what, name);
        if (file && json_is_integer(json_object_get(frame, "line")))
            lwp_report_say(report, "  %s:%.0f", lwp_path_last(file), lwp_report_number(frame, "line"));
        lwp_report_say(report, "\n");
    }
}

static double report_end(const json_t *item, size_t which)
{
    return 100 * json_number_value(json_array_get(json_object_get(item, "share_ci"), which));
}

/* The cause of a pair in words. */
static const char *report_cause(const json_t *pair, char *text, size_t size)
{
    snprintf(text, size, "%s", lwp_report_text(pair, "cause", "unknown"));
    for (char *c = text; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    return text;
}

void lwp_report_redundancy(const struct lwp_report *report, const json_t *pair)
{
    const json_t *object = lwp_report_at(report, "objects", json_object_get(pair, "object"));
    const struct report_kind *kind = report_kind(lwp_report_text(pair, "kind", ""));
    const json_t *total = json_object_get(json_object_get(report->root, "redundancy_totals"),
                                          lwp_report_text(pair, "kind", ""));
    size_t others = json_array_size(json_object_get(pair, "others"));
    char cause[64];
    if (json_object_get(pair, "own_share"))
        lwp_report_say(report, "   equal       %.1f %% of the elements looked at here\n", 100 * lwp_report_number(pair, "own_share"));
    lwp_report_say(report, "   share       %.1f %% of all %s (", 100 * lwp_report_number(pair, "share"),
                   kind->of);
    if (json_is_true(json_object_get(total, "exact")))
        lwp_report_say(report, "exact: %.0f %s, %.0f times)\n", lwp_report_number(pair, "amount"),
                       lwp_report_text(total, "unit", "bytes"), lwp_report_number(pair, "samples"));
    else
        lwp_report_say(report, "95 %% interval %.1f-%.1f, %.0f pairs seen)\n", report_end(pair, 0),
                       report_end(pair, 1), lwp_report_number(pair, "samples"));
    lwp_report_say(report, "   cause       %s\n", report_cause(pair, cause, sizeof cause));
    report_path(report, kind->done, json_object_get(pair, "first"));
    report_path(report, "then in", json_object_get(pair, "second"));
    if (others)
        lwp_report_say(report, "               (and %zu more, alike but for how the thread began or the instruction)\n",
                       others);
    if (object)
        lwp_report_say(report, "   data        %s, %.0f bytes at a time\n", lwp_report_text(object, "name", "?"),
                       lwp_report_number(pair, "bytes"));
}

/* The innermost frame of the program's own code: libraries are built with relative paths, if they have any here. */
static void report_access_at(const struct lwp_report *report, const json_t *context, char *text, size_t size)
{
    const json_t *frames = json_object_get(lwp_report_at(report, "contexts", context), "frames");
    const json_t *own = json_array_get(frames, 0);
    size_t i;
    json_t *frame;
    json_array_foreach(frames, i, frame)
    {
        if (*lwp_report_text(frame, "file", "") == '/') {
            own = frame;
            break;
        }
    }
    char name[120];
    const char *file = lwp_report_text(own, "file", NULL);
    report_function(report, own, name, sizeof name);
    if (file && json_is_integer(json_object_get(own, "line")))
        snprintf(text, size, "%s (%s:%.0f)", name, lwp_path_last(file), lwp_report_number(own, "line"));
    else
        snprintf(text, size, "%s", name);
}

static void report_classes(const struct lwp_report *report, const json_t *classes)
{
    const json_t *class;
    size_t i;
    json_array_foreach(classes, i, class)
        lwp_report_say(report, "      %5.1f %%  of %.0f bytes %s, %s; %.1f %% of all instructions\n", 100 * lwp_report_number(class, "share"),
                       lwp_report_number(class, "bytes"), json_is_true(json_object_get(class, "loaded")) ? "loaded" : "computed",
                       json_is_true(json_object_get(class, "floating_point")) ? "floating point" : "other",
                       100 * lwp_report_number(class, "instructions"));
}

static void report_pairs(const struct lwp_report *report, const char *kind)
{
    enum { PAIRS_SHOWN = 3 };
    const json_t *pair;
    size_t i, shown = 0;
    json_array_foreach(json_object_get(report->root, "redundancies"), i, pair)
    {
        char first[200], second[200], cause[64];
        if (strcmp(lwp_report_text(pair, "kind", ""), kind) != 0 || lwp_report_number(pair, "share") < 0.01)
            continue;
        if (shown++ == PAIRS_SHOWN)
            return;
        report_access_at(report, json_object_get(pair, "first"), first, sizeof first);
        report_access_at(report, json_object_get(pair, "second"), second, sizeof second);
        if (json_object_get(pair, "own_share")) {
            const json_t *object = lwp_report_at(report, "objects", json_object_get(pair, "object"));
            lwp_report_say(report, "      %5.1f %%  of %s, stored in %s\n", 100 * lwp_report_number(pair, "own_share"),
                           lwp_report_text(object, "name", "unknown data"), first);
            continue;
        }
        lwp_report_say(report, "      %5.1f %%  %s%s%s\n               %s\n", 100 * lwp_report_number(pair, "share"),
                       first, strcmp(first, second) ? ", then " : "", strcmp(first, second) ? second : "",
                       report_cause(pair, cause, sizeof cause));
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
        double undecided = lwp_report_number(total, "undecided");
        if (!json_is_object(total))
            continue;
        if (!begun)
            lwp_report_say(report, "\nRedundant accesses (%s)\n",
                           exact ? "exact: of all that was stored, loaded or computed"
                                 : "of all sampled stores or loads, 95 % interval");
        begun = true;
        lwp_report_say(report, "  %-14s %5.1f %%  ", kind->title, 100 * lwp_report_number(total, "share"));
        if (exact)
            lwp_report_say(report, "(%.0f of %.0f %s)  %s\n", lwp_report_number(total, "wasted"),
                           lwp_report_number(total, "decided"), lwp_report_text(total, "unit", "bytes"), kind->waste);
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
        lwp_report_say(report, "\nCache lines between threads\n");
    json_array_foreach(sharing, i, item)
    {
        lwp_report_say(report, "  %5.1f %%  %s sharing of %s\n", 100 * lwp_report_number(item, "share"),
                       lwp_report_text(item, "kind", "?"), lwp_report_text(item, "name", "unknown data"));
        json_array_foreach(json_object_get(item, "sites"), k, site)
        {
            const json_t *offset = json_array_get(json_object_get(item, "offsets"), k);
            lwp_report_say(report, "           thread %.0f  byte %" JSON_INTEGER_FORMAT " of the line  %s%s\n",
                           lwp_report_number(site, "thread"), json_integer_value(offset),
                           lwp_report_text(site, "field", ""),
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
            lwp_report_say(report,
                           "\nCommunication (share of what threads read of each other's stores, 95 %% interval)\n");
        for (size_t i = 0; i < count * count; i++) {
            if (json_number_value(json_array_get(json_array_get(shares, i / count), i % count)) != best)
                continue;
            const json_t *from = json_array_get(threads, i / count), *to = json_array_get(threads, i % count);
            const json_t *interval = json_array_get(json_array_get(intervals, i / count), i % count);
            lwp_report_say(report, "  %5.1f %%  (%.1f-%.1f)  %s %.0f -> %s %.0f\n", 100 * best,
                           100 * json_number_value(json_array_get(interval, 0)),
                           100 * json_number_value(json_array_get(interval, 1)),
                           lwp_report_text(from, "name", "thread"), lwp_report_number(from, "tid"),
                           lwp_report_text(to, "name", "thread"), lwp_report_number(to, "tid"));
        }
        below = best;
    }
}

void lwp_report_communication(const struct lwp_report *report)
{
    const json_t *communication = json_object_get(report->root, "communication");
    if (strcmp(lwp_report_text(communication, "unit", ""), "count") == 0)
        lwp_report_exchange(report, communication);
    else
        report_flows(report, json_array_get(json_object_get(communication, "regions"), 0), json_object_get(communication, "threads"));
}
