/* A loop's accesses as a pattern (analysis/measure/pattern.h), in the layout that they have or in another one.
 *
 * The fields that the loop uses lie in one array for each group of the placement. Beside them the loop's accesses to other large
 * data objects are made, step by step or anywhere, as their code and their samples say; the instructions and the chain of values
 * from one iteration to the next are the loop's own. */
#include "analysis/advice/gain/loop_pattern.h"

#include "analysis/advice/gain/chain.h"
#include "analysis/advice/gain/turns.h"
#include "analysis/advice/placement/found.h"
#include "analysis/advice/placement/placement.h"
#include "analysis/advice/placement/spread.h"
#include "analysis/elements/element_place.h"
#include "analysis/measure/pattern.h"
#include "analysis/profile/streams.h"
#include "analysis/program/flow/machine_code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double keeps_to = 0.5; /* of a stream's accesses, that are at one place of their elements */
static const double as_many = 1.25;

static void loop_access(struct lwp_pattern *pattern, size_t array, uint64_t offset, uint64_t bytes, uint64_t line,
                        struct lwp_memory_operand operand)
{
    /* Of a long field two lines, as in lwp_placement_lines(). */
    for (uint64_t at = 0, lines = 0; at < bytes && lines < 2 && pattern->access_count < LWP_PATTERN_ACCESSES; at += line, lines++)
        pattern->accesses[pattern->access_count++] = (struct lwp_pattern_access){.array = array,
                                                                                 .offset = offset + at,
                                                                                 .bytes = bytes - at < 8 ? (unsigned)(bytes - at) : 8,
                                                                                 .vector = operand.vector,
                                                                                 .adds = operand.adds};
}

/* What the loop does with the field; all zero where its code is not known. */
static struct lwp_memory_operand loop_operand(struct lwp_profile *profile, const struct lwp_gain_visit *visit, size_t field)
{
    const uint64_t address = visit->first ? visit->first[field] : 0;
    return address && profile->code ? lwp_code_operand(profile->code, profile->regions[visit->region].module, address)
                                    : (struct lwp_memory_operand){0};
}

/* The fields in the order in which the code goes to them, those of which that is not known last. */
static void loop_order(const struct lwp_gain_visit *visit, size_t count, size_t *order)
{
    for (size_t f = 0, at; f < count; f++) {
        const uint64_t first = visit->first ? visit->first[f] - 1 : UINT64_MAX; /* 0 becomes the last one */
        for (at = f; at > 0 && visit->first && visit->first[order[at - 1]] - 1 > first; at--)
            order[at] = order[at - 1];
        order[at] = f;
    }
}

/* The accesses to the loop's fields of one group, which lie in the array; returns the end of the last of these fields. */
static uint64_t fields_of_group(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_placement *placement,
                                size_t group, size_t array, uint64_t line, struct lwp_pattern *pattern)
{
    uint64_t room = 0;
    size_t order[LWP_FIELDS_MAX];
    loop_order(visit, placement->field_count, order);
    for (size_t k = 0; k < placement->field_count; k++) {
        const size_t f = order[k];
        const bool found = visit->found && visit->found[f] && !visit->uses[f];
        const size_t first = pattern->access_count;
        if (!(visit->uses[f] || found) || placement->group[f] != (int)group || !placement->bytes[f])
            continue;
        loop_access(pattern, array, placement->offsets[f], placement->bytes[f], line, loop_operand(profile, visit, f));
        for (size_t i = first; i < pattern->access_count; i++)
            pattern->accesses[i].found = found;
        const uint64_t end = placement->offsets[f] + placement->bytes[f];
        room = end > room ? end : room;
    }
    return room;
}

/* Whether each element has the place of the next one. */
static bool fields_chained(const struct lwp_gain_visit *visit, const struct lwp_placement *placement)
{
    return visit->access.dependent && !placement->array;
}

static struct lwp_pattern_array fields_array(const struct lwp_gain_visit *visit, const struct lwp_placement *placement, size_t group,
                                             bool first)
{
    const bool chained = fields_chained(visit, placement), linked = placement->linked && placement->groups > 1;
    struct lwp_pattern_array array = {
        .walk = LWP_PATTERN_STEPS, .spacing = placement->of[group].spacing, .start = placement->of[group].start};
    if (chained || (linked && !first))
        array.walk = first ? LWP_PATTERN_CHAINED : LWP_PATTERN_LINKED;
    else if (visit->access.pattern == LWP_GAIN_RANDOM && !placement->array)
        array.walk = LWP_PATTERN_INDEXED;
    for (size_t f = 0; f < placement->field_count && visit->leader != LWP_NONE && !chained; f++)
        if (placement->group[f] == (int)group && visit->objects[f] == visit->leader) {
            array.leads = true;
            array.link = placement->offsets[f];
        }
    return array;
}

