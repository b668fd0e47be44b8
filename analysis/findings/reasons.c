#include "analysis/findings/reasons.h"

#include "analysis/caches/tlb.h"
#include "analysis/elements/element_evidence.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "analysis/statistics/speedup.h"
#include "analysis/tables/severity.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS_EXPLAINED = 5 };

static const double most = 0.5; /* of an object's stall time: what holds for the object */

#define SAY(...) lwp_arena_printf(profile->arena, __VA_ARGS__)

struct subject {
    struct lwp_profile *profile;
    const struct lwp_splits *splits;
    const struct lwp_regroups *regroups;
    const struct lwp_conflicts *conflicts;
    uint32_t index;
    const struct lwp_object *object;
    const struct lwp_layout *layout; /* or NULL */
    struct lwp_split_reason split;
};

static const char *bytes_text(struct lwp_profile *profile, double bytes)
{
    return bytes >= 1 << 20   ? SAY("%.1f MiB", bytes / (1 << 20))
           : bytes >= 1 << 10 ? SAY("%.1f KiB", bytes / (1 << 10))
                              : SAY("%.0f bytes", bytes);
}

/* The part of the stall time in instructions that, as their loops' code shows, go on from one element or line to the next. What
 * sampled addresses are multiples of does not tell that: so are those of random elements. */
static double sequential_part(const struct subject *subject)
{
    const struct lwp_profile *profile = subject->profile;
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    uint64_t far = subject->object->element_bytes > line ? subject->object->element_bytes : line;
    double all = 0, ordered = 0;
    LWP_STREAMS_OF(profile, subject->index, stream) {
        struct lwp_loop_shape shape;
        all += stream->weight.weight;
        if (stream->weight.weight > 0 && stream->module != LWP_NONE &&
            lwp_loop_shape(profile->code, stream->module, stream->address, &shape) && shape.steps && shape.step &&
            (uint64_t)llabs(shape.step) <= far)
            ordered += stream->weight.weight;
    }
    return all > 0 ? ordered / all : 0;
}

/* Of how many values a loop goes to one, as with interleaved channels; 1: to all, or it is not known. */
static uint64_t values_skipped_by(const struct subject *subject, const struct lwp_stream *stream)
{
    const uint64_t bytes = subject->object->element_bytes, step = lwp_element_walk_past(subject->profile, stream, bytes);
    return bytes && step ? step / bytes : 1;
}

/* ... of the loop that stalls most among those that skip some, where they matter. */
static uint64_t values_skipped(const struct subject *subject)
{
    static const double matters = 0.25;
    const struct lwp_stream *most_stalled = NULL;
    double all = 0, skips = 0;
    LWP_STREAMS_OF(subject->profile, subject->index, stream) {
        all += stream->weight.weight;
        if (values_skipped_by(subject, stream) <= 1)
            continue;
        skips += stream->weight.weight;
        if (!most_stalled || stream->weight.weight > most_stalled->weight.weight)
            most_stalled = stream;
    }
    return most_stalled && skips > matters * all ? values_skipped_by(subject, most_stalled) : 1;
}

/* Fields of the structure that some loop uses. */
static size_t fields_used(const struct lwp_layout *layout)
{
    size_t used = 0;
    for (size_t f = 0; f < layout->field_count; f++) {
        bool any = false;
        for (size_t l = 0; l < layout->loop_count; l++)
            any |= layout->loops[l].uses[f];
        used += any;
    }
    return used;
}

/* Objects of one type are judged together, by the samples of all. */
static struct lwp_reason reason_few(const struct subject *subject, uint64_t samples)
{
    struct lwp_profile *profile = subject->profile;
    const char *on = samples > subject->object->weight.samples ? "it and others of its type" : "it";
    return (struct lwp_reason){.code = "too_few_samples",
                               .sentence = SAY("only %llu sample%s on %s, and a layout needs %llu: let the program run longer or sample "
                                               "more (" LWP_SAMPLE_MORE ")",
                                               (unsigned long long)samples, samples == 1 ? " is" : "s are", on,
                                               (unsigned long long)LWP_SAMPLES_LEAST)};
}

