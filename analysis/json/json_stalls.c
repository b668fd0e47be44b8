/* "stalls" of analysis.json: memory stall by calling context, over the time, by source line and by instruction. A reader draws flame
 * graphs, timelines and annotated source of it. Only what matters is listed; what is left out is said as a share. */
#include "analysis/json/json_parts.h"

#include "analysis/profile/contexts.h"
#include "analysis/program/flow/disassembly.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum {
    PATHS_LISTED = 2000,
    TIMELINES_LISTED = 12, /* objects with a line of their own */
    LINES_LISTED = 400,
    LISTINGS = 24,           /* functions whose assembly is listed */
    INSTRUCTIONS_MAX = 4096, /* of a function */
    LISTED_MAX = 250,        /* of them */
    FUNCTION_BYTES = 1 << 16,
    LISTED_AROUND = 6, /* instructions before and after one that stalled */
    TEXT_BYTES = 128,
};

static const double line_least = 0.0005; /* of all cost */

/* ---- paths ---- */

struct stall_tree {
    struct lwp_json_tables *tables;
    json_t *frames, *nodes;
    struct lwp_map frame_ids, node_ids;
};

static uint32_t stall_frame(struct stall_tree *tree, const struct lwp_context_node *node)
{
    uint32_t *known = lwp_map_at(&tree->frame_ids, lwp_hash_mix(node->module, node->address)), id = *known;
    if (id != LWP_MAP_NONE)
        return id;
    const struct lwp_symbolized *code =
        node->module == LWP_NONE ? NULL : lwp_code_symbolize(tree->tables->profile->code, node->module, node->address);
    struct lwp_frame whole = code && code->frame_count ? code->frames[code->frame_count - 1] : (struct lwp_frame){0};
    *known = id = (uint32_t)json_array_size(tree->frames);
    json_array_append_new(tree->frames, lwp_json_frame(&whole, node->module, node->address));
    return id;
}

/* Its number in "nodes", each of which is [parent, frame]; the root has none. */
static uint32_t stall_node(struct stall_tree *tree, uint32_t context)
{
    const struct lwp_profile *profile = tree->tables->profile;
    if (context == 0 || lwp_contexts_is_various(profile, context))
        return LWP_NONE;
    uint32_t known = lwp_map_get(&tree->node_ids, context);
    if (known != LWP_MAP_NONE)
        return known;
    const struct lwp_context_node *node = &profile->contexts[context];
    uint32_t parent = stall_node(tree, node->parent), id = (uint32_t)json_array_size(tree->nodes);
    *lwp_map_at(&tree->node_ids, context) = id;
    json_array_append_new(tree->nodes, json_pack("[o,i]", lwp_json_id(parent), (int)stall_frame(tree, node)));
    return id;
}

static int stall_heavier(const void *a, const void *b)
{
    const struct lwp_stall_path *x = a, *y = b;
    return -LWP_COMPARE(x->sum.weight, y->sum.weight) ?: LWP_COMPARE(x->context, y->context) ?: LWP_COMPARE(x->object, y->object);
}

/* Each is [node, object, share, samples]. */
static json_t *stall_paths(struct lwp_json_tables *tables, json_t *stalls)
{
    struct lwp_stall_profile *profile = &tables->profile->stalls;
    struct stall_tree tree = {.tables = tables, .frames = json_array(), .nodes = json_array()};
    json_t *paths = json_array();
    double all = tables->profile->total.weight, rest = 0;
    LWP_SORT(profile->paths, profile->path_count, stall_heavier);
    for (size_t i = 0; i < profile->path_count; i++) {
        const struct lwp_stall_path *path = &profile->paths[i];
        if (i >= PATHS_LISTED)
            rest += (double)path->sum.weight;
        else
            json_array_append_new(paths, json_pack("[o,o,o,o]", lwp_json_id(stall_node(&tree, path->context)),
                                                   lwp_json_object(tables, path->object), lwp_json_share((double)path->sum.weight / all),
                                                   lwp_json_count(path->sum.samples)));
    }
    json_object_set_new(stalls, "frames", tree.frames);
    json_object_set_new(stalls, "nodes", tree.nodes);
    json_object_set_new(stalls, "left_out", lwp_json_share(rest / all));
    lwp_map_fini(&tree.frame_ids);
    lwp_map_fini(&tree.node_ids);
    return paths;
}

