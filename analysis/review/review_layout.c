/* Findings about the layout of data: structures to split or reorder, arrays to regroup. */
#include "analysis/review/review_parts.h"

#include "analysis/review/names.h"
#include "base/arena.h"
#include "base/order.h"
#include "base/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) lwp_arena_printf(review->arena, __VA_ARGS__)
#define FACT(...) lwp_review_fact(review, item, __VA_ARGS__)

enum { LOOPS_SHOWN = 10, LEFT_OUT_SHOWN = 10, SITES_SHOWN = 3 };

static const double loop_share = 0.001;

/* The functions that call the site's, as far as all allocations have them in common: ", called by a() < b()". */
static const char *layout_callers(const struct lwp_review *review, const json_t *object, const json_t *site)
{
    enum { CALLERS_SHOWN = 4 };
    const json_t *context = lwp_json_entry(review->root, "contexts", object, "context"), *frame;
    const char *text = "", *last = lwp_json_string_or(site, "function", "");
    bool above = false, various = json_is_true(json_object_get(context, "various"));
    size_t i, shown = 0;
    json_array_foreach(json_object_get(context, "frames"), i, frame) {
        const char *function = lwp_json_string_or(frame, "function", "");
        bool same = strcmp(function, last) == 0;
        if (above && !same && shown++ < CALLERS_SHOWN)
            text = SAY("%s%s%s", text, *text ? " < " : ", called by ",
                       lwp_review_call(review, *function ? lwp_stable_function(review->arena, function) : "?"));
        above |= same;
        last = above ? function : last;
        if (above && strcmp(function, "main") == 0)
            break;
    }
    if (shown > CALLERS_SHOWN)
        text = SAY("%s < ...", text);
    return various ? SAY("%s%s", text, *text ? " < various callers" : ", by various callers") : text;
}

/* All objects of one type have one split, the heaviest first; NULL: there are no more. Results of older versions name only that one. */
static const json_t *layout_object(const struct lwp_review *review, const json_t *split, size_t i)
{
    const json_t *all = json_object_get(split, "objects");
    return all      ? lwp_json_at(review->root, "objects", json_array_get(all, i))
           : i == 0 ? lwp_json_entry(review->root, "objects", split, "object")
                    : NULL;
}

/* Where objects of one type are allocated: each place once, the heaviest first. */
static void layout_allocated(struct lwp_review *review, struct lwp_review_item *item, const json_t *split)
{
    const char *shown[SITES_SHOWN];
    const json_t *object;
    size_t count = 0, others = 0;
    for (size_t i = 0; (object = layout_object(review, split, i)); i++) {
        const json_t *site = json_object_get(object, "site");
        if (!json_is_string(json_object_get(site, "file")))
            continue;
        const char *text =
            SAY("in %s at %s:%.0f%s", lwp_review_call(review, lwp_json_string_or(site, "function", "?")),
                lwp_path_last(lwp_json_string_or(site, "file", "?")), lwp_json_amount(site, "line"), layout_callers(review, object, site));
        lwp_review_add_frame(review, item, "allocated", site);
        size_t same = 0;
        while (same < count && strcmp(shown[same], text))
            same++;
        if (same < count)
            continue;
        if (count == SITES_SHOWN) {
            others++;
            continue;
        }
        FACT(count ? "" : "allocated", "%s", text);
        shown[count++] = text;
    }
    if (others)
        FACT("", "and at %zu other places", others);
}

static void layout_declared(struct lwp_review *review, struct lwp_review_item *item, const json_t *object)
{
    const json_t *declared = json_object_get(object, "declared");
    if (json_is_string(json_object_get(declared, "file")))
        FACT("declared", "at %s:%.0f", lwp_path_last(lwp_json_string_or(declared, "file", "?")), lwp_json_amount(declared, "line"));
    lwp_review_add_frame(review, item, "declared", declared);
}

/* What a replay of the trace says of the new layout. */
static void layout_replay(struct lwp_review *review, struct lwp_review_item *item, const json_t *replay)
{
    static const char *const levels[] = {"L1", "L2", "L3"};
    const json_t *before = json_object_get(replay, "before"), *after = json_object_get(replay, "after");
    if (!json_is_object(replay))
        return;
    const char *text = SAY("%.0f accesses of the trace:", lwp_json_amount(replay, "accesses"));
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (json_is_number(json_object_get(before, levels[i])))
            text = SAY("%s%s %s misses %.0f -> %.0f", text, i ? "," : "", levels[i], lwp_json_amount(before, levels[i]),
                       lwp_json_amount(after, levels[i]));
    FACT("replayed", "%s", text);
}

