/* In: loops, what samples saw of how their accesses move (moves.h), and how much of its memory the program had on huge pages. Out: advice
 * to use huge pages.
 *
 * Accesses that go anywhere in more memory than the TLB has entries for wait for page walks beside the data. How much, depends on the
 * machine: the loop's accesses to the object are run on small pages and on huge ones. Only what this shows is said: there is no estimate.
 * Limits: places are drawn evenly from the object; one object at a time; loops of the program's code, not what functions do that they
 * call. */
#include "analysis/advice/locality/huge_pages.h"

#include "analysis/advice/gain/loop_pattern.h"
#include "analysis/advice/gain/measured.h"
#include "analysis/advice/gain/timed.h"
#include "analysis/caches/tlb.h"
#include "analysis/elements/element_count.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/tables/severity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIBLINGS = 64, MOVES_LEAST = 8, TIPS_MOST = 8 };

static const double share_least = 0.05; /* of all time */
static const double far_least = 0.5;    /* of the moves lead to another page */
static const double huge_already = 0.5; /* of the object, that may lie on huge pages today */
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

/* Of the instruction's moves the part to another page; negative: too few were seen. */
static double pages_far(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    size_t count = 0, far = 0;
    for (size_t i = 0; i < profile->moves.count; i++) {
        const struct lwp_code_moves *of = &profile->moves.items[i];
        if (of->object != stream->object || of->code != stream->address ||
            lwp_regions_final(profile, of->region) != lwp_regions_final(profile, stream->region))
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

static void pages_pattern(const struct lwp_profile *profile, const struct pages_use *use, struct lwp_pattern *pattern)
{
    const struct lwp_object *object = &profile->objects[use->row->object];
    const uint64_t line = profile->machine.line_bytes, element = object->element_bytes;
    struct lwp_loop_shape shape;
    int64_t apart;
    double far;
    memset(pattern, 0, sizeof *pattern); /* padding too: patterns are compared as bytes */
    const uint64_t spacing = element >= 8 && element % 8 == 0 ? element : use->shape.chained ? line : 8;
    pattern->arrays[0] =
        (struct lwp_pattern_array){.walk = use->shape.chained ? LWP_PATTERN_CHAINED : LWP_PATTERN_INDEXED, .spacing = spacing};
    pattern->array_count = 1;
    pattern->elements = lwp_element_used(object) / spacing;
    pattern->far = use->far;
    lwp_gain_computes(&use->shape, use->visits, pattern);
    pattern->threads = 1;
    for (size_t i = 0; i < profile->stream_count && pattern->access_count < LWP_PATTERN_ACCESSES; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (!pages_is_random(profile, stream, use->row, &shape, &far) ||
            (stream != use->first && !pages_sibling(profile, use->first, stream, &apart)))
            continue;
        const int64_t at = stream == use->first ? 0 : apart;
        const uint64_t offset = (uint64_t)((at % (int64_t)spacing + (int64_t)spacing) % (int64_t)spacing);
        const unsigned bytes = stream->bytes > 8 ? 8 : stream->bytes;
        if (offset + bytes <= spacing)
            pattern->accesses[pattern->access_count++] = (struct lwp_pattern_access){
                .offset = offset, .bytes = bytes, .store = stream->stores > stream->loads, .vector = stream->vector};
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

static bool pages_measure(struct lwp_profile *profile, const struct pages_use *use, struct lwp_locality_tip *tip)
{
    struct lwp_pattern small, huge;
    struct lwp_pattern_times times;
    bool same;
    pages_pattern(profile, use, &small);
    memcpy(&huge, &small, sizeof huge);
    small.pages = LWP_PATTERN_SMALL;
    huge.pages = LWP_PATTERN_HUGE;
    const uint32_t region = use->row->region;
    const struct lwp_gain_range stalls = lwp_gain_stall_share(profile, region, &use->shape);
    const struct lwp_share whole = lwp_share_of(&profile->regions[region].weight, &profile->total);
    if (whole.value * stalls.high < 1 - 1 / gain_least || !lwp_gain_times_once(profile, region, &small, &huge, &times) ||
        !lwp_gain_resembles(&times, &stalls, 0, &same) || !lwp_gain_times(profile, region, &small, &huge, &times) ||
        !lwp_gain_resembles(&times, &stalls, 0, &same))
        return false;
    const bool gains = lwp_huge_pages_gain(&times, &stalls, &whole, lwp_gain_sampled(profile), tip);
    if (!gains && times.ratio < 1 && !lwp_gain_runs_agree(&times))
        lwp_profile_note(profile,
                         "Whether huge pages for %s would make the program faster is not known: its accesses were run only once on this "
                         "machine, or runs differed.",
                         lwp_objects_name(profile, use->row->object));
    return gains;
}

static const char *pages_how(struct lwp_profile *profile, const struct lwp_object *object, const char *name)
{
    if (object->kind == LWP_OBJECT_STATIC)
        return lwp_arena_printf(profile->arena,
                                "at the program's start, madvise(%s, sizeof %s, MADV_HUGEPAGE), with its start on a multiple of 2 MiB "
                                "(alignas(1 << 21))",
                                name, name);
    return lwp_arena_printf(profile->arena, "%s of %s and madvise(..., MADV_HUGEPAGE) on it before it is first written",
                            object->kind == LWP_OBJECT_MMAP ? "a mapping on a multiple of 2 MiB"
                                                            : "aligned_alloc(1 << 21, ...) in place of the allocation",
                            name);
}

static void pages_text(struct lwp_profile *profile, const struct pages_use *use, struct lwp_locality_tip *tip)
{
    const struct lwp_region *region = &profile->regions[use->row->region];
    const struct lwp_object *object = &profile->objects[use->row->object];
    const char *lines = lwp_regions_lines(profile, region), *name = lwp_objects_name(profile, use->row->object);
    tip->title = lwp_arena_printf(
        profile->arena, "Back %s with huge pages: the loop %s goes anywhere in its %.0f MiB, on more pages than the TLB reaches", name,
        lines              ? lwp_arena_printf(profile->arena, "at %s", lines)
        : region->function ? lwp_arena_printf(profile->arena, "in %s", region->function)
                           : "in code without a name",
        (double)object->bytes / 1048576);
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "Huge pages: %s. Without a change of the program: GLIBC_TUNABLES=glibc.malloc.hugetlb=1 for what malloc() allocates, or 'always' "
        "in "
        "/sys/kernel/mm/transparent_hugepage/enabled. The accesses were run on this machine on pages of 4 KiB and on huge ones. Then run "
        "lwp collect again and compare with lwp diff.",
        pages_how(profile, object, name));
}

/* Whether another order of the loop is advised, after which it goes from page to page less often. */
static bool pages_is_reordered(const struct lwp_locality_tips *tips, uint32_t region)
{
    for (size_t i = 0; i < tips->count; i++)
        if (tips->tips[i].region == region && strcmp(tips->tips[i].kind, "pages") != 0)
            return true;
    return false;
}

static double pages_both(double a, double b)
{
    return 1 / fmax(0.01, 1 / a + 1 / b - 1);
}

/* One change serves all loops over an object: their savings add up. False: no tip is about it yet. */
static bool pages_joined(struct lwp_locality_tip *tips, size_t count, const struct lwp_locality_tip *more)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(tips[i].kind, more->kind) != 0 || tips[i].object != more->object)
            continue;
        tips[i].speedup = pages_both(tips[i].speedup, more->speedup);
        tips[i].gain.low = pages_both(tips[i].gain.low, more->gain.low);
        tips[i].gain.high = pages_both(tips[i].gain.high, more->gain.high);
        tips[i].share += more->share;
        return true;
    }
    return false;
}

