/* Findings about the layout of data: structures to split or reorder, arrays to join. */
#include "analysis/review/review_parts.h"

#include "analysis/review/stable_name.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum { LOOPS_SHOWN = 10, LEFT_OUT_SHOWN = 10 };

static const double loop_share = 0.001;

static void layout_declared(struct lwp_review *review, struct lwp_review_item *item, const json_t *object)
{
    const json_t *declared = json_object_get(object, "declared"), *site = json_object_get(object, "site");
    if (json_is_string(json_object_get(declared, "file")))
        lwp_review_fact(review, item, "declared", "at %s:%.0f", lwp_path_last(lwp_json_string_or(declared, "file", "?")),
                        lwp_review_number(declared, "line"));
    if (json_is_string(json_object_get(site, "file")))
        lwp_review_fact(review, item, "allocated", "in %s() at %s:%.0f", lwp_json_string_or(site, "function", "?"),
                        lwp_path_last(lwp_json_string_or(site, "file", "?")), lwp_review_number(site, "line"));
    lwp_review_add_frame(review, item, "declared", declared);
    lwp_review_add_frame(review, item, "allocated", site);
}

/* What a replay of the trace says of the new layout. */
static void layout_replay(struct lwp_review *review, struct lwp_review_item *item, const json_t *replay)
{
    static const char *const levels[] = {"L1", "L2", "L3"};
    const json_t *before = json_object_get(replay, "before"), *after = json_object_get(replay, "after");
    if (!json_is_object(replay))
        return;
    const char *text = lwp_arena_printf(review->arena, "%.0f accesses of the trace:", lwp_review_number(replay, "accesses"));
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (json_is_number(json_object_get(before, levels[i])))
            text = lwp_arena_printf(review->arena, "%s%s %s misses %.0f -> %.0f", text, i ? "," : "", levels[i],
                                    lwp_review_number(before, levels[i]), lwp_review_number(after, levels[i]));
    lwp_review_fact(review, item, "replayed", "%s", text);
}

static const char *layout_sure(const struct lwp_review *review, const json_t *split)
{
    const json_t *probability = json_object_get(split, "element_probability");
    double sure = json_is_number(probability) ? json_number_value(probability) : 1;
    if (sure >= 1)
        return "";
    return sure >= 0.999 ? " (by strides, more than 99.9 % sure)" : lwp_arena_printf(review->arena, " (by strides, %.1f %% sure)", 100 * sure);
}

static void layout_interval(struct lwp_review_item *item, const json_t *object)
{
    const json_t *interval = json_object_get(object, "share_ci");
    item->share = lwp_review_number(object, "share");
    item->share_low = json_number_value(json_array_get(interval, 0));
    item->share_high = json_number_value(json_array_get(interval, 1));
}

/* A type's elements may be in several arrays, of which now one and now another waits longest: the type stands for all. */
static const char *layout_subject(const struct lwp_review *review, const json_t *object)
{
    const char *type = lwp_json_string_or(object, "type", NULL), *function = lwp_json_string_or(json_object_get(object, "site"), "function", NULL);
    const char *name = lwp_stable_name(review->arena, lwp_json_string_or(object, "name", "unknown data"));
    if (type && json_array_size(json_object_get(object, "fields")))
        return type;
    if (!function || strstr(name, " allocated in "))
        return name;
    return lwp_arena_printf(review->arena, "%s, allocated in %s()", name, lwp_stable_function(review->arena, function));
}

static void layout_split_facts(struct lwp_review *review, struct lwp_review_item *item, const json_t *split, const json_t *object)
{
    const json_t *traffic = json_object_get(split, "traffic"), *memory = json_object_get(split, "memory");
    lwp_review_fact(review, item, "evidence", "waiting for it takes %.1f %% of all time (%.1f-%.1f), %.0f samples", 100 * item->share,
                    100 * item->share_low, 100 * item->share_high, lwp_review_number(object, "samples"));
    lwp_review_fact(review, item, "", "%.0f elements of %.0f bytes%s, %s; its loops take %.1f %%", lwp_review_number(object, "elements"),
                    lwp_review_number(object, "element_bytes"), layout_sure(review, split),
                    lwp_review_bytes(review, lwp_review_number(object, "bytes")), 100 * lwp_review_number(object, "time_share"));
    layout_declared(review, item, object);
    lwp_review_fact(review, item, "confidence", "%s; cache lines per element visited %.2f -> %.2f", lwp_json_string_or(split, "confidence", "?"),
                    lwp_review_number(traffic, "before"), lwp_review_number(traffic, "after"));
    layout_replay(review, item, json_object_get(split, "replay"));
    lwp_review_fact(review, item, "memory", "a pass over all elements goes through %s, then %s",
                    lwp_review_bytes(review, lwp_review_number(memory, "before")), lwp_review_bytes(review, lwp_review_number(memory, "after")));
}

