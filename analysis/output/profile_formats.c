/* A stack is a path of "stalls": functions, outermost first, and the data object that they stall on as the innermost frame, as in the
 * page's flame graph. Costs are those of the run's unit: ns of CPU time, or cycles. */
#include "analysis/output/profile_formats.h"

#include "analysis/json/json_value.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/path.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 512, EVENTS_MAX = 20000 };

struct stacks {
    const json_t *analysis, *frames, *nodes, *paths;
    double weight; /* of the whole run */
    const char *unit;
};

static int stacks_open(struct stacks *stacks, const json_t *analysis, struct lwp_error *err)
{
    const json_t *stalls = json_object_get(analysis, "stalls"), *run = json_object_get(analysis, "run");
    *stacks = (struct stacks){.analysis = analysis,
                              .frames = json_object_get(stalls, "frames"),
                              .nodes = json_object_get(stalls, "nodes"),
                              .paths = json_object_get(stalls, "paths"),
                              .weight = lwp_json_amount(run, "weight"),
                              .unit = lwp_json_string_or(run, "weight_unit", "ns")};
    if (!json_array_size(stacks->paths))
        return lwp_error_set(err, LWP_ERR_USAGE, "the result has no memory stall by calling context, so there is nothing to export");
    return 0;
}

static uint64_t stack_cost(const struct stacks *stacks, const json_t *path)
{
    return (uint64_t)llround(json_number_value(json_array_get(path, 2)) * stacks->weight);
}

static size_t stack_index(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 ? (size_t)json_integer_value(value) : SIZE_MAX;
}

/* Frames of the path, innermost first; at most DEPTH_MAX. */
static size_t stack_frames(const struct stacks *stacks, const json_t *path, size_t frames[DEPTH_MAX])
{
    size_t count = 0;
    for (size_t node = stack_index(json_array_get(path, 0)); node < json_array_size(stacks->nodes) && count < DEPTH_MAX;) {
        const json_t *pair = json_array_get(stacks->nodes, node);
        size_t parent = stack_index(json_array_get(pair, 0));
        frames[count++] = stack_index(json_array_get(pair, 1));
        node = parent < node ? parent : SIZE_MAX; /* parents come first */
    }
    return count;
}

static const char *frame_text(const struct stacks *stacks, size_t frame)
{
    return lwp_json_string_or(json_array_get(stacks->frames, frame), "function", "unknown function");
}

static const char *frame_file(const struct stacks *stacks, size_t frame)
{
    return lwp_json_string(json_array_get(stacks->frames, frame), "file");
}

static const char *frame_file_or(const struct stacks *stacks, size_t frame, const char *otherwise)
{
    return lwp_json_string_or(json_array_get(stacks->frames, frame), "file", otherwise);
}

static const char *frame_module(const struct stacks *stacks, size_t frame)
{
    return lwp_json_string_or(lwp_json_entry(stacks->analysis, "modules", json_array_get(stacks->frames, frame), "module"), "path",
                              "unknown");
}

static const char *stack_data(const struct stacks *stacks, const json_t *path)
{
    return lwp_json_string_or(lwp_json_at(stacks->analysis, "objects", json_array_get(path, 1)), "name", "other data");
}

/* ---- speedscope ---- */

static size_t data_frame(json_t *names, struct lwp_map *known, const char *name)
{
    uint32_t *at = lwp_map_at(known, lwp_hash_text(name));
    if (*at == LWP_MAP_NONE) {
        *at = (uint32_t)json_array_size(names);
        json_array_append_new(names, json_pack("{s:o}", "name", json_sprintf("[data] %s", name)));
    }
    return *at;
}