/* Where the addresses of a tree's element are. */
static bool fields_tree_links(const struct lwp_gain_visit *visit, const struct lwp_placement *placement, uint64_t *link)
{
    bool uses[LWP_FIELDS_MAX];
    for (size_t f = 0; f < placement->field_count; f++)
        uses[f] = visit->uses[f] && placement->group[f] == 0;
    return lwp_layout_tree_links(placement->offsets, placement->bytes, uses, placement->field_count, link);
}

/* Addresses: that of the next element where the first field of a pointer's size is, the others behind the fields, which end at
 * room. False: no room for them. */
static bool fields_links(const struct lwp_gain_visit *visit, const struct lwp_placement *placement, uint64_t room,
                         struct lwp_pattern *pattern)
{
    struct lwp_pattern_array *head = &pattern->arrays[0];
    const bool chained = fields_chained(visit, placement);
    for (size_t f = 0; f < placement->field_count && chained; f++)
        if (visit->uses[f] && placement->group[f] == 0 && placement->bytes[f] == 8 && placement->offsets[f] % 8 == 0) {
            head->link = placement->offsets[f];
            break;
        }
    if (pattern->tree && !fields_tree_links(visit, placement, &head->link))
        return false;
    if (chained && room < head->link + 8)
        room = head->link + 8;
    for (size_t a = 1; a < pattern->array_count; a++)
        if (pattern->arrays[a].walk == LWP_PATTERN_LINKED) {
            pattern->arrays[a].link = (room + 7) / 8 * 8 + 8 * (a - 1);
            if (pattern->arrays[a].link + 8 > head->spacing)
                return false;
        }
    return !chained || head->spacing >= 8;
}

/* The fields in use, a group an array; false: too many. */
static bool loop_fields(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_placement *placement,
                        uint64_t line, struct lwp_pattern *pattern)
{
    const bool heads =
        fields_chained(visit, placement) || (placement->linked && placement->groups > 1); /* group 0 is gone to in any case */
    uint64_t room = 0;
    for (size_t g = 0; g < placement->groups; g++) {
        const size_t array = pattern->array_count, accesses = pattern->access_count;
        const uint64_t end = fields_of_group(profile, visit, placement, g, array, line, pattern);
        if (pattern->access_count == accesses && !(g == 0 && heads))
            continue;
        if (array == LWP_PATTERN_ARRAYS)
            return false;
        room = array == 0 ? end : room;
        pattern->arrays[array] = fields_array(visit, placement, g, array == 0);
        pattern->array_count++;
    }
    return pattern->array_count > 0 && fields_links(visit, placement, room, pattern);
}

/* What the loop goes to in turn with these, in the same way; as far apart as they lie, of which there may be more or fewer. */
static struct lwp_pattern_array loop_in_turn(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, uint32_t object)
{
    double error;
    const double spread = lwp_placement_spread(profile, &object, 1, &error),
                 chunk = (double)lwp_placement_chunk(profile->objects[object].largest),
                 nodes = lwp_gain_nodes(profile, object) / visit->elements;
    return (struct lwp_pattern_array){.walk = visit->access.pattern == LWP_GAIN_RANDOM ? LWP_PATTERN_INDEXED : LWP_PATTERN_STEPS,
                                      .spacing = lwp_round_up((uint64_t)(nodes * fmax(spread, chunk)), LWP_PLACEMENT_MALLOC)};
}

/* Whether an address in the elements leads to the access; where in them that is. */
static bool loop_led_to(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_stream *other,
                        uint64_t *link)
{
    enum { SIBLINGS = 64 };
    struct lwp_sibling siblings[SIBLINGS];
    for (size_t k = 0; k < visit->object_count && visit->leads_on && other->module != LWP_NONE; k++)
        LWP_STREAMS_OF(profile, visit->objects[k], stream) {
            uint64_t place;
            if (stream->region != visit->region || stream->module != other->module || !profile->objects[stream->object].single ||
                lwp_element_stream_place(profile, stream, &place) < keeps_to)
                continue;
            const size_t found = lwp_code_siblings(profile->code, stream->module, stream->address, siblings, SIBLINGS);
            for (size_t i = 0; i < found && i < SIBLINGS; i++) {
                *link = place + (uint64_t)siblings[i].delta;
                if (siblings[i].load && siblings[i].bytes == sizeof(void *) && *link + sizeof(void *) <= visit->spacing &&
                    lwp_code_begins(profile->code, stream->module, siblings[i].address, other->address))
                    return true;
            }
        }
    return false;
}