/* ---- time ---- */

struct stall_row {
    uint32_t object;
    uint64_t weight, bins[LWP_STALL_BINS];
};

static int stall_row_compare(const void *a, const void *b)
{
    const struct stall_row *x = a, *y = b;
    return -LWP_COMPARE(x->weight, y->weight) ?: LWP_COMPARE(x->object, y->object);
}

/* The objects with most stall each, the others together (object null). */
static json_t *stall_times(struct lwp_json_tables *tables)
{
    const struct lwp_stall_profile *profile = &tables->profile->stalls;
    double all = tables->profile->total.weight;
    struct stall_row *rows = NULL, others = {.object = LWP_NONE};
    size_t count = 0, room = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < profile->time_count; i++) {
        const struct lwp_stall_time *time = &profile->times[i];
        if (!count || rows[count - 1].object != time->object)
            LWP_APPEND(&rows, &count, &room, (struct stall_row){.object = time->object});
        rows[count - 1].weight += time->weight;
        rows[count - 1].bins[time->bin] += time->weight;
        LWP_RAISE(last, time->bin);
    }
    LWP_SORT(rows, count, stall_row_compare);
    size_t listed = 0;
    json_t *list = json_array();
    for (size_t i = 0; i <= count; i++) {
        struct stall_row *row = i < count ? &rows[i] : &others;
        if (i < count && (listed == TIMELINES_LISTED || tables->profile->objects[row->object].reported == LWP_NONE)) {
            others.weight += row->weight;
            for (uint32_t b = 0; b <= last; b++)
                others.bins[b] += row->bins[b];
        } else if (row->weight) {
            listed++;
            json_array_append_new(list, lwp_json_new("object", lwp_json_object(tables, row->object), "shares",
                                                     LWP_JSON_LIST(b, (size_t)last + 1, lwp_json_share((double)row->bins[b] / all)), NULL));
        }
    }
    free(rows);
    return lwp_json_new("bin_s", lwp_json_real((double)(1ull << profile->bin_shift) / 1e9), "rows", list, NULL);
}

/* ---- lines ---- */

struct stall_line {
    const char *file;
    uint32_t line;
    const struct lwp_stream *stream;
    uint32_t top; /* the stream with most of it */
    double weight;
    uint64_t samples, loads, stores;
};

static int stall_line_compare(const void *a, const void *b)
{
    const struct stall_line *x = a, *y = b;
    return -LWP_COMPARE(x->weight, y->weight) ?: strcmp(x->file, y->file) ?: LWP_COMPARE(x->line, y->line);
}

static int stall_stream_line_compare(const void *a, const void *b)
{
    const struct stall_line *x = a, *y = b;
    return strcmp(x->file, y->file) ?: LWP_COMPARE(x->line, y->line) ?: -LWP_COMPARE(x->weight, y->weight) ?: LWP_COMPARE(x->top, y->top);
}

/* A line for each stream that has one. */
static struct stall_line *stall_stream_lines(const struct lwp_profile *profile, size_t *count)
{
    struct stall_line *lines = NULL;
    size_t room = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const struct lwp_symbolized *code = stream->module == LWP_NONE || !stream->weight.samples
                                                ? NULL
                                                : lwp_code_symbolize(profile->code, stream->module, stream->address);
        if (code && code->frame_count && code->frames[0].file && code->frames[0].line)
            LWP_APPEND(&lines, count, &room,
                       (struct stall_line){.file = code->frames[0].file,
                                           .line = code->frames[0].line,
                                           .stream = stream,
                                           .top = (uint32_t)i,
                                           .weight = stream->weight.weight,
                                           .samples = stream->weight.samples,
                                           .loads = stream->loads,
                                           .stores = stream->stores});
    }
    LWP_SORT(lines, *count, stall_stream_line_compare);
    return lines;
}

