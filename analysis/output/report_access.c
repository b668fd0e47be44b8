/* What was measured beside findings, as text: redundant pairs, what threads do to each other's memory, locality. */
#include "analysis/output/report_parts.h"

#include "analysis/tables/redundancy_kinds.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* "by less than 1 %": what --approx said. */
static const char *report_tolerance(const struct lwp_report *report)
{
    const char *approx = lwp_json_string_or(json_object_get(json_object_get(report->root, "run"), "options"), "approx", "on");
    bool number = *approx >= '0' && *approx <= '9';
    return lwp_arena_printf(report->review->arena, "by less than %.*s %%", number ? (int)strcspn(approx, "%") : 1, number ? approx : "1");
}

static void report_classes(const struct lwp_report *report, const json_t *classes)
{
    const json_t *class;
    size_t i;
    json_array_foreach(classes, i, class) {
        double bytes = lwp_json_amount(class, "bytes");
        bool is_float = json_is_true(json_object_get(class, "floating_point"));
        const json_t *loaded = json_object_get(class, "loaded"); /* none: of stores */
        fprintf(report->out, "      %5.1f %%  of %.0f bytes %s, %s", lwp_json_percent(class, "share"), bytes,
                !loaded ? "stored again" : json_is_true(loaded) ? "loaded" : "computed", is_float ? "floating point" : "other");
        if (loaded)
            fprintf(report->out, "; %.1f %% of all instructions", lwp_json_percent(class, "instructions"));
        fputc('\n', report->out);
        if (is_float && bytes > 0)
            fprintf(report->out, "      %5.1f %%  more change it %s\n", 100 * lwp_json_amount(class, "close") / bytes,
                    report_tolerance(report));
    }
}

/* The program's own line, and what of a library it calls there, if the access is in that. */
static const char *report_access_at(const struct lwp_report *report, const json_t *context)
{
    const json_t *frames = lwp_review_frames(report->review, context), *own = lwp_review_own_frame(report->review, context);
    const char *at = lwp_review_frame_text(report->review, own);
    size_t place = 0;
    while (place < json_array_size(frames) && json_array_get(frames, place) != own)
        place++;
    const json_t *called = place && place < json_array_size(frames) ? json_array_get(frames, place - 1) : NULL;
    if (!called || json_is_true(json_object_get(called, "inlined")))
        return at;
    return lwp_arena_printf(report->review->arena, "%s, called by %s", lwp_review_function(report->review, called), at);
}

static const char *report_pair_seen(const struct lwp_report *report, double samples)
{
    return samples < 1.5 ? "seen once" : lwp_arena_printf(report->review->arena, "seen %.0f times", samples);
}

/* What stands behind the place of a pair. */
static const char *report_pair_end(const struct lwp_report *report, const json_t *pair)
{
    struct lwp_arena *arena = report->review->arena;
    const json_t *line = json_object_get(pair, "line");
    const char *cause = lwp_json_amount(pair, "approximate") > 0.5 ? lwp_arena_printf(arena, "changes it %s", report_tolerance(report))
                                                                   : lwp_review_cause(report->review, pair);
    bool unsure = line && !json_is_true(json_object_get(line, "sure"));
    double stake = line ? lwp_json_amount(line, "time_at_stake") : 0;
    return lwp_arena_printf(arena, "%s%s%s", cause, stake > 0 ? lwp_arena_printf(arena, "; at most %.1f %% of the time", 100 * stake) : "",
                            unsure ? lwp_arena_printf(arena, " (%s, not sure)", report_pair_seen(report, lwp_json_amount(line, "samples")))
                                   : "");
}

/* Of bytes or, where these are too uncertain, of time: the same for all of a kind. */
static const char *report_share_key(const json_t *total)
{
    return json_is_true(json_object_get(total, "by_time")) ? "time_share" : "share";
}

