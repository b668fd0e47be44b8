/* In: where in an array each thread was seen in each loop that stores to it (traversals.h). When iterations are dealt out in turn, as
 * with schedule(static, 1), all indices of a thread leave the same remainder, and another thread's another one. By chance n indices
 * of t threads do that in one of turns^(n - t) cases; below one in ten thousand it is believed. In other schedules the places of
 * threads mingle; whether neighbours belong to two threads, or only blocks of a thousand elements, a few places of a large array
 * do not show.
 * Limits: threads that take slices, but others in each round, seem to mingle. */
#include "analysis/advice/layout/split_internal.h"
#include "analysis/elements/element_place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS_MAX = 64, THREADS_SEEN_MAX = 64, PLACES_ENOUGH = 16 };

static const double chance = 1e-4;

struct writer_place {
    uint32_t thread;
    uint64_t index;
};

void lwp_element_writers_fields(const struct lwp_profile *profile, const struct lwp_layout *layout, bool *stored)
{
    memset(stored, 0, layout->field_count * sizeof *stored);
    for (size_t k = 0; k < layout->object_count; k++)
        for (uint32_t i = profile->object_streams[layout->objects[k]]; i != LWP_NONE; i = profile->streams[i].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[i];
            uint64_t place;
            if (!stream->stores || lwp_element_stream_place(profile, stream, &place) < 0.5)
                continue;
            for (size_t f = 0; f < layout->field_count; f++)
                if (place < layout->fields[f].offset + layout->fields[f].bytes && place + stream->bytes > layout->fields[f].offset)
                    stored[f] = true;
        }
}

static int writers_place_compare(const void *a, const void *b)
{
    const struct writer_place *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* The places in the next loop that stores to the layout's objects, by index; 0: there is none left. Start from zero. */
struct writer_cursor {
    size_t object;
    uint32_t stream; /* + 1; 0: the object's first */
};

static size_t writers_next(const struct lwp_profile *profile, const struct lwp_layout *layout, struct writer_cursor *at,
                           struct writer_place *places)
{
    for (; at->object < layout->object_count; at->object++, at->stream = 0) {
        uint32_t object = layout->objects[at->object];
        uint64_t start = profile->objects[object].element_start;
        uint32_t i = at->stream ? profile->streams[at->stream - 1].next_of_object : profile->object_streams[object];
        for (; i != LWP_NONE; i = profile->streams[i].next_of_object) {
            const struct lwp_traversal *traversal =
                profile->streams[i].stores ? lwp_traversals_of(&profile->traversals, object, profile->streams[i].region) : NULL;
            size_t count = 0;
            for (uint32_t p = 0; traversal && p < traversal->count && count < LWP_TRAVERSAL_PLACES; p++)
                if (traversal->places[p].offset >= start)
                    places[count++] =
                        (struct writer_place){traversal->places[p].thread, (traversal->places[p].offset - start) / layout->spacing};
            qsort(places, count, sizeof *places, writers_place_compare);
            at->stream = i + 1;
            if (count)
                return count;
        }
    }
    return 0;
}

/* `places` by index. */
static bool writers_in_turns(const struct writer_place *places, size_t count, unsigned turns)
{
    struct {
        uint32_t thread;
        uint64_t rest;
    } owners[THREADS_SEEN_MAX];
    size_t threads = 0, changes = 0, distinct = 0;
    bool differ = false;
    for (size_t i = 0; i < count; i++) {
        size_t t = 0;
        if (i > 0 && writers_place_compare(&places[i], &places[i - 1]) == 0)
            continue; /* seen twice is no more proof than seen once */
        distinct++;
        changes += i > 0 && places[i].thread != places[i - 1].thread;
        while (t < threads && owners[t].thread != places[i].thread)
            t++;
        if (t < threads && owners[t].rest != places[i].index % turns)
            return false;
        if (t < threads)
            continue;
        if (threads == THREADS_SEEN_MAX)
            return false;
        owners[threads].thread = places[i].thread;
        owners[threads++].rest = places[i].index % turns;
        differ |= owners[threads - 1].rest != owners[0].rest;
    }
    /* Slices change threads (threads - 1) times: what they explain is not in turn. */
    return differ && changes >= threads && pow(turns, -(double)(distinct - threads)) < chance;
}

unsigned lwp_element_writers_turns(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    struct writer_place places[LWP_TRAVERSAL_PLACES];
    struct writer_cursor at = {0};
    for (size_t count; (count = writers_next(profile, layout, &at, places));)
        for (unsigned turns = TURNS_MAX; turns > 1; turns--) /* what holds of 4 holds of 2 */
            if (writers_in_turns(places, count, turns))
                return turns;
    return 0;
}

bool lwp_element_writers_mingle(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    struct writer_place places[LWP_TRAVERSAL_PLACES];
    struct writer_cursor at = {0};
    uint32_t most = 0;
    for (size_t p = 0; p < profile->process_count; p++)
        most = profile->processes[p].threads > most ? profile->processes[p].threads : most;
    if (profile->process_count && most < 2) /* the processes of a job have each its own */
        return false;
    for (size_t count; (count = writers_next(profile, layout, &at, places));) {
        size_t changes = 0;
        for (size_t p = 1; p < count; p++)
            changes += places[p].thread != places[p - 1].thread;
        if (count >= PLACES_ENOUGH && changes * 3 > count)
            return true;
    }
    return false;
}
