/* Arenas, slabs and pools: objects carved out of larger blocks, of one type or of several.
 *
 * In: a block whose elements the addresses do not tell, and what the code says of its accesses. Each structure that pointers lead to
 * becomes an object of its own, with the streams that access it: an element begins where the address is, less its place by code.
 * The addresses are the second witness. Elements that follow each other lie on a lattice, in the block or in each page of it; where
 * types take turns they lie on none, and only their alignment can be checked. How many there are is known where nothing else lies
 * among them. What the code says nothing of stays with the block.
 * Limits: structures that are parts of others are placed only where one member is of that type. */
#include "analysis/elements/element_code.h"

#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { PARTS = 8, MANY = 64, STRETCH_LEAST = 4, NEIGHBOURS = 16, OVERLAPS_LEAST = 8, FOLLOWERS_LEAST = 16 };

static const double part_least = 0.01, aligned_least = 0.99, alone_least = 0.99, bytes_most = 0.5;

struct part {
    const struct lwp_type *type;
    const char *variable;
    double accesses;
    struct element_range {
        uint64_t low, high;
    } range; /* of its elements, without the outermost few */
    struct lwp_element_lattice lattice;
    bool aligned;
    bool single; /* one in each block */
    bool overlaps; /* elements begin closer to each other than they are large */
    bool follow;   /* one another, but for the borders of arrays */
    bool lone;     /* one was seen in a block, which is no whole number of them: nobody knows whether there are others, and where */
    uint32_t object;
    struct part_inner { /* what pointers lead to in the bytes that it keeps for a value of any type */
        const struct lwp_type *type;
        uint64_t at;
    } inner[PARTS];
    size_t inner_count;
};

struct parts {
    struct lwp_profile *profile;
    uint32_t index;
    const struct lwp_element_code *code;
    struct part items[PARTS];
    size_t count;
    const struct lwp_type *inside[PARTS]; /* not listed: parts of others */
    size_t inside_count;
    double accesses; /* of all of them */
};

static int parts_by_accesses(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->accesses < y->accesses) - (x->accesses > y->accesses);
}

/* Where in `outer` a value of `inner` is: the only place, else false. One of a type that only looks like a member's (the atomic
 * counter of a lock in shared memory, a number of tuples there) is none. */
static bool parts_member(const struct lwp_type *outer, const struct lwp_type *inner, uint64_t *at)
{
    int found = 0;
    for (uint32_t i = 0; i < outer->field_count && found < 2; i++)
        if (outer != inner && inner->bytes < outer->bytes && lwp_types_contain(outer, outer->fields[i].offset, inner)) {
            *at = outer->fields[i].offset;
            found++;
        }
    return found == 1;
}

static bool parts_holds(const struct lwp_type *outer, const struct lwp_type *inner)
{
    for (uint32_t i = 0; i < outer->field_count && inner->bytes < outer->bytes; i++)
        if (lwp_types_hold(outer, outer->fields[i].offset, inner))
            return true;
    return false;
}

static void parts_collect(struct parts *parts)
{
    for (size_t i = 0; i < parts->code->count; i++) {
        const struct lwp_element_spoken *spoken = &parts->code->items[i];
        const struct lwp_type *type = spoken->place.type;
        size_t at = 0;
        if (type->kind != LWP_TYPE_STRUCT || type->field_count == 0 || spoken->place.beside)
            continue;
        while (at < parts->count && !lwp_element_same_type(parts->items[at].type, type))
            at++;
        if (at == PARTS)
            continue;
        if (at == parts->count)
            parts->items[parts->count++] = (struct part){.type = type, .variable = spoken->place.variable};
        parts->items[at].accesses += (double)spoken->stream->accesses;
    }
}

