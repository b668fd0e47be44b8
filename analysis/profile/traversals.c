/* Bounded observations of array walks, made while samples are read.
 *
 * In: the accesses of each sample to large blocks. Out, for each (object, loop): a uniform sample of places with time
 * and thread; for each (two objects, loop): uniform samples of where in the two a thread was at (nearly) one time.
 * Accesses of one sample that follow each other closely are as good as at one time. Between the one the sample waited
 * for and the next lie some iterations, between two samples of a thread many: these say something of walks that go from
 * element to element, or slowly, and are kept apart.
 * Limits: at most WALKS_MAX walks and PAIRS_MAX pairs, the rest goes unseen; places are kept for the whole run, so a
 * loop whose habits change over time looks like the mixture. */
#include "analysis/profile/traversals.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WALKS_MAX = 1 << 15, PAIRS_MAX = 1 << 15, FIRST_ROOM = 4, ACCESSES_MAX = 8 };

/* Samples further apart than this say nothing of each other, even in a slow walk. */
static const uint64_t apart_ns = 20000000;

void lwp_traversals_init(struct lwp_traversals *walks)
{
    *walks =
        (struct lwp_traversals){.walk_index = lwp_map_new(), .pair_index = lwp_map_new(), .random = 0x9e3779b97f4a7c15u};
}

void lwp_traversals_fini(struct lwp_traversals *walks)
{
    for (size_t i = 0; i < walks->walk_count; i++) {
        free(walks->walks[i].places);
        free(walks->walks[i].steps);
    }
    for (size_t i = 0; i < walks->pair_count; i++) {
        free(walks->pairs[i].close.kept);
        free(walks->pairs[i].loose.kept);
        free(walks->pairs[i].next.kept);
    }
    free(walks->walks);
    free(walks->pairs);
    lwp_map_free(walks->walk_index);
    lwp_map_free(walks->pair_index);
    *walks = (struct lwp_traversals){0};
}

static uint64_t walk_random(struct lwp_traversals *walks)
{
    walks->random ^= walks->random << 13;
    walks->random ^= walks->random >> 7;
    walks->random ^= walks->random << 17;
    return walks->random;
}

/* Keys are hashes: two that collide are told apart by trying the next one. */
static uint64_t walk_key(uint32_t object, uint32_t region)
{
    return lwp_hash_mix(object, region);
}

static uint64_t walk_pair_key(uint32_t a, uint32_t b, uint32_t region)
{
    return lwp_hash_mix(lwp_hash_mix(a, b), region);
}

static struct lwp_traversal *walk_find(struct lwp_traversals *walks, uint32_t object, uint32_t region)
{
    for (uint64_t key = walk_key(object, region);; key++) {
        uint32_t *at = lwp_map_at(walks->walk_index, key);
        if (*at == LWP_MAP_NONE) {
            if (walks->walk_count >= WALKS_MAX)
                return NULL;
            *at = (uint32_t)walks->walk_count;
            LWP_GROW(&walks->walks, walks->walk_count, &walks->walk_room);
            walks->walks[walks->walk_count] = (struct lwp_traversal){.object = object, .region = region};
            return &walks->walks[walks->walk_count++];
        }
        struct lwp_traversal *walk = &walks->walks[*at];
        if (walk->object == object && walk->region == region)
            return walk;
    }
}

static struct lwp_traversal_pair *walk_pair_find(struct lwp_traversals *walks, uint32_t a, uint32_t b, uint32_t region)
{
    for (uint64_t key = walk_pair_key(a, b, region);; key++) {
        uint32_t *at = lwp_map_at(walks->pair_index, key);
        if (*at == LWP_MAP_NONE) {
            if (walks->pair_count >= PAIRS_MAX)
                return NULL;
            *at = (uint32_t)walks->pair_count;
            LWP_GROW(&walks->pairs, walks->pair_count, &walks->pair_room);
            walks->pairs[walks->pair_count] = (struct lwp_traversal_pair){.a = a, .b = b, .region = region};
            return &walks->pairs[walks->pair_count++];
        }
        struct lwp_traversal_pair *pair = &walks->pairs[*at];
        if (pair->a == a && pair->b == b && pair->region == region)
            return pair;
    }
}

const struct lwp_traversal *lwp_traversals_of(const struct lwp_traversals *walks, uint32_t object, uint32_t region)
{
    for (uint64_t key = walk_key(object, region);; key++) {
        uint32_t at = lwp_map_get(walks->walk_index, key);
        if (at == LWP_MAP_NONE)
            return NULL;
        if (walks->walks[at].object == object && walks->walks[at].region == region)
            return &walks->walks[at];
    }
}

const struct lwp_traversal_pair *lwp_traversals_pair(const struct lwp_traversals *walks, uint32_t a, uint32_t b, uint32_t region)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    for (uint64_t key = walk_pair_key(low, high, region);; key++) {
        uint32_t at = lwp_map_get(walks->pair_index, key);
        if (at == LWP_MAP_NONE)
            return NULL;
        const struct lwp_traversal_pair *pair = &walks->pairs[at];
        if (pair->a == low && pair->b == high && pair->region == region)
            return pair;
    }
}