static int write_speedscope(FILE *out, const struct stacks *stacks)
{
    json_t *names = json_array(), *samples = json_array(), *weights = json_array(), *frame, *path;
    struct lwp_map known = {0};
    uint64_t all = 0;
    size_t i, frames[DEPTH_MAX];
    json_array_foreach(stacks->frames, i, frame) {
        json_t *named = json_pack("{s:s}", "name", frame_text(stacks, i));
        if (frame_file(stacks, i))
            json_object_set(named, "file", json_object_get(frame, "file"));
        json_array_append_new(names, named);
    }
    json_array_foreach(stacks->paths, i, path) {
        json_t *stack = json_array();
        for (size_t count = stack_frames(stacks, path, frames); count--;)
            json_array_append_new(stack, json_integer((json_int_t)frames[count]));
        json_array_append_new(stack, json_integer((json_int_t)data_frame(names, &known, stack_data(stacks, path))));
        json_array_append_new(samples, stack);
        json_array_append_new(weights, json_integer((json_int_t)stack_cost(stacks, path)));
        all += stack_cost(stacks, path);
    }
    json_t *file =
        json_pack("{s:s, s:{s:o}, s:[{s:s, s:s, s:s, s:i, s:I, s:o, s:o}], s:s, s:s}", "$schema",
                  "https://www.speedscope.app/file-format-schema.json", "shared", "frames", names, "profiles", "type", "sampled", "name",
                  "memory stall", "unit", strcmp(stacks->unit, "ns") == 0 ? "nanoseconds" : "none", "startValue", 0, "endValue",
                  (json_int_t)all, "samples", samples, "weights", weights, "name", "memory stall", "exporter", "lwp");
    int failed = file ? json_dumpf(file, out, JSON_COMPACT) : -1;
    json_decref(file);
    lwp_map_fini(&known);
    return failed;
}

/* ---- perf script ---- */

/* So many events as samples, at most EVENTS_MAX in all; stackcollapse-perf.pl counts events. */
static int write_perf_script(FILE *out, const struct stacks *stacks)
{
    size_t i, frames[DEPTH_MAX];
    const json_t *path, *command = json_array_get(json_object_get(json_object_get(stacks->analysis, "run"), "command"), 0);
    const char *name = lwp_path_last(json_is_string(command) ? json_string_value(command) : "program");
    double samples = 0;
    json_array_foreach(stacks->paths, i, path)
        samples += json_number_value(json_array_get(path, 3));
    double scale = samples > EVENTS_MAX ? EVENTS_MAX / samples : 1, time = 0;
    json_array_foreach(stacks->paths, i, path) {
        uint64_t cost = stack_cost(stacks, path);
        uint64_t events = (uint64_t)fmax(1, llround(scale * json_number_value(json_array_get(path, 3))));
        size_t count = stack_frames(stacks, path, frames);
        for (uint64_t event = 0; event < events; event++) {
            fprintf(out, "%s 1 %.6f: %10" PRIu64 " memory-stall:\n\t%16x [data] %s ([data])\n", name, time += 1e-6, cost / events, 0,
                    stack_data(stacks, path));
            for (size_t f = 0; f < count; f++)
                fprintf(out, "\t%16zx %s (%s)\n", frames[f] + 1, frame_text(stacks, frames[f]), frame_module(stacks, frames[f]));
            fputc('\n', out);
        }
    }
    return ferror(out);
}

/* ---- callgrind ---- */

/* Cost of a function itself, and of each of its calls with what is below. */
struct call_edge {
    size_t caller, callee; /* frames; callee SIZE_MAX: its own cost */
    uint64_t cost;
};

static int edge_compare(const void *a, const void *b)
{
    const struct call_edge *x = a, *y = b;
    return LWP_COMPARE(x->caller, y->caller) ?: -LWP_COMPARE(x->callee, y->callee); /* own cost first */
}

static const json_t *listing_of(const struct stacks *stacks, size_t frame)
{
    const json_t *listing, *list = json_object_get(json_object_get(stacks->analysis, "stalls"), "assembly");
    const char *file = frame_file(stacks, frame);
    size_t i;
    json_array_foreach(list, i, listing) {
        const char *its = lwp_json_string(listing, "file");
        if (lwp_json_is(listing, "function", frame_text(stacks, frame)) && (its && file ? strcmp(its, file) == 0 : its == file))
            return listing;
    }
    return NULL;
}