/* Or nothing is known of its size. */
static struct lwp_reason reason_fits(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    if (!subject->object->bytes)
        return (struct lwp_reason){
            .code = "unknown_size",
            .sentence = subject->object->allocations
                            ? "it is a part of larger blocks, and how many of them have one is not known, so neither is its size"
                            : "its blocks were not seen being allocated, so its size is not known"};
    return (struct lwp_reason){.code = "fits_cache",
                               .sentence = SAY("its %s fit the second-level cache (%s), where another layout saves little",
                                               bytes_text(profile, (double)subject->object->bytes),
                                               bytes_text(profile, (double)lwp_gain_caches(profile->machine).l2_bytes))};
}

static bool object_fits(const struct subject *subject)
{
    const uint64_t bytes = subject->object->bytes;
    return bytes && bytes <= lwp_gain_caches(subject->profile->machine).l2_bytes / 2;
}

/* `what` is tried, and predicted to gain too little, or not surely enough. */
static struct lwp_reason reason_gain(struct lwp_profile *profile, const char *what, double speedup, double low, double high, double needed)
{
    const char *sentence =
        high < 1.0005 ? SAY("%s is not predicted to make the program faster", what)
        : high < needed
            ? SAY("%s is predicted to make the program %.3fx as fast at most, and less than %.2fx is not advised", what, high, needed)
            : SAY("%s is predicted to make the program %.*fx as fast (%.*fx to %.*fx): not advised, as the low end is below %.2fx", what,
                  LWP_SPEEDUP(speedup), LWP_SPEEDUP(low), LWP_SPEEDUP(high), needed);
    return (struct lwp_reason){.code = "gain_below_threshold", .sentence = sentence, .speedup = speedup, .low = low, .high = high};
}

/* The field of several lines, most of which no loop was seen to go to: which parts of it are used together nobody asked. NULL: none. */
static const struct lwp_layout_field *reason_large(const struct subject *subject)
{
    static const double part = 0.5;
    const uint64_t line = lwp_gain_caches(subject->profile->machine).line_bytes;
    const struct lwp_layout_field *large = NULL;
    for (size_t f = 0; f < subject->layout->field_count; f++) {
        const struct lwp_layout_field *field = &subject->layout->fields[f];
        if (field->bytes > line && field->seen && (double)field->seen < part * (double)field->bytes &&
            (!large || field->bytes > large->bytes))
            large = field;
    }
    return large;
}

static struct lwp_reason reason_of_large(const struct subject *subject, const struct lwp_layout_field *large)
{
    return (struct lwp_reason){
        .code = "unknown_fields",
        .sentence =
            lwp_arena_printf(subject->profile->arena,
                             "the accesses that wait for it go to %llu of the %llu bytes of %s, which is one field here: what it would "
                             "gain if the parts of %s lay apart is not known",
                             (unsigned long long)large->seen, (unsigned long long)large->bytes, large->name, large->name)};
}

static struct lwp_reason reason_little_gain(const struct subject *subject)
{
    const struct lwp_split_reason *split = &subject->split;
    const struct lwp_layout_field *large = reason_large(subject);
    if (large && 2 * large->bytes > subject->layout->element_bytes)
        return reason_of_large(subject, large);
    return reason_gain(subject->profile, "the best layout tried", split->speedup, split->low, split->high, lwp_split_needs.gain);
}

static struct lwp_reason reason_conflict(const struct subject *subject, const struct lwp_conflict *conflict)
{
    struct lwp_profile *profile = subject->profile;
    const char *change = conflict->remedy == LWP_CONFLICT_ROWS ? "making its rows longer"
                         : conflict->count > 1                 ? SAY("moving the %zu arrays apart", conflict->count)
                                                               : "moving it";
    return reason_gain(
        profile, SAY("a loop has %.0f lines in one set of the cache, which holds %u, and %s", conflict->lines, conflict->ways, change),
        conflict->gain.speedup, conflict->gain.low, conflict->gain.high, lwp_conflict_needs);
}

/* Nodes that could lie closer together, which is the most that was found of them, or what loses least if it is wrong, and only an
 * estimate. */
static bool reason_is_pool(const struct lwp_split_reason *split)
{
    return split->pool.speedup >= lwp_split_needs.gain && (split->pool.high > split->high || split->pool.low >= split->low);
}

static struct lwp_reason reason_pool(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_split_pool *pool = &subject->split.pool;
    return (struct lwp_reason){
        .code = "gain_below_threshold",
        .sentence = SAY("its nodes of %llu bytes lie %llu bytes apart on average: from a pool, the program is estimated to be "
                        "%.*fx as fast (%.*fx to %.*fx), which no run of its loops on this machine confirms",
                        (unsigned long long)subject->object->element_bytes, (unsigned long long)pool->spacing, LWP_SPEEDUP(pool->speedup),
                        LWP_SPEEDUP(pool->low), LWP_SPEEDUP(pool->high)),
        .speedup = pool->speedup,
        .low = pool->low,
        .high = pool->high};
}

