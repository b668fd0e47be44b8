/* Fields of a structure and the fields each loop uses (LWPTool eq. 6).
 *
 * In: objects with element size and type, their streams. Out: fields (by name from DWARF, or the ranges of offsets that were
 * accessed), and for each source loop its cost, its set of fields and how it visits elements. A loop uses a field when any access
 * there was seen, with or without cost. The cost of a stall goes to the first toucher of a cache line, so the cost a field gets for
 * affinity is its even share of each loop that uses it; what was observed is kept beside it.
 * Limits: a vector access counts for every field it spans, even when the program drops some of the bytes. */
#include "analysis/advice/placement/layout.h"

#include "analysis/advice/placement/found.h"
#include "analysis/elements/element_count.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "analysis/statistics/stride.h"
#include "analysis/tables/engines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN_MOST = 1 << 16 }; /* bytes */

static const double matters_least = 0.05; /* of the cost: what copies elements now and then hides nothing */

static const double residue_counts = 0.08; /* rarer offsets of a stream are strays */

struct layout_range {
    uint64_t start, end;
};

static struct lwp_layout_field *layout_add(struct lwp_layout *layout)
{
    return layout->field_count < LWP_FIELDS_MAX ? &layout->fields[layout->field_count++] : NULL;
}

/* "unsigned state : 5". */
static bool layout_is_bits(const char *declaration)
{
    const char *colon = strrchr(declaration, ':');
    return colon && colon > declaration && colon[-1] == ' ' && colon[1] == ' ' && colon[2] &&
           colon[2 + strspn(colon + 2, "0123456789")] == '\0';
}

/* Bit fields of one storage unit, which the compiler packs by rules of its own. */
static bool layout_same_unit(const struct lwp_layout_field *last, const struct lwp_field *member)
{
    uint64_t unit = member->alignment ? member->alignment : 1;
    return last->bits && last->alignment == unit && last->offset / unit == member->offset / unit;
}

/* What a structure consists of; of a member that holds all of it (std::optional's payload), what that consists of. */
static struct lwp_parts layout_members(const struct lwp_type *type)
{
    bool wraps = type->field_count == 1 && type->parts && type->parts[0].count > 1;
    return wraps ? type->parts[0] : (struct lwp_parts){type->fields, type->field_count};
}

/* Bit fields and members of anonymous unions share bytes: they move together, so they are one field here. */
static bool layout_from_type(struct lwp_profile *profile, struct lwp_layout *layout)
{
    const struct lwp_parts members = layout_members(layout->type);
    for (uint32_t i = 0; i < members.count; i++) {
        const struct lwp_field *member = &members.items[i];
        struct lwp_layout_field *last = layout->field_count ? &layout->fields[layout->field_count - 1] : NULL;
        bool flexible = member->bytes == 0 && i + 1 == members.count; /* an array up to the block's end */
        if ((member->bytes == 0 && !flexible) || member->offset >= layout->element_bytes)
            continue;
        const char *name = member->name && *member->name ? member->name : "(anonymous)";
        const char *declaration = member->declaration ? member->declaration : name;
        bool bits = layout_is_bits(declaration);
        if (last && (member->offset < last->offset + last->bytes || (bits && layout_same_unit(last, member)))) {
            uint64_t end = member->offset + member->bytes;
            if (end > last->offset + last->bytes)
                last->bytes = end - last->offset;
            if (member->alignment > last->alignment)
                last->alignment = member->alignment;
            last->name = lwp_arena_printf(profile->arena, bits && last->bits ? "%s, %s" : "%s+%s", last->name, name);
            last->declaration = lwp_arena_printf(profile->arena, "%s; %s", last->declaration, declaration);
            continue;
        }
        struct lwp_layout_field *field = layout_add(layout);
        if (!field)
            return false;
        field->offset = member->offset;
        field->bytes = flexible ? layout->element_bytes - member->offset : member->bytes;
        field->alignment = member->alignment ? member->alignment : 1;
        field->name = name;
        field->declaration = declaration;
        field->bits = bits;
        field->flexible = flexible;
        field->of_library = member->of_library;
    }
    struct lwp_layout_field *last = layout->field_count ? &layout->fields[layout->field_count - 1] : NULL;
    if (last && last->offset + last->bytes > layout->element_bytes)
        last->bytes = layout->element_bytes - last->offset;
    layout->behind = last && !last->flexible && layout->single && layout->element_bytes > layout->type->bytes
                         ? layout->element_bytes - layout->type->bytes
                         : 0;
    return layout->field_count > 0;
}