/* Without what is a part of another one, or was hardly seen. */
static void parts_choose(struct parts *parts)
{
    bool inside[PARTS] = {false};
    size_t kept = 0;
    for (size_t i = 0; i < parts->count; i++)
        for (size_t k = 0; k < parts->count; k++)
            inside[i] |= k != i && parts->items[k].accesses >= part_least * parts->code->accesses &&
                         parts->items[k].type->bytes > parts->items[i].type->bytes &&
                         parts_holds(parts->items[k].type, parts->items[i].type);
    for (size_t i = 0; i < parts->count; i++)
        if (inside[i])
            parts->inside[parts->inside_count++] = parts->items[i].type;
    for (size_t i = 0; i < parts->count; i++)
        if (!inside[i] && parts->items[i].accesses >= part_least * parts->code->accesses)
            parts->items[kept++] = parts->items[i];
    parts->count = kept;
    qsort(parts->items, parts->count, sizeof *parts->items, parts_by_accesses);
    for (size_t i = 0; i < parts->count; i++)
        parts->accesses += parts->items[i].accesses;
}

/* Whether elements of one block begin closer to each other than they are large: of a union, say, only the part that is used was allocated.
 * `bases` in order. */
static bool parts_overlap(const struct lwp_object *whole, const struct lwp_type *type, const struct lwp_element_base *bases, size_t count)
{
    size_t closer = 0, apart = 0;
    for (size_t i = 1; i < count; i++) {
        const uint64_t distance = bases[i].at - bases[i - 1].at;
        closer += distance && distance < type->bytes;
        apart += distance >= type->bytes;
    }
    return whole->bytes == whole->largest && closer >= OVERLAPS_LEAST && closer > apart;
}

/* Whether most elements of one block are a whole number of elements from the one before: several arrays have few borders, and values in the
 * nodes of a container are further apart. `bases` in order. */
static bool parts_follow(const struct lwp_object *whole, const struct lwp_type *type, const struct lwp_element_base *bases, size_t count)
{
    const double most = 0.75;
    size_t multiples = 0, pairs = 0;
    for (size_t i = 1; i < count; i++) {
        const uint64_t distance = bases[i].at - bases[i - 1].at;
        pairs += distance > 0;
        multiples += distance && distance % type->bytes == 0;
    }
    return whole->bytes != whole->largest || pairs < FOLLOWERS_LEAST || (double)multiples >= most * (double)pairs;
}

/* What the addresses say of where the code puts them. */
static void parts_witness(const struct parts *parts, struct part *part)
{
    const struct lwp_object *whole = &parts->profile->objects[parts->index];
    uint64_t alignment = part->type->alignment ? part->type->alignment : 1, limit = whole->pool_size ? whole->pool_size : whole->largest;
    size_t count;
    struct lwp_element_base *bases = lwp_element_code_bases(parts->code, part->type, &count);
    double all = 0, good = 0;
    if (!count)
        return;
    qsort(bases, count, sizeof *bases, lwp_by_first);
    for (size_t i = 0; i < count; i++) {
        all += bases[i].weight;
        good += bases[i].at % alignment == 0 && (!limit || bases[i].at < limit) ? bases[i].weight : 0;
    }
    part->aligned = good >= aligned_least * all;
    part->overlaps = parts_overlap(whole, part->type, bases, count);
    part->follow = parts_follow(whole, part->type, bases, count);
    part->range = (struct element_range){bases[count / 50].at, bases[count - 1 - count / 50].at + part->type->bytes};
    free(bases);
    bool one_place = part->range.high - part->range.low == part->type->bytes;
    part->single = one_place && (whole->largest < MANY * part->type->bytes || (whole->pool_size && whole->allocations >= MANY));
    part->lone = one_place && !part->single && (limit - part->range.low) % part->type->bytes;
    part->lattice = lwp_element_code_lattice(parts->code, part->type, part->single && whole->pool_size ? whole->pool_size : 0);
    if (!part->single && part->lattice.spacing == part->type->bytes)
        lwp_element_code_between(parts->profile, parts->index, parts->code, part->type, &part->lattice);
}

/* A list's node has bytes for the program's type, which DWARF does not tell: the addresses of both say where in it a value is. */
static void parts_place_inside(const struct parts *parts, struct part *part)
{
    const struct lwp_element_lattice *own = &part->lattice;
    for (size_t i = 0; i < parts->inside_count && own->share >= LWP_ELEMENT_LATTICE_SURE && !own->page; i++) {
        const struct lwp_type *type = parts->inside[i];
        uint64_t at;
        if (parts_member(part->type, type, &at))
            continue;
        struct lwp_element_lattice lattice = lwp_element_code_lattice(parts->code, type, own->spacing);
        at = (lattice.start + own->spacing - own->start) % own->spacing;
        if (lattice.share >= LWP_ELEMENT_LATTICE_SURE && at + type->bytes <= part->type->bytes && lwp_types_hold(part->type, at, type))
            part->inner[part->inner_count++] = (struct part_inner){type, at};
    }
}