/* Each element equals the one before it. */
static void report_neighbours(const struct lwp_report *report, const json_t *pair)
{
    const json_t *object = lwp_json_entry(report->root, "objects", pair, "object");
    fprintf(report->out, "      %5.1f %%  of %s, stored in %s; %.1f %% %s the one before\n", lwp_json_percent(pair, "own_share"),
            lwp_json_string_or(object, "name", "unknown data"), report_access_at(report, json_object_get(pair, "first")),
            lwp_json_percent(pair, "neighbour_share"), lwp_json_amount(pair, "approximate") > 0.5 ? "are nearly" : "equal");
}

static const char *report_pair_text(const struct lwp_report *report, const json_t *pair)
{
    const char *first = report_access_at(report, json_object_get(pair, "first"));
    const char *second = report_access_at(report, json_object_get(pair, "second"));
    const bool same = strcmp(first, second) == 0;
    return lwp_arena_printf(report->review->arena, "%s%s%s: %s", first, same ? "" : ", then ", same ? "" : second,
                            report_pair_end(report, pair));
}

/* Pairs that read the same, as of several instructions of a line or below several callers. */
struct report_row {
    const char *text;
    double share;
};

static int report_by_share(const void *a, const void *b)
{
    return LWP_COMPARE(((const struct report_row *)b)->share, ((const struct report_row *)a)->share);
}

/* That what was loaded has not changed is so of most loads: those that have no kind to act on are only counted. */
static void report_pairs(const struct lwp_report *report, const char *kind, const json_t *total)
{
    enum { PAIRS_SHOWN = 3 };
    const json_t *pair;
    const char *key = report_share_key(total);
    bool loads = strcmp(kind, "silent_load") == 0;
    struct report_row *rows = NULL;
    size_t i, count = 0, room = 0, neighbours = 0, folded = 0;
    double share = 0;
    json_array_foreach(json_object_get(report->root, "redundancies"), i, pair) {
        const json_t *line = json_object_get(pair, "line");
        if (!lwp_json_is(pair, "kind", kind)) {
            continue;
        } else if (json_object_get(pair, "own_share")) {
            if (lwp_json_amount(pair, key) >= 0.01 && neighbours++ < PAIRS_SHOWN)
                report_neighbours(report, pair);
        } else if (loads && line && !json_is_true(json_object_get(line, "acted_on"))) {
            folded++;
            share += lwp_json_percent(pair, key);
        } else {
            const char *text = report_pair_text(report, pair);
            size_t row = 0;
            while (row < count && strcmp(rows[row].text, text))
                row++;
            if (row == count)
                LWP_APPEND(&rows, &count, &room, (struct report_row){.text = text});
            rows[row].share += lwp_json_percent(pair, key);
        }
    }
    LWP_SORT(rows, count, report_by_share);
    for (size_t row = 0; row < count && row < PAIRS_SHOWN && (rows[row].share >= 1 || loads); row++) {
        fprintf(report->out, "      %5.1f %%  ", rows[row].share);
        lwp_terminal_wrap(&report->to, 15, rows[row].text);
    }
    free(rows);
    if (folded)
        fprintf(report->out, "      %5.1f %%  in %zu pair%s of no kind to act on\n", share, folded, folded == 1 ? "" : "s");
}

enum { DECIDED_FEW = 20 }; /* fewer say nothing of a share */

