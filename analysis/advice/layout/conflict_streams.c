/* How the streams of a loop lie relative to each other.
 *
 * In: pairs of accesses that follow each other closely in one loop (concurrent.h). Two streams that go on by the same
 * step keep their distance, and each pair shows it. The
 * stream with most pairs is the origin; one after the other, the streams with most pairs to those that are placed are
 * placed where most of these pairs say. Streams that go their own way (at random, with other steps, in an outer loop)
 * agree with no place and are left out. Blocks that are allocated anew at other addresses keep at best their places in
 * a page: what does not agree absolutely is tried modulo a way, too. */
#include "analysis/advice/layout/conflicts_internal.h"

#include "analysis/profile/regions.h"
#include "analysis/profile/streams.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/statistics/stride.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 8192, STEPS_NEEDED = 3, NEAR_LINES = 8 };

static const double agree_least = 0.6; /* of a stream's pairs, and of all */
static const double room_least = 0.9;  /* of all pairs: with fewer, blocks are too many to look at one by one */

struct place_pair {
    uint32_t a, b; /* streams */
    int64_t ahead; /* b's address minus a's */
};

struct place_making {
    struct lwp_conflict_loop *loop;
    struct place_pair pairs[PAIRS_MAX];
    size_t count;
    struct place_step {
        uint32_t stream;
        uint64_t bytes;
    } steps[PAIRS_MAX]; /* from one execution of an instruction to one soon after */
    size_t step_count;
    int64_t by_code[LWP_CONFLICT_STREAMS_MAX]; /* what each stream goes on by; 0: its code does not say */
    int64_t common;                            /* what most go on by */
};

/* LWP_NONE: there are too many. */
static uint32_t place_stream(struct lwp_conflict_loop *loop, const struct lwp_concurrent_access *access, bool made)
{
    uint64_t start = loop->absolute ? access->start : 0;
    for (uint32_t i = 0; i < loop->count; i++)
        if (loop->streams[i].code == access->code && loop->streams[i].object == access->object && loop->streams[i].start == start)
            return i;
    if (!made || loop->count == LWP_CONFLICT_STREAMS_MAX)
        return LWP_NONE;
    loop->streams[loop->count] = (struct lwp_conflict_stream){.code = access->code, .object = access->object, .start = start};
    return (uint32_t)loop->count++;
}

/* The part of the pairs that there was room for. */
static double place_pairs(const struct lwp_profile *profile, struct place_making *making)
{
    size_t all = 0, taken = 0;
    making->loop->count = making->count = making->step_count = 0;
    for (size_t i = 0; i < profile->concurrents.count; i++) {
        const struct lwp_concurrent *seen = &profile->concurrents.items[i];
        if (lwp_regions_final(profile, seen->region) != making->loop->region)
            continue;
        for (size_t k = 0; k < seen->pair_count && making->count < PAIRS_MAX; k++) {
            const struct lwp_concurrent_pair *pair = &seen->pairs[k];
            int64_t ahead = (int64_t)(pair->b.address - pair->a.address);
            uint32_t a = place_stream(making->loop, &pair->a, true), b = place_stream(making->loop, &pair->b, true);
            all++;
            if (a == LWP_NONE || b == LWP_NONE)
                continue;
            taken++;
            if (a != b)
                making->pairs[making->count++] = (struct place_pair){a, b, ahead};
            else if (ahead)
                making->steps[making->step_count++ % PAIRS_MAX] = (struct place_step){a, (uint64_t)llabs(ahead)};
        }
    }
    for (size_t i = 0; i < making->count; i++) {
        making->loop->streams[making->pairs[i].a].pairs++;
        making->loop->streams[making->pairs[i].b].pairs++;
    }
    return all ? (double)taken / (double)all : 0;
}

/* Whether two places are as good as one: less than a line apart. */
static bool place_near(const struct lwp_conflict_loop *loop, int64_t a, int64_t b)
{
    return (loop->absolute ? (uint64_t)llabs(a - b) : lwp_conflict_apart(a, b, loop->way)) < loop->line;
}

/* What the pair says of stream `of`; false: nothing, as the other one is not placed. */
static bool place_says(const struct lwp_conflict_loop *loop, const struct place_pair *pair, uint32_t of, int64_t *at)
{
    uint32_t other = pair->a == of ? pair->b : pair->a;
    if ((pair->a != of && pair->b != of) || other == of || !loop->streams[other].known)
        return false;
    *at = loop->streams[other].at + (pair->b == of ? pair->ahead : -pair->ahead);
    if (!loop->absolute)
        *at = (int64_t)((uint64_t)*at % loop->way);
    return true;
}

