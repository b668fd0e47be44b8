/* analysis.json: ids are indices into its arrays, so everything listed is numbered here first. Only objects, loops and
 * contexts worth showing are listed. What this version does not measure is null, and a note says so.
 * All names come from the profiled program: they are made valid UTF-8 and are otherwise as they were. */
#include "analysis/json.h"

#include "analysis/elements.h"
#include "analysis/objects.h"
#include "analysis/streams.h"
#include "analysis/typed.h"
#include "base/utf8.h"
#include "config.h"
#include "format/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_LISTED = 300, LOOPS_LISTED = 1000, FRAMES_LISTED = 128, PROCESSES_LISTED = 1000 };

static const double share_listed = 0.0005;

struct json_tables {
    struct lwp_profile *profile;
    json_t *contexts, *loops;
    struct lwp_map *context_ids, *region_ids;
};

static json_t *json_text(const char *text)
{
    if (!text)
        return json_null();
    char *clean = lwp_utf8_clean(text);
    json_t *value = clean ? json_string(clean) : json_null();
    free(clean);
    return value;
}

static json_t *json_share(double value)
{
    return json_real(isfinite(value) ? round(value * 1e6) / 1e6 : 0);
}

static json_t *json_count(uint64_t value)
{
    return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

static json_t *json_known(uint64_t value)
{
    return value ? json_count(value) : json_null();
}

static json_t *json_module(uint32_t module)
{
    return module == LWP_NONE ? json_null() : json_integer(module);
}

static json_t *json_frame(const char *function, const char *file, uint32_t line, uint32_t module, bool inlined)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:b}", "function", json_text(function), "file", json_text(file), "line",
                     json_known(line), "module", json_module(module), "inlined", inlined);
}

/* The id of a context in the output; null for the root and what is not known. */
static json_t *json_context(struct json_tables *tables, uint32_t context)
{
    struct lwp_profile *profile = tables->profile;
    if (context == 0)
        return json_null();
    uint32_t *known = lwp_map_at(tables->context_ids, context);
    if (*known != LWP_MAP_NONE)
        return json_integer(*known);
    *known = (uint32_t)json_array_size(tables->contexts);
    json_t *frames = json_array();
    for (uint32_t at = context; at && json_array_size(frames) < FRAMES_LISTED; at = profile->contexts[at].parent) {
        const struct lwp_context_node *node = &profile->contexts[at];
        const struct lwp_place *place =
            node->module == LWP_NONE ? NULL : lwp_code_place(profile->code, node->module, node->address);
        if (!place || !place->frame_count) {
            json_array_append_new(frames, json_frame(NULL, NULL, 0, node->module, false));
            continue;
        }
        if (node->is_function) { /* the function as a whole: no line */
            const struct lwp_frame *frame = &place->frames[place->frame_count - 1];
            json_array_append_new(frames, json_frame(frame->function, frame->file, 0, node->module, false));
            continue;
        }
        for (uint32_t i = 0; i < place->frame_count; i++)
            json_array_append_new(frames, json_frame(place->frames[i].function, place->frames[i].file,
                                                     place->frames[i].line, node->module, place->frames[i].inlined));
    }
    uint32_t id = (uint32_t)json_array_size(tables->contexts);
    json_array_append_new(tables->contexts, json_pack("{s:o}", "frames", frames));
    return json_integer(id);
}

static json_t *json_loop(struct json_tables *tables, uint32_t index, int depth)
{
    struct lwp_profile *profile = tables->profile;
    if (index == LWP_NONE || depth > 64)
        return json_null();
    uint32_t known = lwp_map_get(tables->region_ids, index);
    if (known != LWP_MAP_NONE)
        return json_integer(known);
    const struct lwp_region *region = &profile->regions[index];
    json_t *parent = json_loop(tables, region->parent, depth + 1);
    uint32_t id = (uint32_t)json_array_size(tables->loops);
    *lwp_map_at(tables->region_ids, index) = id;
    json_array_append_new(
        tables->loops,
        json_pack("{s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "kind", region->is_function ? "function" : "loop",
                  "address", (json_int_t)(region->address & INT64_MAX), "function", json_text(region->function), "file",
                  json_text(region->file), "first_line", json_known(region->first_line), "last_line",
                  json_known(region->last_line), "parent", parent, "module", json_module(region->module), "share",
                  json_share(lwp_share_of(&region->weight, &profile->total).value), "samples",
                  json_count(region->weight.samples)));
    return json_integer(id);
}

