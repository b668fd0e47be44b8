/* Finds loops whose lines collide in the first-level cache, and what to move.
 *
 * Streams (conflict_streams.c) of one object less than a line apart are on one line. Two lines share a set in the part
 * of the iterations in which both are on it: all when they are at the same place of a way, none when they are a line or
 * more apart. Where more lines share a set than it has ways, replacement in the order of use throws out each before its
 * next use, so each iteration fetches each line again. Without that a line is fetched once for all iterations that it
 * serves.
 *
 * What is saved is read from the samples: of the stalls on lines that collide, those on the first bytes of a line are
 * the first fetch, which stays; all others would be hits. So no constant says what a line costs that comes from the
 * next level.
 *
 * Only the first level is looked at: caches behind it are indexed by physical addresses, whose bits above the page are
 * not known. Limits: lines used at random or in an outer loop are left out, so that sets may be fuller than is said;
 * replacement is taken for LRU. A set with as many lines as ways has no room for any of that, nor for what is fetched
 * ahead: whether that matters, only a run on the machine says. */
#include "analysis/advice/layout/conflicts_internal.h"

#include "analysis/advice/gain/measured.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/tables/engines.h"
#include "analysis/tables/severity.h"
#include "base/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PADS_TRIED = 8, LOOPS_MOST = 16 };

static const double share_least = 0.02;
const double lwp_conflict_needs = 1.02;

/* A cache line that an iteration is on. */
struct conflict_line {
    uint32_t part; /* of the loop's streams */
    int64_t step;
    size_t block;
    int64_t first, last; /* of its streams */
    double at;           /* between them */
    double in_set;       /* lines that share its set, itself among them */
    bool collides;
    double weight, first_weight; /* of the stalls on it that were kept, and of those on its first bytes */
    uint64_t stalls;
};

/* An array; all blocks of one allocation where they are not known one by one. */
struct conflict_block {
    uint32_t object;
    uint64_t start;
    size_t lines, colliding; /* that an iteration uses, in the part with most */
    uint64_t move;
};

struct conflict_making {
    struct lwp_profile *profile;
    struct lwp_conflict_loop loop;
    unsigned ways, room; /* lines that do not collide: as many, or one less where no set has more than its ways */
    struct conflict_line lines[LWP_CONFLICT_STREAMS_MAX];
    size_t count;
    struct conflict_block blocks[LWP_CONFLICT_STREAMS_MAX];
    size_t block_count;
};

/* By block, part and place. */
static int conflict_stream_compare(const void *a, const void *b)
{
    const struct lwp_conflict_stream *x = a, *y = b;
    return LWP_COMPARE(x->object, y->object) ?: LWP_COMPARE(x->start, y->start) ?: LWP_COMPARE(x->part, y->part)
           ?: LWP_COMPARE(x->at, y->at);
}

static void conflict_lines(struct conflict_making *making)
{
    struct lwp_conflict_loop *loop = &making->loop;
    size_t known = 0;
    for (size_t i = 0; i < loop->count; i++)
        if (loop->streams[i].known && loop->streams[i].agree * 2 >= loop->streams[i].pairs && loop->streams[i].step &&
            (uint64_t)llabs(loop->streams[i].step) < loop->line)
            loop->streams[known++] = loop->streams[i];
    loop->count = known;
    qsort(loop->streams, known, sizeof *loop->streams, conflict_stream_compare);
    making->count = making->block_count = 0;
    for (size_t i = 0; i < known; i++) {
        const struct lwp_conflict_stream *stream = &loop->streams[i];
        struct conflict_line *line = making->count ? &making->lines[making->count - 1] : NULL;
        struct conflict_block *block = making->block_count ? &making->blocks[making->block_count - 1] : NULL;
        if (!block || block->object != stream->object || block->start != stream->start) {
            block = &making->blocks[making->block_count++];
            *block = (struct conflict_block){.object = stream->object, .start = stream->start};
            line = NULL;
        }
        if (!line || line->part != stream->part || (uint64_t)(stream->at - line->first) >= loop->line) {
            line = &making->lines[making->count++];
            *line =
                (struct conflict_line){.part = stream->part, .step = stream->step, .block = making->block_count - 1, .first = stream->at};
        }
        line->last = stream->at;
        line->at = (double)line->first + (double)(line->last - line->first) / 2;
        line->weight += stream->weight;
        line->first_weight += stream->first;
        line->stalls += stream->stalls;
    }
}