static int layout_range_compare(const void *a, const void *b)
{
    const struct layout_range *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : (x->end > y->end) - (x->end < y->end);
}

/* A field without debug info. `unseen`: of bytes that no access was seen to use. */
static void layout_field_by_offset(struct lwp_profile *profile, struct lwp_layout *layout, struct layout_range range, bool unseen)
{
    struct lwp_layout_field *field = layout_add(layout);
    if (!field)
        return;
    uint64_t bytes = range.end - range.start;
    field->offset = range.start;
    field->bytes = bytes;
    field->alignment = bytes <= 8 && (bytes & (bytes - 1)) == 0 && range.start % bytes == 0 ? bytes
                       : range.start % 8 == 0                                               ? 8
                       : range.start % 4 == 0                                               ? 4
                                                                                            : 1;
    field->name = lwp_arena_printf(profile->arena, "%s_%llu", unseen ? "unseen" : "field", (unsigned long long)range.start);
    if (!unseen && bytes <= 8 && (bytes & (bytes - 1)) == 0)
        field->declaration = lwp_arena_printf(profile->arena, "uint%llu_t %s", (unsigned long long)bytes * 8, field->name);
    else
        field->declaration = lwp_arena_printf(profile->arena, "uint8_t %s[%llu]", field->name, (unsigned long long)bytes);
}

/* The places accessed, by accesses that span one field or by those that may span several. */
static size_t layout_ranges(const struct lwp_profile *profile, const struct lwp_layout *layout, bool packed, struct layout_range *ranges,
                            size_t room)
{
    size_t count = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        for (uint32_t i = profile->object_streams[layout->objects[k]]; i != LWP_NONE && count < room;
             i = profile->streams[i].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[i];
            uint64_t residue;
            if (lwp_objects_library_code(profile, stream->module) || stream->bytes == 0 || stream->accesses * 500 < layout->accesses ||
                lwp_element_packed(profile, stream) != packed || lwp_element_stream_place(profile, stream, &residue) < 0.5)
                continue;
            uint64_t end = residue + stream->bytes;
            ranges[count++] = (struct layout_range){residue, end < layout->element_bytes ? end : layout->element_bytes};
        }
    qsort(ranges, count, sizeof *ranges, layout_range_compare);
    size_t merged = 0;
    for (size_t i = 0; i < count; i++)
        if (merged && ranges[i].start < ranges[merged - 1].end)
            ranges[merged - 1].end = ranges[i].end > ranges[merged - 1].end ? ranges[i].end : ranges[merged - 1].end;
        else
            ranges[merged++] = ranges[i];
    return merged;
}

/* What no access of one field shows: touched by wider ones, or not at all. */
static void layout_gap(struct lwp_profile *profile, struct lwp_layout *layout, struct layout_range gap, const struct layout_range *packed,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t start = packed[i].start > gap.start ? packed[i].start : gap.start;
        uint64_t end = packed[i].end < gap.end ? packed[i].end : gap.end;
        if (start >= end)
            continue;
        if (start > gap.start)
            layout_field_by_offset(profile, layout, (struct layout_range){gap.start, start}, true);
        layout_field_by_offset(profile, layout, (struct layout_range){start, end}, false);
        gap.start = end;
    }
    if (gap.start < gap.end)
        layout_field_by_offset(profile, layout, gap, true);
}