/* What is known of memory that nobody was seen allocating (a heap, from outside) is that it is there: there are blocks in it. */
static bool parts_one_block(const struct lwp_object *whole)
{
    return whole->allocations <= 1 && !(whole->kind == LWP_OBJECT_HEAP && whole->context == 0);
}

/* Whether the addresses contradict the code: elements on one lattice that overlap in part cannot be two, and one cannot begin in two
 * places. Of several blocks each may have its own type. */
static bool parts_contradict(const struct parts *parts, const struct part *a, const struct part *b)
{
    const struct lwp_object *whole = &parts->profile->objects[parts->index];
    const struct lwp_element_lattice *x = &a->lattice, *y = &b->lattice;
    if (x->share < LWP_ELEMENT_LATTICE_GOOD || y->share < LWP_ELEMENT_LATTICE_GOOD || x->spacing != y->spacing || x->page != y->page ||
        a->range.low >= b->range.high || b->range.low >= a->range.high)
        return false;
    uint64_t apart = (y->start + y->spacing - x->start) % y->spacing;
    bool overlap = apart < a->type->bytes || y->spacing - apart < b->type->bytes;
    if (lwp_types_hold(a->type, apart, b->type) || lwp_types_hold(b->type, (y->spacing - apart) % y->spacing, a->type))
        return false;
    return overlap && (apart || parts_one_block(whole));
}

static bool parts_contradicted(const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        for (size_t k = 0; k < i; k++)
            if (parts_contradict(parts, &parts->items[i], &parts->items[k])) {
                parts->profile->objects[parts->index].fields_unknown =
                    lwp_arena_printf(parts->profile->arena,
                                     "pointers to %s and to %s lead to the same elements, so for one of them the code and the addresses "
                                     "disagree",
                                     parts->items[k].type->name, parts->items[i].type->name);
                return true;
            }
    return false;
}

/* Whether no other part has elements among those of this one. */
static bool parts_is_alone(const struct parts *parts, const struct part *part)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *other = &parts->items[i];
        if (other != part && other->range.low < part->range.high && part->range.low < other->range.high)
            return false;
    }
    return true;
}

struct part_point {
    uint64_t at;
    const struct part *of;
};

/* Bytes of the stretches of memory in which nothing but elements of this part was seen, where many were in each; 0: types take turns too
 * often. Of n drawn from a stretch the outermost two are (n - 1) / (n + 1) of it apart, in the mean. (A sample draws a few neighbours at
 * once: they are one.) */
static uint64_t parts_stretches(const struct parts *parts, const struct part *part)
{
    struct part_point *points = NULL;
    size_t count = 0, room = 0, stretches = 0, seen = 0, drawn = 0;
    uint64_t first = 0, last = 0;
    double bytes = 0;
    for (size_t i = 0; i < parts->count; i++) {
        size_t bases_count;
        struct lwp_element_base *bases = lwp_element_code_bases(parts->code, parts->items[i].type, &bases_count);
        for (size_t k = 0; k < bases_count; k++)
            LWP_APPEND(&points, &count, &room, (struct part_point){bases[k].at, &parts->items[i]});
        free(bases);
    }
    LWP_SORT(points, count, lwp_by_first);
    for (size_t i = 0; i < count; i++) {
        if (points[i].of != part)
            continue;
        if (i == 0 || points[i - 1].of != part) {
            first = last = points[i].at;
            drawn = 1;
        } else if (points[i].at - last > NEIGHBOURS * part->type->bytes) {
            last = points[i].at;
            drawn++;
        }
        if (i + 1 < count && points[i + 1].of == part)
            continue;
        const double n = (double)drawn;
        bytes += (double)part->type->bytes + (n > 1 ? (double)(last - first) * (n + 1) / (n - 1) : 0);
        seen += drawn;
        stretches++;
    }
    free(points);
    return stretches && seen >= STRETCH_LEAST * stretches ? (uint64_t)bytes : 0;
}

