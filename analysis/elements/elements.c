/* Element size and type of each object (LWPTool eq. 5 and beyond).
 *
 * In: streams with sampled offsets; types that DWARF offers at the accesses, the allocation, the variable. A type is accepted only
 * when the offsets fit it: every stream must keep to one place of the element, inside a field. Without a type the size is that of
 * the strides (element_size.c), or unknown.
 * Limits: copies by the C library say nothing about sizes. */
#include "analysis/elements/elements.h"

#include "analysis/elements/element_code.h"
#include "analysis/elements/element_count.h"
#include "analysis/elements/element_evidence.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_TRIED = 16 };

static const double fit_needed = 0.9, fit_agreed = 0.7, exact_rules = 0.3, mixed_limit = 0.15;

/* What a block has more than whole elements: a header, or nothing but what it was rounded up to. */
static uint64_t element_remainder(const struct lwp_object *object, uint64_t size)
{
    enum { PAGE = 4096 };
    bool whole = object->kind == LWP_OBJECT_HEAP && object->allocations == 1 && object->bytes == object->largest;
    return whole && object->bytes % PAGE ? object->bytes % size : 0;
}

/* A structure that ends in an array of this type: the rest of it is a header, if a block has one of them only. */
static const struct lwp_element_candidate *element_holder(const struct lwp_element_votes *votes, const struct lwp_element_code *code,
                                                          const struct lwp_type *type)
{
    const struct lwp_element_candidate *holder = NULL;
    for (size_t i = 0; i < votes->count && type->name; i++) {
        const struct lwp_type *outer = votes->candidates[i].type;
        const struct lwp_field *last = outer->field_count ? &outer->fields[outer->field_count - 1] : NULL;
        if (outer != type && last && last->type && last->offset && last->offset + last->bytes <= outer->bytes &&
            (last->bytes == 0 || last->bytes == type->bytes) && strchr(last->type, '[') &&
            strncmp(last->type, type->name, strlen(type->name)) == 0 && (!holder || votes->candidates[i].exact) &&
            !lwp_element_code_several(code, outer))
            holder = &votes->candidates[i];
    }
    return holder;
}

static const struct lwp_field *element_last(const struct lwp_element_candidate *holder)
{
    return &holder->type->fields[holder->type->field_count - 1];
}

/* What is decided from. */
struct element_case {
    const struct lwp_profile *profile;
    uint32_t index;
    const struct lwp_element_votes *votes;
    const struct lwp_element_evidence *evidence;
    const struct lwp_element_code *code;
};

/* Where elements begin, and how far apart. */
struct element_grid {
    uint64_t start, spacing;
    bool said; /* by the code */
};

enum { GRIDS = 3 };

/* Where the elements may begin, best first. Where the code speaks there is one place only: the two witnesses find it together. */
static size_t element_grids(const struct element_case *of, const struct lwp_element_candidate *candidate, bool single,
                            struct element_grid grids[GRIDS])
{
    const struct lwp_object *object = &of->profile->objects[of->index];
    const struct lwp_element_candidate *holder = single ? NULL : element_holder(of->votes, of->code, candidate->type);
    uint64_t block = single ? object->pool_size : 0, bytes = block ? block : candidate->type->bytes;
    uint64_t behind = candidate->table ? of->votes->table_start : holder ? element_last(holder)->offset : 0;
    struct element_grid likely[GRIDS] = {{.start = behind, .spacing = bytes},
                                         {.spacing = bytes},
                                         {.start = single ? 0 : element_remainder(object, bytes), .spacing = bytes}};
    size_t count = single || candidate->table ? 1 : GRIDS;
    memcpy(grids, likely, sizeof likely);
    if (candidate->table)
        return count;
    struct lwp_element_lattice said = lwp_element_code_lattice(of->code, candidate->type, block);
    if (said.share < 0)
        return count;
    if (said.share < LWP_ELEMENT_LATTICE_GOOD || said.page)
        return 0;
    grids[0] = (struct element_grid){said.start, said.spacing, true};
    for (size_t i = 0; i < count; i++)
        if (likely[i].start % said.spacing == said.start) {
            grids[0].start = likely[i].start;
            break;
        }
    return 1;
}