void lwp_review_split(struct lwp_review *review, struct lwp_review_item *item, const json_t *split)
{
    const json_t *object = lwp_review_at(review, "objects", json_object_get(split, "object")), *row;
    size_t i;
    item->rule = strcmp(lwp_json_string_or(split, "kind", ""), "reorder") == 0 ? "reorder" : "split";
    item->subject = layout_subject(review, object);
    item->confidence = lwp_json_string_or(split, "confidence", NULL);
    item->declaration = lwp_json_string_or(split, "declaration", NULL);
    layout_interval(item, object);
    layout_split_facts(review, item, split, object);
    item->row_heading = "uses";
    json_array_foreach(json_object_get(object, "loops"), i, row)
    {
        const json_t *loop = lwp_review_at(review, "loops", json_object_get(row, "loop"));
        if (lwp_review_number(row, "share") < loop_share || item->row_count == LOOPS_SHOWN)
            break;
        lwp_review_row(item, lwp_review_number(row, "share"), lwp_review_loop_text(review, loop),
                       lwp_review_join(review, json_object_get(row, "fields")));
        lwp_review_add_loop(review, item, "loop", loop);
    }
}

static int layout_name_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In the order of the alphabet: which array waits longest differs from run to run. */
static const char *layout_group_subject(const struct lwp_review *review, const json_t *names)
{
    size_t count = json_array_size(names), i;
    const char **sorted = lwp_arena_alloc(review->arena, count + 1, sizeof *sorted), *subject = "";
    json_t *name;
    json_array_foreach(names, i, name)
    {
        sorted[i] = lwp_stable_name(review->arena, json_string_value(name) ? json_string_value(name) : "?");
    }
    qsort(sorted, count, sizeof *sorted, layout_name_compare);
    for (i = 0; i < count; i++)
        subject = lwp_arena_printf(review->arena, "%s%s%s", subject, i ? ", " : "", sorted[i]);
    return subject;
}

static void layout_group_rows(struct lwp_review *review, struct lwp_review_item *item, const json_t *traffic)
{
    const json_t *row;
    size_t i;
    item->row_heading = "cache lines per index";
    json_array_foreach(json_object_get(traffic, "loops"), i, row)
    {
        const json_t *loop = lwp_review_at(review, "loops", json_object_get(row, "loop"));
        if (i == LOOPS_SHOWN)
            break;
        lwp_review_row(item, lwp_review_number(loop, "share"), lwp_review_loop_text(review, loop),
                       lwp_arena_printf(review->arena, "%.2f -> %.2f", lwp_review_number(row, "before"), lwp_review_number(row, "after")));
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
    item->confidence = lwp_json_string_or(group, "confidence", NULL);
    item->declaration = lwp_json_string_or(group, "declaration", NULL);
    json_array_foreach(json_object_get(group, "objects"), i, row)
    {
        const json_t *object = lwp_review_at(review, "objects", row);
        samples += lwp_review_number(object, "samples");
        bytes += lwp_review_number(object, "bytes");
        first = first ? first : object;
        lwp_review_add_frame(review, item, "allocated", json_object_get(object, "site"));
    }
    lwp_review_fact(review, item, "evidence", "%zu arrays of %.0f elements, %s in all, %.0f samples", json_array_size(names),
                    lwp_review_number(first, "elements"), lwp_review_bytes(review, bytes), samples);
    lwp_review_fact(review, item, "confidence", "%s; cache lines per index %.2f -> %.2f", lwp_json_string_or(group, "confidence", "?"),
                    lwp_review_number(traffic, "before"), lwp_review_number(traffic, "after"));
    layout_replay(review, item, json_object_get(group, "replay"));
    layout_group_rows(review, item, traffic);
    json_array_foreach(json_object_get(group, "rejected"), i, row)
    {
        if (i == LEFT_OUT_SHOWN)
            break;
        lwp_review_fact(review, item, i ? "" : "left out", "%s, by its %s%s%s", lwp_json_string_or(row, "name", "?"), lwp_json_string_or(row, "reason", "?"),
                        json_is_string(json_object_get(row, "detail")) ? ": " : "", lwp_json_string_or(row, "detail", ""));
    }
}