/* Offsets as if the elements followed each other from the first one on: what their fields are judged by. */
static void parts_place(struct lwp_stream *stream, uint64_t at, const struct lwp_object *object)
{
    struct lwp_offsets *offsets = &stream->offsets;
    uint64_t start = object->element_start, spacing = lwp_element_spacing(object);
    uint32_t kept = 0, fair = 0;
    for (uint32_t i = 0; i < offsets->count; i++) {
        if (offsets->items[i] < start + at)
            continue;
        fair += i < offsets->fair;
        offsets->items[kept++] = start + (offsets->items[i] - start - at) / spacing * spacing + at;
    }
    offsets->count = kept;
    offsets->fair = fair;
    uint64_t room[LWP_RESERVOIR];
    stream->stride = lwp_stride_estimate(room, lwp_streams_offsets(stream, room, LWP_RESERVOIR));
}

/* Where in an element of the part a stream's code says that it is: in a value of its type, in what is a part of that in one place only,
 * or in the element around such a part (container_of). */
static bool parts_says(const struct part *part, const struct lwp_element_spoken *spoken, uint64_t *at)
{
    const struct lwp_code_place *place = &spoken->place;
    const bool same = lwp_element_same_type(place->type, part->type);
    uint64_t member = 0;
    bool known = same || (place->type->kind == LWP_TYPE_STRUCT && parts_member(part->type, place->type, &member));
    for (size_t i = 0; i < part->inner_count && !known; i++) {
        known = lwp_element_same_type(place->type, part->inner[i].type);
        member = part->inner[i].at;
    }
    if (!known)
        return false;
    *at = member + (place->beside ? (uint64_t)place->from : place->at);
    return !place->beside || (!same && *at + spoken->stream->bytes <= part->type->bytes);
}

static void parts_move(const struct parts *parts, const struct part *part)
{
    struct lwp_profile *profile = parts->profile;
    for (size_t i = 0; i < parts->code->count; i++) {
        const struct lwp_element_spoken *spoken = &parts->code->items[i];
        uint64_t at;
        if (spoken->stream->object != parts->index || !parts_says(part, spoken, &at))
            continue;
        struct lwp_stream *stream = &profile->streams[spoken->stream - profile->streams];
        lwp_stream_move(profile, stream, part->object);
        parts_place(stream, at, &profile->objects[part->object]);
    }
}

static void parts_make(struct parts *parts, struct part *part)
{
    struct lwp_profile *profile = parts->profile;
    const bool on_lattice = !part->lone && part->lattice.share >= LWP_ELEMENT_LATTICE_SURE;
    part->object = lwp_objects_part(profile, parts->index, part->type);
    const struct lwp_object *whole = &profile->objects[parts->index];
    struct lwp_object *object = &profile->objects[part->object];
    uint64_t bytes = part->type->bytes, spacing = on_lattice && !part->lattice.page ? part->lattice.spacing : bytes;
    object->variable = part->variable && *part->variable ? part->variable : NULL;
    object->element_bytes = bytes;
    object->element_probability = 1;
    object->single = part->single;
    object->element_start = on_lattice ? part->lattice.start : 0;
    object->start_open = !on_lattice;
    object->pool_size = part->single ? bytes + object->element_start : 0;
    object->element_spacing = part->single ? bytes : spacing;
    object->around = part->single && whole->pool_size > object->pool_size ? whole->pool_size - object->pool_size : 0;
    object->agreement.looked_at = part->accesses;
    object->agreement.compared = on_lattice ? part->accesses : 0;
    object->agreement.agree = on_lattice ? part->lattice.share * part->accesses : 0;
    object->allocations = whole->allocations;
    object->largest = whole->largest;
    if (part->overlaps && !on_lattice)
        object->fields_unknown =
            lwp_arena_printf(profile->arena,
                             "most of its elements begin closer to each other than the %llu bytes of %s, so that they are "
                             "allocated in part, and how much of each is not known",
                             (unsigned long long)bytes, part->type->name);
    else if (!part->follow && !on_lattice && parts_is_alone(parts, part))
        object->fields_unknown =
            lwp_arena_printf(profile->arena, "its elements do not follow each other in the block that they lie in, and what is between "
                                             "them is not known");
    /* All of one block where nothing else is seen in it; of several, where no other type is. */
    if (part->accesses >= alone_least * (whole->bytes == whole->largest ? parts->code->accesses : parts->accesses))
        object->bytes = !part->single ? whole->bytes : whole->pool_size ? whole->bytes / whole->pool_size * object->pool_size : 0;
    else if (whole->bytes == whole->largest)
        object->bytes = object->largest = parts_is_alone(parts, part) ? part->range.high - part->range.low : parts_stretches(parts, part);
    parts_move(parts, part);
    double share =
        whole->weight.weight + object->weight.weight > 0 ? object->weight.weight / (whole->weight.weight + object->weight.weight) : 0;
    object->time_weight = share * whole->time_weight;
    profile->objects[parts->index].time_weight -= object->time_weight;
}

