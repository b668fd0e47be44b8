/* Bounded observations of array traversals, made while samples are read.
 *
 * In: the accesses of each sample to large blocks. Out: for each (object, loop) a uniform sample of places with time and thread;
 * for each (two objects, loop) uniform samples of where in the two a thread was at (nearly) one time. Uniform samples are
 * reservoirs (Vitter's algorithm R).
 * Accesses of one sample that follow each other closely are as good as simultaneous. Between the sampled access and the next one
 * lie some iterations, between two samples of a thread many: these describe slow traversals only, and are kept apart.
 * Limits: at most TRAVERSALS_MAX traversals and PAIRS_MAX pairs, others are not seen. Places are kept for the whole run, so a
 * loop whose habits change over time looks like the mixture. */
#include "analysis/profile/traversals.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TRAVERSALS_MAX = 1 << 15, PAIRS_MAX = 1 << 15, FIRST_ROOM = 4 };

/* Samples further apart than this are unrelated, even in a slow traversal. */
static const uint64_t apart_ns = 20000000;

void lwp_traversals_init(struct lwp_traversals *traversals)
{
    *traversals = (struct lwp_traversals){.index = lwp_map_new(), .pair_index = lwp_map_new(), .random = 0x9e3779b97f4a7c15u};
}

void lwp_traversals_fini(struct lwp_traversals *traversals)
{
    for (size_t i = 0; i < traversals->count; i++) {
        free(traversals->items[i].places);
        free(traversals->items[i].steps);
        free(traversals->items[i].paces);
    }
    for (size_t i = 0; i < traversals->pair_count; i++) {
        free(traversals->pairs[i].close.kept);
        free(traversals->pairs[i].loose.kept);
        free(traversals->pairs[i].next.kept);
    }
    free(traversals->items);
    free(traversals->pairs);
    lwp_map_free(traversals->index);
    lwp_map_free(traversals->pair_index);
    *traversals = (struct lwp_traversals){0};
}

static uint64_t traversal_random(struct lwp_traversals *traversals)
{
    traversals->random ^= traversals->random << 13;
    traversals->random ^= traversals->random >> 7;
    traversals->random ^= traversals->random << 17;
    return traversals->random;
}

/* Keys are hashes: of two that collide one gets the next key. */
static uint32_t traversal_index(const struct lwp_traversals *traversals, uint32_t object, uint32_t region, uint64_t *key)
{
    uint32_t at;
    *key = lwp_hash_mix(object, region);
    while ((at = lwp_map_get(traversals->index, *key)) != LWP_MAP_NONE &&
           (traversals->items[at].object != object || traversals->items[at].region != region))
        ++*key;
    return at;
}

static uint32_t traversal_pair_index(const struct lwp_traversals *traversals, uint32_t a, uint32_t b, uint32_t region, uint64_t *key)
{
    uint32_t at;
    *key = lwp_hash_mix(lwp_hash_mix(a, b), region);
    while ((at = lwp_map_get(traversals->pair_index, *key)) != LWP_MAP_NONE &&
           (traversals->pairs[at].a != a || traversals->pairs[at].b != b || traversals->pairs[at].region != region))
        ++*key;
    return at;
}

const struct lwp_traversal *lwp_traversals_of(const struct lwp_traversals *traversals, uint32_t object, uint32_t region)
{
    uint64_t key;
    uint32_t at = traversal_index(traversals, object, region, &key);
    return at == LWP_MAP_NONE ? NULL : &traversals->items[at];
}

const struct lwp_traversal_pair *lwp_traversals_pair(const struct lwp_traversals *traversals, uint32_t a, uint32_t b, uint32_t region)
{
    uint64_t key;
    uint32_t at = traversal_pair_index(traversals, a < b ? a : b, a < b ? b : a, region, &key);
    return at == LWP_MAP_NONE ? NULL : &traversals->pairs[at];
}

/* Made at the first call; NULL: it would be one too many. */
static struct lwp_traversal *traversal_find(struct lwp_traversals *traversals, uint32_t object, uint32_t region)
{
    uint64_t key;
    uint32_t at = traversal_index(traversals, object, region, &key);
    if (at != LWP_MAP_NONE)
        return &traversals->items[at];
    if (traversals->count >= TRAVERSALS_MAX)
        return NULL;
    *lwp_map_at(traversals->index, key) = (uint32_t)traversals->count;
    return LWP_APPEND(&traversals->items, &traversals->count, &traversals->room,
                      (struct lwp_traversal){.object = object, .region = region});
}