/* By line where the instructions of the function are listed; the rest at line 0. */
static void write_own_cost(FILE *out, const struct stacks *stacks, size_t frame, uint64_t cost)
{
    const json_t *instruction, *listing = listing_of(stacks, frame);
    uint64_t left = cost;
    size_t i;
    json_array_foreach(json_object_get(listing, "instructions"), i, instruction) {
        uint64_t here = (uint64_t)llround(lwp_json_amount(instruction, "share") * stacks->weight);
        if (!here)
            continue;
        here = here < left ? here : left;
        left -= here;
        const char *inlined = lwp_json_string(instruction, "file");
        if (inlined)
            fprintf(out, "fi=%s\n", inlined);
        fprintf(out, "%.0f %" PRIu64 "\n", lwp_json_amount(instruction, "line"), here);
        if (inlined)
            fprintf(out, "fe=%s\n", frame_file_or(stacks, frame, "???"));
    }
    if (left)
        fprintf(out, "0 %" PRIu64 "\n", left);
}

static int write_callgrind(FILE *out, const struct stacks *stacks)
{
    struct call_edge *edges = NULL;
    size_t count = 0, room = 0, kept = 0, i, frames[DEPTH_MAX];
    uint64_t all = 0;
    const json_t *path;
    json_array_foreach(stacks->paths, i, path) {
        uint64_t cost = stack_cost(stacks, path);
        size_t depth = stack_frames(stacks, path, frames);
        all += cost;
        if (depth)
            LWP_APPEND(&edges, &count, &room, (struct call_edge){frames[0], SIZE_MAX, cost});
        for (size_t f = 1; f < depth; f++)
            LWP_APPEND(&edges, &count, &room, (struct call_edge){frames[f], frames[f - 1], cost});
    }
    LWP_SORT(edges, count, edge_compare);
    for (i = 0; i < count; i++)
        if (kept && edge_compare(&edges[kept - 1], &edges[i]) == 0)
            edges[kept - 1].cost += edges[i].cost;
        else
            edges[kept++] = edges[i];
    fprintf(
        out,
        "# callgrind format\nversion: 1\ncreator: lwp\npositions: line\nevent: Stall : memory stall in %s\nevents: Stall\nsummary: %" PRIu64
        "\n",
        stacks->unit, all);
    for (i = 0; i < kept; i++) {
        if (!i || edges[i].caller != edges[i - 1].caller)
            fprintf(out, "\nob=%s\nfl=%s\nfn=%s\n", frame_module(stacks, edges[i].caller), frame_file_or(stacks, edges[i].caller, "???"),
                    frame_text(stacks, edges[i].caller));
        if (edges[i].callee == SIZE_MAX) {
            write_own_cost(out, stacks, edges[i].caller, edges[i].cost);
            continue;
        }
        fprintf(out, "cob=%s\ncfi=%s\ncfn=%s\ncalls=1 0\n0 %" PRIu64 "\n", frame_module(stacks, edges[i].callee),
                frame_file_or(stacks, edges[i].callee, "???"), frame_text(stacks, edges[i].callee), edges[i].cost);
    }
    free(edges);
    return ferror(out);
}

/* ---- pprof: github.com/google/pprof/proto/profile.proto ---- */

struct message {
    char *bytes;
    size_t count, room;
};

static void put_byte(struct message *message, char byte)
{
    LWP_APPEND(&message->bytes, &message->count, &message->room, byte);
}

static void put_varint(struct message *message, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        put_byte(message, (char)(value | 128));
    put_byte(message, (char)value);
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
    put_varint(message, field << 3);
    put_varint(message, value);
}

static void put_bytes(struct message *message, unsigned field, const char *bytes, size_t count)
{
    put_varint(message, field << 3 | 2);
    put_varint(message, count);
    for (size_t i = 0; i < count; i++)
        put_byte(message, bytes[i]);
}

static void put_message(struct message *message, unsigned field, struct message *part)
{
    put_bytes(message, field, part->bytes, part->count);
    part->count = 0;
}

struct texts {
    struct lwp_map known;
    struct message written; /* string_table of the profile */
    uint32_t count;
};

static uint32_t text_index(struct texts *texts, const char *text)
{
    uint32_t *at = lwp_map_at(&texts->known, lwp_hash_text(text));
    if (*at == LWP_MAP_NONE) {
        *at = texts->count++;
        put_bytes(&texts->written, 6, text, strlen(text));
    }
    return *at;
}