/* What the accesses are to that stay with the block, and where most of them are. */
static const char *parts_rest(const struct parts *parts)
{
    struct lwp_profile *profile = parts->profile;
    const struct lwp_stream *most = NULL;
    double all = 0, bytes = 0;
    LWP_STREAMS_OF(profile, parts->index, stream) {
        struct lwp_code_place place;
        if (stream->object != parts->index || !stream->accesses)
            continue;
        all += (double)stream->accesses;
        if (lwp_element_copies(profile, stream) ||
            (profile->code && stream->module != LWP_NONE && lwp_types_place(profile->code, stream->module, stream->address, &place) &&
             place.type->bytes == 1))
            bytes += (double)stream->accesses;
        if (!most || stream->accesses > most->accesses)
            most = stream;
    }
    if (!most)
        return "";
    if (bytes < bytes_most * all)
        return lwp_arena_printf(profile->arena, "; what the other accesses to it are to is not known (the most frequent: %s)",
                                lwp_element_where(profile, most));
    return lwp_arena_printf(
        profile->arena,
        "; %.0f %% of the other accesses to it copy memory or go through pointers to bytes, which have no fields (the most "
        "frequent: %s)",
        100 * bytes / all, lwp_element_where(profile, most));
}

static const char *parts_reason(const struct parts *parts, bool several)
{
    const char *list = "";
    for (size_t i = 0; i < parts->count; i++)
        list = lwp_arena_printf(parts->profile->arena, "%s%s%s", list, i ? ", " : "", parts->items[i].type->name);
    return lwp_arena_printf(parts->profile->arena,
                            several ? "it holds several arrays: those of %s are listed by themselves%s"
                                    : "elements of %s are carved out of it, and are listed by themselves%s",
                            list, parts_rest(parts));
}

bool lwp_element_parts_carve(struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code)
{
    struct lwp_object *object = &profile->objects[index];
    struct parts parts = {.profile = profile, .index = index, .code = code};
    bool buffer = object->kind != LWP_OBJECT_STATIC || (object->type && object->type->bytes == 1);
    if ((object->type && object->kind != LWP_OBJECT_STATIC) || !buffer || object->kind == LWP_OBJECT_STACK)
        return false;
    parts_collect(&parts);
    parts_choose(&parts);
    for (size_t i = 0; i < parts.count; i++) {
        parts_witness(&parts, &parts.items[i]);
        if (!parts.items[i].aligned)
            return false;
        parts_place_inside(&parts, &parts.items[i]);
    }
    if (!parts.count || parts_contradicted(&parts))
        return false;
    for (size_t i = 0; i < parts.count; i++)
        parts_make(&parts, &parts.items[i]);
    object = &profile->objects[index];
    object->element_bytes = object->element_spacing = object->element_start = 0;
    object->element_probability = 0;
    object->fields_unknown = parts_reason(&parts, object->several);
    object->single = object->several = false;
    object->agreement = (struct lwp_agreement){.looked_at = fmax(0, code->accesses - parts.accesses)};
    return true;
}
