/* Findings about accesses: redundant ones, what threads do to each other's memory, loops in the wrong order. */
#include "analysis/review/review_parts.h"

#include "analysis/review/names.h"
#include "analysis/tables/engines.h"
#include "analysis/tables/redundancy_kinds.h"
#include "base/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...)  lwp_arena_printf(review->arena, __VA_ARGS__)
#define FACT(...) lwp_review_fact(review, item, __VA_ARGS__)

static const struct lwp_redundancy_row *access_kind(const char *key)
{
    size_t i = 0;
    while (i + 1 < LWP_WATCHPOINT_KINDS && strcmp(lwp_redundancy_rows[i].key, key))
        i++;
    return &lwp_redundancy_rows[i];
}

/* A call path from the access outwards, as far as the program's own: what calls main() is the same in all programs. */
static void access_path(struct lwp_review *review, struct lwp_review_item *item, const char *what, const json_t *context)
{
    enum { FRAMES_SHOWN = 6 };
    const json_t *frames = lwp_review_frames(review, context), *frame;
    size_t i;
    json_array_foreach(frames, i, frame) {
        const char *file = lwp_json_string(frame, "file"), *function = lwp_review_function(review, frame);
        if (i == FRAMES_SHOWN) {
            FACT("", "...");
            return;
        }
        if (file && json_is_integer(json_object_get(frame, "line")))
            FACT(i ? "" : what, "%s  %s:%.0f", function, lwp_path_last(file), lwp_json_amount(frame, "line"));
        else
            FACT(i ? "" : what, "%s", function);
        if (strcmp(function, "main") == 0)
            return;
    }
}

static const char *access_own(const struct lwp_review *review, const json_t *context)
{
    const json_t *frame = lwp_review_own_frame(review, context);
    return lwp_stable_function(review->arena, lwp_json_string_or(frame, "function", "code without a name"));
}

