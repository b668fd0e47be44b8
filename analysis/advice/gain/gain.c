/* Cache-line traffic before and after a new layout, and the speed-up that makes plausible.
 *
 * In: a layout, the fields each loop uses and its access pattern: pairs of accesses in one sample show whether it goes to elements
 * sequentially or at random.
 *
 * The whole program's time is 1 (Amdahl). What a loop saves of it is measured where its accesses can be run on this machine
 * (measured.c). Else streams and chains pay by the line, w (1 - lines after / lines before) of the time w that they wait for the
 * structure, and of random visits gain_model.c says what they pay. The interval: the structure's share at its ends, and either the
 * spread of the runs or the model's range. */
#include "analysis/advice/gain/gain.h"

#include "analysis/advice/gain/chain.h"
#include "analysis/advice/gain/displaced.h"
#include "analysis/advice/gain/jumps.h"
#include "analysis/advice/gain/measured.h"
#include "analysis/advice/gain/set_up.h"
#include "analysis/advice/gain/turns.h"
#include "analysis/advice/gain/visit.h"
#include "analysis/advice/placement/lines.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/profile/streams.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/statistics/stride.h"

#include <math.h>
#include <string.h>

enum { PAIRS_LEAST = 4 };

static const double loop_worth = 0.01; /* of all time: a loop that may save less is not measured */
static const double loop_waits = 0.1;  /* ... but for one that waits for so much, whatever the model says, and whose data shrinks */
static const double shrinks_by = 0.75;

/* The most stalled of the loop's accesses to the data; with `shape`, of those that its own code makes, not a function that it calls: that
 * code shows the pattern. */
static const struct lwp_stream *gain_stream(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t region,
                                            struct lwp_loop_shape *shape)
{
    const struct lwp_stream *most = NULL;
    struct lwp_loop_shape found;
    for (size_t k = 0; k < layout->object_count; k++)
        LWP_STREAMS_OF(profile, layout->objects[k], stream) {
            if (stream->region != region || (most && stream->weight.weight <= most->weight.weight) ||
                (shape && !(profile->code && lwp_loop_shape(profile->code, stream->module, stream->address, &found))))
                continue;
            most = stream;
            if (shape)
                *shape = found;
        }
    return most;
}

/* A loop that has none, as it calls a function for each element: of pointers that it loads, or of elements of an array. */
static const struct lwp_stream *gain_handed_on(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t region,
                                               struct lwp_loop_shape *shape)
{
    const struct lwp_region *loop = &profile->regions[region];
    struct lwp_loop_shape found;
    if (loop->is_function || !profile->code || !lwp_loop_shape(profile->code, loop->module, loop->address, &found) || found.chained ||
        (layout->single && !found.hands_on))
        return NULL;
    *shape = found;
    shape->steps = shape->stays = false; /* those are of another access */
    shape->led = layout->single;
    return gain_stream(profile, layout, region, NULL);
}

/* Nothing saves more than the time that is lost on the data, at its upper bound. All of it are parts of what was sampled. */
void lwp_gain_speedups(struct lwp_profile *profile, const struct lwp_gain_saving *sum, const struct lwp_share *share, struct lwp_gain *gain)
{
    const double all_loops = sum->most > 0 ? sum->most + sum->estimated : 0, most = fmin(1, fmax(share->high, all_loops)),
                 shrinks = 1 - lwp_gain_spinning(profile);
    const struct lwp_share saved =
        lwp_gain_of_all(profile, (struct lwp_share){fmin(sum->value, most), fmin(sum->low, most), fmin(sum->high, most)});
    struct lwp_gain_range ends = lwp_gain_speedup(saved.low + sum->pages.low, saved.high / shrinks + sum->pages.high);
    gain->speedup = lwp_gain_speedup(0, saved.value / shrinks + sum->pages.value).high;
    gain->low = fmin(ends.low, gain->speedup);
    gain->high = fmax(ends.high, gain->speedup);
    gain->measured = sum->measured;
    gain->run = sum->run;
    gain->pattern_ns = sum->pattern_ns;
    gain->program_ns = sum->program_ns;
}