/* The part of the iterations in which both are on one set. */
static double conflict_shared(const struct lwp_conflict_loop *loop, double a, double b)
{
    double way = (double)loop->way, apart = fmod(fabs(a - b), way);
    return fmax(0, 1 - fmin(apart, way - apart) / (double)loop->line);
}

/* Rows of one array that are made longer. */
struct conflict_padding {
    size_t block;
    uint64_t row, pad; /* row 0: none */
};

/* By how many bytes what is at the place in the block comes to lie further on. */
static double conflict_moves(const struct conflict_making *making, size_t block, double at, const struct conflict_padding *padding)
{
    double by = (double)making->blocks[block].move;
    return padding && padding->row && block == padding->block ? by + round(at / (double)padding->row) * (double)padding->pad : by;
}

static double conflict_moved(const struct conflict_making *making, const struct conflict_line *line, const struct conflict_padding *padding)
{
    return line->at + conflict_moves(making, line->block, line->at, padding);
}

/* How many lines share the set of line `i`, itself among them, of those in blocks before `limit` and those that stay.
 */
static double conflict_in_set(const struct conflict_making *making, size_t i, const struct conflict_padding *padding, size_t limit)
{
    double lines = 0, at = conflict_moved(making, &making->lines[i], padding);
    for (size_t k = 0; k < making->count; k++) {
        const struct conflict_line *other = &making->lines[k];
        if (other->part == making->lines[i].part && (other->block < limit || !making->blocks[other->block].colliding))
            lines += conflict_shared(&making->loop, at, conflict_moved(making, other, padding));
    }
    return lines;
}

static double conflict_most(const struct conflict_making *making, const struct conflict_padding *padding)
{
    double most = 0;
    for (size_t i = 0; i < making->count; i++)
        most = fmax(most, conflict_in_set(making, i, padding, SIZE_MAX));
    return most;
}

/* Marks what collides; the most lines in one set. */
static double conflict_mark(struct conflict_making *making)
{
    double most = 0;
    for (size_t i = 0; i < making->count; i++) {
        making->lines[i].in_set = conflict_in_set(making, i, NULL, SIZE_MAX);
        most = fmax(most, making->lines[i].in_set);
    }
    const bool simulated = lwp_engine_row(making->profile->engine)->exact; /* by caches that hold as many as they have ways */
    making->room = most > making->ways || simulated ? making->ways : making->ways - 1;
    for (size_t i = 0; i < making->count; i++)
        making->lines[i].collides = making->lines[i].in_set > making->room;
    for (size_t i = 0, end; i < making->count; i = end) { /* lines of one block and part follow each other */
        struct conflict_block *block = &making->blocks[making->lines[i].block];
        size_t colliding = 0;
        for (end = i;
             end < making->count && making->lines[end].block == making->lines[i].block && making->lines[end].part == making->lines[i].part;
             end++)
            colliding += making->lines[end].collides;
        LWP_RAISE(block->lines, end - i);
        LWP_RAISE(block->colliding, colliding);
    }
    return most;
}

/* Moves blocks whose lines collide: each by a line more than the one before, or, where that is not enough, one after
 * the other to where the fewest lines are. Whether that is enough. */
