/* In: loops, what samples saw of how their accesses move (moves.h), and how much of its memory the program had on huge pages. Out: advice
 * to use huge pages.
 *
 * Accesses that go anywhere in more memory than the TLB has entries for wait for page walks beside the data. How much, depends on the
 * machine: the loop's accesses are run on small pages and on huge ones, those to objects with as many elements in one run, as a page walk
 * for one object is hidden behind that for another. Only what this shows is said: there is no estimate.
 * Limits: places are drawn evenly from an object; objects of one run have the same places; loops of the program's code, not what functions
 * do that they call. */
#include "analysis/advice/locality/huge_pages.h"

#include "analysis/advice/gain/loop_pattern.h"
#include "analysis/advice/gain/measured.h"
#include "analysis/advice/gain/timed.h"
#include "analysis/advice/locality/huge_pages_text.h"
#include "analysis/caches/tlb.h"
#include "analysis/elements/element_count.h"
#include "analysis/profile/objects.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/statistics/speedup.h"
#include "analysis/statistics/stride.h"
#include "analysis/tables/severity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIBLINGS = 64, MOVES_LEAST = 8, TIPS_MOST = 8 };

static const double share_least = 0.05; /* of all time, of all objects of a run; */
static const double share_each = 0.01;  /* ... of each */
static const double same_count = 0.02;  /* what two objects' numbers of elements may differ by, to be run together */
static const double far_least = 0.5;    /* of the moves lead to another page */
static const double huge_already = 0.5; /* of the object, that may lie on huge pages today */
static const double given_least = 0.9;  /* of what a run asked for on huge pages: with less it is of both kinds */
static const double gain_least = 1.02;
static const uint64_t page = 1u << LWP_TLB_PAGE_SHIFT, huge_page = 2u << 20;

/* What one loop does with one object. */
struct pages_use {
    const struct lwp_sampled_row *row;
    const struct lwp_stream *first; /* of its accesses that go anywhere, the most awaited */
    struct lwp_loop_shape shape;
    double far;      /* the part of the moves that leads to another page */
    unsigned visits; /* each time round */
};

/* ... with objects that are run together: of another than the first it begins anywhere with the same index. */
struct pages_group {
    struct pages_use of[LWP_PATTERN_ARRAYS];
    size_t count;
    double share; /* of all time */
};

/* Of the instruction's moves the part to another page; negative: too few were seen. */
static double pages_far(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    size_t count = 0, far = 0;
    for (size_t i = 0; i < profile->moves.count; i++) {
        const struct lwp_code_moves *of = &profile->moves.items[i];
        if (!lwp_moves_is_of(profile, of, stream))
            continue;
        count += of->count;
        for (size_t k = 0; k < of->count; k++)
            far += (uint64_t)llabs(of->kept[k].bytes) > page;
    }
    return count >= MOVES_LEAST ? (double)far / (double)count : -1;
}

static bool pages_sibling(const struct lwp_profile *profile, const struct lwp_stream *a, const struct lwp_stream *b, int64_t *apart)
{
    struct lwp_sibling siblings[SIBLINGS];
    size_t count = lwp_code_siblings(profile->code, a->module, a->address, siblings, SIBLINGS);
    for (size_t i = 0; i < count && i < SIBLINGS; i++)
        if (siblings[i].address == b->address) {
            *apart = siblings[i].delta;
            return true;
        }
    return false;
}

static bool pages_is_random(const struct lwp_profile *profile, const struct lwp_stream *stream, const struct lwp_sampled_row *row,
                            struct lwp_loop_shape *shape, double *far)
{
    if (stream->object != row->object || stream->region != row->region || stream->module == LWP_NONE ||
        !lwp_loop_shape(profile->code, stream->module, stream->address, shape) || shape->steps || shape->stays)
        return false;
    *far = pages_far(profile, stream);
    return *far >= far_least;
}

static bool pages_find(const struct lwp_profile *profile, const struct lwp_sampled_row *row, struct pages_use *use)
{
    struct lwp_loop_shape shape;
    int64_t apart;
    double far;
    *use = (struct pages_use){.row = row};
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (!pages_is_random(profile, stream, row, &shape, &far))
            continue;
        use->visits += !use->first || !pages_sibling(profile, use->first, stream, &apart);
        if (!use->first || stream->weight.weight > use->first->weight.weight) {
            use->first = stream;
            use->shape = shape;
            use->far = far;
        }
    }
    return use->first != NULL;
}