static void put_value_type(struct message *profile, unsigned field, struct texts *texts, const char *type, const char *unit)
{
    struct message part = {0};
    put_number(&part, 1, text_index(texts, type));
    put_number(&part, 2, text_index(texts, unit));
    put_message(profile, field, &part);
    free(part.bytes);
}

/* A location and its function have the same number. */
static void put_function(struct message *profile, struct texts *texts, uint64_t id, const char *name, const char *file)
{
    struct message part = {0}, line = {0};
    put_number(&part, 1, id);
    put_number(&part, 2, text_index(texts, name));
    put_number(&part, 3, text_index(texts, name));
    put_number(&part, 4, text_index(texts, file));
    put_message(profile, 5, &part);
    put_number(&line, 1, id);
    put_number(&part, 1, id);
    put_message(&part, 4, &line);
    put_message(profile, 4, &part);
    free(part.bytes);
    free(line.bytes);
}

static int write_pprof(FILE *out, const struct stacks *stacks)
{
    struct message profile = {0}, sample = {0}, packed = {0};
    struct texts texts = {0};
    struct lwp_map data = {0};
    const json_t *path;
    size_t i, frames[DEPTH_MAX], count = json_array_size(stacks->frames), next = count + 1;
    text_index(&texts, ""); /* the first one, by definition */
    put_value_type(&profile, 1, &texts, "samples", "count");
    put_value_type(&profile, 1, &texts, "memory stall", strcmp(stacks->unit, "ns") == 0 ? "nanoseconds" : stacks->unit);
    for (i = 0; i < count; i++)
        put_function(&profile, &texts, i + 1, frame_text(stacks, i), frame_file_or(stacks, i, ""));
    json_array_foreach(stacks->paths, i, path) {
        const char *name = stack_data(stacks, path);
        uint32_t *at = lwp_map_at(&data, lwp_hash_text(name));
        if (*at == LWP_MAP_NONE) {
            char text[256];
            *at = (uint32_t)next++;
            snprintf(text, sizeof text, "[data] %s", name);
            put_function(&profile, &texts, *at, text, "");
        }
        put_varint(&packed, *at);
        for (size_t f = 0, depth = stack_frames(stacks, path, frames); f < depth; f++)
            put_varint(&packed, frames[f] + 1);
        put_message(&sample, 1, &packed);
        put_varint(&packed, (uint64_t)json_number_value(json_array_get(path, 3)));
        put_varint(&packed, stack_cost(stacks, path));
        put_message(&sample, 2, &packed);
        put_message(&profile, 2, &sample);
    }
    put_number(&profile, 14, text_index(&texts, "memory stall")); /* default_sample_type */
    int failed = fwrite(profile.bytes, 1, profile.count, out) != profile.count ||
                 fwrite(texts.written.bytes, 1, texts.written.count, out) != texts.written.count;
    free(profile.bytes);
    free(sample.bytes);
    free(packed.bytes);
    free(texts.written.bytes);
    lwp_map_fini(&texts.known);
    lwp_map_fini(&data);
    return failed;
}

static const struct format {
    const char *name, *suffix;
    int (*write)(FILE *out, const struct stacks *stacks);
} formats[] = {{"speedscope", ".speedscope.json", write_speedscope},
               {"pprof", ".pb", write_pprof},
               {"callgrind", ".callgrind", write_callgrind},
               {"perf-script", ".perf.txt", write_perf_script}};

static const struct format *format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0)
            return &formats[i];
    return NULL;
}

const char *lwp_profile_format_suffix(const char *format)
{
    const struct format *found = format_find(format);
    return found ? found->suffix : NULL;
}

int lwp_profile_format_write(FILE *out, const json_t *analysis, const char *format, struct lwp_error *err)
{
    const struct format *found = format_find(format);
    struct stacks stacks;
    if (stacks_open(&stacks, analysis, err))
        return -1;
    if (!found)
        return lwp_error_set(err, LWP_ERR_USAGE, "there is no format %s", format);
    return found->write(out, &stacks) ? lwp_error_set(err, LWP_ERR_SYSTEM, "cannot write the profile") : 0;
}