static bool conflict_move(struct conflict_making *making)
{
    const struct lwp_conflict_loop *loop = &making->loop;
    uint64_t moved = 0;
    for (size_t b = 0; b < making->block_count; b++)
        if (making->blocks[b].colliding)
            making->blocks[b].move = moved++ * loop->line % loop->way;
    const unsigned half = making->ways / 2;
    if (conflict_most(making, NULL) <= fmax(2, half)) /* with room for what is fetched ahead */
        return true;
    for (size_t b = 0; b < making->block_count; b++) {
        double least = INFINITY;
        uint64_t best = 0;
        for (uint64_t move = 0; making->blocks[b].colliding && move < loop->way; move += loop->line) {
            double most = 0;
            making->blocks[b].move = move;
            for (size_t i = 0; i < making->count; i++)
                if (making->lines[i].block == b)
                    most = fmax(most, round(conflict_in_set(making, i, NULL, b + 1)));
            best = most < least ? move : best;
            least = fmin(most, least);
        }
        making->blocks[b].move = best;
    }
    return conflict_most(making, NULL) <= making->room;
}

/* Bytes from line `i` of the block, which collides, to the next one of it that does; 0: there is none. */
static uint64_t conflict_above(const struct conflict_making *making, size_t i, size_t block)
{
    const struct conflict_line *line = &making->lines[i];
    for (size_t k = i + 1; k < making->count && line->block == block && line->collides; k++)
        if (making->lines[k].block == block && making->lines[k].part == line->part && making->lines[k].collides)
            return (uint64_t)(making->lines[k].first - line->first);
    return 0;
}

/* The block with most lines that collide, and the distance between those of them that are next to each other; by how
 * many bytes that must grow. Whether that is enough. */
static bool conflict_pad(struct conflict_making *making, struct conflict_padding *padding)
{
    *padding = (struct conflict_padding){0};
    for (size_t b = 0; b < making->block_count; b++) {
        making->blocks[b].move = 0;
        if (making->blocks[b].colliding > making->blocks[padding->block].colliding)
            padding->block = b;
    }
    size_t most = 0;
    for (size_t i = 0; i < making->count; i++) {
        uint64_t row = conflict_above(making, i, padding->block);
        size_t same = 0;
        for (size_t k = 0; k < making->count && row; k++)
            same += conflict_above(making, k, padding->block) == row;
        padding->row = same > most ? row : padding->row;
        most = same > most ? same : most;
    }
    if (!making->loop.absolute || !padding->row)
        return false;
    for (unsigned lines = 1; lines <= PADS_TRIED; lines++) {
        padding->pad = lines * making->loop.line;
        if (conflict_most(making, padding) <= making->room)
            return true;
    }
    return false;
}

/* The shape of the loop's code, where its heaviest line is accessed; all zero: not known. */
static struct lwp_loop_shape conflict_shape(const struct conflict_making *making)
{
    const struct lwp_profile *profile = making->profile;
    struct lwp_loop_shape shape = {0};
    const struct lwp_stream *heaviest = NULL;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->region == making->loop.region && (!heaviest || stream->weight.weight > heaviest->weight.weight))
            heaviest = stream;
    }
    if (!heaviest || !lwp_loop_shape(profile->code, heaviest->module, heaviest->address, &shape))
        return (struct lwp_loop_shape){0};
    return shape;
}

/* What is saved when the stalls on colliding lines shrink to the first fetches.
 *
 * If the first fetches cost no more than the others, memory keeps up, and all others go. If they cost more, the loop
 * waits for memory, too, and may do so in the time that is won: at worst as long as that excess. Or it waits only as what
 * was prefetched for them was thrown out as well: then the excess goes, too. In a loop full of memory operands some
 * samples are on one by chance, while something else is waited for, and others are on what waits for one: between all
 * and none lies the time that is stalled. The other errors are those of two shares with their numbers of samples. */