static struct lwp_traversal_pair *traversal_pair_find(struct lwp_traversals *traversals, uint32_t a, uint32_t b, uint32_t region)
{
    uint64_t key;
    uint32_t at = traversal_pair_index(traversals, a, b, region, &key);
    if (at != LWP_MAP_NONE)
        return &traversals->pairs[at];
    if (traversals->pair_count >= PAIRS_MAX)
        return NULL;
    *lwp_map_at(traversals->pair_index, key) = (uint32_t)traversals->pair_count;
    return LWP_PUSH(traversals->pair, (struct lwp_traversal_pair){.a = a, .b = b, .region = region});
}

/* A uniform sample of all that were seen, with what its owner has of it. */
struct traversal_reservoir {
    void *items;
    uint32_t *count, *room;
    uint64_t *seen;
    uint32_t limit; /* of items */
    size_t size;    /* of one */
};

static inline struct traversal_reservoir traversal_places(struct lwp_traversal *of)
{
    return (struct traversal_reservoir){of->places, &of->count, &of->room, &of->accesses, LWP_TRAVERSAL_PLACES, sizeof *of->places};
}

static inline struct traversal_reservoir traversal_steps(struct lwp_traversal *of)
{
    return (struct traversal_reservoir){of->steps, &of->step_count, &of->step_room, &of->step_seen, LWP_TRAVERSAL_STEPS, sizeof *of->steps};
}

static inline struct traversal_reservoir traversal_paces(struct lwp_traversal *of)
{
    return (struct traversal_reservoir){of->paces, &of->pace_count, &of->pace_room, &of->pace_seen, LWP_TRAVERSAL_PACES, sizeof *of->paces};
}

static inline struct traversal_reservoir traversal_kept(struct lwp_traversal_meetings *of)
{
    return (struct traversal_reservoir){of->kept, &of->count, &of->room, &of->seen, LWP_TRAVERSAL_MEETINGS, sizeof *of->kept};
}

/* Room for one more item. */
static bool traversal_room(struct traversal_reservoir *reservoir)
{
    if (*reservoir->count < *reservoir->room)
        return true;
    const uint32_t twice = *reservoir->room ? *reservoir->room * 2 : FIRST_ROOM,
                   wanted = twice < reservoir->limit ? twice : reservoir->limit;
    void *grown = realloc(reservoir->items, wanted * reservoir->size);
    if (!grown)
        return false;
    reservoir->items = grown;
    *reservoir->room = wanted;
    return true;
}

/* Adds an item: once the reservoir is full, each replaces a random one, or none, so that all have the same chance. Returns the array.
 * Inline: called for each sample, and then limit and size are constants. */
static inline __attribute__((always_inline)) void *traversal_keep(struct lwp_traversals *traversals, struct traversal_reservoir to,
                                                                  const void *item)
{
    const uint64_t seen = ++*to.seen, place = *to.count < to.limit ? *to.count : traversal_random(traversals) % seen;
    if (place >= to.limit || (place == *to.count && !traversal_room(&to)) || !to.items)
        return to.items;
    *to.count += place == *to.count;
    memcpy((char *)to.items + place * to.size, item, to.size);
    return to.items;
}

enum traversal_apart { TRAVERSAL_CLOSE, TRAVERSAL_LOOSE, TRAVERSAL_NEXT };

static void traversal_together(struct lwp_traversals *traversals, const struct lwp_traversal_access *x,
                               const struct lwp_traversal_access *y, uint32_t thread, enum traversal_apart apart)
{
    const struct lwp_traversal_access *a = x->object < y->object ? x : y, *b = a == x ? y : x;
    struct lwp_traversal_pair *pair = traversal_pair_find(traversals, a->object, b->object, a->region);
    if (!pair)
        return;
    struct lwp_traversal_meetings *meetings = apart == TRAVERSAL_CLOSE   ? &pair->close
                                              : apart == TRAVERSAL_LOOSE ? &pair->loose
                                                                         : &pair->next;
    const struct lwp_traversal_meeting meeting = {.a = a->offset, .b = b->offset, .thread = thread};
    meetings->kept = traversal_keep(traversals, traversal_kept(meetings), &meeting);
}