static struct lwp_reason reason_together(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    size_t used = fields_used(subject->layout), all = subject->layout->field_count;
    double near = sequential_part(subject);
    const struct lwp_layout_field *large = reason_large(subject);
    if (large && used == all)
        return reason_of_large(subject, large);
    if (near > most && used == all)
        return (struct lwp_reason){.code = "sequential", .sentence = "its loops traverse it sequentially and use all of its fields"};
    return (struct lwp_reason){
        .code = "used_together",
        .sentence =
            all < 2 ? "its loops use all of it"
            : used == all
                ? SAY("its loops use all of its %zu fields together, so that parts would have to be fetched together too", all)
                : SAY("its loops use the same %zu of its %zu fields together, and leaving out the others saves no cache line", used, all)};
}

static struct lwp_reason reason_vague(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_split_order *order = &subject->split.order;
    const char *why = subject->split.copied
                          ? "functions of the C library (memcpy, memcmp and the like) go over all of it, so that it is unknown which "
                            "fields the program needs"
                          : "its loops load several fields at once with vector instructions, so that it is unknown which they need: "
                            "profile a build with -fno-tree-vectorize";
    if (order->bytes && order->high >= lwp_split_needs.gain)
        why = SAY("%s. The larger alignments first, its fields take %llu instead of %llu bytes: estimated %.*fx (%.*f-%.*f), too little to "
                  "be sure",
                  why, (unsigned long long)order->bytes, (unsigned long long)subject->object->element_bytes, LWP_SPEEDUP(order->speedup),
                  LWP_SPEEDUP(order->low), LWP_SPEEDUP(order->high));
    return (struct lwp_reason){.code = "unknown_fields", .sentence = why};
}

static struct lwp_reason reason_unknown_gain(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_layout *layout = subject->layout;
    return (struct lwp_reason){.code = "unknown_gain",
                               .sentence =
                                   SAY("what another layout of %s in its nodes would bring is not known: the library's functions go "
                                       "through a %s, so that few samples show which parts of an element are used, and how much of a "
                                       "tree is in the caches is not known",
                                       layout->payload->name, layout->container)};
}

/* A structure that was judged. */
static struct lwp_reason reason_of_structure(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_object *object = subject->object;
    switch (subject->split.verdict) {
    case LWP_SPLIT_FITS_CACHE:
        return reason_fits(subject);
    case LWP_SPLIT_UNSURE_SIZE:
        return (struct lwp_reason){.code = "unknown_fields",
                                   .sentence =
                                       SAY("its type is not known, and that its elements have %llu bytes is only %.0f %% sure: compile "
                                           "with -g, or sample more",
                                           (unsigned long long)object->element_bytes, 100 * object->element_probability)};
    case LWP_SPLIT_PADDED:
        return (struct lwp_reason){.code = "keeps_threads_apart",
                                   .sentence = "its elements are padded to whole cache lines so that threads do not share them"};
    case LWP_SPLIT_SHARES_FALSELY:
        return (struct lwp_reason){.code = "keeps_threads_apart",
                                   .sentence =
                                       "threads own its elements in turn, and smaller parts would put what different threads write on "
                                       "one cache line"};
    case LWP_SPLIT_VAGUE:
        return reason_vague(subject);
    case LWP_SPLIT_LIBRARY:
        return (struct lwp_reason){.code = "library_type",
                                   .sentence =
                                       "its elements are the nodes or entries of a container of the language's library, whose layout "
                                       "is not the program's to change"};
    case LWP_SPLIT_BASE:
        return (struct lwp_reason){.code = "base_class",
                                   .sentence = "it shares a base class with a class that is advised to be changed in another way"};
    case LWP_SPLIT_VIRTUAL:
        return (struct lwp_reason){.code = "base_class",
                                   .sentence = "its class has virtual bases, which lie where the compiler puts them: parts of it cannot be "
                                               "moved to another class"};
    case LWP_SPLIT_FEW_SAMPLES:
        return reason_few(subject, subject->split.samples);
    case LWP_SPLIT_UNKNOWN_GAIN:
        return reason_unknown_gain(subject);
    case LWP_SPLIT_LITTLE_GAIN:
        return reason_is_pool(&subject->split) ? reason_pool(subject) : reason_little_gain(subject);
    default:
        return reason_is_pool(&subject->split) ? reason_pool(subject) : reason_together(subject);
    }
}

