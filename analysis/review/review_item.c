/* What items are made of: facts, rows, locations, and how functions, loops, bytes, gains and shares are said. */
#include "analysis/review/review_parts.h"

#include "analysis/review/names.h"
#include "analysis/statistics/speedup.h"
#include "analysis/tables/engines.h"
#include "analysis/tables/severity.h"
#include "base/path.h"
#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) lwp_arena_printf(review->arena, __VA_ARGS__)

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

void lwp_review_interval(struct lwp_review_item *item, const json_t *from)
{
    item->share = lwp_json_amount(from, "share");
    item->share_low = lwp_json_end(from, "share_ci", 0);
    item->share_high = lwp_json_end(from, "share_ci", 1);
}

void lwp_review_row(struct lwp_review_item *item, double share, const char *location, const char *text)
{
    LWP_GROW(&item->rows, item->row_count, &item->row_room);
    item->rows[item->row_count++] = (struct lwp_review_row){share, location, text};
}

static unsigned review_line(const json_t *at, const char *key)
{
    double line = lwp_json_amount(at, key);
    return line > 0 && line < INT_MAX ? (unsigned)line : 0;
}

static void review_add_location(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *at,
                                const char *first_key, const char *last_key)
{
    const char *file = lwp_json_string(at, "file");
    unsigned first = review_line(at, first_key), last = review_line(at, last_key);
    if (!file || !*file)
        return;
    file = lwp_source_relative(review->arena, review->source_root, file);
    for (size_t i = 0; i < item->location_count; i++)
        if (strcmp(item->locations[i].file, file) == 0 && item->locations[i].first == first)
            return;
    LWP_GROW(&item->locations, item->location_count, &item->location_room);
    item->locations[item->location_count++] =
        (struct lwp_review_location){role, lwp_json_string(at, "function"), file, first, last > first ? last : first};
}

void lwp_review_add_loop(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *loop)
{
    review_add_location(review, item, role, loop, "first_line", "last_line");
}

void lwp_review_add_frame(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *frame)
{
    review_add_location(review, item, role, frame, "line", "line");
}

static const char *review_brief(const struct lwp_review *review, const char *function)
{
    enum { LONG = 48 };
    char *brief = strlen(function) > LONG ? lwp_function_brief(function) : NULL;
    const char *kept = brief && *brief ? lwp_arena_strndup(review->arena, brief, strlen(brief)) : function;
    free(brief);
    return kept;
}

const char *lwp_review_call(const struct lwp_review *review, const char *name)
{
    const char *brief = review_brief(review, name);
    const char *parameters_end = strrchr(brief, ')'); /* "(anonymous namespace)::merge" has none */
    return parameters_end && (!parameters_end[1] || parameters_end[1] == ' ') ? brief : SAY("%s()", brief);
}

const char *lwp_review_function(const struct lwp_review *review, const json_t *frame)
{
    const char *function = lwp_json_string(frame, "function");
    const json_t *module = lwp_json_entry(review->root, "modules", frame, "module");
    const json_t *address = json_object_get(frame, "address");
    if (function)
        return review_brief(review, function);
    if (!module || !json_is_integer(address))
        return "unknown code";
    return SAY("%s+%#llx", lwp_path_last(lwp_json_string_or(module, "path", "?")), (unsigned long long)json_integer_value(address));
}

static const char *review_location(const struct lwp_review *review, const json_t *at, const char *first_key, const char *last_key)
{
    const char *file = lwp_path_last(lwp_json_string(at, "file")), *function = lwp_review_function(review, at);
    unsigned first = review_line(at, first_key), last = review_line(at, last_key);
    if (!file || !first)
        return function;
    return last > first ? SAY("%s (%s:%u-%u)", function, file, first, last) : SAY("%s (%s:%u)", function, file, first);
}

const char *lwp_review_loop_text(const struct lwp_review *review, const json_t *loop)
{
    const char *text = review_location(review, loop, "first_line", "last_line");
    const json_t *call = json_object_get(loop, "inlined_into"), *address = json_object_get(loop, "address");
    unsigned level = review_line(loop, "level");
    if (!lwp_json_is(loop, "kind", "loop"))
        return text;
    if (!review_line(loop, "first_line") && lwp_json_string(loop, "function") &&
        json_is_integer(address)) /* several loops of a function would have one name */
        text = SAY("%s (loop at %#llx)", text, (unsigned long long)json_integer_value(address));
    if (level)
        text = SAY("%s, loop %u of the nest", text, level);
    return json_is_object(call) ? SAY("%s, inlined into %s", text, review_location(review, call, "line", "line")) : text;
}