static json_t *stall_lines(struct lwp_json_tables *tables)
{
    const struct lwp_profile *profile = tables->profile;
    size_t count = 0, kept = 0;
    struct stall_line *lines = stall_stream_lines(profile, &count);
    for (size_t i = 0; i < count; i++) {
        struct stall_line *last = kept ? &lines[kept - 1] : NULL;
        if (!last || strcmp(last->file, lines[i].file) != 0 || last->line != lines[i].line) {
            lines[kept++] = lines[i]; /* sorted: its heaviest stream comes first */
            continue;
        }
        last->weight += lines[i].weight;
        last->samples += lines[i].samples;
        last->loads += lines[i].loads;
        last->stores += lines[i].stores;
    }
    LWP_SORT(lines, kept, stall_line_compare);
    json_t *list = json_array();
    for (size_t i = 0; i < kept && i < LINES_LISTED && lines[i].weight >= line_least * profile->total.weight; i++)
        json_array_append_new(list,
                              lwp_json_new("file", lwp_json_text(lines[i].file), "line", lwp_json_count(lines[i].line), "share",
                                           lwp_json_share(lines[i].weight / profile->total.weight), "samples",
                                           lwp_json_count(lines[i].samples), "loads", lwp_json_count(lines[i].loads), "stores",
                                           lwp_json_count(lines[i].stores), "object", lwp_json_object(tables, lines[i].stream->object),
                                           "stride", lwp_json_known(lines[i].stream->stride.bytes), NULL));
    free(lines);
    return list;
}

/* ---- instructions ---- */

struct stall_instruction {
    uint32_t module;
    uint64_t address;
    double weight;
    uint64_t samples;
};

static int stall_instruction_compare(const void *a, const void *b)
{
    const struct stall_instruction *x = a, *y = b;
    return LWP_COMPARE(x->module, y->module) ?: LWP_COMPARE(x->address, y->address);
}

static int stall_instruction_heavier(const void *a, const void *b)
{
    const struct stall_instruction *x = a, *y = b;
    return -LWP_COMPARE(x->weight, y->weight) ?: stall_instruction_compare(a, b);
}

/* Instructions that stalled, in order of address. */
struct stall_instructions {
    struct stall_instruction *items;
    size_t count, room;
};

static const struct stall_instruction *stall_at(const struct stall_instructions *all, uint32_t module, uint64_t address)
{
    const struct stall_instruction key = {.module = module, .address = address};
    return all->count ? bsearch(&key, all->items, all->count, sizeof key, stall_instruction_compare) : NULL;
}

/* Of all streams, each instruction once. */
static struct stall_instructions stall_instructions(const struct lwp_profile *profile)
{
    struct stall_instructions all = {0};
    size_t kept = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->module != LWP_NONE && stream->weight.samples)
            LWP_APPEND(&all.items, &all.count, &all.room,
                       (struct stall_instruction){stream->module, stream->address, stream->weight.weight, stream->weight.samples});
    }
    LWP_SORT(all.items, all.count, stall_instruction_compare);
    for (size_t i = 0; i < all.count; i++)
        if (kept && stall_instruction_compare(&all.items[kept - 1], &all.items[i]) == 0) {
            all.items[kept - 1].weight += all.items[i].weight;
            all.items[kept - 1].samples += all.items[i].samples;
        } else {
            all.items[kept++] = all.items[i];
        }
    all.count = kept;
    return all;
}

static struct stall_instruction *stall_heaviest_first(const struct stall_instructions *all)
{
    struct stall_instruction *heavy = lwp_zeroed(all->count + 1, sizeof *heavy);
    if (all->count)
        memcpy(heavy, all->items, all->count * sizeof *heavy);
    LWP_SORT(heavy, all->count, stall_instruction_heavier);
    return heavy;
}

/* A function's instructions; `near`: around those that stalled. */
struct stall_function {
    uint64_t starts[INSTRUCTIONS_MAX];
    bool near[INSTRUCTIONS_MAX];
    size_t count;
};

static void stall_near(struct stall_function *code, size_t at)
{
    for (size_t i = at > LISTED_AROUND ? at - LISTED_AROUND : 0; i <= at + LISTED_AROUND && i < INSTRUCTIONS_MAX; i++)
        code->near[i] = true;
}