static int json_region_compare(const void *a, const void *b)
{
    const struct lwp_region *x = *(const struct lwp_region *const *)a, *y = *(const struct lwp_region *const *)b;
    return (x->weight.weight < y->weight.weight) - (x->weight.weight > y->weight.weight);
}

static void json_hot_loops(struct json_tables *tables)
{
    struct lwp_profile *profile = tables->profile;
    const struct lwp_region **order =
        lwp_arena_alloc(profile->arena, profile->region_count + 1, sizeof(const struct lwp_region *));
    size_t count = 0;
    for (size_t i = 0; i < profile->region_count; i++)
        if (profile->regions[i].same_as == i && profile->regions[i].weight.samples)
            order[count++] = &profile->regions[i];
    qsort(order, count, sizeof *order, json_region_compare);
    for (size_t i = 0; i < count && i < LOOPS_LISTED; i++)
        if (order[i]->weight.weight >= share_listed * profile->total.weight)
            json_decref(json_loop(tables, (uint32_t)(order[i] - profile->regions), 0));
}

/* ---- run ---- */

static json_t *json_copied(const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    return value ? json_incref(value) : json_null();
}

static json_t *json_machine(const struct lwp_profile *profile)
{
    static const char *const keys[] = {"cpu", "cores", "line_bytes", "page_bytes", "numa_nodes"};
    static const char *const cache_keys[] = {"level", "bytes", "ways", "shared_by"};
    const json_t *from = json_object_get(profile->run, "machine");
    json_t *machine = json_object(), *caches = json_null();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set_new(machine, keys[i], json_copied(from, keys[i]));
    size_t i;
    json_t *cache;
    if (json_is_array(json_object_get(from, "caches"))) {
        caches = json_array();
        json_array_foreach(json_object_get(from, "caches"), i, cache)
        {
            json_t *copy = json_object();
            for (size_t k = 0; k < sizeof cache_keys / sizeof *cache_keys; k++)
                json_object_set_new(copy, cache_keys[k], json_copied(cache, cache_keys[k]));
            json_array_append_new(caches, copy);
        }
    }
    json_object_set_new(machine, "caches", caches);
    return machine;
}

static json_t *json_processes(const struct lwp_profile *profile)
{
    json_t *processes = json_array();
    for (size_t i = 0; i < profile->process_count && i < PROCESSES_LISTED; i++)
        json_array_append_new(
            processes,
            json_pack("{s:I,s:o,s:i,s:o}", "pid", (json_int_t)profile->processes[i].pid, "command",
                      json_text(profile->processes[i].command), "threads", (int)profile->processes[i].threads, "rank",
                      profile->processes[i].rank < 0 ? json_null() : json_integer(profile->processes[i].rank)));
    return processes;
}

static json_t *json_run(const struct lwp_profile *profile)
{
    static const char *const engines[] = {NULL, "timer", "pmu", "exact"};
    static const char *const units[] = {NULL, "ns", "cycles", "simulated cycles", "events"};
    json_t *run = json_object(), *exit_status = json_copied(profile->run, "exit");
    double cpu = (double)(profile->user_ns + profile->system_ns);
    json_object_set_new(run, "command",
                        json_is_array(json_object_get(profile->run, "command")) ? json_copied(profile->run, "command")
                                                                                : json_array());
    json_object_set_new(run, "cwd", json_copied(profile->run, "cwd"));
    json_object_set_new(run, "host", json_copied(profile->run, "host"));
    json_object_set_new(run, "started", json_copied(profile->run, "started"));
    json_object_set_new(run, "wall_s", json_copied(profile->run, "wall_s"));
    json_object_set_new(run, "cpu_s", cpu > 0 ? json_share(cpu / 1e9) : json_copied(profile->run, "cpu_s"));
    if (!json_is_object(exit_status)) {
        json_decref(exit_status);
        exit_status = json_pack("{s:n,s:n}", "code", "signal");
    }
    json_object_set_new(run, "exit", exit_status);
    json_object_set_new(run, "engine", json_text(profile->engine < 4 ? engines[profile->engine] : NULL));
    json_object_set_new(run, "event", json_copied(profile->run, "event"));
    json_object_set_new(run, "weight_unit", json_text(profile->weight_unit < 5 ? units[profile->weight_unit] : NULL));
    json_object_set_new(run, "weight", json_real(profile->total.weight));
    json_object_set_new(run, "stall_share", json_share(lwp_share_of(&profile->stalled, &profile->total).value));
    json_object_set_new(run, "samples", json_count(profile->samples));
    json_object_set_new(run, "samples_with_address", json_count(profile->samples_with_address));
    json_object_set_new(run, "samples_lost", json_count(profile->samples_lost));
    json_object_set_new(run, "overhead_percent",
                        cpu > 0 ? json_real(round(1e4 * (double)profile->own_ns / cpu) / 100) : json_null());
    json_object_set_new(run, "machine", json_machine(profile));
    json_object_set_new(run, "processes", json_processes(profile));
    if (json_array_size(profile->runs) > 1)
        json_object_set(run, "runs", profile->runs);
    json_t *notes = json_array();
    for (size_t i = 0; i < profile->note_count; i++)
        json_array_append_new(notes, json_text(profile->notes[i]));
    json_object_set_new(run, "notes", notes);
    return run;
}