static const char *layout_sure(const struct lwp_review *review, const json_t *split)
{
    const json_t *probability = json_object_get(split, "element_probability");
    double sure = json_is_number(probability) ? json_number_value(probability) : 1;
    if (sure >= 1)
        return "";
    return sure >= 0.999 ? " (by strides, more than 99.9 % sure)" : SAY(" (by strides, %.1f %% sure)", 100 * sure);
}

/* Whether both witnesses of the fields spoke, and agreed. */
static const char *layout_witnesses(const struct lwp_review *review, const json_t *object)
{
    const json_t *agreement = json_object_get(object, "agreement");
    if (!json_is_object(agreement))
        return "";
    if (!json_is_number(json_object_get(agreement, "share")))
        return "; the fields are known by addresses only, the code names none";
    return SAY("; address and code name the same field for %.4g %% of the accesses", lwp_json_percent(agreement, "share"));
}

/* A type's elements may be in several arrays, of which now one and now another is stalled longest: the type stands for all. */
static const char *layout_subject(const struct lwp_review *review, const json_t *object)
{
    const char *type = lwp_json_string(object, "type"), *function = lwp_json_string(json_object_get(object, "site"), "function");
    const char *name = lwp_stable_name(review->arena, lwp_json_string_or(object, "name", "unknown data"));
    if (type && json_array_size(json_object_get(object, "fields")))
        return type;
    if (!function || strstr(name, " allocated in "))
        return name;
    return SAY("%s, allocated in %s()", name, lwp_stable_function(review->arena, function));
}

/* How the gain is known. */
static void layout_gain(struct lwp_review *review, struct lwp_review_item *item, const json_t *advice)
{
    const char *from = lwp_json_string_or(advice, "speedup_from", NULL);
    if (from)
        FACT("gain", "%s", strcmp(from, "estimate") ? "measured here: the loops' accesses were run in both layouts" : "estimated");
}

/* Of small blocks that are not all recorded it is estimated how many there are. */
static bool layout_counted(const struct lwp_review *review, const json_t *object)
{
    const json_t *unrecorded = json_object_get(json_object_get(review->root, "run"), "allocations_unrecorded");
    return !json_is_integer(unrecorded) || lwp_json_amount(object, "allocations") <= 1;
}

/* What all objects of a split hold. */
struct layout_held {
    double samples, elements, bytes, used, time;
    bool about; /* it is known from samples how many elements are used: an array that grows has room for more */
    bool counted;
};

static struct layout_held layout_hold(const struct lwp_review *review, const json_t *split)
{
    struct layout_held held = {.counted = true};
    const json_t *object;
    for (size_t i = 0; (object = layout_object(review, split, i)); i++) {
        const double bytes = lwp_json_amount(object, "bytes"), used = lwp_json_amount(object, "used_bytes");
        held.samples += lwp_json_amount(object, "samples");
        held.elements += lwp_json_amount(object, "elements");
        held.bytes += bytes;
        held.used += used > 0 ? used : bytes;
        held.time += lwp_json_percent(object, "time_share");
        held.about |= used > 0;
        held.counted &= layout_counted(review, object);
    }
    return held;
}

static const char *layout_elements(struct lwp_review *review, const struct layout_held *held)
{
    if (!held->about || held->elements < 1)
        return SAY("%s%.0f elements", held->counted ? "" : "about ", held->elements);
    const double digits = pow(10, fmax(0, floor(log10(held->elements)) - 2));
    return SAY("about %.0f elements", digits * round(held->elements / digits));
}

static const char *layout_bytes(struct lwp_review *review, const struct layout_held *held)
{
    const char *text = lwp_review_bytes(review, held->bytes);
    return held->about && held->used < held->bytes ? SAY("%s of %s", lwp_review_bytes(review, held->used), text) : text;
}

/* Where as many lines come as before, in another order, two equal numbers under a gain would say that nothing changes. */
static const char *layout_lines(struct lwp_review *review, const json_t *traffic, const char *each)
{
    const double before = lwp_json_amount(traffic, "before"), after = lwp_json_amount(traffic, "after");
    return fabs(after - before) < 0.005 ? SAY("as many cache lines per %s as today, %.2f", each, before)
                                        : SAY("cache lines per %s %.2f -> %.2f", each, before, after);
}