static void stall_disassemble(const struct lwp_profile *profile, const struct stall_instructions *all,
                              const struct lwp_symbolized *function, struct stall_function *code)
{
    *code = (struct stall_function){0};
    for (uint64_t at = function->function_low; at < function->function_high && code->count < INSTRUCTIONS_MAX;) {
        const unsigned length = lwp_code_disassemble(profile->code, function->module, at, NULL, 0);
        if (!length)
            break;
        const struct stall_instruction *hot = stall_at(all, function->module, at);
        if (hot && hot->weight >= line_least * profile->total.weight)
            stall_near(code, code->count);
        code->starts[code->count++] = at;
        at += length;
    }
}

/* {address, text, file, line, share, samples}; `file`: of the function, which is not said again. NULL: it cannot be decoded. */
static json_t *stall_row(const struct lwp_profile *profile, const struct stall_instructions *all, uint32_t module, uint64_t address,
                         const char *file)
{
    char text[TEXT_BYTES];
    const struct stall_instruction *hot = stall_at(all, module, address);
    const struct lwp_symbolized *code = lwp_code_symbolize(profile->code, module, address);
    const struct lwp_frame *frame = code && code->frame_count ? &code->frames[0] : NULL;
    const bool elsewhere = frame && frame->file && (!file || strcmp(frame->file, file) != 0);
    if (!lwp_code_disassemble(profile->code, module, address, text, sizeof text))
        return NULL;
    return lwp_json_new("address", lwp_json_count(address), "text", lwp_json_text(text), "file",
                        elsewhere ? lwp_json_text(frame->file) : NULL, "line", lwp_json_known(frame ? frame->line : 0), "share",
                        hot ? lwp_json_share(hot->weight / profile->total.weight) : NULL, "samples",
                        hot ? lwp_json_count(hot->samples) : NULL, NULL);
}

/* Instructions of a function around the ones that stalled, in order of address. */
static json_t *stall_listing(const struct lwp_profile *profile, const struct stall_instructions *all, const struct lwp_symbolized *function,
                             const char *file)
{
    struct stall_function code;
    stall_disassemble(profile, all, function, &code);
    json_t *list = json_array();
    for (size_t i = 0; i < code.count && json_array_size(list) < LISTED_MAX; i++) {
        json_t *row = code.near[i] ? stall_row(profile, all, function->module, code.starts[i], file) : NULL;
        if (row)
            json_array_append_new(list, row);
    }
    return list;
}

/* The functions with most stall: [{function, module, instructions}]. */
static json_t *stall_assembly(struct lwp_json_tables *tables)
{
    const struct lwp_profile *profile = tables->profile;
    struct stall_instructions all = stall_instructions(profile);
    struct stall_instruction *heavy = stall_heaviest_first(&all);
    struct lwp_map done = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < all.count && json_array_size(list) < LISTINGS && heavy[i].weight >= line_least * profile->total.weight; i++) {
        const struct lwp_symbolized *code = lwp_code_symbolize(profile->code, heavy[i].module, heavy[i].address);
        if (!code || code->function_high <= code->function_low || code->function_high - code->function_low > FUNCTION_BYTES)
            continue;
        uint32_t *known = lwp_map_at(&done, lwp_hash_mix(heavy[i].module, code->function_low));
        if (*known != LWP_MAP_NONE)
            continue;
        *known = 1;
        const struct lwp_frame function = code->frames[code->frame_count - 1]; /* the outermost */
        json_t *instructions = stall_listing(profile, &all, code, function.file);
        json_array_append_new(list, lwp_json_new("function", lwp_json_text(function.function), "file", lwp_json_text(function.file),
                                                 "module", lwp_json_id(heavy[i].module), "instructions", instructions, NULL));
    }
    lwp_map_fini(&done);
    free(heavy);
    free(all.items);
    return list;
}

json_t *lwp_json_stalls(struct lwp_json_tables *tables)
{
    const struct lwp_profile *profile = tables->profile;
    if (profile->stalls.refused || !profile->stalls.path_count || profile->total.weight <= 0)
        return json_null();
    json_t *stalls = json_object();
    json_object_set_new(stalls, "paths", stall_paths(tables, stalls));
    json_object_set_new(stalls, "times", stall_times(tables));
    json_object_set_new(stalls, "lines", stall_lines(tables));
    json_object_set_new(stalls, "assembly", stall_assembly(tables));
    return stalls;
}