/* Whether a block holds whole elements after the start. */
static bool element_fills(const struct lwp_object *object, const struct lwp_element_candidate *candidate, bool single,
                          const struct element_grid *grid)
{
    const struct lwp_type *type = candidate->type;
    if (!object->pool_size)
        return true;
    if (grid->start + type->bytes > object->pool_size)
        return false;
    uint64_t room = object->pool_size - grid->start;
    if (lwp_element_is_flexible(type))
        return true;
    if (!single)
        return room % grid->spacing == 0 || grid->said;
    /* A block that is larger than what was pointed to is of a class derived from it, perhaps. */
    return room == type->bytes || type->kind != LWP_TYPE_STRUCT || type->language == LWP_LANGUAGE_C;
}

/* What pointers to a new block are to, but no access is, where the block is no whole number of them: the header of something else,
 * as of an allocator's own list of blocks. */
static bool element_is_header(const struct lwp_object *object, const struct lwp_element_candidate *candidate,
                              const struct element_grid *grid)
{
    uint64_t rest = element_remainder(object, candidate->type->bytes);
    return candidate->type->kind == LWP_TYPE_STRUCT && candidate->accessed <= 0 && !candidate->table && !grid->said && rest &&
           (grid->start == 0 || grid->start == rest);
}

static bool element_accept(const struct element_case *of, const struct lwp_element_candidate *candidate, bool single,
                           struct element_grid *grid)
{
    const struct lwp_object *object = &of->profile->objects[of->index];
    const struct lwp_element_votes *votes = of->votes;
    uint64_t bytes = candidate->type->bytes, block = object->pool_size ? object->pool_size : object->largest;
    struct element_grid grids[GRIDS];
    if ((block && bytes > block) || (lwp_element_is_flexible(candidate->type) && !object->pool_size))
        return false;
    if (object->pool_size && !candidate->exact && bytes != object->pool_size)
        return false;
    if (!single && (bytes == 1 || !candidate->exact) && !lwp_element_evidence_allows(of->evidence, bytes))
        return false;
    for (size_t i = 0; i < votes->count && of->evidence->several && !candidate->table; i++) /* several arrays: perhaps of several types */
        if (!candidate->exact || (votes->candidates[i].exact && votes->candidates[i].type->bytes != bytes))
            return false;
    /* The allocation and the pointers used agree, or most pointers: a stray address or two among few do not count. */
    bool agreed =
        ((candidate->made || candidate->table) && candidate->accessed > 0) || candidate->accessed > 0.7 * (double)object->accesses;
    size_t count = element_grids(of, candidate, single, grids);
    for (size_t i = 0; i < count; i++) {
        *grid = grids[i];
        if (element_is_header(object, candidate, grid) || !element_fills(object, candidate, single, grid))
            continue;
        const struct lwp_element_try try = {.size = grid->spacing,
                                            .type = candidate->type,
                                            .exact = candidate->exact,
                                            .gaps = grid->said && !single && grid->spacing > bytes,
                                            .start = grid->start,
                                            .end = candidate->table ? votes->table_end : 0};
        double fit = lwp_element_fit(of->profile, of->index, &try);
        const bool declared =
            candidate->exact && object->kind == LWP_OBJECT_STATIC && !lwp_objects_library_code(of->profile, object->module);
        if (fit >= (agreed ? fit_agreed : fit_needed) || (fit < 0 && (declared || (candidate->made && bytes == object->pool_size))))
            return true;
    }
    return false;
}

/* Whether the type is a member or base of the other: pointers to it may point into one. */
static bool element_is_part(const struct lwp_type *outer, const struct lwp_type *inner)
{
    uint32_t at = 0, matched = 0;
    for (uint32_t i = 0; i < outer->field_count; i++) {
        if (strstr(outer->fields[i].type, inner->name) || lwp_types_contain(outer, outer->fields[i].offset, inner))
            return true;
        for (at = 0; at < inner->field_count; at++)
            matched += strcmp(outer->fields[i].name, inner->fields[at].name) == 0;
    }
    return inner->field_count && matched >= inner->field_count;
}

/* Memory that is used as several unrelated structs (an allocator's own, a buffer) is none of them, and none of the numbers in them; nor
 * what a list of free elements calls them, where they are larger unions. */
static bool element_is_mixed(const struct lwp_element_votes *votes, const struct lwp_element_candidate *candidate)
{
    const bool structs = candidate->type->kind == LWP_TYPE_STRUCT;
    double others = 0;
    for (size_t i = 0; i < votes->count; i++) {
        const struct lwp_element_candidate *other = &votes->candidates[i];
        bool larger = other->type->kind == LWP_TYPE_UNION && other->type->bytes > candidate->type->bytes;
        if (other != candidate && other->accessed > 0 && (other->type->kind == LWP_TYPE_STRUCT || larger) &&
            !element_is_part(candidate->type, other->type) && !(structs && element_is_part(other->type, candidate->type)))
            others += other->accessed;
    }
    return others > mixed_limit * votes->exact;
}

