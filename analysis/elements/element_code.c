/* What the code says of an object's accesses, and where the elements begin then. */
#include "analysis/elements/element_code.h"

#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "analysis/statistics/stride.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double whole_least = 0.01, between_least = 0.01;

bool lwp_element_same_type(const struct lwp_type *a, const struct lwp_type *b)
{
    return a == b || (a->bytes == b->bytes && a->kind == b->kind && a->name && b->name && strcmp(a->name, b->name) == 0);
}

void lwp_element_code_collect(struct lwp_profile *profile, uint32_t index, struct lwp_element_code *code)
{
    code->count = 0;
    code->accesses = 0;
    LWP_STREAMS_OF(profile, index, stream) {
        struct lwp_element_spoken spoken = {.stream = stream};
        if (stream->module == LWP_NONE || stream->offsets.count == 0 || lwp_element_copies(profile, stream))
            continue;
        code->accesses += (double)stream->accesses;
        if (code->count < LWP_ELEMENT_CODE_STREAMS && lwp_types_place(profile->code, stream->module, stream->address, &spoken.place) &&
            spoken.place.type->bytes > 1)
            code->items[code->count++] = spoken;
    }
}

struct lwp_element_base *lwp_element_code_bases(const struct lwp_element_code *code, const struct lwp_type *type, size_t *count)
{
    struct lwp_element_base *bases = NULL;
    size_t room = 0;
    *count = 0;
    for (size_t i = 0; i < code->count; i++) {
        const struct lwp_element_spoken *spoken = &code->items[i];
        uint64_t offsets[LWP_RESERVOIR];
        bool of_type = !spoken->place.beside && lwp_element_same_type(spoken->place.type, type);
        size_t kept = of_type ? lwp_streams_offsets(spoken->stream, offsets, LWP_RESERVOIR) : 0;
        for (size_t k = 0; k < kept; k++)
            LWP_APPEND(&bases, count, &room,
                       (struct lwp_element_base){offsets[k] - spoken->place.at, (double)spoken->stream->accesses / (double)kept});
    }
    return bases;
}

bool lwp_element_code_several(const struct lwp_element_code *code, const struct lwp_type *type)
{
    size_t count;
    struct lwp_element_base *bases = lwp_element_code_bases(code, type, &count);
    bool several = false;
    for (size_t i = 1; i < count; i++)
        several |= bases[i].at != bases[0].at;
    free(bases);
    return several;
}

/* The share of the bases that agree on one start, and which. */
static void code_vote(const struct lwp_element_base *bases, size_t count, struct lwp_element_base *room,
                      struct lwp_element_lattice *lattice)
{
    double all = 0, best = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = lattice->page ? bases[i].at % lattice->page : bases[i].at;
        /* Before the block: the code is wrong there. */
        at = (int64_t)at < 0 ? lattice->spacing - 1 - ~at % lattice->spacing : at % lattice->spacing;
        room[i] = (struct lwp_element_base){at, bases[i].weight};
        all += bases[i].weight;
    }
    qsort(room, count, sizeof *room, lwp_by_first);
    for (size_t i = 0; i < count;) {
        uint64_t at = room[i].at;
        double sum = 0;
        for (; i < count && room[i].at == at; i++)
            sum += room[i].weight;
        if (sum > best) {
            best = sum;
            lattice->start = at;
        }
    }
    lattice->share = best / all;
}

/* How far apart the bases are; 0: nothing that has room for an element divides their distances. */
static uint64_t code_spacing(const struct lwp_element_base *bases, size_t count, uint64_t least)
{
    enum { LOOKED_AT = 256, MOST = 1 << 16 };
    uint64_t at[LOOKED_AT], apart;
    size_t step = count / LOOKED_AT + 1, kept = 0;
    for (size_t i = 0; i < count; i += step)
        at[kept++] = bases[i].at;
    apart = lwp_stride_estimate(at, kept).bytes;
    return apart >= least && apart <= MOST ? apart : 0;
}