static bool layout_from_offsets(struct lwp_profile *profile, struct lwp_layout *layout)
{
    enum { ROOM = LWP_FIELDS_MAX * 4 };
    struct layout_range narrow[ROOM], packed[ROOM];
    size_t count = layout_ranges(profile, layout, false, narrow, ROOM);
    size_t packed_count = layout_ranges(profile, layout, true, packed, ROOM);
    uint64_t at = 0;
    if (!count && !packed_count)
        return false;
    for (size_t i = 0; i < count; i++) {
        layout_gap(profile, layout, (struct layout_range){at, narrow[i].start}, packed, packed_count);
        layout_field_by_offset(profile, layout, narrow[i], false);
        at = narrow[i].end;
    }
    layout_gap(profile, layout, (struct layout_range){at, layout->element_bytes}, packed, packed_count);
    return layout->field_count < LWP_FIELDS_MAX;
}

static struct lwp_layout_loop *layout_loop(struct lwp_layout *layout, uint32_t region)
{
    for (size_t i = 0; i < layout->loop_count; i++)
        if (layout->loops[i].region == region)
            return &layout->loops[i];
    if (layout->loop_count == LWP_LAYOUT_LOOPS_MAX)
        return NULL;
    layout->loops[layout->loop_count].region = region;
    return &layout->loops[layout->loop_count++];
}

/* Marks the fields under [residue, residue + bytes), going round the element's end for wide accesses. */
static void layout_touch(struct lwp_layout *layout, uint64_t residue, uint64_t bytes, bool *uses)
{
    if (bytes == 0)
        bytes = 1;
    for (size_t f = 0; f < layout->field_count; f++) {
        const struct lwp_layout_field *field = &layout->fields[f];
        uint64_t end = field->offset + field->bytes;
        if ((residue < end && residue + bytes > field->offset) || residue + bytes > layout->element_bytes + field->offset)
            uses[f] = true;
    }
}

/* What else the loop touches of the same element, from its code: fields too rare in few samples to be seen. With many
 * fair samples of this access a neighbour that runs as often would have been seen; then it is a rare branch. */
static void layout_siblings(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_stream *stream, bool *uses)
{
    enum { SIBLINGS = 64, FAIR_MANY = 20 };
    struct lwp_sibling siblings[SIBLINGS];
    uint64_t residue;
    if (stream->module == LWP_NONE || stream->fair_seen >= FAIR_MANY || stream->vector ||
        lwp_element_stream_place(profile, stream, &residue) < 0.8)
        return;
    const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, stream->module, stream->address);
    size_t count = lwp_code_siblings(profile->code, stream->module, stream->address, siblings, SIBLINGS);
    for (size_t i = 0; i < count && i < SIBLINGS; i++) {
        const uint64_t at = lwp_stride_residue((int64_t)residue + siblings[i].delta, layout->spacing);
        if (place && siblings[i].loop == place->loop && at < layout->element_bytes)
            layout_touch(layout, at, siblings[i].bytes, uses);
    }
}

/* Of the fields under a vector, those that the loop needs, as its remainder loop shows; false: it does not. */
static bool layout_needed(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_stream *stream, bool *uses, size_t *used)
{
    enum { USES = 64 };
    struct lwp_remainder_use needed[USES];
    bool kept[LWP_FIELDS_MAX] = {false};
    size_t left = 0;
    if (!layout->type || stream->module == LWP_NONE || stream->region == LWP_NONE ||
        layout->weight.weight < 0.01 * profile->total.weight) /* costs time */
        return false;
    const struct lwp_region *region = &profile->regions[stream->region];
    const struct lwp_vector_loop loop = {stream->module, stream->address, region->file, region->first_line, region->last_line};
    size_t count = region->is_function ? 0 : lwp_remainder_uses(profile->code, &loop, layout->type, needed, USES);
    for (size_t i = 0; i < count; i++)
        layout_touch(layout, needed[i].offset, needed[i].bytes, kept);
    for (size_t f = 0; f < layout->field_count; f++) {
        kept[f] &= uses[f];
        left += kept[f];
    }
    if (left) {
        memcpy(uses, kept, layout->field_count * sizeof *uses);
        *used = left;
    }
    return left > 0;
}

/* Accesses that were not chosen for what they cost. */
static uint64_t layout_fair(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    return lwp_engine_row(profile->engine)->exact ? stream->accesses : stream->accesses - stream->weight.samples;
}