/* What the elements lead to. Where its blocks lie as far apart as these, each was allocated with its element, and lies behind it, on the
 * same page. Returns how far. */
static uint64_t loop_linked(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, uint32_t object, bool today,
                            const struct lwp_pattern *pattern, struct lwp_pattern_array *array)
{
    double error;
    const size_t elements = pattern->array_count - 1;
    const double apart = (double)pattern->arrays[elements].spacing, spread = lwp_placement_spread(profile, &object, 1, &error);
    const uint64_t behind = lwp_placement_chunk(visit->spacing);
    array->walk = LWP_PATTERN_LINKED;
    array->from = elements;
    if (!today || spread > as_many * apart || apart > as_many * spread || behind + sizeof(void *) > pattern->arrays[elements].spacing)
        return 0;
    array->spacing = pattern->arrays[elements].spacing;
    array->within = 1 + elements;
    return behind;
}

/* Another object of the loop's, of which each visit has a part; false: how it goes to that is not known. */
static bool loop_other(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_stream *stream,
                       struct lwp_pattern_array *array)
{
    const struct lwp_object *object = &profile->objects[stream->object];
    struct lwp_loop_shape shape;
    if (lwp_gain_in_turn(visit, stream->object)) {
        *array = loop_in_turn(profile, visit, stream->object);
        return true;
    }
    if (stream->module == LWP_NONE || !lwp_loop_shape(profile->code, stream->module, stream->address, &shape))
        return false;
    const uint64_t step = shape.steps && shape.step ? (uint64_t)llabs(shape.step) : stream->stride.bytes,
                   most = (uint64_t)((double)object->bytes / visit->elements), apart = (uint64_t)((double)step / visit->visits);
    *array = (struct lwp_pattern_array){.walk = LWP_PATTERN_STEPS, .spacing = apart > most ? most : apart};
    if (!shape.steps && !shape.stays && (double)object->bytes > lwp_gain_large_object) {
        array->walk = LWP_PATTERN_INDEXED;
        array->spacing = (uint64_t)round((double)object->bytes / visit->elements); /* which 0.8 bytes a visit are too */
        array->leads = stream->object == visit->leader && most >= 4;
    }
    return true;
}

/* The loop's other large data objects. */
static bool loop_others(struct lwp_profile *profile, const struct lwp_gain_visit *visit, bool today, struct lwp_pattern *pattern)
{
    uint32_t seen[LWP_PATTERN_ARRAYS];
    size_t seen_count = 0, listed = 0;
    const struct lwp_pattern placed = *pattern;
    bool indexed = false;
    for (size_t a = 0; a < pattern->array_count; a++)
        indexed |= pattern->arrays[a].walk == LWP_PATTERN_INDEXED;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const struct lwp_object *object = &profile->objects[stream->object];
        bool mine = stream->region != visit->region || object->kind == LWP_OBJECT_STACK || object->kind == LWP_OBJECT_UNKNOWN ||
                    (double)object->bytes < lwp_gain_large_object;
        for (size_t k = 0; k < visit->object_count; k++)
            mine |= visit->objects[k] == stream->object;
        for (size_t k = 0; k < seen_count; k++)
            mine |= seen[k] == stream->object;
        if (mine)
            continue;
        struct lwp_pattern_array array;
        if (pattern->array_count == LWP_PATTERN_ARRAYS || pattern->access_count == LWP_PATTERN_ACCESSES ||
            !loop_other(profile, visit, stream, &array))
            return false;
        seen[seen_count++] = stream->object;
        uint64_t offset = 0;
        if (array.walk == LWP_PATTERN_INDEXED && array.spacing && loop_led_to(profile, visit, stream, &array.link))
            offset = loop_linked(profile, visit, stream->object, today, &placed, &array);
        /* What holds the indices is read in the list's place. */
        if (!array.spacing || (array.walk == LWP_PATTERN_STEPS && (double)array.spacing * visit->visits <= 8 && !stream->stores &&
                               indexed && !pattern->draws && !listed++))
            continue;
        pattern->accesses[pattern->access_count++] = (struct lwp_pattern_access){.array = pattern->array_count,
                                                                                 .offset = offset,
                                                                                 .bytes = stream->bytes,
                                                                                 .store = stream->stores > stream->loads,
                                                                                 .vector = stream->vector};
        pattern->arrays[pattern->array_count++] = array;
    }
    return true;
}

struct loop_thread {
    uint32_t thread;
    uint64_t first, last;
};