/* The group of arrays that the object belongs to, and that is not advised to be one array; NULL: none. */
static const struct lwp_regroup *reason_group(const struct subject *subject)
{
    const struct lwp_regroups *regroups = subject->regroups;
    for (size_t g = 0; g < regroups->left_count; g++)
        for (size_t i = 0; i < regroups->left[g].count; i++)
            if (regroups->candidates.arrays[regroups->left[g].members[i]].object == subject->index)
                return &regroups->left[g];
    return NULL;
}

/* A structure that is declared as bytes only: room for another type. */
static bool type_is_room(const struct lwp_type *type)
{
    return type->kind == LWP_TYPE_STRUCT && type->field_count == 1 && type->bytes > 1 && type->fields[0].bytes == type->bytes &&
           type->fields[0].alignment == 1;
}

/* An array of plain values: what was said where it was compared with the others. */
static struct lwp_reason reason_of_values(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_object *object = subject->object;
    double near = sequential_part(subject);
    const char *what = !object->type ? SAY("elements of %llu bytes without known fields", (unsigned long long)object->element_bytes)
                       : type_is_room(object->type)
                           ? SAY("elements that are declared as bytes (%s)", object->type->name)
                           : SAY(object->type->kind == LWP_TYPE_UNION ? "unions (%s)" : "single values (%s)", object->type->name);
    const struct lwp_regroup *group = reason_group(subject);
    if (group && group->gain.high >= lwp_regroup_needs)
        return reason_gain(profile, SAY("one array of the %zu that loops use at the same index", group->count), group->gain.speedup,
                           group->gain.low, group->gain.high, lwp_regroup_needs);
    for (size_t i = 0; i < subject->regroups->apart_count; i++) {
        const struct lwp_regroup_rejected *apart = &subject->regroups->apart[i];
        if (apart->object == subject->index)
            return (struct lwp_reason){.code = "not_joined",
                                       .sentence =
                                           SAY("%s; one array of structures with %s is not advised%s%s", what, apart->with,
                                               apart->verdict.detail ? ": " : "", apart->verdict.detail ? apart->verdict.detail : "")};
    }
    if (object_fits(subject))
        return reason_fits(subject);
    const uint64_t skipped = values_skipped(subject);
    if (near > most && skipped > 1)
        return (struct lwp_reason){
            .code = "single_values",
            .sentence = SAY("%s, of which a loop goes to one in %llu: what it needs would be on fewer cache lines if that lay together",
                            what, (unsigned long long)skipped)};
    if (near > most && object->allocations > 1 && object->largest && object->largest <= UINT64_C(1) << LWP_TLB_PAGE_SHIFT)
        return (struct lwp_reason){.code = "sequential",
                                   .sentence = SAY("%s, traversed sequentially within each of its blocks, which have at most %llu bytes: "
                                                   "what one block for all of them in the order of the loop would gain is not known",
                                                   what, (unsigned long long)object->largest)};
    if (near > most)
        return (struct lwp_reason){.code = "sequential", .sentence = SAY("%s, traversed sequentially already", what)};
    if (!lwp_evidence_of(object->weight.samples))
        return reason_few(subject, object->weight.samples);
    return (struct lwp_reason){.code = "single_values",
                               .sentence =
                                   SAY("%s: there are no %sfields to separate, and no other array was seen to be used at the same indices",
                                       what, object->type && type_is_room(object->type) ? "known " : "")};
}

static struct lwp_reason reason_unknown_fields(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_object *object = subject->object;
    if (!lwp_evidence_of(object->weight.samples))
        return reason_few(subject, object->weight.samples);
    if (object->several)
        return (struct lwp_reason){.code = "unknown_fields",
                                   .sentence =
                                       "parts of it are traversed with different strides: it holds several arrays or types, and which "
                                       "bytes are which field is not known"};
    if (object_fits(subject))
        return reason_fits(subject);
    return (struct lwp_reason){
        .code = "unknown_fields",
        .sentence = object->type ? SAY("it is used as %s, but where its elements begin and end is not known", object->type->name)
                                 : "neither debug info nor the addresses show what its elements and fields are"};
}