/* Any access that both samples saw will do: the random ones of a loop go nowhere, but the list that their indices come from, say, is
 * gone over in order. */
static void traversal_pace(struct lwp_traversals *traversals, const struct lwp_traversal_thread *thread,
                           const struct lwp_traversal_access *accesses, int count, uint64_t time)
{
    if (!thread->last_count || !accesses[0].ran_ns || thread->last[0].region != accesses[0].region || time - thread->time >= apart_ns)
        return;
    for (int i = 0; i < count; i++) {
        const struct lwp_traversal_access *access = &accesses[i], *before = NULL;
        bool counted = false; /* one for each object: more say the same again */
        for (int k = 0; k < i; k++)
            counted |= accesses[k].object == access->object;
        for (int k = 0; k < thread->last_count && !counted && !before; k++)
            if (thread->last[k].object == access->object && thread->last[k].region == access->region &&
                thread->last[k].code == access->code)
                before = &thread->last[k];
        struct lwp_traversal *traversal = before ? traversal_find(traversals, access->object, access->region) : NULL;
        if (!traversal)
            continue;
        /* The time that the thread ran, not what others took from it between. */
        const struct lwp_traversal_pace pace = {.ns = accesses[0].ran_ns, .bytes = (int64_t)(access->offset - before->offset)};
        traversal->paces = traversal_keep(traversals, traversal_paces(traversal), &pace);
    }
}

/* From the last execution of the same instruction on the object to this one. */
static void traversal_step(struct lwp_traversals *traversals, struct lwp_traversal *traversal, const struct lwp_traversal_access *accesses,
                           int i)
{
    for (int j = i; j-- > 0;)
        if (accesses[j].code == accesses[i].code && accesses[j].object == accesses[i].object) {
            const int64_t step = (int64_t)(accesses[i].offset - accesses[j].offset);
            traversal->steps = traversal_keep(traversals, traversal_steps(traversal), &step);
            return;
        }
}

/* With the accesses of the same sample just before it. */
static void traversal_company(struct lwp_traversals *traversals, struct lwp_traversal *traversal, uint32_t thread,
                              const struct lwp_traversal_access *accesses, int i)
{
    if (i == 0 || accesses[i - 1].region != accesses[i].region)
        return;
    if (accesses[i - 1].object == accesses[i].object) {
        traversal->alone++;
    } else {
        traversal->paired++;
        struct lwp_traversal *before = traversal_find(traversals, accesses[i - 1].object, accesses[i - 1].region);
        if (before)
            before->paired++;
        traversal_together(traversals, &accesses[i - 1], &accesses[i], thread, accesses[i].close ? TRAVERSAL_CLOSE : TRAVERSAL_LOOSE);
    }
    if (i > 1 && accesses[i].close && accesses[i - 1].close && accesses[i - 2].object != accesses[i].object &&
        accesses[i - 2].region == accesses[i].region)
        traversal_together(traversals, &accesses[i - 2], &accesses[i], thread, TRAVERSAL_CLOSE);
}

void lwp_traversals_sample(struct lwp_traversals *traversals, struct lwp_traversal_thread *thread,
                           const struct lwp_traversal_access *accesses, int count, uint64_t time)
{
    if (count > LWP_TRAVERSAL_ACCESSES)
        count = LWP_TRAVERSAL_ACCESSES;
    for (int i = 0; i < count; i++) {
        struct lwp_traversal *traversal = traversal_find(traversals, accesses[i].object, accesses[i].region);
        if (!traversal)
            continue;
        const struct lwp_traversal_place place = {.offset = accesses[i].offset, .time = time, .thread = thread->thread};
        traversal->places = traversal_keep(traversals, traversal_places(traversal), &place);
        traversal_step(traversals, traversal, accesses, i);
        traversal_company(traversals, traversal, thread->thread, accesses, i);
    }
    if (count == 0)
        return;
    const struct lwp_traversal_access *last = thread->last_count ? &thread->last[thread->last_count - 1] : NULL;
    if (last && last->region == accesses[0].region && last->object != accesses[0].object && time - thread->time < apart_ns)
        traversal_together(traversals, last, &accesses[0], thread->thread, TRAVERSAL_NEXT);
    traversal_pace(traversals, thread, accesses, count, time);
    memcpy(thread->last, accesses, (size_t)count * sizeof *accesses);
    thread->last_count = count;
    thread->time = time;
}