const char *lwp_review_cause(const struct lwp_review *review, const json_t *pair)
{
    char *text = lwp_arena_strdup(review->arena, lwp_json_string_or(pair, "cause", "unknown"));
    for (char *c = text; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    return text;
}

/* Of bytes or, where these are too uncertain, of time. */
static void access_share(struct lwp_review_item *item, const json_t *from, const struct lwp_redundancy_row *kind)
{
    bool by_time = json_is_true(json_object_get(from, "by_time"));
    item->share_of = by_time ? kind->of_time : kind->of;
    lwp_review_interval(item, from);
    if (!by_time)
        return;
    item->share = lwp_json_amount(from, "time_share");
    item->share_low = lwp_json_end(from, "time_share_ci", 0);
    item->share_high = lwp_json_end(from, "time_share_ci", 1);
}

static void access_pair_facts(struct lwp_review *review, struct lwp_review_item *item, const json_t *pair,
                              const struct lwp_redundancy_row *kind)
{
    const json_t *object = lwp_json_entry(review->root, "objects", pair, "object");
    const json_t *total = json_object_get(json_object_get(review->root, "redundancy_totals"), kind->key);
    const json_t *first = json_object_get(pair, "first"), *second = json_object_get(pair, "second");
    const json_t *line = json_object_get(pair, "line"); /* older results have none */
    size_t others = json_array_size(json_object_get(pair, "others"));
    double samples = lwp_json_amount(line ? line : pair, "samples");
    if (json_object_get(pair, "own_share"))
        FACT("equal", "%.1f %% of the elements looked at here", lwp_json_percent(pair, "own_share"));
    if (item->exact)
        FACT("share", "%.1f %% %s (exact: %.0f %s, %.0f times)", 100 * item->share, kind->of, lwp_json_amount(pair, "amount"),
             lwp_json_string_or(total, "unit", "bytes"), samples);
    else
        FACT("share", "%.1f %% %s (95 %% interval %.1f-%.1f, %.0f pairs seen)", 100 * item->share, item->share_of, 100 * item->share_low,
             100 * item->share_high, samples);
    if (item->stake > 0)
        FACT("at stake", "at most %.1f %% of the program's time", 100 * item->stake);
    FACT("cause", "%s", lwp_review_cause(review, pair));
    if (object)
        FACT("data", "%s, %.0f bytes at a time", lwp_json_string_or(object, "name", "?"), lwp_json_amount(pair, "bytes"));
    access_path(review, item, kind->done, first);
    if (json_equal(first, second))
        FACT("then in", "the same place, called the same way");
    else
        access_path(review, item, "then in", second);
    if (others)
        FACT("", "(and %zu more, alike but for how the thread began or the instruction)", others);
}

static bool access_is_search(const json_t *pair)
{
    const char *cause = lwp_json_string_or(pair, "cause", "");
    return strcmp(cause, "linear_search") == 0 || strcmp(cause, "full_search") == 0;
}

void lwp_review_redundancy(struct lwp_review *review, struct lwp_review_item *item, const json_t *pair)
{
    const struct lwp_redundancy_row *kind = access_kind(lwp_json_string_or(pair, "kind", ""));
    const json_t *first = json_object_get(pair, "first"), *second = json_object_get(pair, "second");
    const json_t *object = lwp_json_entry(review->root, "objects", pair, "object");
    const char *from = access_own(review, first), *to = access_own(review, second);
    item->rule = kind->rule;
    if (access_is_search(pair) && json_object_get(json_object_get(review->root, "run"), "kernel_ns"))
        item->gain_of = lwp_unit_named("ns")->gain_of;
    if (lwp_json_amount(pair, "approximate") > 0.5) /* values that are not equal prove little */
        item->confidence = "low";
    const json_t *line = json_object_get(pair, "line");
    access_share(item, line ? line : pair, kind);
    item->exact = json_is_true(json_object_get(json_object_get(json_object_get(review->root, "redundancy_totals"), kind->key), "exact"));
    if (strcmp(kind->key, "spatial") == 0)
        item->subject = SAY("%s in %s()", lwp_stable_name(review->arena, lwp_json_string_or(object, "name", "an array")), to);
    else
        item->subject = strcmp(from, to) ? SAY("%s(), then %s()", from, to) : SAY("%s()", from);
    lwp_review_add_frame(review, item, kind->done, lwp_review_own_frame(review, first));
    lwp_review_add_frame(review, item, "then in", lwp_review_own_frame(review, second));
    access_pair_facts(review, item, pair, kind);
}

static void access_thread(struct lwp_review *review, struct lwp_review_item *item, const json_t *site, const json_t *offset, bool first)
{
    const json_t *frame = lwp_review_own_frame(review, json_object_get(site, "context"));
    const char *field = lwp_json_string(site, "field");
    FACT(first ? "threads" : "", "%.0f %s byte %" JSON_INTEGER_FORMAT " of the line%s%s, in %s", lwp_json_amount(site, "thread"),
         json_array_size(json_object_get(site, "stored")) ? "writes" : "reads", json_integer_value(offset), field ? ", " : "",
         field ? field : "", lwp_review_frame_text(review, frame));
    lwp_review_add_frame(review, item, "used", frame);
}

void lwp_review_sharing(struct lwp_review *review, struct lwp_review_item *item, const json_t *sharing)
{
    enum { THREADS_SHOWN = 8 };
    const json_t *object = lwp_json_entry(review->root, "objects", sharing, "object");
    const json_t *site, *sites = json_object_get(sharing, "sites");
    const char *type = lwp_json_string(object, "type");
    size_t i;
    item->rule = "false-sharing";
    item->subject = lwp_stable_name(review->arena, lwp_json_string_or(sharing, "name", "unknown data"));
    lwp_review_interval(item, sharing);
    lwp_review_add_frame(review, item, "declared", json_object_get(object, "declared"));
    lwp_review_add_frame(review, item, "allocated", json_object_get(object, "site"));
    FACT("evidence", "%.1f %% of all time goes to lines that others use then, too (%.1f-%.1f)", 100 * item->share, 100 * item->share_low,
         100 * item->share_high);
    if (type)
        FACT("data", "%s (%s)", lwp_json_string_or(sharing, "name", "?"), type);
    json_array_foreach(sites, i, site) {
        if (i == THREADS_SHOWN) {
            FACT("", "... and %zu more", json_array_size(sites) - i);
            break;
        }
        access_thread(review, item, site, json_array_get(json_object_get(sharing, "offsets"), i), i == 0);
    }
}

void lwp_review_communication(struct lwp_review *review, struct lwp_review_item *item, const json_t *region)
{
    const json_t *loop = lwp_json_entry(review->root, "loops", region, "loop"), *crd = json_object_get(region, "crd");
    const char *name = lwp_json_string_or(region, "name", "the program"), *function = lwp_json_string(loop, "function");
    item->share_of = "of all accesses";
    item->exact = true;
    item->subject =
        function ? SAY("%s()", lwp_stable_function(review->arena, function)) : lwp_arena_strndup(review->arena, name, strcspn(name, ":("));
    FACT("evidence", "%.0f words read first of another thread's stores, %.0f times again", lwp_json_amount(region, "communicated"),
         lwp_json_amount(region, "reused"));
    if (json_is_object(crd))
        FACT("distance", "median %.0f, 90 %% below %.0f elements", lwp_json_amount(crd, "median"), lwp_json_amount(crd, "p90"));
    if (json_is_string(json_object_get(region, "pattern")))
        FACT("pattern", "%s", lwp_json_string_or(region, "pattern", ""));
    lwp_review_add_loop(review, item, "loop", loop);
}

/* A gain that was measured is of the whole loop, and so is its share; another one's is of the data that it traverses so. */
static void locality_evidence(struct lwp_review *review, struct lwp_review_item *item, double loop)
{
    if (fabs(item->share - loop) < 0.0005)
        FACT("evidence", "the loop takes %s", lwp_review_share(review, item));
    else
        FACT("evidence", "memory stall on this data takes %s in the loop, which takes %.1f %%", lwp_review_share(review, item), 100 * loop);
}

void lwp_review_locality(struct lwp_review *review, struct lwp_review_item *item, const json_t *row)
{
    const json_t *object = lwp_json_entry(review->root, "objects", row, "object");
    const json_t *loop = lwp_json_entry(review->root, "loops", row, "loop"), *misses = json_object_get(row, "misses");
    const char *name = lwp_stable_name(review->arena, lwp_json_string_or(object, "name", "other data"));
    const char *function = lwp_json_string_or(loop, "function", "code without a name");
    double accesses = lwp_json_amount(row, "accesses");
    bool traced = json_is_number(json_object_get(row, "cycles_per_access"));
    item->share_of = traced ? "of all cycles of the model" : "of all time";
    item->exact = traced;
    item->subject = SAY("%s in %s()", name, lwp_stable_function(review->arena, function));
    if (traced)
        FACT("evidence", "%.1f %% of the cycles of the model, %.1f cycles an access", lwp_json_percent(row, "share"),
             lwp_json_amount(row, "cycles_per_access"));
    else
        locality_evidence(review, item, lwp_json_amount(loop, "share"));
    if (accesses > 0 && json_is_number(json_object_get(misses, "L1")))
        FACT("misses", "L1 %.0f %% of the accesses, L2 %.0f %%", 100 * lwp_json_amount(misses, "L1") / accesses,
             100 * lwp_json_amount(misses, "L2") / accesses);
    FACT("loop", "%s", lwp_review_loop_text(review, loop));
    lwp_review_add_loop(review, item, "loop", loop);
}