struct lwp_element_lattice lwp_element_code_lattice(const struct lwp_element_code *code, const struct lwp_type *type, uint64_t spacing)
{
    enum { LEAST_PAGE = 512, MOST_PAGE = 1 << 21, ENOUGH = 8 };
    size_t count;
    struct lwp_element_base *bases = lwp_element_code_bases(code, type, &count);
    struct lwp_element_base *room = lwp_zeroed(count + 1, sizeof *room);
    struct lwp_element_lattice best = {.spacing = spacing ? spacing : type->bytes, .share = -1};
    if (count && best.spacing) { /* a type of no bytes has no elements */
        code_vote(bases, count, room, &best);
        struct lwp_element_lattice other = {.spacing = spacing ? 0 : code_spacing(bases, count, type->bytes)};
        if (!spacing && best.share < LWP_ELEMENT_LATTICE_SURE && other.spacing && count >= ENOUGH)
            code_vote(bases, count, room, &other);
        if (other.share > best.share)
            best = other;
        for (uint64_t page = LEAST_PAGE; !spacing && best.share < LWP_ELEMENT_LATTICE_SURE && page <= MOST_PAGE && count >= ENOUGH;
             page *= 2) {
            other = (struct lwp_element_lattice){.spacing = type->bytes, .page = page};
            if (page > type->bytes)
                code_vote(bases, count, room, &other);
            if (other.share > best.share && other.share >= LWP_ELEMENT_LATTICE_GOOD)
                best = other;
        }
    }
    free(bases);
    free(room);
    return best;
}

/* Of all accesses of the object that the code may speak of, those outside of the lattice's elements. */
static double code_outside(const struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code,
                           const struct lwp_element_lattice *lattice, uint64_t bytes)
{
    double outside = 0;
    LWP_STREAMS_OF(profile, index, stream) {
        uint64_t residue, spacing = lattice->spacing;
        if (stream->module == LWP_NONE || stream->offsets.count == 0 || lwp_element_copies(profile, stream) ||
            lwp_element_residue(stream, spacing, &residue) < LWP_ELEMENT_LATTICE_SURE)
            continue;
        if ((residue + spacing - lattice->start) % spacing >= bytes)
            outside += (double)stream->accesses;
    }
    return outside / fmax(1, code->accesses);
}

double lwp_element_code_between(const struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code,
                                const struct lwp_type *type, struct lwp_element_lattice *lattice)
{
    enum { ENOUGH = 16 };
    size_t count;
    struct lwp_element_base *bases = lwp_element_code_bases(code, type, &count);
    struct lwp_element_base *room = lwp_zeroed(count + 1, sizeof *room);
    struct lwp_element_lattice wider = {.spacing = count >= ENOUGH ? code_spacing(bases, count, 2 * type->bytes) : 0};
    double outside = 0;
    if (wider.spacing && wider.spacing % lattice->spacing == 0 && !lattice->page) {
        code_vote(bases, count, room, &wider);
        outside = wider.share >= LWP_ELEMENT_LATTICE_SURE ? code_outside(profile, index, code, &wider, type->bytes) : 0;
    }
    free(bases);
    free(room);
    if (outside < between_least)
        return 0;
    *lattice = wider;
    return outside;
}

const struct lwp_type *lwp_element_code_whole(const struct lwp_element_code *code, uint64_t block_bytes, const char **variable)
{
    const struct lwp_type *whole = NULL;
    double accesses = 0;
    for (size_t i = 0; i < code->count; i++) {
        const struct lwp_code_place *place = &code->items[i].place;
        if (place->beside || place->type->kind != LWP_TYPE_STRUCT || !place->type->field_count || place->type->bytes != block_bytes ||
            (whole && !lwp_element_same_type(whole, place->type)))
            continue;
        whole = place->type;
        *variable = place->variable;
        accesses += (double)code->items[i].stream->accesses;
    }
    if (!whole || accesses < whole_least * code->accesses)
        return NULL;
    struct lwp_element_lattice lattice = lwp_element_code_lattice(code, whole, block_bytes);
    return lattice.start == 0 && lattice.share >= LWP_ELEMENT_LATTICE_SURE ? whole : NULL;
}