static void conflict_gain(struct conflict_making *making, struct lwp_conflict *conflict)
{
    struct lwp_profile *profile = making->profile;
    struct lwp_gain *gain = &conflict->gain;
    double step = (double)llabs(conflict->step) / (double)making->loop.line, all = profile->total.weight;
    double weight = 0, first_weight = 0, most = 1 - step; /* not even those can all be hits */
    for (size_t i = 0; i < making->count; i++)
        if (making->lines[i].collides) {
            weight += making->lines[i].weight;
            first_weight += making->lines[i].first_weight;
        }
    double first = first_weight / weight, spread = 1.96 * sqrt(fmax(first * (1 - first), 0.01) / (double)conflict->weight.samples);
    const bool simulated = lwp_engine_row(profile->engine)->exact; /* there a fetch always takes as long */
    double excess = simulated ? 0 : fmax(0, first - step - spread) / (1 - step), saved = fmin(most, 1 - first);
    double low = fmax(0, saved - excess - spread), high = fmin(most, saved + spread);
    struct lwp_share share = lwp_share_of(&conflict->weight, &profile->total);
    struct lwp_loop_shape shape = conflict_shape(making);
    const struct lwp_gain_range stalls = lwp_gain_stalled(profile, conflict->region, conflict->weight.weight, &shape);
    double surely = fmin(share.value, stalls.low / all), at_most = fmax(share.high, simulated ? 0 : stalls.high / all);
    double stalled = (surely + share.value) / 2, middle = (low + high) / 2;
    double by_chance = (share.value - surely) / 2 / stalled, of_share = (share.high - share.low) / 2 / share.value;
    double of_first = middle > 0 ? (high - low) / 2 / middle : 1;
    conflict->saved = stalled * middle;
    conflict->below = conflict->saved * sqrt(by_chance * by_chance + of_share * of_share + of_first * of_first);
    conflict->above = conflict->below + at_most * excess;
    conflict->most = at_most * most;
    gain->loops = lwp_arena_alloc(profile->arena, LOOPS_MOST, sizeof *gain->loops);
    for (size_t i = 0; i < making->count; i++) {
        gain->before += making->lines[i].collides ? 1 : step;
        gain->after += step;
    }
    gain->loops[gain->loop_count++] = (struct lwp_gain_loop){conflict->region, gain->before, gain->after};
}

/* Run on this machine, where that can be done: then the samples only bound it. */
static void conflict_run(struct conflict_making *making, const struct conflict_padding *padding, struct lwp_conflict *conflict)
{
    struct lwp_profile *profile = making->profile;
    struct lwp_loop_shape shape = conflict_shape(making);
    struct lwp_gain_measured measured;
    int64_t moved[LWP_CONFLICT_STREAMS_MAX];
    for (size_t i = 0, block = 0; i < making->loop.count; i++) {
        const struct lwp_conflict_stream *stream = &making->loop.streams[i];
        while (making->blocks[block].object != stream->object || making->blocks[block].start != stream->start)
            block++;
        moved[i] = (int64_t)conflict_moves(making, block, (double)stream->at, padding);
    }
    if (!lwp_conflict_measure(profile, &making->loop, &shape, moved, &measured))
        return;
    struct lwp_share whole = lwp_share_of(&profile->regions[conflict->region].weight, &profile->total);
    const double run = whole.value * (1 - measured.ratio),
                 scale = run > conflict->most ? conflict->most / run : 1; /* as unsure as it was */
    const struct lwp_gain_range part = lwp_gain_part(&measured, &whole);
    const double least = scale * part.low, most = fmin(part.high, conflict->most);
    conflict->saved = scale * run;
    conflict->above = most - conflict->saved;
    conflict->below = conflict->saved - least;
    conflict->gain.measured = measured.reproduced;
    conflict->gain.pattern_ns = measured.pattern;
    conflict->gain.program_ns = measured.pace;
}

static const char *conflict_confidence(const struct lwp_conflict *conflict)
{
    const enum lwp_evidence evidence = lwp_evidence_of(conflict->weight.samples);
    return evidence >= LWP_EVIDENCE_MUCH ? "high" : evidence >= LWP_EVIDENCE_GOOD ? "medium" : "low";
}