static uint64_t pages_spacing(const struct lwp_profile *profile, const struct pages_use *use)
{
    const uint64_t element = profile->objects[use->row->object].element_bytes;
    return element >= 8 && element % 8 == 0 ? element : use->shape.chained ? profile->machine.line_bytes : 8;
}

static double pages_elements(const struct lwp_profile *profile, const struct pages_use *use)
{
    return floor((double)lwp_element_used(&profile->objects[use->row->object]) / (double)pages_spacing(profile, use));
}

static void pages_accesses(const struct lwp_profile *profile, const struct pages_use *use, size_t array, struct lwp_pattern *pattern)
{
    const uint64_t spacing = pattern->arrays[array].spacing;
    struct lwp_loop_shape shape;
    int64_t apart;
    double far;
    for (size_t i = 0; i < profile->stream_count && pattern->access_count < LWP_PATTERN_ACCESSES; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (!pages_is_random(profile, stream, use->row, &shape, &far) ||
            (stream != use->first && !pages_sibling(profile, use->first, stream, &apart)))
            continue;
        const int64_t at = stream == use->first ? 0 : apart;
        const uint64_t offset = lwp_stride_residue(at, spacing);
        const unsigned bytes = stream->bytes > 8 ? 8 : stream->bytes;
        if (offset + bytes <= spacing)
            pattern->accesses[pattern->access_count++] = (struct lwp_pattern_access){
                .array = array, .offset = offset, .bytes = bytes, .store = stream->stores > stream->loads, .vector = stream->vector};
    }
}

static void pages_pattern(const struct lwp_profile *profile, const struct pages_group *group, struct lwp_pattern *pattern)
{
    const struct pages_use *first = &group->of[0];
    memset(pattern, 0, sizeof *pattern); /* padding too: patterns are compared as bytes */
    pattern->array_count = group->count;
    pattern->elements = (uint64_t)pages_elements(profile, first);
    pattern->far = first->far;
    lwp_gain_computes(&first->shape.work, first->visits, pattern);
    pattern->threads = 1;
    for (size_t i = 0; i < group->count; i++) {
        pattern->arrays[i].walk = group->of[i].shape.chained ? LWP_PATTERN_CHAINED : LWP_PATTERN_INDEXED;
        pattern->arrays[i].spacing = pages_spacing(profile, &group->of[i]);
        pages_accesses(profile, &group->of[i], i, pattern);
    }
}

/* What was seen when the program's pages were looked at (seldom: a program may fill its memory, and end, between two looks): as much as
 * it had on huge pages (huge_pages_kib), on pages of any size (looked_at_kib); negative: not known. */
static double pages_seen(const struct lwp_profile *profile, const char *key)
{
    const json_t *kib = json_object_get(profile->run, key);
    return json_is_integer(kib) ? 1024.0 * (double)json_integer_value(kib) : -1;
}

bool lwp_huge_pages_gain(const struct lwp_pattern_times *of, const struct lwp_gain_range *stalls, const struct lwp_share *whole,
                         double sampled, struct lwp_locality_tip *tip)
{
    struct lwp_pattern_times times = *of;
    struct lwp_gain_measured measured = {0};
    if (!lwp_gain_runs_agree(of))
        return false;
    times.cold[0] = times.cold[1] = 0; /* the same lines on either pages: of any share of the last cache */
    lwp_gain_interval(&times, stalls, 0, &measured);
    const struct lwp_gain_range saved = lwp_gain_part(&measured, whole);
    tip->share = whole->value;
    tip->speedup = 1 / (1 - sampled * whole->value * (1 - measured.ratio));
    tip->gain.low = fmin(tip->speedup, 1 / (1 - sampled * saved.low));
    tip->gain.high = fmax(tip->speedup, 1 / (1 - sampled * saved.high));
    return tip->gain.low >= gain_least;
}

/* The part of a loop's time on data that goes to objects of the group. */
static double pages_part(const struct lwp_sampled_locality *sampled, const struct pages_group *group)
{
    double all = 0;
    for (size_t i = 0; i < sampled->count; i++)
        all += sampled->rows[i].region == group->of[0].row->region ? sampled->rows[i].share : 0;
    return fmin(1, group->share / all);
}

/* The times of both kinds of pages. False: they were not run. *resembles: they are the loop's. */
static bool pages_times(struct lwp_profile *profile, uint32_t region, const struct pages_group *group, const struct lwp_gain_range *stalls,
                        struct lwp_pattern_times *times, bool *resembles)
{
    struct lwp_pattern small, huge;
    bool same;
    pages_pattern(profile, group, &small);
    memcpy(&huge, &small, sizeof huge);
    small.pages = LWP_PATTERN_SMALL;
    huge.pages = LWP_PATTERN_HUGE;
    if (!lwp_gain_times_once(profile, region, &small, &huge, times))
        return false;
    *resembles = lwp_gain_resembles(times, stalls, 0, &same) && times->huge >= given_least &&
                 lwp_gain_times(profile, region, &small, &huge, times) && lwp_gain_resembles(times, stalls, 0, &same);
    return true;
}