/* How much of the weight on heap and static data has a type, and a field; null when there is no such weight. */
static json_t *json_types(const struct lwp_profile *profile)
{
    struct lwp_typed typed = lwp_typed_weigh(profile);
    if (typed.weight <= 0)
        return json_null();
    return json_pack("{s:o,s:o,s:o}", "weight_share",
                     json_share(fmin(1, typed.weight / fmax(1, profile->total.weight))), "share",
                     json_share(typed.type / typed.weight), "share_with_field", json_share(typed.field / typed.weight));
}

static json_t *json_modules(const struct lwp_profile *profile)
{
    static const char *const debug[] = {"none", "symbols", "full", "replaced"};
    json_t *modules = json_array();
    uint32_t count = lwp_code_module_count(profile->code);
    for (uint32_t i = 0; i < count; i++) {
        const struct lwp_module *module = lwp_code_module_info(profile->code, i);
        json_array_append_new(modules, json_pack("{s:o,s:o,s:s}", "path", json_text(module->path), "build_id",
                                                 json_text(module->build_id), "debug_info", debug[module->debug_info]));
    }
    return modules;
}

/* ---- objects ---- */

/* Accesses that lie in the bytes given of an element, judged by the offsets sampled. */
static double json_accesses_in(const struct lwp_profile *profile, const struct lwp_layout *layout, uint64_t offset,
                               uint64_t bytes)
{
    uint64_t offsets[2 * LWP_RESERVOIR], place;
    double accesses = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        for (uint32_t i = profile->object_streams[layout->objects[k]]; i != LWP_NONE;
             i = profile->streams[i].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[i];
            size_t count = lwp_streams_offsets(stream, offsets, 2 * LWP_RESERVOIR), inside = 0;
            for (size_t o = 0; o < count; o++)
                inside += lwp_elements_place(&profile->objects[layout->objects[k]], offsets[o], &place) &&
                          place < offset + bytes && place + (stream->bytes ? stream->bytes : 1) > offset;
            if (count)
                accesses += (double)stream->accesses * (double)inside / (double)count;
        }
    return accesses;
}

/* The members of a member that is a struct, as far as they were seen used. */
static json_t *json_parts(const struct lwp_profile *profile, const struct lwp_layout *layout,
                          const struct lwp_layout_field *field)
{
    json_t *parts = json_array();
    for (uint32_t i = 0; layout->type && layout->type->parts && i < layout->type->field_count; i++) {
        const struct lwp_field *member = &layout->type->fields[i];
        const struct lwp_parts *all = &layout->type->parts[i];
        if (member->offset != field->offset || member->bytes != field->bytes)
            continue;
        for (uint32_t p = 0; p < all->count; p++) {
            const struct lwp_field *part = &all->items[p];
            double accesses = json_accesses_in(profile, layout, part->offset, part->bytes);
            if (accesses >= 0.5)
                json_array_append_new(parts, json_pack("{s:o,s:o,s:o,s:o}", "offset", json_count(part->offset), "bytes",
                                                       json_count(part->bytes), "name", json_text(part->name),
                                                       "samples", json_count((uint64_t)(accesses + 0.5))));
        }
    }
    return parts;
}