static void report_share(const struct lwp_report *report, const json_t *total, const struct lwp_redundancy_row *kind)
{
    double decided = lwp_json_amount(total, "decided");
    const json_t *interval = json_object_get(total, "approximate_ci");
    fprintf(report->out, "  %-14s ", kind->title);
    if (json_is_true(json_object_get(total, "exact")))
        fprintf(report->out, "%5.1f %%  %s\n%*s %.0f of %.0f %s\n", lwp_json_percent(total, "share"), kind->waste, 24, "",
                lwp_json_amount(total, "wasted"), decided, lwp_json_string_or(total, "unit", "bytes"));
    else if (decided < DECIDED_FEW)
        fprintf(report->out, "unknown  only %.0f watchpoint%s decided\n", decided, decided == 1 ? " was" : "s were");
    else if (json_is_true(json_object_get(total, "by_time")))
        fprintf(report->out, "%5.1f %%  (%.1f-%.1f)  %s: %s\n%*s %.0f-%.0f %% %s\n", lwp_json_percent(total, "time_share"),
                100 * lwp_json_end(total, "time_share_ci", 0), 100 * lwp_json_end(total, "time_share_ci", 1), kind->of_time, kind->waste,
                24, "", 100 * lwp_json_end(total, "share_ci", 0), 100 * lwp_json_end(total, "share_ci", 1), kind->of);
    else
        fprintf(report->out, "%5.1f %%  (%.1f-%.1f)  %s: %s\n", lwp_json_percent(total, "share"), 100 * lwp_json_end(total, "share_ci", 0),
                100 * lwp_json_end(total, "share_ci", 1), kind->of, kind->waste);
    if (interval && lwp_json_amount(total, "approximate") >= 0.005 && decided >= DECIDED_FEW)
        fprintf(report->out, "  %-14s %5.1f %%  (%.1f-%.1f)  changed it, but %s\n", "", lwp_json_percent(total, "approximate"),
                100 * json_number_value(json_array_get(interval, 0)), 100 * json_number_value(json_array_get(interval, 1)),
                report_tolerance(report));
}

/* RVN's R, and what it is made of. */
static void report_instructions(const struct lwp_report *report, const json_t *of)
{
    fprintf(report->out, "      %5.1f %%  of %.0f instructions are redundant (%.1f %% with computations alone):\n",
            lwp_json_percent(of, "share"), lwp_json_amount(of, "instructions"), lwp_json_percent(of, "computations_share"));
    fprintf(report->out, "               %.0f of %.0f loads and %.0f of %.0f stores move what the place held\n",
            lwp_json_amount(of, "loads_again"), lwp_json_amount(of, "loads"), lwp_json_amount(of, "stores_again"),
            lwp_json_amount(of, "stores"));
}

/* Which threads it is of, where there are several. */
static void report_contributions(const struct lwp_report *report, const json_t *threads)
{
    enum { THREADS_SHOWN = 8 };
    const json_t *thread;
    size_t i, count = json_array_size(threads);
    const char *line = "by thread:";
    json_array_foreach(threads, i, thread)
        if (i < THREADS_SHOWN)
            line = lwp_arena_printf(report->review->arena, "%s%s %.0f %.1f %%", line, i ? "," : "", lwp_json_amount(thread, "thread"),
                                    lwp_json_percent(thread, "share"));
    if (count < 2)
        return;
    fprintf(report->out, "               ");
    lwp_terminal_wrap(&report->to, 15, count > THREADS_SHOWN ? lwp_arena_printf(report->review->arena, "%s ...", line) : line);
}

/* Where most of each kind is, whether or not it is worth a finding. */
void lwp_report_redundancies(const struct lwp_report *report)
{
    const json_t *totals = json_object_get(report->root, "redundancy_totals");
    bool begun = false;
    for (const struct lwp_redundancy_row *kind = lwp_redundancy_rows; kind < lwp_redundancy_rows + LWP_WATCHPOINT_KINDS; kind++) {
        const json_t *total = json_object_get(totals, kind->key);
        bool exact = json_is_true(json_object_get(total, "exact"));
        double undecided = lwp_json_amount(total, "undecided");
        if (!json_is_object(total))
            continue;
        if (!begun)
            lwp_terminal_heading(&report->to, exact ? "Redundant accesses (exact: of all that was stored, loaded or computed)"
                                                    : "Redundant accesses (estimated from samples, 95 % interval)");
        begun = true;
        report_share(report, total, kind);
        if (undecided >= 0.005)
            fprintf(report->out, "%*s nothing is known of another %.1f %%\n", 16, "", 100 * undecided);
        const json_t *instructions = json_object_get(total, "of_instructions");
        if (json_is_object(instructions))
            report_instructions(report, instructions);
        report_contributions(report, json_object_get(total, "threads"));
        report_classes(report, json_object_get(total, "classes"));
        if (exact || lwp_json_amount(total, "decided") >= DECIDED_FEW)
            report_pairs(report, kind->key, total);
    }
    const json_t *generated = json_object_get(totals, "generated");
    if (json_is_object(generated))
        fprintf(report->out,
                "  %-14s %5.1f %%  of %.0f bytes that were stored or written to registers had their value already, %.1f %% nearly\n",
                "all of these", lwp_json_percent(generated, "share"), lwp_json_amount(generated, "bytes"),
                lwp_json_percent(generated, "approximate"));
}