/* Without the stop at its end. */
static const char *reason_clause(struct lwp_profile *profile, const char *sentence)
{
    size_t length = strlen(sentence);
    return length && sentence[length - 1] == '.' ? lwp_arena_strndup(profile->arena, sentence, length - 1) : sentence;
}

/* The type that the pointers used lead to most, by the code: "struct node"; NULL: none with enough of the time. */
static const char *reason_type_by_code(const struct subject *subject, double *share)
{
    enum { TYPES = 32 };
    static const double counts = 0.002; /* of all time: rarer accesses are not looked at */
    struct lwp_profile *profile = subject->profile;
    const struct lwp_type *types[TYPES];
    double weights[TYPES] = {0}, all = profile->total.weight;
    size_t count = 0, top = 0;
    for (uint32_t i = profile->object_streams[subject->index]; i != LWP_NONE; i = profile->streams[i].next_of_object) {
        const struct lwp_stream *stream = &profile->streams[i];
        struct lwp_code_place place;
        size_t t = 0;
        if (!profile->code || stream->module == LWP_NONE || stream->weight.weight < counts * all ||
            !lwp_types_place(profile->code, stream->module, stream->address, &place) || place.type->kind != LWP_TYPE_STRUCT)
            continue;
        while (t < count && strcmp(types[t]->name, place.type->name) != 0)
            t++;
        if (t == TYPES)
            continue;
        types[t] = place.type;
        count += t == count;
        weights[t] += stream->weight.weight;
        top = weights[t] > weights[top] ? t : top;
    }
    *share = count ? weights[top] / all : 0;
    return count && *share >= lwp_split_needs.share ? types[top]->name : NULL;
}

const char *lwp_reasons_unrecorded(struct lwp_profile *profile)
{
    const double recorded = (double)profile->allocations_recorded, left_out = (double)profile->allocations_unrecorded;
    const double percent = left_out > 0 ? 100 * left_out / (left_out + recorded) : 0;
    if (percent < 0.5)
        return NULL;
    return SAY(
        "%.0f %% of the program's allocations were not recorded, as that would have cost more than lwp collect --max-overhead allows",
        percent);
}

static struct lwp_reason reason_of_unknown(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_object *object = subject->object;
    double share;
    const bool lost = object->label && strcmp(object->label, "unknown") == 0;
    const char *why =
        lost ? "their addresses could not be recovered" : "they are to no variable, no stack and no block whose allocation was recorded";
    const char *unrecorded = lost ? NULL : lwp_reasons_unrecorded(profile), *type = reason_type_by_code(subject, &share);
    return (struct lwp_reason){.code = "unknown_data",
                               .sentence =
                                   SAY("the data object of these accesses is unknown: %s%s%s%s%s", why, unrecorded ? " (" : "",
                                       unrecorded ? unrecorded : "", unrecorded ? ")" : "",
                                       type ? SAY("; by the code, %.1f %% of the time is memory stall on %s", 100 * share, type) : "")};
}

/* A type of others. What the program keeps in a container's nodes was judged like its own structures. */
static struct lwp_reason reason_of_library(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_type *type = subject->object->type;
    const char *array = lwp_types_is_list_node(type) ? ". A loop over a list waits for each link, one over an array of the same elements "
                                                       "(std::vector, Vec) does not; what that brings was not measured"
                                                     : "";
    const bool judged =
        subject->layout && !subject->object->fields_unknown && (subject->layout->payload || reason_is_pool(&subject->split));
    if (lwp_types_is_coroutine(type->tag))
        return (struct lwp_reason){.code = "library_type",
                                   .sentence = SAY("its type %s is the frame of a coroutine, which the compiler lays out", type->name)};
    if (judged) {
        struct lwp_reason reason = reason_of_structure(subject);
        reason.sentence = SAY("%s%s", reason.sentence, array);
        return reason;
    }
    return (struct lwp_reason){
        .code = "library_type",
        .sentence = SAY("its type %s %s: its layout is not the program's to change%s", type->name,
                        type->file ? SAY("is declared in %s, by the system or a library", type->file) : "belongs to the language's library",
                        array)};
}

