/* "objects" of analysis.json: those worth showing and those that some advice is about, each with its fields and the
 * loops that use it. */
#include "analysis/json/json_parts.h"

#include "analysis/advice/locality/object_memory.h"
#include "analysis/elements/element_count.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "format/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_LISTED = 300 };

/* Accesses that lie in the bytes given of an element, judged by the offsets sampled. */
static double json_accesses_in(const struct lwp_profile *profile, const struct lwp_layout *layout, uint64_t offset, uint64_t bytes)
{
    uint64_t offsets[LWP_RESERVOIR], within;
    double accesses = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        for (uint32_t i = profile->object_streams[layout->objects[k]]; i != LWP_NONE; i = profile->streams[i].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[i];
            size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR), inside = 0;
            for (size_t o = 0; o < count; o++)
                inside += lwp_element_place(&profile->objects[layout->objects[k]], offsets[o], &within) && within < offset + bytes &&
                          within + (stream->bytes ? stream->bytes : 1) > offset;
            if (count)
                accesses += (double)stream->accesses * (double)inside / (double)count;
        }
    return accesses;
}

/* The members of a member that is a struct, as far as they were seen used; NULL: none. */
static json_t *json_parts(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_field *field)
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
                json_array_append_new(parts,
                                      lwp_json_new("offset", lwp_json_count(part->offset), "bytes", lwp_json_count(part->bytes), "name",
                                                   lwp_json_text(part->name), "samples", lwp_json_count((uint64_t)(accesses + 0.5)), NULL));
        }
    }
    if (json_array_size(parts))
        return parts;
    json_decref(parts);
    return NULL;
}

static json_t *json_field(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_field *field)
{
    return lwp_json_new("offset", lwp_json_count(field->offset), "bytes", lwp_json_count(field->bytes), "name", lwp_json_text(field->name),
                        "share", lwp_json_share(field->observed / profile->total.weight), "loop_share",
                        lwp_json_share(field->weight / profile->total.weight), "samples", lwp_json_count(field->accesses), "parts",
                        json_parts(profile, layout, field), NULL);
}

/* A loop's part in an object. */
static json_t *json_use(struct lwp_json_tables *tables, uint32_t region, double weight, uint64_t stride, json_t *offsets, json_t *fields,
                        uint64_t accesses)
{
    return lwp_json_new("loop", lwp_json_loop(tables, region), "share", lwp_json_share(weight / tables->profile->total.weight), "stride",
                        lwp_json_known(stride), "offsets", offsets, "fields", fields, "samples", lwp_json_count(accesses), NULL);
}

static json_t *json_object_loops(struct lwp_json_tables *tables, const struct lwp_layout *layout)
{
    json_t *loops = json_array();
    for (size_t i = 0; i < layout->loop_count; i++) {
        const struct lwp_layout_loop *loop = &layout->loops[i];
        if (loop->region == LWP_NONE)
            continue;
        json_t *offsets = LWP_JSON_LIST(f, layout->field_count, loop->uses[f] ? lwp_json_count(layout->fields[f].offset) : NULL);
        json_t *names = LWP_JSON_LIST(f, layout->field_count, loop->uses[f] ? lwp_json_text(layout->fields[f].name) : NULL);
        json_array_append_new(loops, json_use(tables, loop->region, loop->weight.weight, loop->stride, offsets, names, loop->accesses));
    }
    return loops;
}

/* Objects without a structure still say where they are used. */
static json_t *json_plain_loops(struct lwp_json_tables *tables, uint32_t index)
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
            loops, json_use(tables, rows[i].region, rows[i].weight, rows[i].stride, json_array(), json_array(), rows[i].accesses));
    return loops;
}

/* Where people would look for the allocation: past libraries and allocation wrappers. */
static json_t *json_site(struct lwp_profile *profile, const struct lwp_object *object)
{
    struct lwp_frame frame;
    uint32_t node;
    if (!object->context || !lwp_objects_site(profile, object->context, &frame, &node))
        return json_null();
    return lwp_json_frame(&frame, profile->contexts[node].module, profile->contexts[node].address);
}

/* Where the type is declared: what is to be changed. Of a container's node that is what the program keeps in it. */
static json_t *json_declared(const struct lwp_object *object)
{
    const struct lwp_type *type = object->type && object->type->payload ? object->type->payload : object->type;
    if (!type || !type->file || !type->line)
        return json_null();
    return json_pack("{s:o,s:i}", "file", lwp_json_text(type->file), "line", (int)type->line);
}

/* Fields by address and by code. */
static json_t *json_agreement(const struct lwp_object *object)
{
    const struct lwp_agreement *agreement = &object->agreement;
    return lwp_json_new("share", agreement->compared > 0 ? lwp_json_share(agreement->agree / agreement->compared) : json_null(), "compared",
                        lwp_json_share(agreement->looked_at > 0 ? fmin(1, agreement->compared / agreement->looked_at) : 0), NULL);
}