static json_t *json_fields(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    json_t *fields = json_array();
    for (size_t f = 0; f < layout->field_count; f++) {
        const struct lwp_layout_field *field = &layout->fields[f];
        json_t *one = json_pack(
            "{s:o,s:o,s:o,s:o,s:o,s:o}", "offset", json_count(field->offset), "bytes", json_count(field->bytes), "name",
            json_text(field->name), "share", json_share(field->observed / profile->total.weight), "loop_share",
            json_share(field->weight / profile->total.weight), "samples", json_count(field->accesses));
        json_t *parts = json_parts(profile, layout, field);
        if (json_array_size(parts))
            json_object_set(one, "parts", parts);
        json_decref(parts);
        json_array_append_new(fields, one);
    }
    return fields;
}

static json_t *json_object_loops(struct json_tables *tables, const struct lwp_layout *layout)
{
    json_t *loops = json_array();
    for (size_t i = 0; i < layout->loop_count; i++) {
        const struct lwp_layout_loop *loop = &layout->loops[i];
        if (loop->region == LWP_NONE)
            continue;
        json_t *offsets = json_array(), *names = json_array();
        for (size_t f = 0; f < layout->field_count; f++)
            if (loop->uses[f]) {
                json_array_append_new(offsets, json_count(layout->fields[f].offset));
                json_array_append_new(names, json_text(layout->fields[f].name));
            }
        json_array_append_new(loops, json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "loop", json_loop(tables, loop->region, 0),
                                               "share", json_share(loop->weight.weight / tables->profile->total.weight),
                                               "stride", json_known(loop->stride), "offsets", offsets, "fields", names,
                                               "samples", json_count(loop->accesses)));
    }
    return loops;
}

/* Objects without a structure still say where they are used. */
static json_t *json_plain_loops(struct json_tables *tables, uint32_t index)
{
    struct lwp_profile *profile = tables->profile;
    struct {
        uint32_t region;
        double weight;
        uint64_t accesses, stride, stride_accesses;
    } rows[64];
    size_t count = 0;
    for (uint32_t i = profile->object_streams[index]; i != LWP_NONE; i = profile->streams[i].next_of_object) {
        const struct lwp_stream *stream = &profile->streams[i];
        size_t row = 0;
        if (stream->region == LWP_NONE)
            continue;
        while (row < count && rows[row].region != stream->region)
            row++;
        if (row == count) {
            if (count == sizeof rows / sizeof *rows)
                continue;
            memset(&rows[count], 0, sizeof rows[count]);
            rows[count++].region = stream->region;
        }
        rows[row].weight += stream->weight.weight;
        rows[row].accesses += stream->accesses;
        if (stream->accesses > rows[row].stride_accesses) {
            rows[row].stride_accesses = stream->accesses;
            rows[row].stride = stream->stride.bytes;
        }
    }
    json_t *loops = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            loops, json_pack("{s:o,s:o,s:o,s:[],s:[],s:o}", "loop", json_loop(tables, rows[i].region, 0), "share",
                             json_share(rows[i].weight / profile->total.weight), "stride", json_known(rows[i].stride),
                             "offsets", "fields", "samples", json_count(rows[i].accesses)));
    return loops;
}

/* Where people would look for the allocation: past libraries and allocation wrappers. */
static json_t *json_site(struct lwp_profile *profile, const struct lwp_object *object)
{
    struct lwp_frame frame;
    uint32_t node;
    if (!object->context || !lwp_objects_site(profile, object->context, &frame, &node))
        return json_null();
    return json_frame(frame.function, frame.file, frame.line, profile->contexts[node].module, frame.inlined);
}