static void conflict_arrays(const struct conflict_making *making, struct lwp_conflict *conflict, size_t padded)
{
    conflict->arrays = lwp_arena_alloc(making->profile->arena, LWP_CONFLICT_ARRAYS_MAX, sizeof *conflict->arrays);
    for (size_t b = 0; b < making->block_count && conflict->count < LWP_CONFLICT_ARRAYS_MAX; b++) {
        const struct conflict_block *block = &making->blocks[b];
        if (block->colliding && (conflict->remedy != LWP_CONFLICT_ROWS || b == padded))
            conflict->arrays[conflict->count++] =
                (struct lwp_conflict_array){.object = block->object,
                                            .block = block->start,
                                            .lines = (unsigned)block->lines,
                                            .move = conflict->remedy == LWP_CONFLICT_APART ? block->move : 0};
    }
}

/* The stalls on lines that collide: their part of all that were kept of the loop, of all that there were in it. */
static struct lwp_tally conflict_weight(const struct conflict_making *making)
{
    const struct lwp_region *region = &making->profile->regions[making->loop.region];
    double weight = 0;
    uint64_t stalls = 0;
    for (size_t i = 0; i < making->count; i++)
        if (making->lines[i].collides) {
            weight += making->lines[i].weight;
            stalls += making->lines[i].stalls;
        }
    double part = making->loop.weight > 0 ? weight / making->loop.weight * region->stalled / region->weight.weight : 0;
    return (struct lwp_tally){region->weight.weight * part, region->weight.squares * part, stalls};
}

/* Of the line that most is waited for, of those that collide. */
static int64_t conflict_step(const struct conflict_making *making)
{
    double most = -1;
    int64_t step = 0;
    for (size_t i = 0; i < making->count; i++)
        if (making->lines[i].collides && making->lines[i].weight > most) {
            most = making->lines[i].weight;
            step = making->lines[i].step;
        }
    return step;
}

/* Of one loop; false: none, or nothing is gained. */
static bool conflict_of(struct conflict_making *making, uint32_t region, struct lwp_conflict *conflict)
{
    struct lwp_conflict_loop *loop = &making->loop;
    struct conflict_padding padding = {0};
    if (!lwp_conflict_streams(making->profile, region, loop))
        return false;
    conflict_lines(making);
    *conflict = (struct lwp_conflict){.region = region, .ways = making->ways, .way_bytes = loop->way, .line_bytes = loop->line};
    conflict->lines = conflict_mark(making);
    if (conflict->lines <= making->room)
        return false;
    conflict->weight = conflict_weight(making);
    conflict->step = conflict_step(making);
    if (conflict->weight.weight < share_least * making->profile->total.weight || !lwp_evidence_of(conflict->weight.samples))
        return false;
    if (conflict_move(making)) {
        conflict->remedy = LWP_CONFLICT_APART;
    } else if (conflict_pad(making, &padding)) {
        conflict->remedy = LWP_CONFLICT_ROWS;
        conflict->row_bytes = padding.row;
        conflict->pad_bytes = padding.pad;
    } else {
        return false;
    }
    conflict_arrays(making, conflict, padding.block);
    conflict_gain(making, conflict);
    conflict_run(making, conflict->remedy == LWP_CONFLICT_ROWS ? &padding : NULL, conflict);
    if (making->room < making->ways && !conflict->gain.measured)
        conflict->below = fmax(conflict->below, conflict->saved);
    return conflict->saved > 0;
}

static bool conflict_has(const struct lwp_conflict *conflict, uint32_t object)
{
    size_t i = 0;
    while (i < conflict->count && conflict->arrays[i].object != object)
        i++;
    return i < conflict->count;
}

/* One change mends all loops over the same arrays: the lighter loop's saving goes to the heavier one's. Whether it did.
 */
static bool conflict_join(struct lwp_conflict *into, const struct lwp_conflict *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (!conflict_has(into, from->arrays[i].object))
            return false;
    if (into->remedy != from->remedy || into->row_bytes != from->row_bytes || into->gain.loop_count == LOOPS_MOST)
        return false;
    into->saved += from->saved;
    into->below = hypot(into->below, from->below);
    into->above = hypot(into->above, from->above);
    into->most += from->most;
    lwp_tally_merge(&into->weight, &from->weight);
    into->gain.loops[into->gain.loop_count++] = from->gain.loops[0];
    return true;
}