/* Without headers and what lies between elements. */
static uint64_t json_bytes(const struct lwp_object *object)
{
    bool padded = object->element_bytes && (object->element_start || lwp_element_spacing(object) > object->element_bytes);
    return padded ? lwp_element_count(object) * object->element_bytes : object->bytes;
}

/* Data-centric attribution (Liu): where its data was. */
static json_t *json_memory(const struct lwp_profile *profile, uint32_t index)
{
    static const char *const names[LWP_MEMORY_PLACES] = {"L1", "L2", "L3", "memory", "other"};
    const struct lwp_object_memory memory = lwp_object_memory(profile, index);
    const double accesses = fmax(1, (double)memory.accesses), cycles = (double)(memory.cycles + memory.walk_cycles);
    if (memory.from == LWP_MEMORY_UNKNOWN)
        return json_null();
    json_t *levels = json_object();
    for (unsigned i = 0; i < LWP_MEMORY_PLACES; i++)
        json_object_set_new(levels, names[i], lwp_json_share((double)memory.at[i] / accesses));
    bool model = memory.from == LWP_MEMORY_MODEL;
    return lwp_json_new("from", json_string(model ? "model" : "hardware"), "accesses", lwp_json_count(memory.accesses), "cycles",
                        lwp_json_count(memory.cycles + memory.walk_cycles), "levels", levels, "walks",
                        memory.translated ? lwp_json_share((double)memory.walks / (double)memory.translated) : json_null(), "walk_share",
                        model && cycles > 0 ? lwp_json_share((double)memory.walk_cycles / cycles) : json_null(), "remote",
                        memory.nodes_known ? lwp_json_share((double)memory.remote / accesses) : json_null(), "modified",
                        model ? json_null() : lwp_json_share((double)memory.modified / accesses), NULL);
}

/* The address-centric view: which part of the block or variable each thread uses. */
static json_t *json_object_threads(const struct lwp_profile *profile, uint32_t index)
{
    enum { THREADS_LISTED = 64 };
    static const double worth = 0.01;
    const struct lwp_object *object = &profile->objects[index];
    size_t count;
    const struct lwp_object_use *uses = lwp_object_uses_of(&profile->uses, index, &count);
    json_t *list = json_array();
    if (object->weight.weight < worth * profile->total.weight && (double)object->accesses < worth * (double)profile->samples_with_address)
        return list;
    for (size_t i = 0; i < count && i < THREADS_LISTED; i++)
        if (uses[i].accesses)
            json_array_append_new(list, lwp_json_new("tid", json_integer(uses[i].tid), "accesses", lwp_json_count(uses[i].accesses),
                                                     "first_s", lwp_json_real((double)uses[i].first_ns / 1e9), "bin_bytes",
                                                     lwp_json_count((uint64_t)1 << uses[i].shift), "bins",
                                                     LWP_JSON_LIST(k, LWP_OBJECT_BINS, lwp_json_count(uses[i].bins[k])), NULL));
    return list;
}

static json_t *json_one_object(struct lwp_json_tables *tables, uint32_t index)
{
    static const char *const kinds[] = {"heap", "static", "stack", "mmap", "unknown"};
    struct lwp_profile *profile = tables->profile;
    const struct lwp_object *object = &profile->objects[index];
    const struct lwp_layout *layout = tables->answers->splits.of_object[index];
    const struct lwp_share share = lwp_share_of(&object->weight, &profile->total);
    json_t *context = lwp_json_context(tables, object->context), *common = lwp_json_context(tables, object->common);
    return lwp_json_new("kind", json_string(kinds[object->kind]), "name", lwp_json_text(lwp_objects_name(profile, index)), "type",
                        lwp_json_text(object->type ? object->type->name : NULL), "declared", json_declared(object), "bytes",
                        lwp_json_known(json_bytes(object)), "allocated_bytes", lwp_json_known(object->bytes), "element_bytes",
                        lwp_json_known(object->element_bytes), "element_probability",
                        object->element_bytes ? lwp_json_share(object->element_probability) : json_null(), "element_start",
                        object->start_open ? json_null() : lwp_json_count(object->element_start), "element_spacing",
                        lwp_json_known(lwp_element_spacing(object)), "agreement", json_agreement(object), "fields_unknown",
                        lwp_json_text(object->fields_unknown), "elements", lwp_json_known(lwp_element_count(object)), "used_bytes",
                        lwp_json_known(object->element_reach ? lwp_element_used(object) : 0), "allocations",
                        lwp_json_known(object->allocations), "context", context, "common_context", common, "site",
                        json_site(profile, object), "module", lwp_json_id(object->module), "share", lwp_json_share(share.value), "share_ci",
                        lwp_json_interval(&share), "stall_share", lwp_json_share(lwp_share_of(&object->weight, &profile->stalled).value),
                        "time_share", lwp_json_share(fmin(1, object->time_weight / fmax(1, profile->total.weight))), "samples",
                        lwp_json_count(object->weight.samples), "accesses", lwp_json_count(object->accesses), "loads",
                        lwp_json_count(object->loads), "stores", lwp_json_count(object->stores), "memory", json_memory(profile, index),
                        "threads", json_object_threads(profile, index), "single", json_boolean(object->single), "fields",
                        LWP_JSON_LIST(f, layout ? layout->field_count : 0, json_field(profile, layout, &layout->fields[f])), "loops",
                        layout ? json_object_loops(tables, layout) : json_plain_loops(tables, index), NULL);
}