static json_t *json_one_object(struct json_tables *tables, const struct lwp_splits *splits, uint32_t index)
{
    static const char *const kinds[] = {"heap", "static", "stack", "mmap", "unknown"};
    struct lwp_profile *profile = tables->profile;
    const struct lwp_object *object = &profile->objects[index];
    const struct lwp_layout *layout = splits->of_object[index];
    struct lwp_share share = lwp_share_of(&object->weight, &profile->total);
    struct lwp_share stall = lwp_share_of(&object->weight, &profile->stalled);
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(kinds[object->kind]));
    json_object_set_new(json, "name", json_text(object->name));
    json_object_set_new(json, "type", json_text(object->type ? object->type->name : NULL));
    json_object_set_new(json, "bytes", json_known(object->bytes));
    json_object_set_new(json, "element_bytes", json_known(object->element_bytes));
    json_object_set_new(json, "element_probability",
                        object->element_bytes ? json_share(object->element_probability) : json_null());
    json_object_set_new(json, "element_start", json_count(object->element_start));
    json_object_set_new(json, "elements",
                        json_known(object->element_bytes && object->bytes >= object->element_start
                                       ? (object->bytes - object->element_start) / object->element_bytes
                                       : 0));
    json_object_set_new(json, "allocations", json_known(object->allocations));
    json_object_set_new(json, "context", json_context(tables, object->context));
    json_object_set_new(json, "common_context", json_context(tables, object->common));
    json_object_set_new(json, "site", json_site(profile, object));
    json_object_set_new(json, "module", json_module(object->module));
    json_object_set_new(json, "share", json_share(share.value));
    json_object_set_new(json, "share_ci", json_pack("[o,o]", json_share(share.low), json_share(share.high)));
    json_object_set_new(json, "stall_share", json_share(stall.value));
    json_object_set_new(json, "time_share", json_share(fmin(1, object->time_weight / fmax(1, profile->total.weight))));
    json_object_set_new(json, "samples", json_count(object->weight.samples));
    json_object_set_new(json, "accesses", json_count(object->accesses));
    json_object_set_new(json, "loads", json_count(object->loads));
    json_object_set_new(json, "stores", json_count(object->stores));
    json_object_set_new(json, "single", json_boolean(object->single));
    json_object_set_new(json, "fields", layout ? json_fields(profile, layout) : json_array());
    json_object_set_new(json, "loops", layout ? json_object_loops(tables, layout) : json_plain_loops(tables, index));
    return json;
}

static const struct lwp_profile *json_sorted;

static int json_object_compare(const void *a, const void *b)
{
    const struct lwp_object *x = &json_sorted->objects[*(const uint32_t *)a];
    const struct lwp_object *y = &json_sorted->objects[*(const uint32_t *)b];
    if (x->weight.weight != y->weight.weight)
        return x->weight.weight < y->weight.weight ? 1 : -1;
    if (x->accesses != y->accesses)
        return x->accesses < y->accesses ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

static json_t *json_objects(struct json_tables *tables, const struct lwp_splits *splits,
                            const struct lwp_regroups *regroups)
{
    struct lwp_profile *profile = tables->profile;
    json_t *objects = json_array();
    uint32_t *order = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *order);
    size_t count = 0;
    for (size_t i = 0; i < profile->object_count; i++)
        if (profile->objects[i].accessed)
            order[count++] = (uint32_t)i;
    json_sorted = profile;
    qsort(order, count, sizeof *order, json_object_compare);
    bool *needed = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *needed);
    for (size_t s = 0; s < splits->count; s++)
        for (size_t k = 0; k < splits->splits[s].layout->object_count; k++)
            needed[splits->splits[s].layout->objects[k]] = true;
    for (size_t c = 0; regroups && c < regroups->candidates.count; c++)
        needed[regroups->candidates.arrays[c].object] = true;
    for (size_t i = 0; i < count; i++) {
        struct lwp_object *object = &profile->objects[order[i]];
        if (!needed[order[i]] &&
            (i >= OBJECTS_LISTED || object->weight.weight < share_listed * profile->total.weight) &&
            (i >= OBJECTS_LISTED / 4 || object->element_bytes == 0))
            continue;
        object->reported = (uint32_t)json_array_size(objects);
        json_array_append_new(objects, json_one_object(tables, splits, order[i]));
    }
    return objects;
}

/* ---- advice ---- */

static json_t *json_part(const struct lwp_split *split, int which, double all)
{
    struct lwp_split_part part;
    json_t *json = json_object(), *fields = json_array(), *offsets = json_array(), *places = json_array();
    double weight = 0;
    lwp_split_part(split, which, &part);
    for (size_t i = 0; i < part.count; i++) {
        const struct lwp_layout_field *field = &split->layout->fields[part.fields[i]];
        json_array_append_new(fields, json_text(field->name));
        json_array_append_new(offsets, json_count(field->offset));
        json_array_append_new(places, json_count(part.offsets[i]));
        weight += field->weight;
    }
    json_object_set_new(json, "fields", fields);
    json_object_set_new(json, "offsets", offsets);
    json_object_set_new(json, "new_offsets", places);
    json_object_set_new(json, "bytes", json_count(part.bytes));
    if (which >= 0)
        json_object_set_new(json, "share", json_share(weight / all));
    return json;
}