/* Why times say nothing of the loop; NULL: they do. */
static const char *pages_doubt(const struct lwp_pattern_times *times, bool resembles)
{
    return times->huge < given_least     ? "the system had too few huge pages left to run its accesses on"
           : !resembles                  ? "its accesses, run on this machine, are stalled on memory more or less than the loop is"
           : !lwp_gain_runs_agree(times) ? "its accesses were run only once on this machine, or runs differed"
                                         : NULL;
}

static void pages_unsaid(struct lwp_profile *profile, const struct lwp_locality_tip *tip, const char *doubt)
{
    const char *names = lwp_huge_pages_names(profile, tip);
    if (doubt)
        lwp_profile_note(profile, "Whether huge pages for %s would make the program faster is not known: %s.", names, doubt);
    else if (tip->speedup >= gain_least)
        lwp_profile_note(
            profile,
            "Huge pages for %s are predicted to make the program %.*fx as fast (%.*fx to %.*fx): not advised, as the low end is "
            "below %.2fx.",
            names, LWP_SPEEDUP(tip->speedup), LWP_SPEEDUP(tip->gain.low), LWP_SPEEDUP(tip->gain.high), gain_least);
}

static bool pages_measure(struct lwp_profile *profile, const struct lwp_sampled_locality *sampled, const struct pages_group *group,
                          struct lwp_locality_tip *tip)
{
    struct lwp_pattern_times times;
    bool resembles;
    const double part = pages_part(sampled, group);
    const struct lwp_gain_range stalls = lwp_gain_stall_share(profile, tip->region, &group->of[0].shape);
    struct lwp_share whole = lwp_share_of(&profile->regions[tip->region].weight, &profile->total);
    whole = (struct lwp_share){.value = part * whole.value, .low = part * whole.low, .high = part * whole.high};
    if (whole.value * stalls.high < 1 - 1 / gain_least || !pages_times(profile, tip->region, group, &stalls, &times, &resembles))
        return false;
    const char *doubt = pages_doubt(&times, resembles);
    if (!doubt && lwp_huge_pages_gain(&times, &stalls, &whole, lwp_gain_sampled(profile), tip))
        return true;
    pages_unsaid(profile, tip, doubt);
    return false;
}

/* Whether another order of the loop is advised, after which it goes from page to page less often. */
static bool pages_is_reordered(const struct lwp_locality_tips *tips, uint32_t region)
{
    for (size_t i = 0; i < tips->count; i++)
        if (tips->tips[i].region == region && tips->tips[i].kind != LWP_TIP_PAGES)
            return true;
    return false;
}

static double pages_both(double a, double b)
{
    return 1 / fmax(0.01, 1 / a + 1 / b - 1);
}

/* Where the object is among those of the tip, or one that is allocated with it: elements that are carved out of an arena. */
static size_t pages_at(const struct lwp_profile *profile, const struct lwp_locality_tip *tip, uint32_t index)
{
    const struct lwp_object *object = &profile->objects[index];
    size_t i = 0;
    for (; i < tip->object_count; i++) {
        const struct lwp_object *other = &profile->objects[tip->objects[i]];
        if (other == object ||
            (object->kind == LWP_OBJECT_HEAP && other->kind == LWP_OBJECT_HEAP && object->context && other->context == object->context))
            break;
    }
    return i;
}

static void pages_about(struct lwp_profile *profile, struct lwp_locality_tip *tip, const uint32_t *more, size_t count)
{
    uint32_t *objects = lwp_arena_alloc(profile->arena, tip->object_count + count, sizeof *objects);
    if (tip->object_count)
        memcpy(objects, tip->objects, tip->object_count * sizeof *objects);
    tip->objects = objects;
    for (size_t i = 0; i < count; i++) {
        const size_t at = pages_at(profile, tip, more[i]);
        if (at == tip->object_count || profile->objects[more[i]].bytes > profile->objects[objects[at]].bytes)
            objects[at] = more[i];
        tip->object_count += at == tip->object_count;
    }
}

