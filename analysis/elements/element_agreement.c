/* Whether the two witnesses of a field agree: its address and its code.
 *
 * In: an object's elements, and what the code says of its accesses. Both speak of an access when its place in the element is known
 * and its pointer is one to a structure, or to a number. They agree when the element's type has what the pointer says at that place.
 * Where they do not for more than a limit of the accesses, one of them is wrong and nobody knows which: the fields are unknown. */
#include "analysis/elements/element_code.h"

#include "analysis/elements/element_place.h"
#include "analysis/profile/streams.h"

static const double limit = 0.01;     /* of all accesses, and of those where both speak if one of them is no more than that; */
static const double most_limit = 0.5; /* ... and of those where both speak, however few, */
enum { FEW = 16 };                    /* ... when they are so many */

enum agreement { SILENT, AGREES, DISAGREES };

/* Elements of plain numbers: what is made of them agrees. */
static enum agreement agreement_of_plain(const struct lwp_object *object, const struct lwp_code_place *place)
{
    if (place->type->kind == LWP_TYPE_SCALAR || !object->type)
        return SILENT;
    return lwp_types_hold(place->type, place->at - place->at % object->element_bytes, object->type) ? AGREES : SILENT;
}

static enum agreement agreement_at(const struct lwp_object *object, const struct lwp_code_place *place, uint64_t offset)
{
    uint64_t within, spacing = lwp_element_spacing(object);
    if (!lwp_element_place(object, offset, &within))
        return SILENT;
    if (!object->type) /* a size by addresses alone */
        return place->type->kind != LWP_TYPE_STRUCT                                                      ? SILENT
               : place->type->bytes <= object->element_bytes && within % place->type->bytes == place->at ? AGREES
                                                                                                         : DISAGREES;
    if (object->type->kind != LWP_TYPE_STRUCT)
        return agreement_of_plain(object, place);
    if (within < place->at) /* an element inside of what the pointer is to: a header, a table */
        return lwp_types_hold(place->type, place->at - within, object->type) ? AGREES : DISAGREES;
    uint64_t start = (within - place->at) % spacing;
    if (start == 0 && lwp_element_same_type(object->type, place->type))
        return AGREES;
    return lwp_types_hold(object->type, start, place->type) ? AGREES : DISAGREES;
}

/* Whether the code reaches around one of the elements: from a pointer to it to what it is a part of, whose type nobody says. */
static bool agreement_around(const struct lwp_object *object, const struct lwp_code_place *place, uint64_t offset)
{
    uint64_t within;
    return place->beside && object->type && lwp_element_same_type(object->type, place->type) &&
           !lwp_element_place(object, offset, &within) && lwp_element_place(object, offset - (uint64_t)place->from, &within) && within == 0;
}

static const char *agreement_field(struct lwp_profile *profile, const struct lwp_type *type, uint64_t at)
{
    for (uint32_t i = 0; type && i < type->field_count; i++)
        if (at >= type->fields[i].offset && at - type->fields[i].offset < type->fields[i].bytes && *type->fields[i].name)
            return type->fields[i].name;
    return lwp_arena_printf(profile->arena, "byte %llu", (unsigned long long)at);
}

const char *lwp_element_where(struct lwp_profile *profile, const struct lwp_stream *stream)
{
    const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, stream->module, stream->address);
    const struct lwp_frame *frame = place && place->frame_count ? &place->frames[0] : NULL;
    if (!frame || !frame->function)
        return "its code";
    return frame->line ? lwp_arena_printf(profile->arena, "line %u, %s", frame->line, frame->function) : frame->function;
}

/* Says which field each witness names, where they differ most. */
static const char *agreement_reason(struct lwp_profile *profile, const struct lwp_object *object, double share,
                                    const struct lwp_element_spoken *worst, uint64_t offset)
{
    uint64_t within = 0;
    lwp_element_place(object, offset, &within);
    return lwp_arena_printf(
        profile->arena,
        "for %.0f %% of the accesses of which both say something the address and the code name different fields (by address %s of %s, by "
        "code %s of "
        "%s: %s)",
        share < 0.01 ? 1 : 100 * share, agreement_field(profile, object->type, within), object->type ? object->type->name : "its elements",
        agreement_field(profile, worst->place.type, worst->place.at), worst->place.type->name, lwp_element_where(profile, worst->stream));
}

static void agreement_unknown(struct lwp_object *object, const char *reason)
{
    object->fields_unknown = reason;
    object->type = NULL;
    object->type_exact = object->single = false;
    object->element_bytes = object->element_spacing = object->element_start = object->element_end = 0;
    object->element_probability = 0;
}

/* Elements that seemed to follow each other, with accesses between them once one sees how far apart they are. */
static void agreement_between(struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code)
{
    struct lwp_object *object = &profile->objects[index];
    struct lwp_element_lattice lattice = {.spacing = lwp_element_spacing(object)};
    double between = lattice.spacing == object->type->bytes ? lwp_element_code_between(profile, index, code, object->type, &lattice) : 0;
    if (between > 0)
        agreement_unknown(object, lwp_arena_printf(profile->arena,
                                                   "all %s that pointers lead to lie %llu bytes apart, and %.0f %% of the accesses are to "
                                                   "what is between, whose type nothing names",
                                                   object->type->name, (unsigned long long)lattice.spacing, 100 * between));
}

void lwp_element_agreement_check(struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code)
{
    struct lwp_object *object = &profile->objects[index];
    const struct lwp_element_spoken *worst = NULL;
    uint64_t worst_offset = 0;
    double agree = 0, disagree = 0, worst_weight = 0, around = 0;
    object->agreement = (struct lwp_agreement){.looked_at = code->accesses};
    if (!object->element_bytes)
        return;
    for (size_t i = 0; i < code->count; i++) {
        const struct lwp_element_spoken *spoken = &code->items[i];
        uint64_t offsets[LWP_RESERVOIR], other = 0;
        size_t count = lwp_streams_offsets(spoken->stream, offsets, LWP_RESERVOIR), found[3] = {0}, reaches = 0;
        for (size_t k = 0; k < count; k++) {
            enum agreement says = agreement_at(object, &spoken->place, offsets[k]);
            if (says == DISAGREES && spoken->place.beside)
                says = SILENT;
            found[says]++;
            reaches += agreement_around(object, &spoken->place, offsets[k]);
            if (says == DISAGREES)
                other = offsets[k];
        }
        double each = count ? (double)spoken->stream->accesses / (double)count : 0;
        agree += each * (double)found[AGREES];
        disagree += each * (double)found[DISAGREES];
        around += each * (double)reaches;
        if (each * (double)found[DISAGREES] > worst_weight) {
            worst_weight = each * (double)found[DISAGREES];
            worst = spoken;
            worst_offset = other;
        }
    }
    double compared = agree + disagree;
    object->agreement.compared = compared;
    object->agreement.agree = agree;
    bool much = compared * limit >= 1 && disagree > limit * compared, most = compared >= FEW && disagree > most_limit * compared;
    if (worst && (disagree > limit * code->accesses || much || most))
        agreement_unknown(object, agreement_reason(profile, object, disagree / compared, worst, worst_offset));
    else if (around > limit * code->accesses)
        agreement_unknown(object, lwp_arena_printf(profile->arena,
                                                   "%.0f %% of the accesses are to what lies around each %s, which is a part of something "
                                                   "larger whose type nothing names",
                                                   100 * around / code->accesses, object->type->name));
    else if (object->type && object->type->kind == LWP_TYPE_STRUCT && !object->single)
        agreement_between(profile, index, code);
}
