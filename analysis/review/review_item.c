/* What items are made of: facts, rows, places, and how functions, loops, bytes, gains and shares are said. */
#include "analysis/review/review_parts.h"

#include "analysis/review/source_root.h"
#include "base/path.h"
#include "base/visible.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void lwp_review_fact(struct lwp_review *review, struct lwp_review_item *item, const char *label, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    LWP_GROW(&item->facts, item->fact_count, &item->fact_room);
    item->facts[item->fact_count++] = (struct lwp_review_fact){label, lwp_arena_strdup(review->arena, length < 0 ? "?" : text)};
    if (length >= 0)
        free(text);
}

void lwp_review_row(struct lwp_review_item *item, double share, const char *place, const char *text)
{
    LWP_GROW(&item->rows, item->row_count, &item->row_room);
    item->rows[item->row_count++] = (struct lwp_review_row){share, place, text};
}

static unsigned review_line(const json_t *at, const char *key)
{
    double line = lwp_review_number(at, key);
    return line > 0 && line < INT_MAX ? (unsigned)line : 0;
}

static void review_place(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *at,
                         const char *first_key, const char *last_key)
{
    const char *file = lwp_json_string_or(at, "file", NULL);
    unsigned first = review_line(at, first_key), last = review_line(at, last_key);
    if (!file || !*file)
        return;
    file = lwp_source_relative(review->arena, review->source_root, file);
    for (size_t i = 0; i < item->place_count; i++)
        if (strcmp(item->places[i].file, file) == 0 && item->places[i].first == first)
            return;
    LWP_GROW(&item->places, item->place_count, &item->place_room);
    item->places[item->place_count++] = (struct lwp_review_place){
        role, lwp_json_string_or(at, "function", NULL), file, first, last > first ? last : first};
}

void lwp_review_add_loop(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *loop)
{
    review_place(review, item, role, loop, "first_line", "last_line");
}

void lwp_review_add_frame(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *frame)
{
    review_place(review, item, role, frame, "line", "line");
}

const char *lwp_review_function(const struct lwp_review *review, const json_t *frame)
{
    const char *function = lwp_json_string_or(frame, "function", NULL);
    const json_t *module = lwp_review_at(review, "modules", json_object_get(frame, "module"));
    const json_t *address = json_object_get(frame, "address");
    if (function)
        return function;
    if (!module || !json_is_integer(address))
        return "unknown code";
    return lwp_arena_printf(review->arena, "%s+%#llx", lwp_path_last(lwp_json_string_or(module, "path", "?")),
                            (unsigned long long)json_integer_value(address));
}

static const char *review_where(const struct lwp_review *review, const json_t *at, const char *first_key, const char *last_key)
{
    const char *file = lwp_path_last(lwp_json_string_or(at, "file", NULL)), *function = lwp_review_function(review, at);
    unsigned first = review_line(at, first_key), last = review_line(at, last_key);
    if (!file || !first)
        return function;
    if (last > first)
        return lwp_arena_printf(review->arena, "%s (%s:%u-%u)", function, file, first, last);
    return lwp_arena_printf(review->arena, "%s (%s:%u)", function, file, first);
}

const char *lwp_review_loop_text(const struct lwp_review *review, const json_t *loop)
{
    return review_where(review, loop, "first_line", "last_line");
}

const char *lwp_review_frame_text(const struct lwp_review *review, const json_t *frame)
{
    return review_where(review, frame, "line", "line");
}

const json_t *lwp_review_own_frame(const struct lwp_review *review, const json_t *context)
{
    const json_t *frames = json_object_get(lwp_review_at(review, "contexts", context), "frames"), *frame;
    size_t i;
    json_array_foreach(frames, i, frame)
    {
        const json_t *module = lwp_review_at(review, "modules", json_object_get(frame, "module"));
        const char *file = lwp_json_string_or(frame, "file", "");
        /* libraries of the system are built with relative paths, if they have any here */
        if (*file && !lwp_source_is_system(file) && !lwp_source_is_system(lwp_json_string_or(module, "path", "")))
            return frame;
    }
    return json_array_get(frames, 0);
}

const char *lwp_review_join(const struct lwp_review *review, const json_t *names)
{
    enum { COLUMNS = 60 };
    const char *joined = "";
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        const char *more = lwp_arena_printf(review->arena, "%s%s%s", joined, i ? ", " : "", json_string_value(name) ? json_string_value(name) : "?");
        if (i && lwp_visible_columns(more) > COLUMNS)
            return lwp_arena_printf(review->arena, "%s, ... (%zu in all)", joined, json_array_size(names));
        joined = more;
    }
    return joined;
}

const char *lwp_review_bytes(const struct lwp_review *review, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    return lwp_arena_printf(review->arena, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

enum { SAMPLES_FEW = 100 }; /* fewer do not say that there is nothing */

/* ---- texts for every format ---- */

const char *lwp_review_none(const struct lwp_review *review)
{
    const json_t *run = json_object_get(review->root, "run");
    double samples = lwp_review_number(run, "samples");
    if (strcmp(lwp_json_string_or(run, "engine", ""), "exact") == 0 || samples >= SAMPLES_FEW)
        return "nothing was found that would be worth changing";
    return samples > 0 ? "too few samples were taken to say anything" : "no sample was taken, so nothing is known, good or bad";
}

const char *lwp_review_gain(const struct lwp_review *review, const struct lwp_review_item *item)
{
    if (item->low <= 0)
        return "not predicted";
    const char *low = lwp_arena_printf(review->arena, "%.2fx", item->low);
    const char *high = lwp_arena_printf(review->arena, "%.2fx", item->high);
    return strcmp(low, high) ? lwp_arena_printf(review->arena, "%s to %s", low, high) : low;
}

const char *lwp_review_share(const struct lwp_review *review, const struct lwp_review_item *item)
{
    const char *share = lwp_arena_printf(review->arena, "%.1f %% %s", 100 * item->share, item->share_of);
    if (item->exact || item->share_high <= 0)
        return share;
    return lwp_arena_printf(review->arena, "%s (%.1f-%.1f)", share, 100 * item->share_low, 100 * item->share_high);
}

const char *lwp_review_lines(const struct lwp_review *review, const struct lwp_review_place *place)
{
    if (place->first && place->last > place->first)
        return lwp_arena_printf(review->arena, "%s:%u-%u", place->file, place->first, place->last);
    return place->first ? lwp_arena_printf(review->arena, "%s:%u", place->file, place->first) : place->file;
}