unsigned lwp_gain_threads(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    const struct lwp_traversal *traversal = lwp_traversals_of(&profile->traversals, visit->objects[0], visit->region);
    const struct lwp_thread_interaction *all = &profile->interaction;
    struct loop_thread seen[LWP_TRAVERSAL_PLACES];
    size_t count = 0, beside = 0;
    double sum = 0, most = 0;
    for (uint32_t i = 0; traversal && i < traversal->count; i++) {
        const struct lwp_traversal_place *place = &traversal->places[i];
        size_t k = 0;
        while (k < count && seen[k].thread != place->thread)
            k++;
        if (k == count)
            seen[count++] = (struct loop_thread){place->thread, place->time, place->time};
        seen[k].first = place->time < seen[k].first ? place->time : seen[k].first;
        seen[k].last = place->time > seen[k].last ? place->time : seen[k].last;
    }
    for (size_t k = 0; k < count; k++) {
        size_t with = 0;
        uint64_t middle = seen[k].first + (seen[k].last - seen[k].first) / 2;
        for (size_t i = 0; i < count; i++)
            with += seen[i].first <= middle && middle <= seen[i].last;
        beside = with > beside ? with : beside;
    }
    for (size_t i = 0; i < all->thread_count; i++) {
        double weight = 0;
        for (size_t k = 0; k < LWP_COMMUNICATION_PARTS; k++)
            weight += (double)all->threads[i].sampled[k];
        sum += weight;
        most = fmax(most, weight);
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double threads = beside ? (double)beside : most > 0 ? round(sum / most) : 1;
    return (unsigned)fmax(1, fmin(threads, (double)cores));
}

double lwp_gain_chain_cycles(const struct lwp_loop_work *work, double visits)
{
    return fmax(0, work->loaded_chain - CODE_SCALED_CYCLES * work->scaled) / visits;
}

void lwp_gain_computes(const struct lwp_loop_work *work, double visits, struct lwp_pattern *pattern)
{
    pattern->instructions = work->instructions / visits;
    pattern->flags = work->flags / visits;
    pattern->sums = work->sums / visits;
    pattern->products = work->products / visits;
    pattern->depth = work->depth;
    pattern->chain = lwp_gain_chain_cycles(work, visits);
    pattern->scaled = (unsigned)lround(work->scaled / visits);
    pattern->apart = work->chain > work->loaded_chain ? work->chain / visits : 0;
    pattern->floating = work->chain_of_vectors;
    pattern->through_memory = work->kept != LWP_LOOP_KEPT_IN_REGISTER && visits <= 1;
    pattern->at_address = work->kept == LWP_LOOP_KEPT_AT_ADDRESS;
    pattern->unrolled = (unsigned)fmin(visits, LWP_PATTERN_UNROLLED);
}

/* In elements, forward. */
static uint64_t loop_jump(const struct lwp_gain_visit *visit, double spacing)
{
    const double jump = fmod(round(visit->jump / spacing), visit->elements);
    return (uint64_t)(jump < 0 ? jump + floor(visit->elements) : jump);
}

bool lwp_gain_pattern(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_placement *placement, double chain,
                      double spacing, struct lwp_pattern *pattern)
{
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    memset(pattern, 0, sizeof *pattern); /* padding too: patterns are compared as bytes */
    pattern->elements = (uint64_t)visit->elements;
    pattern->far = visit->access.pattern == LWP_GAIN_RANDOM || visit->access.dependent ? 1 : 0;
    const bool alone = visit->access.pattern == LWP_GAIN_RANDOM && !visit->access.dependent && visit->leader == LWP_NONE;
    const bool descends = visit->found && (visit->access.dependent || alone);
    if (visit->access.dependent && visit->found)
        lwp_gain_tree_pattern(profile, visit, spacing, pattern);
    else if (visit->access.dependent)
        lwp_gain_chain_pattern(profile, visit, spacing, pattern);
    lwp_gain_computes(&visit->shape.work, visit->visits, pattern);
    if (placement->ordered) {
        /* An array is gone through step by step: far is what other data is at. */
        pattern->far = fields_chained(visit, placement) ? lwp_gain_chain_begins(profile, visit, spacing) : placement->array;
        pattern->window = pattern->passes = 0;
        if (placement->array)
            pattern->search = pattern->endings = 0;
    } else if (visit->jump != 0)
        pattern->jump = loop_jump(visit, spacing);
    else if (alone && visit->found)
        pattern->bisects = true;
    if (descends) /* which one is next */
        pattern->guesses = !visit->shape.selects;
    pattern->draws = alone && visit->shape.drawn && !pattern->bisects;
    pattern->chain = chain;
    pattern->threads = lwp_gain_threads(profile, visit);
    return loop_fields(profile, visit, placement, line, pattern) && loop_others(profile, visit, !placement->pooled, pattern) &&
           (visit->leader == LWP_NONE || lwp_pattern_leader(pattern) < pattern->array_count);
}