/* Whether the instruction in a loop inside is executed nearly as often as this one at least: once for each of its accesses. */
static bool layout_done_each_time(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_stream *stream,
                                  uint64_t address)
{
    static const double nearly = 0.5;
    uint64_t inside = 0, seen = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        LWP_STREAMS_OF(profile, layout->objects[k], other)
            if (other->module == stream->module && other->address == address) {
                inside += layout_fair(profile, other);
                seen += other->accesses;
            }
    return seen && (double)inside >= nearly * (double)layout_fair(profile, stream);
}

/* Where a loop inside this one begins at the element (a row of a sparse matrix, up to a mark behind its end), what that uses of it is on
 * the lines that the first access has brought. */
static void layout_inside(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_stream *stream, bool *uses)
{
    enum { SIBLINGS = 64 };
    struct lwp_sibling siblings[SIBLINGS];
    uint64_t residue;
    if (stream->module == LWP_NONE || stream->vector || stream->weight.weight < 0.01 * profile->total.weight || /* costs time */
        lwp_element_stream_place(profile, stream, &residue) < 0.8)
        return;
    const size_t count = lwp_code_siblings_inside(profile->code, stream->module, stream->address, siblings, SIBLINGS);
    for (size_t i = 0; i < count && i < SIBLINGS; i++) {
        const uint64_t at = lwp_stride_residue((int64_t)residue + siblings[i].delta, layout->spacing);
        if (at < layout->element_bytes && layout_done_each_time(profile, layout, stream, siblings[i].address))
            layout_touch(layout, at, siblings[i].bytes, uses);
    }
}

static size_t layout_field_at(const struct lwp_layout *layout, uint64_t place)
{
    for (size_t f = 0; f < layout->field_count; f++)
        if (place >= layout->fields[f].offset && place - layout->fields[f].offset < layout->fields[f].bytes)
            return f;
    return LWP_FIELDS_MAX;
}

/* A stream that goes over an array in the element keeps to that field, though to no place in it. False: it does not. */
static bool layout_walks_field(struct lwp_layout *layout, const uint64_t *places, size_t count, uint64_t bytes, bool *uses)
{
    static const double keeps_to = 0.8, strays = 0.03;
    size_t found[LWP_FIELDS_MAX] = {0}, most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t f = layout_field_at(layout, places[i]);
        if (f < LWP_FIELDS_MAX && ++found[f] > found[most])
            most = f;
    }
    if (layout->fields[most].bytes <= bytes || (double)found[most] < keeps_to * (double)count)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t f = layout_field_at(layout, places[i]);
        if (f < LWP_FIELDS_MAX && found[f] > 1 && (double)found[f] >= strays * (double)count)
            layout_touch(layout, places[i], bytes, uses);
    }
    return true;
}

/* The C++ library's own code goes from node to node, and never looks at what they keep. */
static bool layout_goes_on(const struct lwp_layout *layout, const uint64_t *offsets, size_t count)
{
    bool links = layout->payload && count;
    for (size_t i = 0; i < count && links; i++)
        links = offsets[i] < layout->type->payload_at;
    return links;
}

static void layout_see(const struct lwp_layout *layout, uint64_t from, uint64_t bytes, bool *seen)
{
    for (uint64_t at = from; at < from + bytes && at < layout->element_bytes; at++)
        seen[at] = true;
}

/* Which fields a stream goes to. */
struct layout_accesses {
    const struct lwp_stream *stream;
    uint64_t offsets[LWP_RESERVOIR]; /* in their elements */
    size_t count;
    bool copies;     /* whole elements: a library's code, which knows no field */
    bool everything; /* ... or it has no place of its own */
    bool uses[LWP_FIELDS_MAX];
    size_t used;
};

static void layout_uses(struct lwp_profile *profile, struct lwp_layout *layout, struct layout_accesses *accesses)
{
    const struct lwp_stream *stream = accesses->stream;
    const uint64_t *offsets = accesses->offsets;
    const size_t count = accesses->count;
    size_t kept = 0;
    accesses->copies = lwp_objects_library_code(profile, stream->module) && !layout_goes_on(layout, offsets, count);
    const bool walks = !accesses->copies && layout_walks_field(layout, offsets, count, stream->bytes, accesses->uses);
    for (size_t i = 0; i < count && !walks; i++) {
        size_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += offsets[j] == offsets[i];
        if (!accesses->copies && count >= 12 && (double)same < residue_counts * (double)count)
            continue;
        kept++;
        layout_touch(layout, offsets[i], stream->bytes, accesses->uses);
    }
    layout_siblings(profile, layout, stream, accesses->uses);
    layout_inside(profile, layout, stream, accesses->uses);
    accesses->everything = accesses->copies || (!walks && kept * 2 < count);
    for (size_t f = 0; f < layout->field_count; f++) {
        accesses->uses[f] |= accesses->everything;
        accesses->used += accesses->uses[f];
    }
}