/* A type that was only in scope is accepted when it alone has the stride as its size, and no typed pointer was followed. */
static bool element_alone(const struct element_case *of, const struct lwp_element_candidate *candidate)
{
    const struct lwp_object *object = &of->profile->objects[of->index];
    const struct lwp_element_votes *votes = of->votes;
    const struct lwp_element_evidence *evidence = of->evidence;
    uint64_t seen = object->single ? object->pool_size : evidence->stride, bytes = candidate->type->bytes;
    struct element_grid grid;
    bool open = !object->single && seen && evidence->bytes == 0; /* several elements to the stride, perhaps */
    if ((bytes != seen && !open) || (!candidate->allocator && votes->exact > exact_rules * (double)object->accesses))
        return false;
    for (size_t i = 0; i < votes->count; i++) /* pointers were to something else, unless to a part of it */
        if (candidate->allocator && votes->candidates[i].accessed > 0 && votes->candidates[i].type->bytes >= seen)
            return false;
    for (size_t i = 0; i < votes->count && i < CANDIDATES_TRIED; i++)
        if (!candidate->allocator && &votes->candidates[i] != candidate && (open || votes->candidates[i].type->bytes == seen) &&
            element_accept(of, &votes->candidates[i], object->single, &grid))
            return false;
    return true;
}

/* A small block is one element, unless accesses stride through most of it: then it is a small array. */
static bool element_is_single(const struct lwp_profile *profile, uint32_t index, uint64_t stride)
{
    uint64_t size = profile->objects[index].pool_size;
    double stepping = 0, all = 0;
    if (!size)
        return false;
    LWP_STREAMS_OF(profile, index, stream) {
        uint64_t offsets[LWP_RESERVOIR], low = UINT64_MAX, high = 0;
        size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR);
        if (lwp_element_copies(profile, stream))
            continue;
        for (size_t k = 0; k < count; k++) {
            low = offsets[k] < low ? offsets[k] : low;
            high = offsets[k] > high ? offsets[k] : high;
        }
        all += (double)stream->accesses;
        if (count && (high - low) * 2 >= size)
            stepping += (double)stream->accesses;
    }
    return stride == 0 || size / stride < 3 || stepping * 2 < all;
}

/* Whether each block of a pool holds several elements: as the allocation says, where the code reaches the neighbour of the one that
 * is pointed to, or where nearly all pointers that are followed are to such elements, and lead to several places. */
static bool element_is_row(const struct element_case *of, const struct lwp_element_candidate *candidate)
{
    const struct lwp_object *object = &of->profile->objects[of->index];
    const uint64_t bytes = candidate->type->bytes;
    bool several = candidate->made;
    if (candidate->derived)
        return false;
    struct lwp_element_lattice said = lwp_element_code_lattice(of->code, candidate->type, bytes);
    uint64_t start = said.share >= LWP_ELEMENT_LATTICE_GOOD ? said.start : 0;
    if (!several && said.share >= LWP_ELEMENT_LATTICE_GOOD && candidate->accessed > fit_needed * of->votes->exact)
        several = lwp_element_code_several(of->code, candidate->type);
    for (size_t i = 0; i < of->code->count; i++)
        several |= of->code->items[i].place.beside && lwp_element_same_type(of->code->items[i].place.type, candidate->type);
    return several && object->pool_size >= start + 2 * bytes && (object->pool_size - start) % bytes == 0;
}

/* The best candidate that agrees with all evidence. Known structures come first, since a pointer to a member may be a pointer to a
 * plain number. */
static const struct lwp_element_candidate *element_choose(const struct element_case *of, bool *single, struct element_grid *grid)
{
    const struct lwp_object *object = &of->profile->objects[of->index];
    const struct lwp_element_votes *votes = of->votes;
    for (int structs = 1; structs >= 0; structs--)
        for (size_t i = 0; i < votes->count && i < CANDIDATES_TRIED; i++) {
            const struct lwp_element_candidate *candidate = &votes->candidates[i];
            if (structs && !(candidate->exact && candidate->type->kind == LWP_TYPE_STRUCT))
                continue;
            const struct lwp_element_candidate *holder = element_holder(votes, of->code, candidate->type);
            bool row = element_is_row(of, candidate);
            *single = (object->single && !row) || (object->pool_size && lwp_element_is_flexible(candidate->type));
            if (element_accept(of, candidate, *single, grid) && !element_is_mixed(votes, candidate) &&
                (candidate->exact || (holder && holder->exact && grid->start == element_last(holder)->offset) ||
                 element_alone(of, candidate)))
                return candidate;
        }
    return NULL;
}