/* Its threads in the order of their bytes, then who reads what of whom, the largest parts. */
void lwp_report_sharing(const struct lwp_report *report)
{
    const json_t *sharing = json_object_get(report->root, "sharing"), *item, *site;
    size_t i, k;
    if (json_array_size(sharing))
        lwp_terminal_heading(&report->to, "Cache lines between threads");
    json_array_foreach(sharing, i, item) {
        fprintf(report->out, "  %5.1f %%  %s sharing of %s\n", lwp_json_percent(item, "share"), lwp_json_string_or(item, "kind", "?"),
                lwp_json_string_or(item, "name", "unknown data"));
        json_array_foreach(json_object_get(item, "sites"), k, site) {
            const json_t *offset = json_array_get(json_object_get(item, "offsets"), k);
            fprintf(report->out, "           thread %.0f  byte %" JSON_INTEGER_FORMAT " of the line  %s%s\n",
                    lwp_json_amount(site, "thread"), json_integer_value(offset), lwp_json_string_or(site, "field", ""),
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
            lwp_terminal_heading(&report->to, "Communication (share of what threads read of each other's stores, 95 % interval)");
        for (size_t i = 0; i < count * count; i++) {
            if (json_number_value(json_array_get(json_array_get(shares, i / count), i % count)) != best)
                continue;
            const json_t *from = json_array_get(threads, i / count), *to = json_array_get(threads, i % count);
            const json_t *interval = json_array_get(json_array_get(intervals, i / count), i % count);
            fprintf(report->out, "  %5.1f %%  (%.1f-%.1f)  %s %.0f -> %s %.0f\n", 100 * best,
                    100 * json_number_value(json_array_get(interval, 0)), 100 * json_number_value(json_array_get(interval, 1)),
                    lwp_json_string_or(from, "name", "thread"), lwp_json_amount(from, "tid"), lwp_json_string_or(to, "name", "thread"),
                    lwp_json_amount(to, "tid"));
        }
        below = best;
    }
}

static void report_region(const struct lwp_report *report, const json_t *region, size_t threads)
{
    const json_t *crd = json_object_get(region, "crd");
    fprintf(report->out, "  %10.0f %10.0f  %s\n", lwp_json_amount(region, "communicated"), lwp_json_amount(region, "reused"),
            lwp_json_string_or(region, "name", "?"));
    if (threads > 1 && json_is_number(json_object_get(region, "homogeneity")))
        fprintf(report->out, "%25shomogeneity %.3g, balance %.0f %%\n", "", lwp_json_amount(region, "homogeneity"),
                lwp_json_amount(region, "balance_percent"));
    if (json_is_object(crd))
        fprintf(report->out, "%25sdistance: median %.0f, 90 %% below %.0f elements\n", "", lwp_json_amount(crd, "median"),
                lwp_json_amount(crd, "p90"));
    if (json_is_string(json_object_get(region, "pattern")))
        fprintf(report->out, "%25spattern: %s\n", "", lwp_json_string_or(region, "pattern", ""));
}

static void report_counted(const struct lwp_report *report, const json_t *communication)
{
    const json_t *region, *threads = json_object_get(communication, "threads");
    size_t i;
    fprintf(report->out, "\nCommunication between %zu threads\n%12s %10s\n", json_array_size(threads), "first reads", "reads again");
    json_array_foreach(json_object_get(communication, "regions"), i, region)
        report_region(report, region, json_array_size(threads));
}

void lwp_report_communication(const struct lwp_report *report)
{
    const json_t *communication = json_object_get(report->root, "communication");
    if (lwp_json_is(communication, "unit", "count"))
        report_counted(report, communication);
    else
        report_flows(report, json_array_get(json_object_get(communication, "regions"), 0), json_object_get(communication, "threads"));
}

/* ---- locality, where there is a trace: each structure in each loop ---- */

enum { ROWS_SHOWN = 10 };

static const char *const levels[] = {"L1", "L2", "L3"};
enum { LEVELS = sizeof levels / sizeof *levels };

/* "511", "beyond" (the window), "1/8". */
static void locality_number(const json_t *value, const char *otherwise, char *text, size_t size)
{
    if (json_is_number(value))
        snprintf(text, size, "%.3g", json_number_value(value));
    else
        snprintf(text, size, "%s", otherwise);
}

/* How much they hang on the order in which threads run. */
static void report_core_conflicts(const struct lwp_report *report, const json_t *conflicts)
{
    if (lwp_json_amount(conflicts, "count") >= 1)
        fprintf(report->out, "  %7s %.0f stores take a line from another core (%.0f to %.0f, by the order of threads)\n", "",
                lwp_json_amount(conflicts, "count"), lwp_json_end(conflicts, "range", 0), lwp_json_end(conflicts, "range", 1));
}

static void locality_row(const struct lwp_report *report, const json_t *row)
{
    const json_t *object = lwp_json_entry(report->root, "objects", row, "object");
    const json_t *loop = lwp_json_entry(report->root, "loops", row, "loop");
    double accesses = lwp_json_amount(row, "accesses");
    char median[32], stride[32], streams[32], numa[32], reuse[32];
    locality_number(json_object_get(json_object_get(row, "reuse_distance"), "median"), "beyond", median, sizeof median);
    locality_number(json_object_get(json_object_get(row, "stride_lines"), "dominant"), "-", stride, sizeof stride);
    locality_number(json_object_get(row, "streams"), "-", streams, sizeof streams);
    locality_number(json_object_get(row, "numa_hit_ratio"), "-", numa, sizeof numa);
    fprintf(report->out, "  %s in %s\n", lwp_json_string_or(object, "name", "other data"), lwp_review_loop_text(report->review, loop));
    fprintf(report->out, "  %7.1f %8s %6s %7s %4s", lwp_json_amount(row, "cycles_per_access"), median, stride, streams, numa);
    for (unsigned i = 0; i < LEVELS; i++) {
        const json_t *missed = json_object_get(json_object_get(row, "misses"), levels[i]);
        if (json_is_number(missed) && accesses > 0)
            fprintf(report->out, " %4.0f %%", 100 * json_number_value(missed) / accesses);
        else
            fprintf(report->out, " %6s", "-");
    }
    locality_number(json_object_get(json_object_get(row, "reuse_factor"), levels[0]), "all", reuse, sizeof reuse);
    fprintf(report->out, " %6s %4.0f %%\n", reuse, lwp_json_percent(json_object_get(row, "core_conflicts"), "share"));
    report_core_conflicts(report, json_object_get(row, "core_conflicts"));
}

void lwp_report_locality(const struct lwp_report *report)
{
    const json_t *locality = json_object_get(report->root, "locality"), *row;
    size_t i;
    if (!json_is_number(json_object_get(json_array_get(locality, 0), "accesses"))) /* nothing, or from samples */
        return;
    lwp_terminal_heading(&report->to, "Locality");
    lwp_terminal_wrap(
        &report->to, 0,
        "From a trace: cycles an access by the model of the caches; other lines between two uses of one (median); stride in lines; "
        "streams of the loop; accesses to memory of the own NUMA node; misses; how often a line is used before the first level loses it; "
        "stores that take a line from another core.");
    fprintf(report->out, "  %7s %8s %6s %7s %4s %6s %6s %6s %6s %6s\n", "cycles", "distance", "stride", "streams", "node", "L1", "L2", "L3",
            "reuse", "taken");
    json_array_foreach(locality, i, row) {
        if (i == ROWS_SHOWN) {
            fprintf(report->out, "  ... and %zu more\n", json_array_size(locality) - i);
            break;
        }
        locality_row(report, row);
    }
}