/* One change serves all loops over an object: their savings add up. False: no tip is about any of them yet. */
static bool pages_joined(struct lwp_profile *profile, struct lwp_locality_tip *tips, size_t count, const struct lwp_locality_tip *more)
{
    for (size_t i = 0; i < count; i++) {
        bool common = false;
        for (size_t k = 0; k < more->object_count; k++)
            common |= tips[i].kind == more->kind && pages_at(profile, &tips[i], more->objects[k]) < tips[i].object_count;
        if (!common)
            continue;
        tips[i].speedup = pages_both(tips[i].speedup, more->speedup);
        tips[i].gain.low = pages_both(tips[i].gain.low, more->gain.low);
        tips[i].gain.high = pages_both(tips[i].gain.high, more->gain.high);
        tips[i].share += more->share;
        pages_about(profile, &tips[i], more->objects, more->object_count);
        return true;
    }
    return false;
}

/* What the program had on huge pages. */
struct pages_now {
    double huge, seen;
};

static bool pages_is_candidate(const struct lwp_profile *profile, const struct pages_now *now, const struct lwp_sampled_row *row)
{
    const struct lwp_object *object = &profile->objects[row->object];
    const struct lwp_region *region = &profile->regions[row->region];
    return row->share >= share_each && lwp_evidence_of(region->weight.samples) && !region->is_function &&
           object->bytes > LWP_TLB_PAGES * page && lwp_objects_is_data(object) && now->huge < huge_already * (double)object->bytes &&
           now->seen >= huge_already * (double)object->bytes && (object->kind == LWP_OBJECT_STATIC || object->largest >= huge_page);
}

/* A chain is run alone: each step waits for the one before. */
static bool pages_is_beside(const struct lwp_profile *profile, const struct pages_use *first, const struct pages_use *use)
{
    const double elements = pages_elements(profile, first);
    return !use->shape.chained && fabs(pages_elements(profile, use) - elements) <= same_count * elements;
}

/* Rows from `from` on that are run together, none of those that `done` has. */
static void pages_collect(const struct lwp_profile *profile, const struct pages_now *now, const struct lwp_sampled_locality *sampled,
                          size_t from, bool *done, struct pages_group *group)
{
    *group = (struct pages_group){.count = 0};
    for (size_t i = from; i < sampled->count && group->count < LWP_PATTERN_ARRAYS; i++) {
        const struct lwp_sampled_row *row = &sampled->rows[i];
        struct pages_use use;
        if (done[i] || row->region != sampled->rows[from].region || !pages_is_candidate(profile, now, row) ||
            !pages_find(profile, row, &use))
            continue;
        if (group->count && !pages_is_beside(profile, &group->of[0], &use))
            continue;
        done[i] = true;
        group->share += row->share;
        group->of[group->count++] = use;
        if (use.shape.chained)
            return;
    }
}

void lwp_huge_pages_advise(struct lwp_profile *profile, const struct lwp_sampled_locality *sampled, struct lwp_locality_tips *tips)
{
    const struct pages_now now = {.huge = pages_seen(profile, "huge_pages_kib"), .seen = pages_seen(profile, "looked_at_kib")};
    if (profile->engine == LWPS_ENGINE_EXACT || !profile->machine.line_bytes || !lwp_gain_known(profile) || now.huge < 0)
        return;
    struct lwp_locality_tip *all = lwp_arena_alloc(profile->arena, tips->count + TIPS_MOST, sizeof *all);
    bool *done = lwp_arena_alloc(profile->arena, sampled->count + 1, sizeof *done);
    if (tips->count)
        memcpy(all, tips->tips, tips->count * sizeof *all);
    tips->tips = all;
    const size_t before = tips->count, room = before + TIPS_MOST;
    for (size_t i = 0; i < sampled->count && tips->count < room; i++) {
        const struct lwp_sampled_row *row = &sampled->rows[i];
        struct pages_group group;
        if (pages_is_reordered(tips, row->region))
            continue;
        pages_collect(profile, &now, sampled, i, done, &group);
        if (group.share < share_least)
            continue;
        struct lwp_locality_tip *tip = &tips->tips[tips->count];
        *tip = (struct lwp_locality_tip){.kind = LWP_TIP_PAGES,
                                         .row = i,
                                         .object = row->object,
                                         .region = row->region,
                                         .samples = profile->regions[row->region].weight.samples};
        for (size_t k = 0; k < group.count; k++)
            pages_about(profile, tip, &group.of[k].row->object, 1);
        tips->count += pages_measure(profile, sampled, &group, tip) && !pages_joined(profile, tips->tips, tips->count, tip);
    }
    for (size_t i = before; i < tips->count; i++)
        lwp_huge_pages_say(profile, &tips->tips[i]);
}