static int element_by_score(const void *a, const void *b)
{
    double x = ((const struct lwp_element_candidate *)a)->score, y = ((const struct lwp_element_candidate *)b)->score;
    return (x < y) - (x > y);
}

/* A structure of bytes that only the allocation says: what a program's own malloc() hands out, whatever it is for. */
static bool element_is_bytes(const struct lwp_element_candidate *candidate)
{
    return candidate->made && !candidate->table && candidate->accessed <= 0 && candidate->type->kind == LWP_TYPE_STRUCT &&
           candidate->type->alignment == 1;
}

/* Plain values that only the allocation says, while pointers to others are followed: what an allocator keeps at the start of a block that
 * it hands out in parts, as a list of its blocks. Where the parts are seen, no plain value is what the block is made of. (Bytes are what
 * any memory may be allocated as: they are no links.) */
static void element_forget_links(const struct element_case *of, struct lwp_element_votes *votes)
{
    const struct lwp_object *object = &of->profile->objects[of->index];
    bool parts = false;
    for (size_t i = 0; i < votes->count; i++) {
        struct lwp_element_candidate *said = &votes->candidates[i];
        if (said->made && !said->table && said->type->kind != LWP_TYPE_STRUCT && said->type->bytes > 1 && said->accessed <= 0 &&
            votes->exact > exact_rules * (double)object->accesses) {
            said->made = said->exact = false;
            votes->header = parts = true;
        }
    }
    for (size_t i = 0; i < votes->count; i++)
        if (element_is_bytes(&votes->candidates[i]) && votes->exact > exact_rules * (double)object->accesses)
            votes->candidates[i].made = votes->candidates[i].exact = false;
    for (size_t i = 0; i < votes->count && parts; i++)
        if (votes->candidates[i].type->kind != LWP_TYPE_STRUCT && votes->candidates[i].type->bytes < of->evidence->bytes)
            votes->candidates[i].exact = false;
}

static bool element_starts_at(const struct lwp_object *object, int64_t at)
{
    return object->element_spacing && (at - (int64_t)object->element_start) % (int64_t)object->element_spacing == 0;
}

/* What the block of these elements is called after. */
static const char *element_name(const struct lwp_object *object, const struct lwp_element_votes *votes,
                                const struct lwp_element_candidate *candidate)
{
    if (votes->inside.name && element_starts_at(object, votes->inside.at))
        return votes->inside.name;
    const bool asked_for = candidate->made || candidate->allocator; /* else the name is of one who uses a part of it */
    return votes->holder && (votes->header || !asked_for) ? votes->holder : candidate->variable;
}

/* A large block that is one structure, as the state of a compressor: arrays in it are no arrays of the block. */
static bool element_is_whole(struct lwp_object *object, const struct lwp_element_code *code)
{
    const char *variable = NULL;
    bool one = (object->kind == LWP_OBJECT_HEAP || object->kind == LWP_OBJECT_MMAP) && !object->pool_size && object->allocations == 1 &&
               object->bytes == object->largest;
    const struct lwp_type *whole = one ? lwp_element_code_whole(code, object->bytes, &variable) : NULL;
    if (!whole)
        return false;
    object->type = whole;
    object->type_exact = object->single = true;
    object->element_bytes = object->element_spacing = whole->bytes;
    object->element_probability = 1;
    if (!object->variable && variable && *variable)
        object->variable = variable;
    return true;
}

/* Whether most accesses are of instructions that go to several places of a block: without a type it may be one structure with an array
 * in it, or an array. */
static bool element_has_array(const struct lwp_profile *profile, uint32_t index)
{
    double all = 0, several = 0;
    LWP_STREAMS_OF(profile, index, stream) {
        uint64_t offsets[LWP_RESERVOIR];
        size_t count = lwp_element_copies(profile, stream) ? 0 : lwp_streams_offsets(stream, offsets, LWP_RESERVOIR);
        bool apart = false;
        for (size_t k = 1; k < count; k++)
            apart |= offsets[k] != offsets[0];
        all += count ? (double)stream->accesses : 0;
        several += apart ? (double)stream->accesses : 0;
    }
    return 2 * several > all;
}