/* Where most pairs say it is: of those near the best of them the most frequent. */
static void place_one(struct place_making *making, uint32_t of)
{
    struct lwp_conflict_loop *loop = making->loop;
    struct lwp_conflict_stream *stream = &loop->streams[of];
    int64_t said[LWP_CONCURRENT_KEPT], at;
    size_t count = 0, best = 0, most = 0, exact = 0;
    for (size_t i = 0; i < making->count && count < LWP_CONCURRENT_KEPT; i++)
        if (place_says(loop, &making->pairs[i], of, &at))
            said[count++] = at;
    qsort(said, count, sizeof *said, lwp_compare_i64);
    for (size_t i = 0; i < count; i++) {
        size_t near = 0, same = 0;
        if (i && said[i] == said[i - 1])
            continue;
        for (size_t k = i; k < count && (uint64_t)(said[k] - said[i]) < loop->line; k++)
            near++;
        for (size_t k = i; k-- > 0 && (uint64_t)(said[i] - said[k]) < loop->line;)
            near++;
        for (size_t k = i; k < count && said[k] == said[i]; k++)
            same++;
        if (near > most || (near == most && same > exact)) {
            most = near;
            exact = same;
            best = i;
        }
    }
    stream->at = count ? said[best] : 0;
    stream->known = count > 0 && (double)most >= agree_least * (double)count;
}

/* Places all that were seen together with stream `origin`, directly or by way of others. */
static void place_part(struct place_making *making, uint32_t origin, uint32_t part, bool *tried)
{
    struct lwp_conflict_loop *loop = making->loop;
    loop->streams[origin].known = tried[origin] = true;
    loop->streams[origin].part = part;
    loop->streams[origin].at = 0;
    for (;;) {
        uint32_t links[LWP_CONFLICT_STREAMS_MAX] = {0}, next = 0;
        for (size_t i = 0; i < making->count; i++) {
            const struct place_pair *pair = &making->pairs[i];
            const struct lwp_conflict_stream *a = &loop->streams[pair->a], *b = &loop->streams[pair->b];
            links[pair->a] += !tried[pair->a] && b->known && b->part == part;
            links[pair->b] += !tried[pair->b] && a->known && a->part == part;
        }
        for (uint32_t i = 0; i < loop->count; i++)
            next = links[i] > links[next] ? i : next;
        if (!links[next])
            return;
        tried[next] = true;
        place_one(making, next);
        loop->streams[next].part = part;
    }
}

/* Places all; the part of the pairs that agree with their places. */
static double place_all(struct place_making *making)
{
    struct lwp_conflict_loop *loop = making->loop;
    bool tried[LWP_CONFLICT_STREAMS_MAX] = {false};
    size_t agree = 0, all = 0;
    for (uint32_t part = 0;; part++) {
        uint32_t origin = LWP_NONE;
        for (uint32_t i = 0; i < loop->count; i++)
            if (!tried[i] && (origin == LWP_NONE || loop->streams[i].pairs > loop->streams[origin].pairs))
                origin = i;
        if (origin == LWP_NONE)
            break;
        place_part(making, origin, part, tried);
    }
    for (size_t i = 0; i < making->count; i++) {
        const struct place_pair *pair = &making->pairs[i];
        int64_t at;
        if (!loop->streams[pair->b].known || !place_says(loop, pair, pair->b, &at))
            continue;
        bool near = place_near(loop, at, loop->streams[pair->b].at);
        all++;
        agree += near;
        loop->streams[pair->a].agree += near;
        loop->streams[pair->b].agree += near;
    }
    return all ? (double)agree / (double)all : 0;
}

/* By their code. Where registers run out, it does not say so of all. */
static void place_code(struct lwp_profile *profile, struct place_making *making)
{
    const struct lwp_conflict_loop *loop = making->loop;
    uint64_t most = 0;
    memset(making->by_code, 0, sizeof making->by_code);
    making->common = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        struct lwp_loop_shape shape;
        if (lwp_regions_final(profile, stream->region) != loop->region ||
            !lwp_loop_shape(profile->code, stream->module, stream->address, &shape) || !shape.steps || !shape.step)
            continue;
        for (size_t k = 0; k < loop->count; k++)
            if (loop->streams[k].object == stream->object && loop->streams[k].code == stream->address)
                making->by_code[k] = shape.step;
        making->common = stream->accesses > most ? shape.step : making->common;
        LWP_RAISE(most, stream->accesses);
    }
}