static struct lwp_reason reason_of(const struct subject *subject)
{
    struct lwp_profile *profile = subject->profile;
    const struct lwp_object *object = subject->object;
    const struct lwp_type *type = object->type;
    if (object->kind == LWP_OBJECT_UNKNOWN)
        return reason_of_unknown(subject);
    const struct lwp_conflict *conflict = lwp_conflicts_unsaid(subject->conflicts, subject->index);
    if (conflict)
        return reason_conflict(subject, conflict);
    struct lwp_share share = lwp_share_of(&object->weight, &profile->total);
    if (share.value < lwp_split_needs.share)
        return (struct lwp_reason){.code = "little_time",
                                   .sentence =
                                       share.value < 0.0005
                                           ? SAY("less than 0.1 %% of the time is memory stall on it; a change is worth it from %.0f %% on",
                                                 100 * lwp_split_needs.share)
                                           : SAY("only %.1f %% of the time is memory stall on it; a change is worth it from %.0f %% on",
                                                 100 * share.value, 100 * lwp_split_needs.share)};
    if (type && type->owner == LWP_TYPE_OF_SYSTEM && type->kind != LWP_TYPE_SCALAR)
        return reason_of_library(subject);
    if (object->kind == LWP_OBJECT_STATIC && lwp_objects_own_code(profile, object->module))
        return (struct lwp_reason){.code = "unknown_data", .sentence = "they were allocated before lwp could record where"};
    if (object->kind == LWP_OBJECT_STATIC && lwp_objects_system_library(profile, object->module))
        return (struct lwp_reason){.code = "library_type",
                                   .sentence = SAY("it is a variable of %s: its layout is not the program's to change",
                                                   lwp_path_last(lwp_code_module_info(profile->code, object->module)->path))};
    if (object->kind == LWP_OBJECT_STATIC && !object->variable && lwp_objects_constant(profile, object))
        return (struct lwp_reason){.code = "single_values",
                                   .sentence = "the compiler lays down constants of the code and texts: there is no layout to change"};
    if (object->kind == LWP_OBJECT_STACK)
        return (struct lwp_reason){.code = "stack", .sentence = "it is a variable on the stack, whose layout is not judged"};
    if (object->fields_unknown && object_fits(subject)) /* whatever its fields are */
        return reason_fits(subject);
    if (object->fields_unknown)
        return (struct lwp_reason){.code = "unknown_fields", .sentence = reason_clause(profile, object->fields_unknown)};
    if (!subject->layout)
        return object->element_bytes ? reason_of_values(subject) : reason_unknown_fields(subject);
    return reason_of_structure(subject);
}

static bool is_advised(const struct subject *subject, const struct lwp_locality *locality, const struct lwp_locality_tips *tips)
{
    const struct lwp_regroups *regroups = subject->regroups;
    if (subject->split.verdict == LWP_SPLIT_ADVISED || lwp_conflicts_about(subject->conflicts, subject->index) ||
        lwp_locality_tips_change(locality, tips, subject->index, 0))
        return true;
    for (size_t i = 0; i < regroups->count; i++)
        for (size_t k = 0; k < regroups->regroups[i].count; k++)
            if (regroups->candidates.arrays[regroups->regroups[i].members[k]].object == subject->index)
                return true;
    return false;
}

void lwp_reasons_find(struct lwp_profile *profile, const struct lwp_splits *splits, const struct lwp_regroups *regroups,
                      const struct lwp_conflicts *conflicts, const struct lwp_locality *locality, const struct lwp_locality_tips *tips,
                      struct lwp_reasons *reasons)
{
    uint32_t *order = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *order);
    size_t count = 0, known = 0;
    for (size_t i = 0; i < profile->object_count; i++)
        if (profile->objects[i].weight.weight > 0)
            order[count++] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, lwp_objects_heavier, profile->objects);
    reasons->count = 0;
    for (size_t i = 0; i < count && known < OBJECTS_EXPLAINED && reasons->count < LWP_REASONS_MAX; i++) {
        const struct subject subject = {.profile = profile,
                                        .splits = splits,
                                        .regroups = regroups,
                                        .conflicts = conflicts,
                                        .index = order[i],
                                        .object = &profile->objects[order[i]],
                                        .layout = splits->of_object[order[i]],
                                        .split = splits->reasons[order[i]]};
        known += subject.object->kind != LWP_OBJECT_UNKNOWN;
        if (is_advised(&subject, locality, tips))
            continue;
        struct lwp_reason reason = reason_of(&subject);
        reason.object = order[i];
        reasons->items[reasons->count++] = reason;
    }
}