/* How far from each other the stream's accesses are, in elements. */
static void layout_distances(const struct lwp_layout *layout, const struct lwp_stream *stream, struct lwp_layout_loop *loop)
{
    const uint64_t near_limit = layout->spacing * 128;
    for (int i = 0; i < LWP_DISTANCES && stream->distances; i++) {
        const uint64_t below = (uint64_t)1 << i; /* this bucket holds distances below it and from half of it */
        if (below <= layout->spacing)
            continue; /* the same element says nothing */
        if (below <= near_limit)
            loop->near += stream->distances[i];
        else
            loop->far += stream->distances[i];
    }
}

static void layout_stream(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_stream *stream, bool *seen)
{
    struct layout_accesses accesses = {.stream = stream};
    const double weight = stream->weight.weight;
    for (uint32_t i = 0; i < stream->offsets.count; i++)
        accesses.count += lwp_element_place(&profile->objects[stream->object], stream->offsets.items[i], &accesses.offsets[accesses.count]);
    if (!accesses.count && stream->offsets.count)
        return; /* a header's */
    struct lwp_layout_loop *loop = layout_loop(layout, stream->region);
    if (!loop)
        return;
    layout_uses(profile, layout, &accesses);
    for (size_t i = 0; i < accesses.count && seen && weight >= matters_least * layout->weight.weight; i++)
        layout_see(layout, accesses.everything ? 0 : accesses.offsets[i], accesses.everything ? layout->element_bytes : stream->bytes,
                   seen);
    if (stream->vector && accesses.used > 1 &&
        (accesses.copies || !layout_needed(profile, layout, stream, accesses.uses, &accesses.used))) {
        layout->vague += weight;
        layout->copied += accesses.copies ? weight : 0;
    }
    for (size_t f = 0; f < layout->field_count; f++) {
        loop->uses[f] |= accesses.uses[f];
        layout->fields[f].observed += accesses.uses[f] ? weight / (double)accesses.used : 0;
        layout->fields[f].accesses += accesses.uses[f] ? stream->accesses : 0;
    }
    lwp_tally_merge(&loop->weight, &stream->weight);
    loop->accesses += stream->accesses;
    if (stream->stride.bytes > loop->stride || loop->stride == 0)
        loop->stride = stream->stride.bytes;
    layout_distances(layout, stream, loop);
}

/* NULL: too large to be asked. */
static void layout_seen(struct lwp_layout *layout, const bool *seen)
{
    for (size_t f = 0; f < layout->field_count; f++) {
        struct lwp_layout_field *field = &layout->fields[f];
        for (uint64_t at = field->offset; seen && at < field->offset + field->bytes; at++)
            field->seen += at < layout->element_bytes && seen[at];
        field->seen = seen ? field->seen : field->bytes;
    }
}

/* Of loops that matter: it costs time. */
static void layout_found(struct lwp_profile *profile, struct lwp_layout *layout)
{
    for (size_t i = 0; i < layout->loop_count && profile->code; i++)
        if (layout->loops[i].weight.weight >= 0.01 * profile->total.weight) {
            layout->loops[i].descends = lwp_layout_descends(profile, layout, &layout->loops[i]);
            lwp_layout_found(profile, layout, &layout->loops[i]);
        }
}

static int layout_loop_compare(const void *a, const void *b)
{
    const struct lwp_layout_loop *x = a, *y = b;
    if (x->weight.weight != y->weight.weight)
        return x->weight.weight < y->weight.weight ? 1 : -1;
    return (x->accesses < y->accesses) - (x->accesses > y->accesses);
}