static json_t *json_split(struct json_tables *tables, const struct lwp_split *split)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_layout *layout = split->layout;
    json_t *json = json_object(), *objects = json_array(), *groups = json_array();
    for (size_t k = 0; k < layout->object_count; k++)
        json_array_append_new(objects, json_integer(profile->objects[layout->objects[k]].reported));
    for (size_t g = 0; g < split->groups; g++)
        json_array_append_new(groups, json_part(split, (int)g, profile->total.weight));
    json_t *affinity = json_array(), *loops = json_array();
    for (size_t i = 0; i < layout->field_count; i++)
        for (size_t j = i + 1; j < layout->field_count; j++)
            if (layout->fields[i].weight > 0 && layout->fields[j].weight > 0)
                json_array_append_new(affinity, json_pack("{s:o,s:o,s:o}", "a", json_text(layout->fields[i].name), "b",
                                                          json_text(layout->fields[j].name), "value",
                                                          json_share(split->affinity[i * layout->field_count + j])));
    for (size_t i = 0; i < split->gain.loop_count; i++)
        if (split->gain.loops[i].region != LWP_NONE)
            json_array_append_new(loops,
                                  json_pack("{s:o,s:o,s:o}", "loop", json_loop(tables, split->gain.loops[i].region, 0),
                                            "before", json_share(split->gain.loops[i].before), "after",
                                            json_share(split->gain.loops[i].after)));
    json_object_set_new(json, "kind", json_string(split->kind == LWP_SPLIT_REORDER ? "reorder" : "split"));
    json_object_set_new(json, "caution", json_text(split->caution));
    json_object_set_new(json, "object", json_integer(profile->objects[layout->objects[0]].reported));
    json_object_set_new(json, "objects", objects);
    json_object_set_new(json, "type", json_text(layout->type ? layout->type->name : NULL));
    json_object_set_new(json, "element_bytes", json_count(layout->element_bytes));
    json_object_set_new(json, "element_probability", json_share(layout->probability));
    json_object_set_new(json, "single", json_boolean(layout->single));
    if (split->kind == LWP_SPLIT_PARTS)
        json_object_set_new(json, "link",
                            json_string((layout->single || layout->linked) && !split->pooled ? "pointer" : "index"));
    json_object_set_new(json, "pointed_by", json_text(layout->pointed));
    json_object_set_new(json, "groups", groups);
    json_object_set_new(json, "cold", json_part(split, -1, 1));
    json_object_set_new(json, "affinity", affinity);
    json_object_set_new(json, "confidence", json_string(split->confidence));
    json_object_set_new(json, "traffic",
                        json_pack("{s:s,s:o,s:o,s:o}", "unit", "cache lines per element visited", "before",
                                  json_share(split->gain.before), "after", json_share(split->gain.after), "loops",
                                  loops));
    json_object_set_new(json, "memory",
                        json_pack("{s:o,s:o}", "before", json_count((uint64_t)split->gain.bytes_before), "after",
                                  json_count((uint64_t)split->gain.bytes_after)));
    json_object_set_new(json, "expected_speedup",
                        json_pack("[o,o]", json_share(split->gain.low), json_share(split->gain.high)));
    json_object_set_new(json, "declaration", json_text(split->declaration));
    return json;
}

/* The web page and the report say what each reason means; `detail` is what was seen. */
static json_t *json_rejected(const struct lwp_profile *profile, const struct lwp_regroup_rejected *rejected)
{
    const char *detail = rejected->verdict.detail;
    return json_pack("{s:o,s:o,s:o,s:s,s:o}", "object", json_integer(profile->objects[rejected->object].reported),
                     "name", json_text(rejected->name), "with", json_text(rejected->with), "reason",
                     lwp_regroup_reason_name(rejected->verdict.reason), "detail",
                     detail ? json_sprintf("with %s: %s", rejected->with, detail) : json_null());
}