static int conflict_heavier(const void *a, const void *b)
{
    const struct lwp_conflict *x = a, *y = b;
    return x->saved != y->saved ? (x->saved < y->saved) - (x->saved > y->saved) : (x->region > y->region) - (x->region < y->region);
}

/* Joins what one change mends, and puts aside what is not worth a change. */
static void conflicts_finish(struct lwp_profile *profile, struct lwp_conflicts *conflicts)
{
    size_t count = 0, joined = 0;
    struct lwp_conflict *all = conflicts->conflicts;
    if (conflicts->count)
        qsort(all, conflicts->count, sizeof *all, conflict_heavier);
    for (size_t i = 0; i < conflicts->count; i++) {
        size_t k = 0;
        while (k < joined && !conflict_join(&all[k], &all[i]))
            k++;
        if (k == joined)
            all[joined++] = all[i];
    }
    for (size_t i = 0; i < joined; i++) {
        struct lwp_gain_range speedup =
            lwp_gain_speedup(fmax(0, all[i].saved - all[i].below), fmin(all[i].most, all[i].saved + all[i].above));
        all[i].gain.speedup = lwp_gain_speedup(0, fmin(all[i].most, all[i].saved)).high;
        all[i].gain.low = speedup.low;
        all[i].gain.high = speedup.high;
        if (speedup.low < lwp_conflict_needs) {
            conflicts->unsaid[conflicts->unsaid_count++] = all[i];
            continue;
        }
        all[i].confidence = conflict_confidence(&all[i]);
        lwp_conflict_text(profile, &all[i]);
        all[count++] = all[i];
    }
    conflicts->count = count;
}

void lwp_conflicts_find(struct lwp_profile *profile, struct lwp_conflicts *conflicts)
{
    const struct lwp_cache *caches = &profile->machines[LWP_MACHINE_HERE].caches;
    const struct lwp_cache_level *first = &caches->level[0];
    *conflicts = (struct lwp_conflicts){0};
    if (!caches->levels || !first->ways || !lwp_gain_known(profile))
        return;
    conflicts->looked = true;
    struct conflict_making *making = lwp_zeroed(1, sizeof *making);
    making->profile = profile;
    making->ways = first->ways;
    making->loop.way = first->bytes / first->ways;
    making->loop.line = (uint64_t)1 << caches->line_shift;
    conflicts->conflicts = lwp_arena_alloc(profile->arena, profile->concurrents.count + 1, sizeof *conflicts->conflicts);
    conflicts->unsaid = lwp_arena_alloc(profile->arena, profile->concurrents.count + 1, sizeof *conflicts->unsaid);
    for (size_t i = 0; i < profile->concurrents.count; i++) {
        uint32_t region = lwp_regions_final(profile, profile->concurrents.items[i].region);
        bool seen = profile->regions[region].is_function;
        for (size_t k = 0; k < i && !seen; k++)
            seen = lwp_regions_final(profile, profile->concurrents.items[k].region) == region;
        if (seen || profile->regions[region].stalled < share_least * profile->total.weight)
            continue;
        conflicts->count += conflict_of(making, region, &conflicts->conflicts[conflicts->count]);
    }
    free(making);
    conflicts_finish(profile, conflicts);
}

static const struct lwp_conflict *conflict_about(const struct lwp_conflict *conflicts, size_t count, uint32_t object)
{
    for (size_t i = 0; i < count; i++)
        if (conflict_has(&conflicts[i], object))
            return &conflicts[i];
    return NULL;
}

bool lwp_conflicts_about(const struct lwp_conflicts *conflicts, uint32_t object)
{
    return conflict_about(conflicts->conflicts, conflicts->count, object);
}

const struct lwp_conflict *lwp_conflicts_unsaid(const struct lwp_conflicts *conflicts, uint32_t object)
{
    return conflict_about(conflicts->unsaid, conflicts->unsaid_count, object);
}