void lwp_huge_pages_advise(struct lwp_profile *profile, const struct lwp_sampled_locality *sampled, struct lwp_locality_tips *tips)
{
    const double huge = pages_seen(profile, "huge_pages_kib"), seen = pages_seen(profile, "looked_at_kib");
    if (profile->engine == LWPS_ENGINE_EXACT || !profile->machine.line_bytes || !lwp_gain_known(profile) || huge < 0)
        return;
    struct lwp_locality_tip *all = lwp_arena_alloc(profile->arena, tips->count + TIPS_MOST, sizeof *all);
    if (tips->count)
        memcpy(all, tips->tips, tips->count * sizeof *all);
    tips->tips = all;
    const size_t room = tips->count + TIPS_MOST;
    for (size_t i = 0; i < sampled->count && tips->count < room; i++) {
        const struct lwp_sampled_row *row = &sampled->rows[i];
        const struct lwp_object *object = &profile->objects[row->object];
        struct pages_use use;
        if (row->share < share_least || !lwp_evidence_of(profile->regions[row->region].weight.samples) ||
            profile->regions[row->region].is_function || object->bytes <= LWP_TLB_PAGES * page || object->kind == LWP_OBJECT_STACK ||
            object->kind == LWP_OBJECT_UNKNOWN || huge >= huge_already * (double)object->bytes ||
            seen < huge_already * (double)object->bytes || (object->kind != LWP_OBJECT_STATIC && object->largest < huge_page) ||
            pages_is_reordered(tips, row->region) || !pages_find(profile, row, &use))
            continue;
        struct lwp_locality_tip *tip = &tips->tips[tips->count];
        *tip = (struct lwp_locality_tip){.kind = "pages",
                                         .row = i,
                                         .object = row->object,
                                         .region = row->region,
                                         .samples = profile->regions[row->region].weight.samples};
        if (!pages_measure(profile, &use, tip) || pages_joined(tips->tips, tips->count, tip))
            continue;
        pages_text(profile, &use, tip);
        tips->count++;
    }
}
