/* A loop's accesses as a pattern (analysis/measure/pattern.h), in the layout that they have and in another one.
 *
 * The fields that the loop uses lie in one array for each group of the placement. Beside them the loop's accesses to other large
 * data objects are made, step by step or anywhere, as their code and their samples say; the instructions and the chain of values
 * from one iteration to the next are the loop's own. What the decoded loop does not show (calls, inner loops) is made up for by a
 * longer chain, until the pattern waits for memory as much of its time as the loop does.
 * The pattern is believed when it then takes the time that the loop takes for an element, as far as that is known, and does not wait
 * less than the loop. */
#include "analysis/advice/gain/measured.h"

#include "analysis/advice/gain/pace.h"
#include "analysis/measure/pattern.h"
#include "analysis/profile/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEASURED_TRIES = 3, MEASURED_KEPT = 256 };

static const double pace_agrees = 0.15, stall_agrees = 0.15, stall_least = 0.4, seconds_each = 0.25, usual_cycle_ns = 0.3,
                    large_object = 64 << 10;

/* ---- what was timed already: several candidates place a loop's fields alike ---- */

struct lwp_gain_timed {
    struct lwp_pattern before, after;
    struct lwp_pattern_times times;
    bool failed;
};

static bool measured_times(struct lwp_profile *profile, const struct lwp_pattern *before, const struct lwp_pattern *after,
                           struct lwp_pattern_times *times)
{
    struct lwp_error err = {0};
    for (size_t i = 0; i < profile->timed_count; i++) {
        const struct lwp_gain_timed *timed = &profile->timed[i];
        if (memcmp(&timed->before, before, sizeof *before) == 0 && memcmp(&timed->after, after, sizeof *after) == 0) {
            *times = timed->times;
            return !timed->failed;
        }
    }
    if (profile->measure_seconds < seconds_each || profile->timed_count == MEASURED_KEPT)
        return false;
    if (!profile->timed)
        profile->timed = lwp_arena_alloc(profile->arena, MEASURED_KEPT, sizeof *profile->timed);
    struct lwp_gain_timed *timed = &profile->timed[profile->timed_count++];
    timed->before = *before;
    timed->after = *after;
    timed->failed = lwp_pattern_compare(before, after, seconds_each, &timed->times, &err) != LWP_OK;
    profile->measure_seconds -= 1.2 * seconds_each;
    *times = timed->times;
    return !timed->failed;
}

/* ---- the pattern ---- */

static void measured_access(struct lwp_pattern *pattern, size_t array, uint64_t offset, uint64_t bytes, uint64_t line)
{
    /* Of a long field two lines, as in lwp_gain_lines(). */
    for (uint64_t at = 0, lines = 0; at < bytes && lines < 2 && pattern->access_count < LWP_PATTERN_ACCESSES; at += line, lines++)
        pattern->accesses[pattern->access_count++] =
            (struct lwp_pattern_access){.array = array, .offset = offset + at, .bytes = bytes - at < 8 ? (unsigned)(bytes - at) : 8};
}

/* The fields in use, a group an array; false: too many. */
static bool measured_fields(struct lwp_pattern *pattern, const struct lwp_gain_visit *visit, const struct lwp_gain_placement *placement,
                            uint64_t line)
{
    bool chained = visit->access.dependent, linked = placement->linked && placement->groups > 1;
    uint64_t room = 0; /* bytes of array 0's elements that hold fields */
    for (size_t g = 0; g < placement->groups; g++) {
        size_t array = pattern->array_count, accesses = pattern->access_count;
        for (size_t f = 0; f < placement->field_count; f++)
            if (visit->uses[f] && placement->group[f] == (int)g && placement->bytes[f]) {
                measured_access(pattern, array, placement->offsets[f], placement->bytes[f], line);
                uint64_t end = placement->offsets[f] + placement->bytes[f];
                room = array == 0 && end > room ? end : room;
            }
        if (pattern->access_count == accesses && !(g == 0 && (linked || chained)))
            continue;
        if (array == LWP_PATTERN_ARRAYS)
            return false;
        pattern->arrays[array] = (struct lwp_pattern_array){
            .walk = visit->access.pattern == LWP_GAIN_RANDOM && !chained ? LWP_PATTERN_INDEXED : LWP_PATTERN_STEPS,
            .spacing = placement->of[g].spacing,
            .start = placement->of[g].start};
        if (chained || (linked && array))
            pattern->arrays[array].walk = array ? LWP_PATTERN_LINKED : LWP_PATTERN_CHAINED;
        pattern->array_count++;
    }
    /* Addresses: that of the next element where the first field of a pointer's size is, the others behind the fields. */
    for (size_t f = 0; f < placement->field_count && chained; f++)
        if (visit->uses[f] && placement->group[f] == 0 && placement->bytes[f] == 8 && placement->offsets[f] % 8 == 0) {
            pattern->arrays[0].link = placement->offsets[f];
            break;
        }
    if (chained && room < pattern->arrays[0].link + 8)
        room = pattern->arrays[0].link + 8;
    for (size_t a = 1; a < pattern->array_count; a++)
        if (pattern->arrays[a].walk == LWP_PATTERN_LINKED) {
            pattern->arrays[a].link = (room + 7) / 8 * 8 + 8 * (a - 1);
            if (pattern->arrays[a].link + 8 > pattern->arrays[0].spacing)
                return false;
        }
    return pattern->array_count > 0 && (!chained || pattern->arrays[0].spacing >= 8);
}