static json_t *json_regroup(struct json_tables *tables, const struct lwp_regroup_candidates *candidates,
                            const struct lwp_regroup *regroup)
{
    const struct lwp_profile *profile = tables->profile;
    json_t *json = json_object(), *objects = json_array(), *names = json_array(), *affinity = json_array();
    json_t *rejected = json_array(), *loops = json_array();
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
        json_array_append_new(objects, json_integer(profile->objects[array->object].reported));
        json_array_append_new(names, json_text(array->name));
        for (size_t k = i + 1; k < regroup->count; k++)
            json_array_append_new(
                affinity,
                json_pack(
                    "{s:o,s:o,s:o}", "a", json_text(array->name), "b",
                    json_text(candidates->arrays[regroup->members[k]].name), "value",
                    json_share(candidates->affinity[regroup->members[i] * candidates->count + regroup->members[k]])));
    }
    for (size_t i = 0; i < regroup->rejected_count; i++)
        json_array_append_new(rejected, json_rejected(profile, &regroup->rejected[i]));
    for (size_t i = 0; i < regroup->gain.loop_count; i++)
        json_array_append_new(loops,
                              json_pack("{s:o,s:o,s:o}", "loop", json_loop(tables, regroup->gain.loops[i].region, 0),
                                        "before", json_share(regroup->gain.loops[i].before), "after",
                                        json_share(regroup->gain.loops[i].after)));
    json_object_set_new(json, "objects", objects);
    json_object_set_new(json, "names", names);
    json_object_set_new(json, "element_bytes", json_count(regroup->bytes));
    json_object_set_new(json, "affinity", affinity);
    json_object_set_new(json, "rejected", rejected);
    json_object_set_new(json, "confidence", json_string(regroup->confidence));
    json_object_set_new(json, "traffic",
                        json_pack("{s:s,s:o,s:o,s:o}", "unit", "cache lines per index", "before",
                                  json_share(regroup->gain.before), "after", json_share(regroup->gain.after), "loops",
                                  loops));
    json_object_set_new(json, "expected_speedup",
                        json_pack("[o,o]", json_share(regroup->gain.low), json_share(regroup->gain.high)));
    json_object_set_new(json, "declaration", json_text(regroup->declaration));
    return json;
}

static void json_regroups(struct json_tables *tables, const struct lwp_regroups *regroups, json_t *root)
{
    json_t *list = regroups ? json_array() : json_null(), *apart = regroups ? json_array() : json_null();
    for (size_t i = 0; regroups && i < regroups->count; i++)
        json_array_append_new(list, json_regroup(tables, &regroups->candidates, &regroups->regroups[i]));
    for (size_t i = 0; regroups && i < regroups->apart_count; i++)
        json_array_append_new(apart, json_rejected(tables->profile, &regroups->apart[i]));
    json_object_set_new(root, "regroups", list);
    json_object_set_new(root, "kept_apart", apart);
}

static json_t *json_finding(const struct lwp_finding *finding)
{
    json_t *gain =
        finding->low > 0 ? json_pack("[o,o]", json_share(finding->low), json_share(finding->high)) : json_null();
    return json_pack("{s:o,s:s,s:o,s:s,s:o,s:o,s:{s:i},s:o}", "id", json_text(finding->id), "kind", finding->kind,
                     "title", json_text(finding->title), "severity", finding->severity, "share",
                     json_share(finding->share), "expected_speedup", gain, "refs", finding->kind, (int)finding->index,
                     "next_step", json_text(finding->next_step));
}

static json_t *json_interval(const struct lwp_share *share)
{
    return json_pack("[o,o]", json_share(share->low), json_share(share->high));
}

static json_t *json_redundancy_total(const struct lwp_redundancy_total *total, const char *unit)
{
    if (!total->measured)
        return json_null();
    return json_pack("{s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o}", "share", json_share(total->share.value), "share_ci",
                     json_interval(&total->share), "wasted", json_real(round(total->wasted)), "total",
                     json_real(round(total->total)), "unit", unit, "approximate",
                     json_share(total->wasted > 0 ? total->close / total->wasted : 0), "candidates",
                     json_count(total->candidates), "decided", json_count(total->decided), "undecided",
                     json_share(total->undecided));
}