void lwp_gain_sum(struct lwp_gain_saving *sum, const struct lwp_gain_saving *saving, const struct lwp_share *share)
{
    /* Most of the sum decides what it is said to come from. */
    if (fabs(saving->value) > fabs(sum->value)) {
        sum->measured = saving->measured;
        sum->run = saving->run;
        sum->pattern_ns = saving->pattern_ns;
        sum->program_ns = saving->program_ns;
    }
    sum->value += saving->value;
    sum->most += saving->most;
    sum->estimated += saving->run ? 0 : fmax(0, saving->high);
    sum->low += saving->low * (saving->run ? 1 : (saving->low > 0 ? share->low : share->high) / share->value);
    sum->high += saving->high * (saving->run ? 1 : share->high / share->value);
}

/* Whether the lines that the loop goes to become much fewer. */
static bool gain_shrinks(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_placement *before,
                         const struct lwp_placement *after)
{
    const uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    return lwp_placement_needs(after, visit->uses, visit->elements, line).busy <
           shrinks_by * lwp_placement_needs(before, visit->uses, visit->elements, line).busy;
}

/* No more is saved than the program waits: where the run promises more, it is what is known of the waits that is said, at both ends.
 * Of visits that seem random the part that jumps which are guessed do not explain is sure to be so: two cursors that go on in turns are far
 * from each other, too. Behind a wrong guess of whose turn it is (turns.h) the program waits whatever its layout, and has time to fetch
 * what comes next: what is guessed may save nothing. */
static struct lwp_gain_saving gain_of_run(const struct lwp_gain_measured *measured, const struct lwp_share *whole,
                                          struct lwp_gain_range waits, bool random)
{
    const struct lwp_gain_range part = lwp_gain_part(measured, whole);
    const double promised = whole->value * (1 - measured->ratio), most = waits.high, value = fmin(promised, most),
                 low = fmin(part.low, promised > most ? waits.low : most),
                 guessed = fmin(1, measured->turns + (random ? measured->guesses : 0));
    return (struct lwp_gain_saving){.value = value > 0 ? (1 - fmin(1, measured->turns) / 2) * value : value,
                                    .low = low > 0 ? (1 - guessed) * low : low,
                                    .high = fmin(part.high, most),
                                    .run = true,
                                    .most = most,
                                    .measured = measured->reproduced || (measured->waits_less && measured->paces.low > 0),
                                    .pattern_ns = measured->pattern,
                                    .program_ns = measured->pace};
}

/* A loop that computes all the time that it takes has nothing to gain. Of short loops all samples fall on loads, awaited or not: where
 * the run waits less, what they promise is too much, and a loop that waits longer than its run gains no less. */
struct lwp_gain_saving lwp_gain_of_measured(const struct lwp_gain_measured *measured, const struct lwp_share *whole,
                                            struct lwp_gain_range waits, bool random, struct lwp_gain_saving estimate)
{
    struct lwp_gain_saving saving = estimate;
    if (measured->between || measured->waits_less)
        return gain_of_run(measured, whole, waits, random);
    if (measured->doubtful)
        saving.low = fmin(saving.low, 0);
    if (measured->paces.low > 0 && measured->core > 0) {
        const double pace = measured->pace; /* or only within what bounds it is known */
        const struct lwp_gain_range paces = pace > 0 ? (struct lwp_gain_range){pace, pace} : measured->paces;
        const double most_memory = whole->value * fmax(0, 1 - measured->core / paces.high),
                     least_memory = whole->value * fmax(0, 1 - measured->core / paces.low);
        saving.high = fmin(saving.high, most_memory);
        saving.value = fmin(saving.value, most_memory);
        saving.low = fmin(saving.low, fmin(saving.value, least_memory));
    }
    return saving;
}

double lwp_gain_awaited_elsewhere(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    double weight = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        bool mine = stream->region != visit->region || profile->objects[stream->object].kind == LWP_OBJECT_UNKNOWN ||
                    (double)profile->objects[stream->object].bytes >= lwp_gain_large_object;
        for (size_t k = 0; k < visit->object_count; k++)
            mine |= visit->objects[k] == stream->object;
        weight += mine ? 0 : stream->weight.weight;
    }
    return weight;
}