static void layout_split_facts(struct lwp_review *review, struct lwp_review_item *item, const json_t *split, const json_t *object)
{
    const json_t *traffic = json_object_get(split, "traffic"), *memory = json_object_get(split, "memory");
    const struct layout_held held = layout_hold(review, split);
    FACT("evidence", "memory stall on it takes %s, %.0f samples", lwp_review_share(review, item), held.samples);
    FACT("", "%s of %.0f bytes%s, %s; its loops take %.1f %%", layout_elements(review, &held), lwp_json_amount(object, "element_bytes"),
         layout_sure(review, split), layout_bytes(review, &held), held.time);
    layout_declared(review, item, object);
    layout_allocated(review, item, split);
    FACT("confidence", "%s%s", lwp_json_string_or(split, "confidence", "?"), layout_witnesses(review, object));
    layout_gain(review, item, split);
    FACT("", "%s", layout_lines(review, traffic, "element visited"));
    layout_replay(review, item, json_object_get(split, "replay"));
    FACT("memory", "a pass over all elements goes through %s, then %s", lwp_review_bytes(review, lwp_json_amount(memory, "before")),
         lwp_review_bytes(review, lwp_json_amount(memory, "after")));
}

struct layout_use {
    double share;
    const json_t *loop, *fields;
};

static int layout_use_compare(const void *a, const void *b)
{
    const struct layout_use *x = a, *y = b;
    return (x->share < y->share) - (x->share > y->share);
}

/* What each loop uses, of all objects of the split. */
static void layout_uses(struct lwp_review *review, struct lwp_review_item *item, const json_t *split)
{
    struct layout_use *uses = NULL;
    const json_t *object, *row;
    size_t count = 0, room = 0, i, k;
    for (i = 0; (object = layout_object(review, split, i)); i++) {
        json_array_foreach(json_object_get(object, "loops"), k, row) {
            const json_t *loop = lwp_json_entry(review->root, "loops", row, "loop");
            size_t at = 0;
            while (at < count && uses[at].loop != loop)
                at++;
            if (at == count)
                LWP_APPEND(&uses, &count, &room, (struct layout_use){.loop = loop});
            if (json_array_size(json_object_get(row, "fields")) > json_array_size(uses[at].fields))
                uses[at].fields = json_object_get(row, "fields");
            uses[at].share += lwp_json_amount(row, "share");
        }
    }
    LWP_SORT(uses, count, layout_use_compare);
    for (i = 0; i < count && i < LOOPS_SHOWN && uses[i].share >= loop_share; i++) {
        lwp_review_row(item, uses[i].share, lwp_review_loop_text(review, uses[i].loop), lwp_review_join(review, uses[i].fields));
        lwp_review_add_loop(review, item, "loop", uses[i].loop);
    }
    free(uses);
}

void lwp_review_split(struct lwp_review *review, struct lwp_review_item *item, const json_t *split)
{
    const json_t *object = lwp_json_entry(review->root, "objects", split, "object");
    item->rule = lwp_json_string_or(split, "kind", "split");
    item->subject = layout_subject(review, object);
    item->confidence = lwp_json_string(split, "confidence");
    item->declaration = lwp_json_string(split, "declaration");
    item->split = split;
    if (item->share_high <= 0) /* as of older versions, whose splits are of one object */
        lwp_review_interval(item, object);
    layout_split_facts(review, item, split, object);
    item->row_heading = "uses";
    layout_uses(review, item, split);
}

static int layout_name_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In the order of the alphabet: which array is stalled longest differs from run to run. */
static const char *layout_group_subject(const struct lwp_review *review, const json_t *names)
{
    size_t count = json_array_size(names), i;
    const char **sorted = lwp_arena_alloc(review->arena, count + 1, sizeof *sorted), *subject = "";
    json_t *name;
    json_array_foreach(names, i, name) {
        sorted[i] = lwp_stable_name(review->arena, lwp_json_shown(name));
    }
    qsort(sorted, count, sizeof *sorted, layout_name_compare);
    for (i = 0; i < count; i++)
        subject = SAY("%s%s%s", subject, i ? ", " : "", sorted[i]);
    return subject;
}