/* The loop's other large data objects. */
static bool measured_others(struct lwp_profile *profile, const struct lwp_gain_visit *visit, struct lwp_pattern *pattern)
{
    uint32_t seen[LWP_PATTERN_ARRAYS];
    size_t seen_count = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const struct lwp_object *object = &profile->objects[stream->object];
        bool mine = stream->region != visit->region || object->kind == LWP_OBJECT_STACK || object->kind == LWP_OBJECT_UNKNOWN ||
                    (double)object->bytes < large_object;
        for (size_t k = 0; k < visit->object_count; k++)
            mine |= visit->objects[k] == stream->object;
        for (size_t k = 0; k < seen_count; k++)
            mine |= seen[k] == stream->object;
        if (mine)
            continue;
        struct lwp_loop_shape shape;
        if (pattern->array_count == LWP_PATTERN_ARRAYS || pattern->access_count == LWP_PATTERN_ACCESSES || stream->module == LWP_NONE ||
            !lwp_loop_shape(profile->code, stream->module, stream->address, &shape))
            return false;
        seen[seen_count++] = stream->object;
        uint64_t step = shape.steps && shape.step ? (uint64_t)llabs(shape.step) : stream->stride.bytes;
        uint64_t most = (uint64_t)((double)object->bytes / visit->elements);
        struct lwp_pattern_array array = {.walk = LWP_PATTERN_STEPS};
        array.spacing = (uint64_t)((double)step / visit->visits);
        array.spacing = array.spacing > most ? most : array.spacing;
        if (!shape.steps && !shape.stays && (double)object->bytes > large_object) {
            array.walk = LWP_PATTERN_INDEXED;
            array.spacing = most;
        }
        if (!array.spacing)
            continue;
        pattern->accesses[pattern->access_count++] =
            (struct lwp_pattern_access){.array = pattern->array_count, .bytes = stream->bytes, .store = stream->stores > stream->loads};
        pattern->arrays[pattern->array_count++] = array;
    }
    return true;
}

static bool measured_pattern(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_gain_placement *placement,
                             double chain, struct lwp_pattern *pattern)
{
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    memset(pattern, 0, sizeof *pattern); /* padding too: patterns are compared as bytes */
    pattern->elements = (uint64_t)visit->elements;
    pattern->far = visit->access.pattern == LWP_GAIN_RANDOM || visit->access.dependent ? 1 : 0;
    if (visit->access.dependent && visit->far >= 0)
        pattern->far = visit->far;
    pattern->instructions = visit->shape.instructions / visit->visits;
    pattern->chain = chain;
    pattern->threads = 1;
    return measured_fields(pattern, visit, placement, line) && measured_others(profile, visit, pattern);
}

/* ---- held against the program ---- */

static double measured_pace(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    const struct lwp_traversal *traversal = lwp_traversals_of(&profile->traversals, visit->objects[0], visit->region);
    const struct lwp_object *object = &profile->objects[visit->objects[0]];
    if (!traversal || visit->access.pattern != LWP_GAIN_SEQUENTIAL || object->single)
        return 0;
    return lwp_pace(traversal->paces, traversal->pace_count, (double)visit->spacing, (double)object->largest);
}

/* The part of the loop's time that it waits for memory: samples fall on accesses by chance, too. */
static double measured_stalls(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    const struct lwp_region *region = &profile->regions[visit->region];
    double chance = visit->shape.instructions ? fmin(0.5, (double)visit->shape.accesses / visit->shape.instructions) : 0;
    double share = region->weight.weight > 0 ? fmin(1, region->stalled / region->weight.weight) : 0;
    return fmax(0, share - chance) / (1 - chance);
}

bool lwp_gain_measure(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_gain_placement *before,
                      const struct lwp_gain_placement *after, struct lwp_gain_measured *measured)
{
    struct lwp_pattern today, changed;
    struct lwp_pattern_times times = {0};
    double chain = visit->shape.chain / visit->visits, stalls, waits = 0;
    *measured = (struct lwp_gain_measured){.ratio = 1, .low = 1, .high = 1};
    if (visit->region == LWP_NONE || !visit->shape.instructions || visit->elements < 16)
        return false;
    stalls = measured_stalls(profile, visit);
    measured->pace = measured_pace(profile, visit);
    if (visit->access.pattern == LWP_GAIN_UNKNOWN && !visit->access.dependent)
        return false;
    for (int tries = 0; tries < MEASURED_TRIES; tries++) {
        if (!measured_pattern(profile, visit, before, chain, &today) || !measured_pattern(profile, visit, after, chain, &changed) ||
            !measured_times(profile, &today, &changed, &times))
            return false;
        waits = 1 - fmin(1, times.core / times.before);
        if (waits - stalls < stall_agrees)
            break;
        chain += (waits - stalls) * times.before / (chain > 4 ? times.core / chain : usual_cycle_ns);
    }
    measured->core = times.core;
    /* A loop saves no more than it waits, and the pattern may wait more than the loop. */
    measured->ratio = fmax(times.ratio, 1 - stalls);
    /* The spread of the runs, and what a part of each round that the pattern lacks or has too much would do to the ratio: as much of it as
     * its time may be off and still be believed. */
    double off = pace_agrees * fabs(1 - measured->ratio);
    measured->low = fmax(times.low - off, 0.5 * times.low);
    measured->high = fmax(times.high, measured->ratio) + off;
    /* Samples fall on an access also where another instruction is what takes long: the loop may wait less than it seems to.
     * A chain whose next element may be anywhere or beside this one costs the one or the other: that was not seen, so not run. */
    measured->reproduced = (!visit->access.dependent || visit->far >= 0) && waits <= stalls + stall_agrees &&
                           waits >= stall_least * stalls &&
                           (measured->pace <= 0 || fabs(times.before - measured->pace) <= pace_agrees * measured->pace);
    return true;
}