const struct lwp_type *lwp_layout_declared(const struct lwp_layout *layout)
{
    return layout->payload ? layout->payload : layout->type;
}

bool lwp_layout_is_fixed(const struct lwp_layout *layout, const struct lwp_layout_field *field)
{
    const uint64_t start = layout->type ? layout->type->payload_at : 0;
    return layout->container && !(layout->payload && field->offset >= start && field->offset < start + layout->payload->bytes);
}

uint64_t lwp_layout_stays(const struct lwp_layout *layout)
{
    const uint64_t before = layout->single ? layout->spacing - layout->element_bytes : 0;
    return before + layout->around + layout->behind;
}

bool lwp_layout_is_counted(const struct lwp_layout *layout)
{
    return layout->type && lwp_types_counts(layout->type->name);
}

bool lwp_layout_is_table(const struct lwp_layout_field *field)
{
    return strncmp(field->name, "_vptr", 5) == 0;
}

struct lwp_layout *lwp_layout_make(struct lwp_profile *profile, const uint32_t *objects, size_t count)
{
    const struct lwp_object *first = &profile->objects[objects[0]];
    const struct lwp_type *type = first->type;
    if (type && (type->kind != LWP_TYPE_STRUCT || layout_members(type).count < 2))
        return NULL;
    if (first->element_bytes < 2 || first->fields_unknown)
        return NULL;
    struct lwp_layout *layout = lwp_arena_alloc(profile->arena, 1, sizeof *layout);
    layout->objects = objects;
    layout->object_count = count;
    layout->type = type;
    layout->container = lwp_types_container(type);
    layout->payload = layout->container && type->payload && type->payload->owner != LWP_TYPE_OF_SYSTEM ? type->payload : NULL;
    layout->linked = layout->container != NULL;
    layout->element_bytes = first->element_bytes;
    layout->single = first->single;
    layout->around = first->around;
    layout->spacing = first->single ? first->element_start + first->element_bytes : lwp_element_spacing(first);
    layout->fields = lwp_arena_alloc(profile->arena, LWP_FIELDS_MAX, sizeof *layout->fields);
    layout->loops = lwp_arena_alloc(profile->arena, LWP_LAYOUT_LOOPS_MAX, sizeof *layout->loops);
    for (size_t k = 0; k < count; k++) {
        lwp_tally_merge(&layout->weight, &profile->objects[objects[k]].weight);
        layout->accesses += profile->objects[objects[k]].accesses;
        const struct lwp_agreement *agreement = &profile->objects[objects[k]].agreement;
        layout->agreement.looked_at += agreement->looked_at;
        layout->agreement.compared += agreement->compared;
        layout->agreement.agree += agreement->agree;
        if (profile->objects[objects[k]].element_probability > layout->probability)
            layout->probability = profile->objects[objects[k]].element_probability;
    }
    if (!(type ? layout_from_type(profile, layout) : layout_from_offsets(profile, layout)))
        return NULL;
    bool *seen = layout->element_bytes <= SEEN_MOST ? lwp_zeroed(layout->element_bytes, sizeof *seen) : NULL;
    for (size_t k = 0; k < count; k++)
        for (uint32_t i = profile->object_streams[objects[k]]; i != LWP_NONE; i = profile->streams[i].next_of_object)
            layout_stream(profile, layout, &profile->streams[i], seen);
    layout_seen(layout, seen);
    free(seen);
    qsort(layout->loops, layout->loop_count, sizeof *layout->loops, layout_loop_compare);
    layout_found(profile, layout);
    for (size_t i = 0; i < layout->loop_count; i++) {
        struct lwp_layout_loop *loop = &layout->loops[i];
        for (size_t f = 0; f < layout->field_count; f++)
            loop->used += loop->uses[f];
        for (size_t f = 0; f < layout->field_count && loop->used; f++)
            if (loop->uses[f])
                layout->fields[f].weight += loop->weight.weight / loop->used;
    }
    return layout;
}

double lwp_layout_elements(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    double bytes = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        bytes += (double)lwp_element_used(&profile->objects[layout->objects[k]]);
    return fmax(1, bytes / (double)layout->spacing);
}