struct json_heat {
    double weight;
    uint64_t accesses, key;
    uint32_t object;
};

static int json_heat_compare(const void *a, const void *b)
{
    const struct json_heat *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->accesses != y->accesses)
        return x->accesses < y->accesses ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

static struct json_heat json_heat(const struct lwp_profile *profile, size_t i)
{
    const struct lwp_object *object = &profile->objects[i];
    return (struct json_heat){object->weight.weight, object->accesses, object->key, (uint32_t)i};
}

/* The last of the OBJECTS_LISTED hottest, or of all. There are too many to sort them: whenever twice as many are
 * gathered, the cooler half goes. */
static struct json_heat json_last_listed(const struct lwp_profile *profile)
{
    struct json_heat hottest[2 * OBJECTS_LISTED] = {{.weight = 0}};
    size_t count = 0;
    bool full = false;
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct json_heat heat = json_heat(profile, i);
        if (!profile->objects[i].accessed || (full && json_heat_compare(&heat, &hottest[OBJECTS_LISTED - 1]) > 0))
            continue;
        hottest[count++] = heat;
        if (count < 2 * OBJECTS_LISTED)
            continue;
        qsort(hottest, count, sizeof *hottest, json_heat_compare);
        count = OBJECTS_LISTED;
        full = true;
    }
    qsort(hottest, count, sizeof *hottest, json_heat_compare);
    if (count > OBJECTS_LISTED)
        count = OBJECTS_LISTED;
    return hottest[count ? count - 1 : 0];
}

/* Those that advice is about are listed whatever their share. */
static bool *json_needed(struct lwp_json_tables *tables)
{
    const struct lwp_splits *splits = &tables->answers->splits;
    const struct lwp_regroup_candidates *candidates = &tables->answers->regroups.candidates;
    bool *needed = lwp_arena_alloc(tables->profile->arena, tables->profile->object_count + 1, sizeof *needed);
    for (size_t s = 0; s < splits->count; s++)
        for (size_t k = 0; k < splits->splits[s].layout->object_count; k++)
            needed[splits->splits[s].layout->objects[k]] = true;
    for (size_t c = 0; c < candidates->count; c++)
        needed[candidates->arrays[c].object] = true;
    for (size_t i = 0; i < tables->answers->reasons.count; i++)
        needed[tables->answers->reasons.items[i].object] = true;
    const struct lwp_redundancies *redundancies = &tables->answers->redundancies;
    for (size_t i = 0; i < redundancies->count && tables->profile->watchpoints.exact; i++) {
        const uint32_t object = redundancies->items[i].pair->object;
        if (object != LWP_NONE && tables->profile->objects[object].kind != LWP_OBJECT_UNKNOWN)
            needed[object] = true;
    }
    return needed;
}

json_t *lwp_json_objects(struct lwp_json_tables *tables)
{
    struct lwp_profile *profile = tables->profile;
    json_t *objects = json_array();
    const struct json_heat last = json_last_listed(profile);
    struct json_heat *order = NULL;
    size_t count = 0, room = 0;
    const bool *needed = json_needed(tables);
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct json_heat heat = json_heat(profile, i);
        if (profile->objects[i].accessed && (needed[i] || json_heat_compare(&heat, &last) <= 0)) {
            LWP_GROW(&order, count, &room);
            order[count++] = heat;
        }
    }
    if (count)
        qsort(order, count, sizeof *order, json_heat_compare);
    for (size_t i = 0; i < count; i++) {
        const uint32_t index = order[i].object;
        struct lwp_object *object = &profile->objects[index];
        bool hot = i < OBJECTS_LISTED && object->weight.weight >= lwp_json_share_listed * profile->total.weight;
        bool structured = i < OBJECTS_LISTED / 4 && object->element_bytes;
        if (!needed[index] && !hot && !structured)
            continue;
        object->reported = (uint32_t)json_array_size(objects);
        json_array_append_new(objects, json_one_object(tables, index));
    }
    free(order);
    return objects;
}