static void element_decide(struct lwp_profile *profile, uint32_t index, const struct lwp_element_evidence *evidence,
                           const struct lwp_element_code *code)
{
    struct lwp_object *object = &profile->objects[index];
    struct lwp_element_votes votes = {.count = 0};
    const struct element_case of = {profile, index, &votes, evidence, code};
    struct element_grid grid = {0};
    bool single;
    object->single = element_is_single(profile, index, evidence->stride);
    lwp_element_votes_collect(profile, index, &votes);
    if (element_is_whole(object, code))
        return;
    element_forget_links(&of, &votes);
    for (size_t i = 0; i < votes.count; i++)
        if (votes.candidates[i].type->bytes == (object->single ? object->pool_size : evidence->stride))
            votes.candidates[i].score *= 3; /* the size seen */
    qsort(votes.candidates, votes.count, sizeof *votes.candidates, element_by_score);
    const struct lwp_element_candidate *candidate = element_choose(&of, &single, &grid);
    if (candidate) {
        object->single = single;
        object->type = candidate->type;
        const struct lwp_element_candidate *holder = grid.start && !candidate->table ? element_holder(&votes, code, candidate->type) : NULL;
        if (holder && (!holder->exact || grid.start != element_last(holder)->offset))
            holder = NULL;
        object->type_exact = candidate->exact || holder;
        object->element_bytes = object->single ? object->pool_size - grid.start : candidate->type->bytes;
        object->element_start = grid.start;
        object->element_spacing = object->single ? object->element_bytes : grid.spacing;
        object->element_end = candidate->table ? votes.table_end : 0;
        object->element_probability = object->single || candidate->exact ? 1 : evidence->probability;
        if (holder && !candidate->exact && holder->variable && !object->variable)
            object->variable = lwp_arena_printf(profile->arena, "%s->%s", holder->variable, element_last(holder)->name);
        else if (!object->variable)
            object->variable = element_name(object, &votes, candidate);
        return;
    }
    if (object->kind == LWP_OBJECT_STACK)
        object->type = NULL;
    if (!object->variable)
        object->variable = votes.holder;
    object->several = evidence->several;
    if (votes.large && votes.large->bytes == object->largest) {
        object->fields_unknown = lwp_arena_printf(
            profile->arena, "it is one %s, and which of the arrays in it its accesses are to is not known", votes.large->name);
    } else if (object->single && element_has_array(profile, index)) {
        object->fields_unknown =
            "instructions go to several places of each block, so it is an array or has one in it, and its type is not known";
    } else if (object->single) {
        object->element_bytes = object->pool_size;
        object->element_probability = 1; /* the size requested from malloc */
        lwp_element_start_of_single(profile, index);
    } else if (evidence->bytes && lwp_element_walk_passes(profile, index, evidence->bytes)) {
        object->several = true;
        object->fields_unknown =
            "its loops go further each time round than its addresses lie apart, so it holds several arrays or parts, and "
            "what their elements are is not known";
    } else if (evidence->bytes) {
        object->element_bytes = evidence->bytes;
        object->element_probability = evidence->probability;
        lwp_element_start_of_array(profile, index);
    }
}

enum { OBJECTS_AT_ONCE = 64 };

/* The evidence of several objects is found in parallel, decisions are made one after the other. */
struct element_round {
    struct lwp_profile *profile;
    struct lwp_element_code code; /* of one after the other */
    uint32_t objects[OBJECTS_AT_ONCE];
    struct lwp_element_evidence evidence[OBJECTS_AT_ONCE];
    size_t count;
    bool carved;
};

static void element_evidence(void *of, size_t first, size_t last)
{
    struct element_round *round = of;
    for (; first < last; first++)
        lwp_element_evidence_find(round->profile, round->objects[first], &round->evidence[first]);
}