/* As measured where that can be believed. */
struct lwp_gain_saving lwp_gain_of_loop(struct lwp_profile *profile, const struct lwp_gain_visit *visit, double weight,
                                        const struct lwp_placement *before, const struct lwp_placement *after, struct lwp_gain_range saved,
                                        double part)
{
    struct lwp_gain_measured measured;
    struct lwp_gain_range stalled = lwp_gain_stalled(profile, visit->region, weight, &visit->shape);
    double all = profile->total.weight;
    struct lwp_share whole = {0};
    if (visit->region != LWP_NONE)
        whole = lwp_share_of(&profile->regions[visit->region].weight, &profile->total);
    part = fmin(fmax(part, saved.low), fmax(part, saved.high));
    struct lwp_gain_saving saving = {.value = part * fmin(weight, stalled.high) / all};
    saving.low = fmin(saving.value, fmin(part, saved.low) * (saved.low > 0 ? stalled.low : stalled.high) / all);
    saving.high = fmax(saving.value, fmax(part, saved.high) * stalled.high / all);
    if (saving.high < loop_worth && (stalled.high < loop_waits * all || !gain_shrinks(profile, visit, before, after)))
        return saving;
    const bool run = lwp_gain_measure(profile, visit, before, after, &measured);
    if (saving.low > 0) /* so often it may not be memory that is waited for */
        saving.low *= 1 - fmin(1, measured.guesses + measured.turns);
    if (saving.value > 0)
        saving.value *= 1 - fmin(1, measured.turns) / 2;
    const bool random = visit->access.pattern == LWP_GAIN_RANDOM;
    stalled = lwp_gain_stalled(profile, visit->region, weight + lwp_gain_awaited_elsewhere(profile, visit), &visit->shape);
    const struct lwp_gain_range waits = {stalled.low / all, stalled.high / all};
    return run ? lwp_gain_of_measured(&measured, &whole, waits, random, saving) : saving;
}

/* Where the loop's code first goes to each field, as the accesses beside the one that is stalled most say. */
static const uint64_t *gain_first(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_stream *stream)
{
    enum { SIBLINGS = 64 };
    struct lwp_sibling siblings[SIBLINGS];
    uint64_t place;
    if (profile->measure_most <= 0 || !stream || !profile->code || stream->module == LWP_NONE ||
        lwp_element_stream_place(profile, stream, &place) < 0.5)
        return NULL;
    uint64_t *first = lwp_arena_alloc(profile->arena, layout->field_count + 1, sizeof *first);
    const size_t count = lwp_code_siblings(profile->code, stream->module, stream->address, siblings, SIBLINGS);
    for (size_t i = 0; i < count && i < SIBLINGS; i++) {
        const uint64_t at = lwp_stride_residue((int64_t)place + siblings[i].delta, layout->spacing);
        for (size_t f = 0; f < layout->field_count; f++)
            if (at - layout->fields[f].offset < layout->fields[f].bytes && (!first[f] || siblings[i].address < first[f]))
                first[f] = siblings[i].address;
    }
    return first;
}

/* What the loop's code says of its visits. */
static struct lwp_gain_visit gain_visit(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_loop *loop,
                                        double elements)
{
    double pairs = (double)(loop->near + loop->far);
    struct lwp_gain_visit visit = {.region = loop->region,
                                   .objects = layout->objects,
                                   .object_count = layout->object_count,
                                   .uses = loop->uses,
                                   .found = loop->descends ? loop->found : NULL,
                                   .spacing = layout->spacing,
                                   .elements = elements,
                                   .visits = 1,
                                   .leader = LWP_NONE,
                                   .far = pairs > 0 ? (double)loop->far / pairs : -1};
    visit.first = gain_first(profile, layout, gain_stream(profile, layout, loop->region, NULL));
    const struct lwp_stream *stream = gain_stream(profile, layout, loop->region, &visit.shape);
    if (!stream)
        stream = gain_handed_on(profile, layout, loop->region, &visit.shape);
    visit.access.pattern = loop->near + loop->far < 10 ? LWP_GAIN_UNKNOWN : loop->far > loop->near ? LWP_GAIN_RANDOM : LWP_GAIN_SEQUENTIAL;
    if (stream && visit.shape.search == LWP_LOOP_SEARCH_BISECTION) /* whose last steps are near each other; those that cost are not */
        visit.access.pattern = LWP_GAIN_RANDOM;
    if (stream) {
        visit.access.dependent = visit.shape.chained;
        if (visit.access.pattern == LWP_GAIN_UNKNOWN && visit.shape.steps)
            visit.access.pattern = LWP_GAIN_SEQUENTIAL;
        /* Unrolled loops visit several elements each time round. */
        visit.visits = fmax(1, (double)loop->stride / (double)layout->spacing);
        lwp_gain_turns(profile, &visit, elements);
        visit.access.instructions = visit.shape.work.instructions / visit.visits;
    }
    /* Nodes that nothing leads to which came before, as the entries of a hash table; else how they are come to the code does not show, nor
     * in which order a loop takes its pointers. */
    const bool apart = stream && visit.shape.apart && visit.access.pattern == LWP_GAIN_RANDOM;
    const bool led = visit.shape.led && (visit.access.pattern != LWP_GAIN_UNKNOWN || visit.turn_count > 0);
    visit.access.dependent |= layout->single && !apart && !led;
    if (stream && visit.access.pattern == LWP_GAIN_RANDOM && !visit.access.dependent && !visit.shape.steps)
        visit.jump = (double)lwp_gain_jump(profile, stream);
    return visit;
}