/* The place for one more of `seen` in a reservoir of at most `limit`; `limit` itself: it is not kept. */
static uint32_t walk_slot(struct lwp_traversals *walks, uint64_t seen, uint32_t count, uint32_t limit)
{
    if (count < limit)
        return count;
    uint64_t place = walk_random(walks) % seen;
    return place < limit ? (uint32_t)place : limit;
}

static bool walk_room(void **items, uint32_t count, uint32_t *room, uint32_t limit, size_t size)
{
    if (count < *room)
        return true;
    uint32_t wanted = *room ? *room * 2 : FIRST_ROOM;
    if (wanted > limit)
        wanted = limit;
    void *grown = realloc(*items, wanted * size);
    if (!grown)
        return false;
    *items = grown;
    *room = wanted;
    return true;
}

static void walk_place(struct lwp_traversals *walks, struct lwp_traversal *walk, uint64_t seen, struct lwp_traversal_place place)
{
    uint32_t slot = walk_slot(walks, seen, walk->count, LWP_TRAVERSAL_PLACES);
    if (slot == LWP_TRAVERSAL_PLACES)
        return;
    if (slot == walk->count) {
        void *places = walk->places;
        if (!walk_room(&places, walk->count, &walk->room, LWP_TRAVERSAL_PLACES, sizeof place))
            return;
        walk->places = places;
        walk->count++;
    }
    walk->places[slot] = place;
}

static void walk_step(struct lwp_traversals *walks, struct lwp_traversal *walk, int64_t step)
{
    uint32_t slot = walk_slot(walks, ++walk->step_seen, walk->step_count, LWP_TRAVERSAL_STEPS);
    if (slot == LWP_TRAVERSAL_STEPS)
        return;
    if (slot == walk->step_count) {
        void *steps = walk->steps;
        if (!walk_room(&steps, walk->step_count, &walk->step_room, LWP_TRAVERSAL_STEPS, sizeof step))
            return;
        walk->steps = steps;
        walk->step_count++;
    }
    walk->steps[slot] = step;
}

static void walk_meet(struct lwp_traversals *walks, struct lwp_traversal_meetings *meetings, uint64_t seen,
                      struct lwp_traversal_meeting meeting)
{
    uint32_t slot = walk_slot(walks, seen, meetings->count, LWP_TRAVERSAL_MEETINGS);
    if (slot == LWP_TRAVERSAL_MEETINGS)
        return;
    if (slot == meetings->count) {
        void *kept = meetings->kept;
        if (!walk_room(&kept, meetings->count, &meetings->room, LWP_TRAVERSAL_MEETINGS, sizeof meeting))
            return;
        meetings->kept = kept;
        meetings->count++;
    }
    meetings->kept[slot] = meeting;
}

enum walk_apart { WALK_CLOSE, WALK_LOOSE, WALK_NEXT };

static void walk_together(struct lwp_traversals *walks, const struct lwp_traversal_access *x, const struct lwp_traversal_access *y,
                          uint32_t thread, enum walk_apart apart)
{
    const struct lwp_traversal_access *a = x->object < y->object ? x : y, *b = a == x ? y : x;
    struct lwp_traversal_pair *pair = walk_pair_find(walks, a->object, b->object, a->region);
    if (!pair)
        return;
    struct lwp_traversal_meetings *meetings = apart == WALK_CLOSE   ? &pair->close
                                         : apart == WALK_LOOSE ? &pair->loose
                                                               : &pair->next;
    meetings->seen++;
    walk_meet(walks, meetings, meetings->seen,
              (struct lwp_traversal_meeting){.a = a->offset, .b = b->offset, .thread = thread});
}

void lwp_traversals_sample(struct lwp_traversals *walks, struct lwp_walker *walker, const struct lwp_traversal_access *accesses,
                      int count, uint64_t time)
{
    if (count > ACCESSES_MAX)
        count = ACCESSES_MAX;
    for (int i = 0; i < count; i++) {
        struct lwp_traversal *walk = walk_find(walks, accesses[i].object, accesses[i].region);
        if (!walk)
            continue;
        walk->accesses++;
        walk_place(walks, walk, walk->accesses,
                   (struct lwp_traversal_place){.offset = accesses[i].offset, .time = time, .thread = walker->thread});
        for (int j = i; j-- > 0;)
            if (accesses[j].code == accesses[i].code && accesses[j].object == accesses[i].object) {
                walk_step(walks, walk, (int64_t)(accesses[i].offset - accesses[j].offset));
                break;
            }
        if (i == 0 || accesses[i - 1].region != accesses[i].region)
            continue;
        bool alone = accesses[i - 1].object == accesses[i].object;
        walk->alone += alone;
        walk->paired += !alone;
        struct lwp_traversal *before = alone ? NULL : walk_find(walks, accesses[i - 1].object, accesses[i - 1].region);
        if (before)
            before->paired++;
        if (!alone)
            walk_together(walks, &accesses[i - 1], &accesses[i], walker->thread,
                          accesses[i].close ? WALK_CLOSE : WALK_LOOSE);
        if (i > 1 && accesses[i].close && accesses[i - 1].close && accesses[i - 2].object != accesses[i].object &&
            accesses[i - 2].region == accesses[i].region)
            walk_together(walks, &accesses[i - 2], &accesses[i], walker->thread, WALK_CLOSE);
    }
    if (count == 0)
        return;
    if (walker->last_count && walker->last.region == accesses[0].region && walker->last.object != accesses[0].object &&
        time - walker->time < apart_ns)
        walk_together(walks, &walker->last, &accesses[0], walker->thread, WALK_NEXT);
    walker->last = accesses[count - 1];
    walker->last_count = count;
    walker->time = time;
}