/* Takes one of the `left` items at random, and closes the gap with the last. */
static void traversal_draw(struct lwp_traversals *traversals, char *items, uint32_t *left, size_t size, char *to)
{
    size_t at = traversal_random(traversals) % *left;
    memcpy(to, items + at * size, size);
    *left -= 1;
    memcpy(items + at * size, items + *left * size, size);
}

/* Joins two uniform samples into one: each place goes to either side with the chance of a draw, without replacement, from all that both
 * saw. Returns the array. */
static void *traversal_join(struct lwp_traversals *traversals, struct traversal_reservoir to, struct traversal_reservoir from)
{
    uint32_t left = *to.count, other_left = *from.count, made = 0;
    const uint32_t wanted = left + other_left < to.limit ? left + other_left : to.limit;
    uint64_t seen = *to.seen, other_seen = *from.seen;
    *to.seen += other_seen;
    if (other_left == 0)
        return to.items;
    char *joined = lwp_zeroed(to.limit, to.size), *copy = lwp_zeroed(other_left, to.size);
    memcpy(copy, from.items, other_left * to.size);
    while (made < wanted) {
        bool mine = left && (!other_left || traversal_random(traversals) % (seen + other_seen) < seen);
        traversal_draw(traversals, mine ? to.items : copy, mine ? &left : &other_left, to.size, joined + made++ * to.size);
        if (mine)
            seen -= seen > 0;
        else
            other_seen -= other_seen > 0;
    }
    free(to.items);
    free(copy);
    *to.count = made;
    *to.room = to.limit;
    return joined;
}

static void traversal_merge_meetings(struct lwp_traversals *to, struct lwp_traversal_meetings *into,
                                     const struct lwp_traversal_meetings *from, bool swapped)
{
    struct lwp_traversal_meeting turned[LWP_TRAVERSAL_MEETINGS];
    struct lwp_traversal_meetings other = *from;
    for (uint32_t i = 0; i < from->count && swapped; i++) {
        turned[i] = from->kept[i];
        turned[i].a = from->kept[i].b;
        turned[i].b = from->kept[i].a;
    }
    if (swapped)
        other.kept = turned;
    into->kept = traversal_join(to, traversal_kept(into), traversal_kept(&other));
}

void lwp_traversals_merge(struct lwp_traversals *to, const struct lwp_traversals *from, const uint32_t *objects, const uint32_t *regions)
{
    for (size_t i = 0; i < from->count; i++) {
        struct lwp_traversal *traversal = &from->items[i];
        if (objects && objects[traversal->object] == LWP_TRAVERSAL_LEFT_OUT)
            continue;
        struct lwp_traversal *into = traversal_find(to, objects ? objects[traversal->object] : traversal->object,
                                                    regions ? regions[traversal->region] : traversal->region);
        if (!into)
            continue;
        into->places = traversal_join(to, traversal_places(into), traversal_places(traversal));
        into->steps = traversal_join(to, traversal_steps(into), traversal_steps(traversal));
        into->paces = traversal_join(to, traversal_paces(into), traversal_paces(traversal));
        into->alone += traversal->alone;
        into->paired += traversal->paired;
    }
    for (size_t i = 0; i < from->pair_count; i++) {
        const struct lwp_traversal_pair *pair = &from->pairs[i];
        uint32_t a = objects ? objects[pair->a] : pair->a, b = objects ? objects[pair->b] : pair->b;
        if (a == b || (objects && (a == LWP_TRAVERSAL_LEFT_OUT || b == LWP_TRAVERSAL_LEFT_OUT)))
            continue;
        struct lwp_traversal_pair *into =
            traversal_pair_find(to, a < b ? a : b, a < b ? b : a, regions ? regions[pair->region] : pair->region);
        if (!into)
            continue;
        traversal_merge_meetings(to, &into->close, &pair->close, a > b);
        traversal_merge_meetings(to, &into->loose, &pair->loose, a > b);
        traversal_merge_meetings(to, &into->next, &pair->next, a > b);
    }
}