static json_t *json_redundancy(struct json_tables *tables, const struct lwp_redundancy *item)
{
    const struct lwp_watched_pair *pair = item->pair;
    const struct lwp_object *object = pair->object == LWP_NONE ? NULL : &tables->profile->objects[pair->object];
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:s}", "kind", lwp_redundancy_kind(item->kind),
                     "approximate", json_share(item->close), "share", json_share(item->share.value), "share_ci",
                     json_interval(&item->share), "amount", json_real(round(item->amount)), "samples",
                     json_count(item->samples), "first", json_context(tables, pair->first), "second",
                     json_context(tables, pair->second), "object",
                     object && object->reported != LWP_NONE ? json_integer(object->reported) : json_null(), "bytes",
                     json_known(pair->bytes), "meaning", item->meaning, "remedy", item->remedy);
}

/* null where nothing was watched: by choice, or since it was not possible. */
static void json_redundancies(struct json_tables *tables, const struct lwp_redundancies *found, json_t *root)
{
    static const char *const later[] = {"computation", "register", "spatial"};
    static const char *const units[] = {"unknown", "ns", "cycles", "cycles", "events"};
    bool measured = tables->profile->watched.origin_count > 0;
    uint8_t unit = tables->profile->weight_unit;
    json_t *totals = measured ? json_object() : json_null(), *list = measured ? json_array() : json_null();
    for (unsigned kind = 0; measured && kind < LWP_WATCHED_KINDS; kind++)
        json_object_set_new(totals, lwp_redundancy_kind((enum lwp_watched_kind)kind),
                            json_redundancy_total(&found->totals[kind], units[unit < 5 ? unit : 0]));
    for (size_t i = 0; measured && i < sizeof later / sizeof *later; i++)
        json_object_set_new(totals, later[i], json_null());
    for (size_t i = 0; measured && i < found->count; i++)
        json_array_append_new(list, json_redundancy(tables, &found->items[i]));
    json_object_set_new(root, "redundancy_totals", totals);
    json_object_set_new(root, "redundancies", list);
}

static json_t *json_context_of(void *tables, uint32_t context)
{
    return json_context(tables, context);
}

json_t *lwp_json_build(struct lwp_profile *profile, const struct lwp_splits *splits,
                       const struct lwp_regroups *regroups, const struct lwp_redundancies *redundancies,
                       const struct lwp_together *together, const struct lwp_findings *findings)
{
    static const char *const unmeasured[] = {"locality"};
    struct json_tables tables = {.profile = profile,
                                 .contexts = json_array(),
                                 .loops = json_array(),
                                 .context_ids = lwp_map_new(),
                                 .region_ids = lwp_map_new()};
    lwp_profile_note(profile, "This version does not measure locality.");
    if (!profile->watched.origin_count)
        lwp_profile_note(profile,
                         "Redundant stores and loads were not looked for: not asked for (lwp collect --detect), or "
                         "not possible with this engine, or no hardware breakpoint was to be had (lwp doctor).");
    json_hot_loops(&tables);
    json_t *objects = json_objects(&tables, splits, regroups), *advice = json_array(), *list = json_array();
    for (size_t i = 0; i < splits->count; i++)
        json_array_append_new(advice, json_split(&tables, &splits->splits[i]));
    for (size_t i = 0; i < findings->count; i++)
        json_array_append_new(list, json_finding(&findings->findings[i]));
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("lwp-analysis"));
    json_object_set_new(root, "version", json_string("1.0"));
    json_object_set_new(root, "lwp_version", json_string(LWP_VERSION));
    json_object_set_new(root, "run", json_run(profile));
    json_object_set_new(root, "types", json_types(profile));
    json_object_set_new(root, "modules", json_modules(profile));
    json_object_set_new(root, "contexts", tables.contexts);
    json_object_set_new(root, "loops", tables.loops);
    json_object_set_new(root, "objects", objects);
    json_object_set_new(root, "splits", advice);
    json_regroups(&tables, regroups, root);
    json_redundancies(&tables, redundancies, root);
    json_object_set_new(root, "communication",
                        together ? lwp_json_communication(&together->communication) : json_null());
    json_object_set_new(root, "sharing",
                        together ? lwp_json_sharing(profile, together, json_context_of, &tables) : json_null());
    for (size_t i = 0; i < sizeof unmeasured / sizeof *unmeasured; i++)
        json_object_set_new(root, unmeasured[i], json_null());
    json_object_set_new(root, "findings", list);
    lwp_map_free(tables.context_ids);
    lwp_map_free(tables.region_ids);
    return root;
}