/* Bytes that the layout's other loops go through in the new layout where this one does not. */
static double gain_beside(const struct lwp_layout *layout, const struct lwp_layout_loop *loop, const struct lwp_placement *after,
                          double elements)
{
    bool mine[LWP_FIELDS_MAX + 1] = {false}, others[LWP_FIELDS_MAX + 1] = {false};
    double bytes = 0;
    for (size_t i = 0; i < layout->loop_count; i++)
        for (size_t f = 0; f < layout->field_count; f++)
            if (layout->loops[i].uses[f] && lwp_gain_displaces(layout->loops[i].weight.weight, loop->weight.weight))
                (&layout->loops[i] == loop ? mine : others)[after->group[f]] = true;
    for (size_t g = 0; g < after->groups; g++)
        bytes += others[g] && !mine[g] ? elements * (double)after->of[g].spacing : 0;
    return bytes;
}

/* A layout beside today's. */
struct gain_change {
    const struct lwp_layout *layout;
    struct lwp_placement today;
    const struct lwp_placement *after;
    struct lwp_caches caches;
    struct lwp_share share; /* of the run's cost */
    double elements;
};

/* What one of the layout's loops goes through, and saves, when it visits elements so. */
static void gain_of_loop(struct lwp_profile *profile, const struct gain_change *change, size_t i, struct lwp_gain_visit visit,
                         struct lwp_gain_saving *sum, struct lwp_gain *gain)
{
    const struct lwp_layout *layout = change->layout;
    const struct lwp_layout_loop *loop = &layout->loops[i];
    const struct lwp_placement_need before = lwp_placement_needs(&change->today, loop->uses, change->elements, change->caches.line_bytes);
    const struct lwp_placement_need need = lwp_placement_needs(change->after, loop->uses, change->elements, change->caches.line_bytes);
    visit.beside = gain_beside(layout, loop, change->after, change->elements);
    struct lwp_gain_access access = visit.access;
    if (access.dependent)
        access.pattern = lwp_gain_chain(profile, &visit, (double)change->today.of[0].spacing);
    struct lwp_gain_range saved =
        change->after->ordered ? (struct lwp_gain_range){0, 1} : lwp_gain_saved(&change->caches, access, &before, &need);
    if (access.dependent && (access.pattern == LWP_GAIN_UNKNOWN || loop->descends)) /* it may go to few elements, which are in the caches */
        saved.low = fmin(saved.low, 0);
    const bool random = access.pattern == LWP_GAIN_RANDOM, scattered = random && !change->after->ordered,
               by_line = access.pattern == LWP_GAIN_SEQUENTIAL;
    /* Where elements lie in order, what is awaited behind each of them no longer is one after the other either. */
    const double at_stake =
        change->after->ordered ? fmax(loop->weight.weight, profile->regions[loop->region].stalled) : loop->weight.weight;
    const double likely = by_line ? before.lines > 0 ? 1 - need.lines / before.lines : 0 : (saved.low + saved.high) / 2;
    if (lwp_gain_sets_up(profile, layout, i)) {
        gain->set_up += loop->weight.weight / profile->total.weight;
    } else if (!(loop->search && loop->search->descends)) { /* else it is run with that */
        struct lwp_gain_saving of = lwp_gain_of_loop(profile, &visit, at_stake, &change->today, change->after, saved, likely);
        const bool unseen =
            loop->keeps || lwp_gain_calls_unseen(profile, layout->objects, layout->object_count, loop->region, &visit.shape);
        if (unseen && change->after->groups > 1) /* all groups may be wanted */
            of.low = fmin(of.low, 0);
        lwp_gain_sum(sum, &of, &change->share);
    }
    const double part = loop->weight.weight / layout->weight.weight;
    gain->loops[gain->loop_count++] =
        (struct lwp_gain_loop){loop->region, random ? before.random : before.lines, scattered ? need.random : need.lines};
    gain->bytes_before += part * before.busy;
    gain->bytes_after += part * need.busy;
    gain->before += part * (random ? before.random : before.lines);
    gain->after += part * (scattered ? need.random : need.lines);
}

