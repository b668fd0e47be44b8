/* Three changes of the program's containers, not of its structures:
 *
 * - A priority queue's heap goes to two elements for each level. By pointers each is a memory stall, though only its key is compared; large
 *   elements are moved as a whole. With the key in the queue and the rest elsewhere both go.
 * - An array of pointers to a base class leads to objects of several classes in turn. In an array for each class they are a stream.
 * - An array of pointers of which each leads to an element of its own: in a loop of its own code it is run (advice/layout/in_place.c), in a
 *   function that looks one up it is not. With the elements in the array one of two stalls goes.
 *
 * Samples show what waits there. How much of it is left cannot be told from them, so no number is predicted. */
#include "analysis/findings/unsaid_containers.h"

#include "analysis/elements/element_count.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"

#include <string.h>

#define SAY(...) lwp_arena_printf(profile->arena, __VA_ARGS__)

enum { CLASSES_MOST = 8, VISITS_LEAST = 4 };

/* Of the time at least, however few samples there are: less could not make the program 1.1x as fast. */
static const double share_least = 1 - 1 / 1.1;

/* Of libstdc++ and libc++. */
static bool container_is_heap(const struct lwp_region *region)
{
    static const char *const names[] = {"std::__adjust_heap", "std::__push_heap", "std::__1::__sift_down", "std::__1::__sift_up",
                                        "std::__1::__floyd_sift_down"};
    bool heap = false;
    const char *function = region->function; /* with its type in front, and its arguments behind */
    const size_t name = function ? strcspn(function, "<(") : 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && function; i++) {
        const size_t length = strlen(names[i]);
        heap |= length <= name && strncmp(function + name - length, names[i], length) == 0;
    }
    return heap;
}

static void container_say(struct lwp_profile *profile, const char *sentence, const char *how, struct lwp_silence *silence)
{
    const char *help = SAY("%s What it gains is unknown: no run shows it.", how);
    if (silence->kind && strcmp(silence->kind, "left_alone") == 0)
        *silence = (struct lwp_silence){"left_alone", "container", sentence, help};
    else
        lwp_profile_note(profile, "%s. %s", sentence, help); /* begins with a number */
}

/* ---- heaps ---- */

/* What heaps wait for of each object, and whether they store to it: then its elements are moved. */
struct heap_waits {
    struct lwp_tally waits;
    bool moved;
};

static void heaps_say(struct lwp_profile *profile, struct lwp_silence *silence)
{
    struct heap_waits *of = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *of);
    struct lwp_tally most = {0};
    uint32_t found = LWP_NONE;
    bool moved = false;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->region == LWP_NONE || !container_is_heap(&profile->regions[stream->region]))
            continue;
        lwp_tally_merge(&of[stream->object].waits, &stream->weight);
        of[stream->object].moved |= stream->stores > 0;
    }
    for (uint32_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (of[i].waits.weight <= most.weight || object->kind == LWP_OBJECT_UNKNOWN || object->element_bytes < 2 * sizeof(void *) ||
            (of[i].moved && object->element_bytes < profile->machine.line_bytes))
            continue;
        most = of[i].waits;
        found = i;
        moved = of[i].moved;
    }
    const struct lwp_share share = lwp_share_of(&most, &profile->total);
    if (found == LWP_NONE || share.low <= share_least)
        return;
    const char *name = lwp_objects_name(profile, found);
    if (moved)
        container_say(
            profile,
            SAY("%.0f %% of the time is memory stall on %s, whose elements of %llu bytes are moved within a priority queue's heap",
                100 * share.value, name, (unsigned long long)profile->objects[found].element_bytes),
            "Keep only the key and an index of each element in the queue, and the elements in a std::vector, where they stay (a list "
            "of free places has those that were taken out).",
            silence);
    else
        container_say(
            profile,
            SAY("%.0f %% of the time is memory stall on %s, as a priority queue's heap compares its keys by pointers", 100 * share.value,
                name),
            "Keep each key beside its pointer in the queue, in a structure of both: comparisons then stay in the queue's own array.",
            silence);
}

/* ---- objects of several classes ---- */

/* The classes to whose objects one instruction goes by pointers of an array. */
struct classes {
    const struct lwp_type *types[CLASSES_MOST];
    uint32_t objects[CLASSES_MOST]; /* the one that is waited for longest, of each */
    size_t count;
};

static void classes_add(const struct lwp_profile *profile, const struct lwp_stream *stream, struct classes *classes)
{
    const struct lwp_object *object = &profile->objects[stream->object];
    size_t i = 0;
    if (!object->single || !object->type || object->type->kind != LWP_TYPE_STRUCT || !object->type->is_derived ||
        stream->accesses < VISITS_LEAST)
        return;
    while (i < classes->count && strcmp(classes->types[i]->name, object->type->name) != 0)
        i++;
    if (i == CLASSES_MOST)
        return;
    if (i == classes->count || object->weight.weight > profile->objects[classes->objects[i]].weight.weight)
        classes->objects[i] = stream->object;
    classes->types[i] = object->type;
    classes->count += i == classes->count;
}