const char *lwp_review_frame_text(const struct lwp_review *review, const json_t *frame)
{
    return review_location(review, frame, "line", "line");
}

const json_t *lwp_review_frames(const struct lwp_review *review, const json_t *context)
{
    return json_object_get(lwp_json_at(review->root, "contexts", context), "frames");
}

const json_t *lwp_review_own_frame(const struct lwp_review *review, const json_t *context)
{
    const json_t *frames = lwp_review_frames(review, context), *frame;
    size_t i;
    json_array_foreach(frames, i, frame) {
        const json_t *module = lwp_json_entry(review->root, "modules", frame, "module");
        const char *file = lwp_json_string_or(frame, "file", "");
        /* libraries of the system are built with relative paths, if they have any here */
        if (*file && !lwp_path_is_system(file) && !lwp_path_is_system(lwp_json_string_or(module, "path", "")))
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
    json_array_foreach(names, i, name) {
        const char *more = SAY("%s%s%s", joined, i ? ", " : "", lwp_json_shown(name));
        if (i && lwp_visible_columns(more) > COLUMNS)
            return SAY("%s, ... (%zu in all)", joined, json_array_size(names));
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
    return SAY(unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

const char *lwp_review_cost(const struct lwp_review *review)
{
    const json_t *run = json_object_get(review->root, "run"), *overhead = json_object_get(run, "overhead_percent");
    double added = json_number_value(overhead), cpu_s = lwp_json_amount(run, "cpu_s");
    if (!json_is_number(overhead))
        return NULL;
    const char *start = cpu_s > 0 && cpu_s < 1 ? ": so short a run bears the whole start of lwp" : "";
    return added >= 200 ? SAY("%.1f times the run%s", added / 100, start) : SAY("%.1f %%%s", added, start);
}

static const double bound_most = 0.9; /* of the time at stake: a bound above that says nothing */

/* ---- texts for every format ---- */

const char *lwp_review_none(const struct lwp_review *review)
{
    const json_t *run = json_object_get(review->root, "run"), *silence = json_object_get(review->root, "silence");
    double samples = lwp_json_amount(run, "samples");
    if (json_is_object(silence)) /* older results have none */
        return lwp_json_string_or(silence, "sentence", "?");
    if (lwp_engine_named(lwp_json_string(run, "engine"))->exact || lwp_evidence_of((uint64_t)samples) >= LWP_EVIDENCE_SOME)
        return "nothing was found that would be worth changing";
    return samples > 0 ? "too few samples were taken to say anything" : "no sample was taken, so nothing is known, good or bad";
}

const char *lwp_review_help(const struct lwp_review *review)
{
    return lwp_json_string(json_object_get(review->root, "silence"), "help");
}

static bool item_same(const json_t *a, const json_t *b, const char *key)
{
    const json_t *first = json_object_get(a, key), *second = json_object_get(b, key);
    return first == second || json_equal(first, second);
}

/* Objects that are called the same are distinguished by the functions that allocate them, or by the innermost call in which the paths
 * there differ. */
const char *lwp_review_object(const struct lwp_review *review, const json_t *object)
{
    const char *name = lwp_json_string_or(object, "name", "unknown data");
    const char *function = lwp_json_string(json_object_get(object, "site"), "function");
    const json_t *frames = lwp_review_frames(review, json_object_get(object, "context")), *other, *frame;
    size_t i, k;
    json_array_foreach(json_object_get(review->root, "objects"), i, other) {
        if (other == object || !item_same(other, object, "name") || !item_same(other, object, "type"))
            continue;
        const char *others_function = lwp_json_string(json_object_get(other, "site"), "function");
        if (function && others_function && strcmp(function, others_function))
            return SAY("%s in %s", name, lwp_review_call(review, function));
        if (!item_same(other, object, "site"))
            continue;
        const json_t *others = lwp_review_frames(review, json_object_get(other, "context"));
        json_array_foreach(frames, k, frame)
            if (!json_equal(frame, json_array_get(others, k)))
                return SAY("%s, below %s", name, lwp_review_frame_text(review, frame));
    }
    return name;
}

static const char *item_object(const struct lwp_review *review, const json_t *row)
{
    return lwp_review_object(review, lwp_json_entry(review->root, "objects", row, "object"));
}

/* The reason; of a row for which an earlier one, of another name, has it already, which that is. */
static const char *item_reason(const struct lwp_review *review, const json_t *list, const json_t *row)
{
    const char *name = item_object(review, row);
    const json_t *earlier;
    size_t i;
    json_array_foreach(list, i, earlier) {
        if (earlier == row)
            break;
        if (item_same(earlier, row, "sentence") && strcmp(item_object(review, earlier), name))
            return SAY("the same as for %s", item_object(review, earlier));
    }
    return lwp_json_string_or(row, "sentence", "?");
}

size_t lwp_review_left_alone(const struct lwp_review *review, size_t index, struct lwp_review_left *left)
{
    const json_t *list = json_object_get(review->root, "left_alone"), *row = json_array_get(list, index);
    const json_t *object = lwp_json_entry(review->root, "objects", row, "object");
    if (row)
        *left = (struct lwp_review_left){lwp_review_object(review, object), item_reason(review, list, row),
                                         lwp_json_string_or(row, "code", "?"), lwp_json_amount(object, "share")};
    return json_array_size(list);
}

bool lwp_review_is_unsure(const struct lwp_review_item *item)
{
    return item->confidence && lwp_severity_level(item->confidence) == LWP_SEVERITY_LOW;
}

const char *lwp_review_gain(const struct lwp_review *review, const struct lwp_review_item *item)
{
    if (item->low <= 0)
        return item->stake <= 0 || item->stake > bound_most ? "not predicted" : SAY("at most %.*fx", LWP_SPEEDUP(1 / (1 - item->stake)));
    const char *low = SAY("%.*fx", LWP_SPEEDUP(item->low));
    const char *high = SAY("%.*fx", LWP_SPEEDUP(item->high));
    if (item->speedup > 0)
        return strcmp(low, high) ? SAY("%.*fx (%.*f-%.*f)", LWP_SPEEDUP(item->speedup), LWP_SPEEDUP(item->low), LWP_SPEEDUP(item->high))
                                 : SAY("%.*fx", LWP_SPEEDUP(item->speedup));
    return strcmp(low, high) ? SAY("%s to %s", low, high) : low;
}

const char *lwp_review_share(const struct lwp_review *review, const struct lwp_review_item *item)
{
    const char *share = SAY("%.1f %% %s", 100 * item->share, item->share_of);
    if (item->exact || item->share_high <= 0)
        return share;
    return SAY("%s (%.1f-%.1f)", share, 100 * item->share_low, 100 * item->share_high);
}

const char *lwp_review_why(const struct lwp_review *review, const struct lwp_review_item *item)
{
    const json_t *run = json_object_get(review->root, "run");
    double samples = lwp_json_amount(run, "samples");
    const char *measured =
        item->exact ? "counted by the exact engine"
                    : SAY("sampled by the %s engine, %.0f samples in all", lwp_json_string_or(run, "engine", "unknown"), samples);
    return SAY("It concerns %s, %s%s%s%s.", lwp_review_share(review, item), measured, item->confidence ? "; confidence " : "",
               item->confidence ? item->confidence : "", item->tried ? "; the change was made and measured" : "");
}

const char *lwp_review_lines(const struct lwp_review *review, const struct lwp_review_location *location)
{
    return !location->first                   ? location->file
           : location->last > location->first ? SAY("%s:%u-%u", location->file, location->first, location->last)
                                              : SAY("%s:%u", location->file, location->first);
}

/* ---- texts of the profiled program, made fit to be shown wherever they will be ---- */

/* What is longer is no name that a person reads: its middle goes. What lwp says is several sentences, each with
 * names. */
enum { NAME_MAX_SHOWN = 400, SENTENCES_MAX_SHOWN = 2000, PATH_MAX_SHOWN = 4096, DECLARATION_MAX_SHOWN = 1 << 16 };

static void review_clean_text(void *to, const char *key, json_t *text)
{
    (void)to;
    if (strcmp(key, "patch") == 0) /* for a tool that applies it; made fit where it is printed */
        return;
    bool declaration = strcmp(key, "declaration") == 0, path = strcmp(key, "file") == 0 || strcmp(key, "path") == 0;
    static const char *const sentences[] = {"next_step", "remedy", "notes", "sentence"};
    bool said = false;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        said |= strcmp(key, sentences[i]) == 0;
    bool long_function = strcmp(key, "function") == 0 && json_string_length(text) > NAME_MAX_SHOWN;
    char *brief = long_function ? lwp_function_brief(json_string_value(text)) : NULL;
    char *shown = lwp_visible(brief ? brief : json_string_value(text), declaration,
                              declaration ? DECLARATION_MAX_SHOWN
                              : path      ? PATH_MAX_SHOWN
                              : said      ? SENTENCES_MAX_SHOWN
                                          : NAME_MAX_SHOWN);
    if (shown && strcmp(shown, json_string_value(text)) != 0)
        json_string_set(text, shown);
    free(shown);
    free(brief);
}

void lwp_review_clean(json_t *root)
{
    lwp_json_texts(root, "", review_clean_text, NULL);
}