/* Takes one of the `left` items at random, and closes the gap with the last. */
static void walk_draw(struct lwp_traversals *walks, char *items, uint32_t *left, size_t size, char *to)
{
    size_t at = walk_random(walks) % *left;
    memcpy(to, items + at * size, size);
    *left -= 1;
    memcpy(items + at * size, items + *left * size, size);
}

/* Joins two uniform samples, of `seen` and `other_seen`, into one of at most `limit`: each place of the new one goes to
 * either side as a draw from all that both saw would. */
static void walk_join(struct lwp_traversals *walks, void **items, uint32_t *count, uint32_t *room, uint64_t seen,
                      const void *others, uint32_t other_count, uint64_t other_seen, uint32_t limit, size_t size)
{
    uint32_t left = *count, other_left = other_count, made = 0;
    uint32_t wanted = left + other_left < limit ? left + other_left : limit;
    if (other_count == 0)
        return;
    char *joined = malloc(limit * size), *copy = malloc(other_count * size);
    if (joined && copy) {
        memcpy(copy, others, other_count * size);
        while (made < wanted) {
            bool mine = left && (!other_left || walk_random(walks) % (seen + other_seen) < seen);
            walk_draw(walks, mine ? *items : copy, mine ? &left : &other_left, size, joined + made++ * size);
            if (mine)
                seen -= seen > 0;
            else
                other_seen -= other_seen > 0;
        }
        free(*items);
        *items = joined;
        *count = made;
        *room = limit;
        joined = NULL;
    }
    free(joined);
    free(copy);
}

static void walk_merge_meetings(struct lwp_traversals *to, struct lwp_traversal_meetings *into,
                                const struct lwp_traversal_meetings *from, bool swapped)
{
    struct lwp_traversal_meeting turned[LWP_TRAVERSAL_MEETINGS];
    for (uint32_t i = 0; i < from->count; i++) {
        turned[i] = from->kept[i];
        if (swapped) {
            turned[i].a = from->kept[i].b;
            turned[i].b = from->kept[i].a;
        }
    }
    void *kept = into->kept;
    walk_join(to, &kept, &into->count, &into->room, into->seen, turned, from->count, from->seen, LWP_TRAVERSAL_MEETINGS,
              sizeof *turned);
    into->kept = kept;
    into->seen += from->seen;
}

void lwp_traversals_merge(struct lwp_traversals *to, const struct lwp_traversals *from, const uint32_t *objects,
                     const uint32_t *regions)
{
    for (size_t i = 0; i < from->walk_count; i++) {
        const struct lwp_traversal *walk = &from->walks[i];
        if (objects && objects[walk->object] == LWP_TRAVERSAL_LEFT_OUT)
            continue;
        struct lwp_traversal *into = walk_find(to, objects ? objects[walk->object] : walk->object,
                                          regions ? regions[walk->region] : walk->region);
        if (!into)
            continue;
        void *places = into->places;
        walk_join(to, &places, &into->count, &into->room, into->accesses, walk->places, walk->count, walk->accesses,
                  LWP_TRAVERSAL_PLACES, sizeof *walk->places);
        into->places = places;
        into->accesses += walk->accesses;
        void *steps = into->steps;
        walk_join(to, &steps, &into->step_count, &into->step_room, into->step_seen, walk->steps, walk->step_count,
                  walk->step_seen, LWP_TRAVERSAL_STEPS, sizeof *walk->steps);
        into->steps = steps;
        into->step_seen += walk->step_seen;
        into->alone += walk->alone;
        into->paired += walk->paired;
    }
    for (size_t i = 0; i < from->pair_count; i++) {
        const struct lwp_traversal_pair *pair = &from->pairs[i];
        uint32_t a = objects ? objects[pair->a] : pair->a, b = objects ? objects[pair->b] : pair->b;
        if (a == b || (objects && (a == LWP_TRAVERSAL_LEFT_OUT || b == LWP_TRAVERSAL_LEFT_OUT)))
            continue;
        struct lwp_traversal_pair *into =
            walk_pair_find(to, a < b ? a : b, a < b ? b : a, regions ? regions[pair->region] : pair->region);
        if (!into)
            continue;
        walk_merge_meetings(to, &into->close, &pair->close, a > b);
        walk_merge_meetings(to, &into->loose, &pair->loose, a > b);
        walk_merge_meetings(to, &into->next, &pair->next, a > b);
    }
}