static void layout_group_rows(struct lwp_review *review, struct lwp_review_item *item, const json_t *traffic, const char *heading)
{
    const json_t *row;
    size_t i;
    item->row_heading = heading;
    json_array_foreach(json_object_get(traffic, "loops"), i, row) {
        const json_t *loop = lwp_json_entry(review->root, "loops", row, "loop");
        if (i == LOOPS_SHOWN)
            break;
        lwp_review_row(item, lwp_json_amount(loop, "share"), lwp_review_loop_text(review, loop),
                       SAY("%.2f -> %.2f", lwp_json_amount(row, "before"), lwp_json_amount(row, "after")));
        lwp_review_add_loop(review, item, "loop", loop);
    }
}

void lwp_review_regroup(struct lwp_review *review, struct lwp_review_item *item, const json_t *group)
{
    const json_t *names = json_object_get(group, "names"), *traffic = json_object_get(group, "traffic"), *first = NULL, *row;
    double samples = 0, bytes = 0;
    size_t i;
    item->rule = "regroup";
    item->subject = layout_group_subject(review, names);
    item->confidence = lwp_json_string(group, "confidence");
    item->declaration = lwp_json_string(group, "declaration");
    json_array_foreach(json_object_get(group, "objects"), i, row) {
        const json_t *object = lwp_json_at(review->root, "objects", row);
        samples += lwp_json_amount(object, "samples");
        bytes += lwp_json_amount(object, "bytes");
        first = first ? first : object;
        lwp_review_add_frame(review, item, "allocated", json_object_get(object, "site"));
    }
    FACT("evidence", "%zu arrays of %.0f elements, %s in all, %.0f samples", json_array_size(names), lwp_json_amount(first, "elements"),
         lwp_review_bytes(review, bytes), samples);
    FACT("confidence", "%s", lwp_json_string_or(group, "confidence", "?"));
    layout_gain(review, item, group);
    FACT("", "%s", layout_lines(review, traffic, "index"));
    layout_replay(review, item, json_object_get(group, "replay"));
    layout_group_rows(review, item, traffic, "cache lines per index");
    json_array_foreach(json_object_get(group, "rejected"), i, row) {
        if (i == LEFT_OUT_SHOWN)
            break;
        FACT(i ? "" : "left out", "%s, by its %s%s%s", lwp_json_string_or(row, "name", "?"), lwp_json_string_or(row, "reason", "?"),
             json_is_string(json_object_get(row, "detail")) ? ": " : "", lwp_json_string_or(row, "detail", ""));
    }
}

void lwp_review_conflict(struct lwp_review *review, struct lwp_review_item *item, const json_t *conflict)
{
    const json_t *arrays = json_object_get(conflict, "arrays"), *traffic = json_object_get(conflict, "traffic"), *row;
    const char *text = "";
    size_t i;
    item->rule = "set-conflict";
    item->confidence = lwp_json_string(conflict, "confidence");
    item->declaration = lwp_json_string(conflict, "declaration");
    item->subject = lwp_json_string_or(json_array_get(arrays, 0), "name", "?");
    lwp_review_add_loop(review, item, "loop", lwp_json_at(review->root, "loops", json_object_get(conflict, "loop")));
    json_array_foreach(arrays, i, row) {
        lwp_review_add_frame(review, item, "allocated",
                             json_object_get(lwp_json_at(review->root, "objects", json_object_get(row, "object")), "site"));
        if (i < LEFT_OUT_SHOWN)
            text = lwp_arena_printf(review->arena, "%s%s%s %.0f", text, i ? ", " : "", lwp_json_string_or(row, "name", "?"),
                                    lwp_json_amount(row, "move"));
    }
    FACT("evidence", "of the lines of one iteration %.0f fall into one set, which holds %.0f; %.0f samples waited for them",
         lwp_json_amount(conflict, "lines"), lwp_json_amount(conflict, "ways"), lwp_json_amount(conflict, "samples"));
    FACT("confidence", "%s; cache lines per iteration %.2f -> %.2f", lwp_json_string_or(conflict, "confidence", "?"),
         lwp_json_amount(traffic, "before"), lwp_json_amount(traffic, "after"));
    if (lwp_json_is(conflict, "remedy", "apart"))
        FACT("move by", "%s%s bytes", text, json_array_size(arrays) > LEFT_OUT_SHOWN ? ", ..." : "");
    layout_replay(review, item, json_object_get(conflict, "replay"));
    layout_group_rows(review, item, traffic, "cache lines per iteration");
}