/* The second access of a pair is of the next iteration where its instruction stands before the first one's. */
static void place_align(struct place_making *making)
{
    for (size_t i = 0; i < making->count; i++) {
        struct place_pair *pair = &making->pairs[i];
        int64_t step = making->by_code[pair->b] ? making->by_code[pair->b] : making->by_code[pair->a];
        if (making->loop->streams[pair->b].code < making->loop->streams[pair->a].code)
            pair->ahead -= step ? step : making->common;
    }
}

/* The largest step that most of those seen of a part are multiples of; 0: too few were seen, or they are all over the
 * place. */
static int64_t step_seen(const struct place_making *making, uint32_t part)
{
    uint64_t steps[PAIRS_MAX];
    size_t count = 0, near = 0;
    for (size_t i = 0; i < making->step_count && i < PAIRS_MAX; i++)
        if (making->loop->streams[making->steps[i].stream].known && making->loop->streams[making->steps[i].stream].part == part) {
            steps[count++] = making->steps[i].bytes;
            near += making->steps[i].bytes <= NEAR_LINES * making->loop->line;
        }
    if (count < STEPS_NEEDED || near * 10 < count * 8)
        return 0;
    return (int64_t)lwp_stride_common(steps, count, 0);
}

/* Streams of one part go on by one step: by the code of most of those of which it says so, else by what was seen. */
static void place_steps(const struct place_making *making)
{
    struct lwp_conflict_loop *loop = making->loop;
    for (size_t i = 0; i < loop->count; i++) {
        uint32_t part = loop->streams[i].part, most = 0;
        int64_t step = 0;
        for (size_t k = 0; k < loop->count; k++) {
            uint32_t same = 0;
            for (size_t l = 0; l < loop->count; l++)
                same += loop->streams[l].known && loop->streams[l].part == part && making->by_code[l] == making->by_code[k];
            if (loop->streams[k].known && loop->streams[k].part == part && making->by_code[k] && same > most) {
                step = making->by_code[k];
                most = same;
            }
        }
        size_t before = 0;
        while (before < i && loop->streams[before].part != part)
            before++;
        loop->streams[i].step = before < i ? loop->streams[before].step : step ? step : step_seen(making, part);
    }
}

/* Of the stalls on each stream: those on the first bytes of a line are its first fetch, if it is fetched once. */
static void place_stalls(const struct lwp_profile *profile, struct lwp_conflict_loop *loop)
{
    for (size_t i = 0; i < profile->concurrents.count; i++) {
        const struct lwp_concurrent *seen = &profile->concurrents.items[i];
        for (size_t k = 0; k < seen->stall_count && lwp_regions_final(profile, seen->region) == loop->region; k++) {
            const struct lwp_concurrent_stall *stall = &seen->stalls[k];
            uint32_t at = place_stream(loop, &stall->access, false);
            loop->weight += (double)stall->weight;
            if (at == LWP_NONE)
                continue;
            struct lwp_conflict_stream *stream = &loop->streams[at];
            uint64_t within = stall->access.address % loop->line, passed = stream->step > 0 ? within : loop->line - 1 - within;
            stream->weight += (double)stall->weight;
            stream->first += passed < (uint64_t)llabs(stream->step) ? (double)stall->weight : 0;
            stream->stalls++;
        }
    }
}

static bool place_loop(struct lwp_profile *profile, struct place_making *making, bool absolute)
{
    making->loop->absolute = absolute;
    if (place_pairs(profile, making) < room_least)
        return false;
    place_code(profile, making);
    place_align(making);
    if (place_all(making) < agree_least)
        return false;
    place_steps(making);
    place_stalls(profile, making->loop);
    return true;
}

bool lwp_conflict_streams(struct lwp_profile *profile, uint32_t region, struct lwp_conflict_loop *loop)
{
    struct place_making *making = lwp_zeroed(1, sizeof *making);
    making->loop = loop;
    loop->region = region;
    loop->weight = 0;
    bool found = place_loop(profile, making, true) || place_loop(profile, making, false);
    free(making);
    return found;
}