/* False: nothing can be said of it. */
static bool gain_begin(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_placement *after,
                       struct gain_change *change, struct lwp_gain *gain)
{
    *change = (struct gain_change){
        .layout = layout,
        .after = after,
        .caches = lwp_gain_caches(profile->machine),
        .share = lwp_share_of(&layout->weight, &profile->total),
    };
    *gain = (struct lwp_gain){.loops = lwp_arena_alloc(profile->arena, layout->loop_count + 1, sizeof *gain->loops)};
    gain->speedup = gain->low = gain->high = 1;
    if (change->share.value <= 0 || !layout->element_bytes || !lwp_gain_known(profile))
        return false;
    change->elements = lwp_layout_elements(profile, layout);
    lwp_placement_today(profile, layout, &change->today);
    gain->spacing = change->today.of[0].spacing;
    return true;
}

bool lwp_gain_by_index(const struct lwp_loop_shape *shape)
{
    return shape->apart && !shape->led && !shape->drawn && !shape->steps && !shape->stays;
}

bool lwp_gain_in_order(struct lwp_profile *profile, const struct lwp_layout *layout, size_t loop, const struct lwp_placement *after,
                       struct lwp_gain *gain)
{
    struct gain_change change;
    struct lwp_gain_saving sum = {0};
    if (!gain_begin(profile, layout, after, &change, gain))
        return false;
    const struct lwp_gain_visit visit = gain_visit(profile, layout, &layout->loops[loop], change.elements);
    const double spacing = (double)change.today.of[0].spacing;
    const enum lwp_gain_pattern pattern = visit.access.dependent                               ? lwp_gain_chain(profile, &visit, spacing)
                                          : visit.shape.led || lwp_gain_by_index(&visit.shape) ? visit.access.pattern
                                                                                               : LWP_GAIN_UNKNOWN;
    if (pattern != LWP_GAIN_RANDOM && (pattern == LWP_GAIN_UNKNOWN || !visit.access.dependent))
        return false;
    gain->scattered = pattern == LWP_GAIN_RANDOM;
    gain_of_loop(profile, &change, loop, visit, &sum, gain);
    lwp_gain_speedups(profile, &sum, &change.share, gain);
    return gain->run;
}

/* Of a change that is for one loop alone. `after`: the lines of a visit then. */
static bool gain_of_one(struct lwp_profile *profile, const struct gain_change *change, uint32_t region,
                        const struct lwp_gain_saving *saving, const struct lwp_placement_need *before,
                        const struct lwp_placement_need *need, double after, struct lwp_gain *gain)
{
    struct lwp_gain_saving sum = {0};
    gain->loops[gain->loop_count++] = (struct lwp_gain_loop){region, gain->before = before->random, gain->after = after};
    gain->bytes_before = before->busy;
    gain->bytes_after = need->busy;
    lwp_gain_sum(&sum, saving, &change->share);
    lwp_gain_speedups(profile, &sum, &change->share, gain);
    return gain->run;
}

/* The loop's stalls on one object. */
static double gain_stalls_on(const struct lwp_profile *profile, uint32_t object, uint32_t region)
{
    double stalls = 0;
    LWP_STREAMS_OF(profile, object, stream)
        stalls += lwp_regions_final(profile, stream->region) == region ? stream->weight.weight : 0;
    return stalls;
}

