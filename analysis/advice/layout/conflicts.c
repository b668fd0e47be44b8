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
 * replacement is taken for LRU. */
#include "analysis/advice/layout/conflicts_internal.h"

#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_NEEDED = 24, SAMPLES_GOOD = 150, SAMPLES_MANY = 500, PADS_TRIED = 8, LOOPS_MOST = 16 };

static const double share_least = 0.02, gain_least = 1.02;

/* A cache line that an iteration is on. */
struct conflict_line {
    uint32_t object;
    size_t block;
    int64_t first, last; /* of its streams */
    double at;           /* between them */
    double in_set;       /* lines that share its set, itself among them */
    bool collides;
    struct lwp_tally weight;
};

/* Lines less than an object's block apart. */
struct conflict_block {
    uint32_t object;
    int64_t at;
    size_t lines, colliding;
    uint64_t move;
};

struct conflict_making {
    struct lwp_profile *profile;
    struct lwp_conflict_loop loop;
    unsigned ways;
    struct conflict_line lines[LWP_CONFLICT_STREAMS_MAX];
    size_t count;
    struct conflict_block blocks[LWP_CONFLICT_STREAMS_MAX];
    size_t block_count;
};

static int conflict_stream_compare(const void *a, const void *b)
{
    const struct lwp_conflict_stream *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void conflict_lines(struct conflict_making *making)
{
    struct lwp_conflict_loop *loop = &making->loop;
    size_t known = 0;
    for (size_t i = 0; i < loop->count; i++)
        if (loop->streams[i].known && loop->streams[i].agree * 2 >= loop->streams[i].pairs)
            loop->streams[known++] = loop->streams[i];
    loop->count = known;
    qsort(loop->streams, known, sizeof *loop->streams, conflict_stream_compare);
    making->count = making->block_count = 0;
    for (size_t i = 0; i < known; i++) {
        const struct lwp_conflict_stream *stream = &loop->streams[i];
        struct conflict_line *line = making->count ? &making->lines[making->count - 1] : NULL;
        struct conflict_block *block = making->block_count ? &making->blocks[making->block_count - 1] : NULL;
        bool same = block && block->object == stream->object;
        if (!same || (loop->absolute &&
                      (uint64_t)(stream->at - block->at) >= making->profile->objects[stream->object].largest)) {
            block = &making->blocks[making->block_count++];
            *block = (struct conflict_block){.object = stream->object, .at = stream->at};
            line = NULL;
        }
        if (!line || (uint64_t)(stream->at - line->first) >= loop->line) {
            line = &making->lines[making->count++];
            *line =
                (struct conflict_line){.object = stream->object, .block = making->block_count - 1, .first = stream->at};
            block->lines++;
        }
        line->last = stream->at;
        line->at = (double)line->first + (double)(line->last - line->first) / 2;
        lwp_tally_merge(&line->weight, &stream->weight);
    }
}

/* The part of the iterations in which both are on one set. */
static double conflict_shared(const struct lwp_conflict_loop *loop, double a, double b)
{
    double way = (double)loop->way, apart = fmod(fabs(a - b), way);
    return fmax(0, 1 - fmin(apart, way - apart) / (double)loop->line);
}

/* Of every line: how many share its set; the most. `moved` and `row` (0: none), `pad`: after the change. */
static double conflict_sets(struct conflict_making *making, bool moved, size_t padded, double row, double pad,
                            bool keep)
{
    double at[LWP_CONFLICT_STREAMS_MAX], most = 0;
    for (size_t i = 0; i < making->count; i++) {
        const struct conflict_line *line = &making->lines[i];
        const struct conflict_block *block = &making->blocks[line->block];
        at[i] = line->at + (moved ? (double)block->move : 0);
        if (row > 0 && line->block == padded)
            at[i] += round((line->at - (double)block->at) / row) * pad;
    }
    for (size_t i = 0; i < making->count; i++) {
        double lines = 0;
        for (size_t k = 0; k < making->count; k++)
            lines += conflict_shared(&making->loop, at[i], at[k]);
        most = fmax(most, lines);
        if (keep)
            making->lines[i].in_set = lines;
    }
    return most;
}

/* Moves blocks whose lines collide one after the other to where the fewest lines are, by as little as possible. Whether
 * that is enough. */
static bool conflict_move(struct conflict_making *making)
{
    const struct lwp_conflict_loop *loop = &making->loop;
    bool placed[LWP_CONFLICT_STREAMS_MAX] = {false};
    for (size_t b = 0; b < making->block_count; b++) {
        making->blocks[b].move = 0;
        placed[b] = !making->blocks[b].colliding;
    }
    for (size_t b = 0; b < making->block_count; b++) {
        double least = INFINITY;
        for (uint64_t move = 0; !placed[b] && move < loop->way; move += loop->line) {
            double most = 0;
            for (size_t i = 0; i < making->count; i++) {
                double lines = 0;
                for (size_t k = 0; k < making->count && making->lines[i].block == b; k++) {
                    size_t of = making->lines[k].block;
                    if (of == b || placed[of])
                        lines +=
                            conflict_shared(loop, making->lines[i].at + (double)move,
                                            making->lines[k].at + (double)(of == b ? move : making->blocks[of].move));
                }
                most = fmax(most, round(lines));
            }
            if (most < least) {
                least = most;
                making->blocks[b].move = move;
            }
        }
        placed[b] = true;
    }
    return conflict_sets(making, true, 0, 0, 0, false) <= making->ways;
}

/* The block with most lines that collide, and the distance between those of them that are next to each other; by how
 * many bytes that must grow. Whether that is enough. */
static bool conflict_pad(struct conflict_making *making, size_t *padded, uint64_t *row, uint64_t *pad)
{
    *padded = 0;
    *row = 0;
    for (size_t b = 0; b < making->block_count; b++)
        if (making->blocks[b].colliding > making->blocks[*padded].colliding)
            *padded = b;
    const struct conflict_line *before = NULL;
    for (size_t i = 0; i < making->count; i++) {
        const struct conflict_line *line = &making->lines[i];
        if (line->block != *padded || !line->collides)
            continue;
        uint64_t apart = before ? (uint64_t)(line->first - before->first) : 0;
        if (before && (!*row || apart < *row))
            *row = apart;
        before = line;
    }
    if (!making->loop.absolute || !*row)
        return false;
    for (unsigned lines = 1; lines <= PADS_TRIED; lines++) {
        *pad = lines * making->loop.line;
        if (conflict_sets(making, false, *padded, (double)*row, (double)*pad, false) <= making->ways)
            return true;
    }
    return false;
}

/* Of the stalls on lines that collide: the share of those on a line's first bytes, and how many samples say so. */
static double conflict_first_fetches(const struct conflict_making *making, uint64_t *samples)
{
    const struct lwp_profile *profile = making->profile;
    const struct lwp_conflict_loop *loop = &making->loop;
    uint64_t step = (uint64_t)llabs(loop->step);
    double all = 0, first = 0;
    *samples = 0;
    for (size_t i = 0; i < profile->concurrents.count; i++) {
        const struct lwp_concurrent *seen = &profile->concurrents.items[i];
        for (size_t k = 0; k < seen->stall_count && lwp_regions_final(profile, seen->region) == loop->region; k++) {
            const struct lwp_concurrent_stall *stall = &seen->stalls[k];
            bool collides = false;
            for (size_t s = 0; s < loop->count && !collides; s++)
                for (size_t l = 0; l < making->count && loop->streams[s].code == stall->access.code &&
                                   loop->streams[s].object == stall->access.object && !collides;
                     l++)
                    collides = making->lines[l].collides && making->lines[l].object == stall->access.object &&
                               loop->streams[s].at >= making->lines[l].first &&
                               loop->streams[s].at <= making->lines[l].last;
            if (!collides)
                continue;
            uint64_t within = stall->access.address % loop->line,
                     passed = loop->step > 0 ? within : loop->line - 1 - within;
            all += (double)stall->weight;
            first += passed < step ? (double)stall->weight : 0;
            ++*samples;
        }
    }
    return all > 0 ? first / all : 1;
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

/* What is saved when the stalls on colliding lines shrink to the first fetches. In a loop full of memory operands some
 * samples are on one by chance, while something else is waited for: between all of them and none lies the time that is
 * stalled. The other errors are those of two shares with their numbers of samples. */
static void conflict_gain(struct conflict_making *making, struct lwp_conflict *conflict)
{
    struct lwp_profile *profile = making->profile;
    struct lwp_gain *gain = &conflict->gain;
    double step = fmin(1, (double)llabs(making->loop.step) / (double)making->loop.line), all = profile->total.weight;
    uint64_t samples;
    double first = conflict_first_fetches(making, &samples), most = 1 - step; /* not even those can all be hits */
    double saved = fmin(most, fmax(0, 1 - first));
    struct lwp_share share = lwp_share_of(&conflict->weight, &profile->total);
    struct lwp_loop_shape shape = conflict_shape(making);
    double surely = fmin(conflict->weight.weight,
                         lwp_gain_stalled(profile, conflict->region, conflict->weight.weight, &shape).low) /
                    all;
    double stalled = (surely + share.value) / 2, by_chance = (share.value - surely) / 2 / fmax(stalled, 1e-9);
    double of_share = (share.high - share.low) / 2 / share.value;
    double of_first = samples && saved > 0 ? 1.96 * sqrt(fmax(first * (1 - first), 0.01) / (double)samples) / saved : 1;
    conflict->saved = stalled * saved;
    conflict->error = conflict->saved * sqrt(by_chance * by_chance + of_share * of_share + of_first * of_first);
    conflict->most = share.high * most;
    gain->loops = lwp_arena_alloc(profile->arena, LOOPS_MOST, sizeof *gain->loops);
    gain->before = 0;
    for (size_t i = 0; i < making->count; i++)
        gain->before += making->lines[i].collides ? 1 : step;
    gain->after = (double)making->count * step;
    gain->loops[gain->loop_count++] = (struct lwp_gain_loop){conflict->region, gain->before, gain->after};
}

static const char *conflict_confidence(const struct lwp_conflict *conflict)
{
    return conflict->weight.samples >= SAMPLES_MANY   ? "high"
           : conflict->weight.samples >= SAMPLES_GOOD ? "medium"
                                                      : "low";
}

static void conflict_arrays(struct conflict_making *making, struct lwp_conflict *conflict, size_t padded)
{
    conflict->arrays = lwp_arena_alloc(making->profile->arena, LWP_CONFLICT_ARRAYS_MAX, sizeof *conflict->arrays);
    int64_t origin = 0;
    for (size_t b = 0; b < making->block_count && conflict->count < LWP_CONFLICT_ARRAYS_MAX; b++) {
        const struct conflict_block *block = &making->blocks[b];
        if (!block->colliding || (conflict->remedy == LWP_CONFLICT_ROWS && b != padded))
            continue;
        origin = conflict->count ? origin : block->at;
        conflict->arrays[conflict->count++] =
            (struct lwp_conflict_array){.object = block->object,
                                        .start = (uint64_t)(block->at - origin) % making->loop.way,
                                        .lines = (unsigned)block->lines,
                                        .move = conflict->remedy == LWP_CONFLICT_APART ? block->move : 0};
    }
}

/* Of one loop; false: none, or nothing is gained. */
static bool conflict_of(struct conflict_making *making, uint32_t region, struct lwp_conflict *conflict)
{
    struct lwp_conflict_loop *loop = &making->loop;
    size_t padded = 0;
    if (!lwp_conflict_streams(making->profile, region, loop) || !loop->step ||
        (uint64_t)llabs(loop->step) >= loop->line)
        return false;
    conflict_lines(making);
    *conflict = (struct lwp_conflict){
        .region = region, .ways = making->ways, .way_bytes = loop->way, .line_bytes = loop->line, .step = loop->step};
    conflict->lines = conflict_sets(making, false, 0, 0, 0, true);
    if (conflict->lines <= making->ways)
        return false;
    for (size_t i = 0; i < making->count; i++) {
        struct conflict_line *line = &making->lines[i];
        line->collides = line->in_set > making->ways;
        making->blocks[line->block].colliding += line->collides;
        if (line->collides)
            lwp_tally_merge(&conflict->weight, &line->weight);
    }
    double share = lwp_share_of(&conflict->weight, &making->profile->total).value;
    if (share < share_least || conflict->weight.samples < SAMPLES_NEEDED)
        return false;
    if (conflict_move(making))
        conflict->remedy = LWP_CONFLICT_APART;
    else if (conflict_pad(making, &padded, &conflict->row_bytes, &conflict->pad_bytes))
        conflict->remedy = LWP_CONFLICT_ROWS;
    else
        return false;
    conflict_arrays(making, conflict, padded);
    conflict_gain(making, conflict);
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
    into->error = sqrt(into->error * into->error + from->error * from->error);
    into->most += from->most;
    lwp_tally_merge(&into->weight, &from->weight);
    into->gain.loops[into->gain.loop_count++] = from->gain.loops[0];
    return true;
}

static int conflict_heavier(const void *a, const void *b)
{
    const struct lwp_conflict *x = a, *y = b;
    return x->saved != y->saved ? (x->saved < y->saved) - (x->saved > y->saved)
                                : (x->region > y->region) - (x->region < y->region);
}

/* Joins what one change mends, and leaves out what is not worth a change. */
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
            lwp_gain_speedup(fmax(0, all[i].saved - all[i].error), fmin(all[i].most, all[i].saved + all[i].error));
        all[i].gain.low = speedup.low;
        all[i].gain.high = speedup.high;
        if (speedup.low < gain_least)
            continue;
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
    conflicts->conflicts =
        lwp_arena_alloc(profile->arena, profile->concurrents.count + 1, sizeof *conflicts->conflicts);
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

bool lwp_conflicts_about(const struct lwp_conflicts *conflicts, uint32_t object)
{
    for (size_t i = 0; i < conflicts->count; i++)
        if (conflict_has(&conflicts->conflicts[i], object))
            return true;
    return false;
}