static void classes_of(struct lwp_profile *profile, const struct lwp_stream *first, struct classes *classes)
{
    struct lwp_loop_shape shape;
    *classes = (struct classes){.count = 0};
    const struct lwp_object *object = &profile->objects[first->object];
    if (object->weight.weight * CLASSES_MOST < share_least * profile->total.weight) /* the heaviest of them is not so light */
        return;
    if (first->bytes != sizeof(void *) || first->module == LWP_NONE || !object->single || !object->type || !object->type->is_derived ||
        !lwp_loop_shape(profile->code, first->module, first->address, &shape) || !shape.led)
        return;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->module == first->module && stream->address == first->address)
            classes_add(profile, stream, classes);
    }
}

static struct lwp_tally classes_wait(const struct lwp_profile *profile, const struct classes *classes)
{
    struct lwp_tally waits = {0};
    for (size_t i = 0; i < classes->count; i++)
        lwp_tally_merge(&waits, &profile->objects[classes->objects[i]].weight);
    return waits;
}

static void classes_say(struct lwp_profile *profile, struct lwp_silence *silence)
{
    struct classes most = {.count = 0};
    uint32_t loop = LWP_NONE;
    for (size_t i = 0; i < profile->stream_count; i++) {
        struct classes classes;
        classes_of(profile, &profile->streams[i], &classes);
        if (classes.count < 2 || classes_wait(profile, &classes).weight <= classes_wait(profile, &most).weight)
            continue;
        most = classes;
        loop = lwp_regions_final(profile, profile->streams[i].region);
    }
    const struct lwp_tally waits = classes_wait(profile, &most);
    const struct lwp_share share = lwp_share_of(&waits, &profile->total);
    if (loop == LWP_NONE || share.low <= share_least)
        return;
    const char *lines = lwp_regions_lines(profile, &profile->regions[loop]);
    container_say(
        profile,
        SAY("%.0f %% of the time is memory stall on objects of %zu classes (%s, %s%s), which the loop%s%s visits in turn, by an array "
            "of pointers",
            100 * share.value, most.count, most.types[0]->name, most.types[1]->name, most.count > 2 ? ", ..." : "", lines ? " at " : "",
            lines ? lines : ""),
        "Where their order does not matter, keep the objects of each class in a std::vector of that class, and traverse one after "
        "the other: they are read in the order in which they lie then, and each loop calls one function.",
        silence);
}

/* ---- elements that have a pointer each ---- */

static double slots_nodes(const struct lwp_object *object)
{
    return object->largest ? (double)lwp_element_used(object) / (double)object->largest : 0;
}

/* Whether the load may lead to an element of its own, anywhere, in a function that loops call. */
static bool slots_load(const struct lwp_profile *profile, const struct lwp_stream *load)
{
    const struct lwp_object *object = &profile->objects[load->object];
    struct lwp_loop_shape shape;
    return load->bytes == sizeof(void *) && load->loads > 0 && !load->stores && load->region != LWP_NONE && load->module != LWP_NONE &&
           !object->single && (object->kind == LWP_OBJECT_HEAP || object->kind == LWP_OBJECT_STATIC) &&
           !lwp_loop_shape(profile->code, load->module, load->address, &shape);
}

/* The nodes that the load leads to, as many as there are pointers; LWP_NONE: none are known. */
static uint32_t slots_elements(const struct lwp_profile *profile, const struct lwp_stream *load)
{
    static const double as_many = 1.25;
    const double pointers = (double)lwp_element_used(&profile->objects[load->object]) / sizeof(void *);
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const struct lwp_object *object = &profile->objects[stream->object];
        const double nodes = slots_nodes(object);
        if (stream->region == load->region && stream->module == load->module && object->single && object->type &&
            object->type->kind == LWP_TYPE_STRUCT && !object->type->is_derived && !lwp_types_container(object->type) &&
            !lwp_types_links_itself(object->type) && nodes <= as_many * pointers && pointers <= as_many * nodes &&
            lwp_code_begins(profile->code, load->module, load->address, stream->address))
            return stream->object;
    }
    return LWP_NONE;
}

static bool slots_change(const struct lwp_profile *profile, uint32_t pointers, uint32_t region)
{
    for (size_t i = 0; i < profile->stream_count; i++)
        if (profile->streams[i].object == pointers && profile->streams[i].region == region && profile->streams[i].stores > 0)
            return true;
    return false;
}

static void slots_say(struct lwp_profile *profile, struct lwp_silence *silence)
{
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *load = &profile->streams[i];
        const uint32_t elements = slots_load(profile, load) ? slots_elements(profile, load) : LWP_NONE;
        if (elements == LWP_NONE || slots_change(profile, load->object, load->region))
            continue;
        struct lwp_tally waits = profile->objects[elements].weight;
        lwp_tally_merge(&waits, &profile->objects[load->object].weight);
        const struct lwp_share share = lwp_share_of(&waits, &profile->total);
        if (share.low <= 2 * share_least)
            continue;
        const char *pointers = lwp_objects_name(profile, load->object);
        container_say(
            profile,
            SAY("%.0f %% of the time is memory stall on %s and on %s, to each of which a pointer of the former leads", 100 * share.value,
                pointers, lwp_objects_name(profile, elements)),
            SAY("Keep the elements, of %llu bytes each, in the array itself, if each has one pointer there: a visit then waits once, "
                "not twice.",
                (unsigned long long)profile->objects[elements].element_bytes),
            silence);
        return;
    }
}

void lwp_unsaid_containers_say(struct lwp_profile *profile, struct lwp_silence *silence)
{
    heaps_say(profile, silence);
    if (profile->code) {
        classes_say(profile, silence);
        slots_say(profile, silence);
    }
}