bool lwp_gain_in_place(struct lwp_profile *profile, const struct lwp_layout *layout, size_t i, uint32_t pointers,
                       const struct lwp_placement *after, struct lwp_gain *gain)
{
    const struct lwp_layout_loop *loop = &layout->loops[i];
    struct gain_change change;
    if (!gain_begin(profile, layout, after, &change, gain))
        return false;
    struct lwp_gain_visit visit = gain_visit(profile, layout, loop, change.elements);
    if (visit.access.pattern != LWP_GAIN_RANDOM || visit.access.dependent || visit.shape.led || visit.turn_count)
        return false;
    uint32_t *objects = lwp_arena_alloc(profile->arena, layout->object_count + 1, sizeof *objects);
    memcpy(objects, layout->objects, layout->object_count * sizeof *objects);
    objects[layout->object_count] = pointers;
    visit.objects = objects;
    visit.object_count++;
    visit.leads_on = true;
    struct lwp_placement before = change.today;
    before.groups = 2;
    before.linked = true;
    before.of[1] = before.of[0];
    before.of[0] = (struct lwp_placement_group){.spacing = sizeof(void *), .start = LWP_PLACEMENT_MALLOC};
    for (size_t f = 0; f < before.field_count; f++)
        before.group[f] = 1;
    const struct lwp_placement_need need = lwp_placement_needs(&before, loop->uses, change.elements, change.caches.line_bytes),
                                    left = lwp_placement_needs(after, loop->uses, change.elements, change.caches.line_bytes);
    const double at_stake = loop->weight.weight + gain_stalls_on(profile, pointers, loop->region);
    const struct lwp_gain_saving saving =
        lwp_gain_of_loop(profile, &visit, at_stake, &before, after, (struct lwp_gain_range){0, 1}, 1 - left.random / need.random);
    return gain_of_one(profile, &change, loop->region, &saving, &need, &left, left.random, gain);
}

bool lwp_gain_in_array(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_loop *walk,
                       const struct lwp_share *whole, const struct lwp_placement *after, struct lwp_gain *gain)
{
    struct gain_change change;
    struct lwp_gain_measured measured, near;
    if (!gain_begin(profile, layout, after, &change, gain))
        return false;
    struct lwp_gain_visit visit = gain_visit(profile, layout, walk, change.elements);
    visit.access.dependent = true;
    visit.whole = lwp_types_is_tree_node(layout->type); /* a list is gone through by one loop */
    visit.found = NULL;
    const bool seen = walk->near + walk->far >= PAIRS_LEAST;
    visit.far = seen ? visit.far : 1;
    if (!lwp_gain_measure(profile, &visit, &change.today, after, &measured))
        return false;
    visit.far = 0;
    if (!seen && lwp_gain_measure(profile, &visit, &change.today, after, &near) && (near.between || near.waits_less))
        lwp_gain_lies_between(&measured, near.ratio);
    const struct lwp_gain_saving saving =
        lwp_gain_of_measured(&measured, whole, (struct lwp_gain_range){whole->low, whole->high}, false, (struct lwp_gain_saving){0});
    const struct lwp_placement_need before = lwp_placement_needs(&change.today, walk->uses, change.elements, change.caches.line_bytes),
                                    need = lwp_placement_needs(after, walk->uses, change.elements, change.caches.line_bytes);
    return gain_of_one(profile, &change, walk->region, &saving, &before, &need, need.lines, gain);
}

void lwp_gain_between(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_placement *after,
                      struct lwp_gain *gain)
{
    struct gain_change change;
    struct lwp_gain_saving sum = {0};
    if (!gain_begin(profile, layout, after, &change, gain))
        return;
    for (size_t i = 0; i < layout->loop_count; i++)
        if (layout->loops[i].weight.weight > 0 && layout->loops[i].used != 0)
            gain_of_loop(profile, &change, i, gain_visit(profile, layout, &layout->loops[i], change.elements), &sum, gain);
    bool sure;
    const double untouched = lwp_gain_untouched(profile, layout, after, change.elements, &sure),
                 apart = lwp_gain_apart(layout, after, change.elements), least = lwp_gain_pages(profile, apart),
                 most = lwp_gain_pages(profile, apart + untouched);
    const struct lwp_share calls = lwp_gain_calls(profile, layout, after, change.elements);
    sum.pages = (struct lwp_share){calls.value + (sure ? most : least), calls.low + least, calls.high + most};
    lwp_gain_speedups(profile, &sum, &change.share, gain);
}

void lwp_gain_estimate(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group, size_t groups, struct lwp_gain *gain)
{
    struct lwp_placement after;
    lwp_placement_split(profile, layout, group, groups, &after);
    lwp_gain_between(profile, layout, &after, gain);
}