static void element_round(struct element_round *round)
{
    for (size_t i = 0; i < round->count; i++)
        for (uint32_t s = round->profile->object_streams[round->objects[i]]; s != LWP_NONE; s = round->profile->streams[s].next_of_object) {
            struct lwp_stream *stream = &round->profile->streams[s];
            stream->string = stream->module != LWP_NONE && lwp_code_operand(round->profile->code, stream->module, stream->address).string;
        }
    lwp_parallel(round->profile->jobs, round->count, 1, element_evidence, round);
    for (size_t i = 0; i < round->count; i++) {
        lwp_element_code_collect(round->profile, round->objects[i], &round->code);
        element_decide(round->profile, round->objects[i], &round->evidence[i], &round->code);
        lwp_element_agreement_check(round->profile, round->objects[i], &round->code);
        round->carved |= lwp_element_parts_carve(round->profile, round->objects[i], &round->code);
        lwp_element_reach_find(round->profile, round->objects[i]);
        lwp_element_covers_free(&round->evidence[i].covers);
    }
    round->count = 0;
}

static void element_strides(void *of, size_t first, size_t last)
{
    struct lwp_profile *profile = of;
    uint64_t offsets[LWP_RESERVOIR];
    for (; first < last; first++) {
        size_t count = lwp_streams_offsets(&profile->streams[first], offsets, LWP_RESERVOIR);
        profile->streams[first].stride = lwp_stride_estimate(offsets, count);
    }
}

void lwp_elements_find(struct lwp_profile *profile)
{
    enum { STREAMS_AT_ONCE = 256 };
    uint64_t accesses = 0;
    lwp_parallel(profile->jobs, profile->stream_count, STREAMS_AT_ONCE, element_strides, profile);
    for (size_t i = 0; i < profile->object_count; i++)
        accesses += profile->objects[i].accesses;
    struct element_round *round = lwp_zeroed(1, sizeof *round);
    round->profile = profile;
    const size_t count = profile->object_count; /* parts of them come behind */
    for (size_t i = 0; i < count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (object->kind == LWP_OBJECT_UNKNOWN || !object->accessed)
            continue;
        if (object->weight.weight < lwp_object_worth * profile->total.weight &&
            (double)object->accesses < lwp_object_worth * (double)accesses && !object->looked_at)
            continue;
        round->objects[round->count++] = (uint32_t)i;
        if (round->count == OBJECTS_AT_ONCE)
            element_round(round);
    }
    element_round(round);
    if (round->carved)
        lwp_streams_link(profile);
    free(round);
}

void lwp_elements_notes(struct lwp_profile *profile)
{
    static const double share_worth_saying = 0.05;
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (object->weight.weight < share_worth_saying * profile->total.weight)
            continue;
        if (object->fields_unknown)
            lwp_profile_note(profile, "%s: its fields are unknown, so no layout is advised: %s.", lwp_objects_name(profile, (uint32_t)i),
                             object->fields_unknown);
        else if (object->several && !object->element_bytes)
            lwp_profile_note(profile,
                             "%s: its parts are traversed with different strides, so it holds several arrays; what their "
                             "elements are is not known.",
                             lwp_objects_name(profile, (uint32_t)i));
    }
}

/* An access has a field when its place in the element lies in one, judged by the sampled offsets. */
static bool typed_in_field(const struct lwp_type *type, uint64_t place)
{
    for (uint32_t i = 0; i < type->field_count; i++)
        if (place >= type->fields[i].offset && (place - type->fields[i].offset < type->fields[i].bytes || type->fields[i].bytes == 0))
            return true;
    return false;
}

/* The share of the stream's offsets that lie in fields. */
static double typed_fields(const struct lwp_object *object, const struct lwp_stream *stream)
{
    uint64_t offsets[LWP_RESERVOIR], place;
    size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR), inside = 0;
    if (object->type->kind != LWP_TYPE_STRUCT)
        return 1;
    for (size_t i = 0; i < count; i++)
        inside += lwp_element_place(object, offsets[i], &place) && typed_in_field(object->type, place);
    return count ? (double)inside / (double)count : 0;
}

struct lwp_field_coverage lwp_field_coverage_weigh(const struct lwp_profile *profile)
{
    struct lwp_field_coverage all = {.weight = 0};
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (!lwp_objects_is_data(object))
            continue;
        all.weight += object->weight.weight;
        all.agreement.looked_at += object->agreement.looked_at;
        all.agreement.compared += object->agreement.compared;
        all.agreement.agree += object->agreement.agree;
        if (!object->type || !object->element_bytes)
            continue;
        all.type += object->weight.weight;
        for (uint32_t s = profile->object_streams[i]; s != LWP_NONE; s = profile->streams[s].next_of_object)
            all.field += profile->streams[s].weight.weight * typed_fields(object, &profile->streams[s]);
    }
    if (all.field > all.type) /* rounding */
        all.field = all.type;
    return all;
}
