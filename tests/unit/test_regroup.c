/* Which arrays are to be regrouped and why not others, on traversals made by hand: each rule and each reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/layout/regroup.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/moves.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "format/record.h"
#include "tests/unit/amount.h"
#include "tests/unit/streams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 8, LAST = 7, ELEMENTS = 1 << 20, SIZE = 8, SECOND = 1000000000 };

static uint64_t seed = 4711;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
}

struct world {
    struct lwp_profile profile;
    struct lwp_splits splits;
    struct lwp_regroups regroups;
    uint32_t array[40];
    struct lwp_traversal_thread walker;
    uint64_t time;
};

static void world_open(struct world *world)
{
    memset(world, 0, sizeof *world);
    lwp_profile_init(&world->profile);
    world->walker.thread = 1;
    world->time = 100000000;
}

static void world_close(struct world *world)
{
    lwp_regroup_free(&world->regroups);
    lwp_profile_fini(&world->profile);
}

static void world_array(struct world *world, int number, enum lwp_object_kind kind, uint64_t elements)
{
    uint32_t context = lwp_contexts_child(&world->profile, 0, LWP_NONE, 0x4000 + (uint64_t)number, false);
    uint32_t index = lwp_objects_allocated(&world->profile, kind, context, 0);
    struct lwp_object *object = &world->profile.objects[index];
    object->bytes = object->largest = elements * SIZE;
    object->allocations = 1;
    object->element_bytes = SIZE;
    object->element_probability = 1;
    object->accessed = true;
    object->allocated_ns = 0;
    object->freed_ns = UINT64_MAX;
    object->first_ns = 0;
    object->last_ns = UINT64_MAX / 2;
    object->label = object->variable = lwp_arena_printf(world->profile.arena, "v%d", number);
    world->array[number] = index;
}

static void world_loop(struct world *world, uint32_t number)
{
    struct lwp_profile *profile = &world->profile;
    while (profile->region_count <= number) {
        LWP_GROW(&profile->regions, profile->region_count, &profile->region_room);
        profile->regions[profile->region_count] = (struct lwp_region){
            .module = LWP_NONE, .parent = LWP_NONE, .function = "loop", .same_as = (uint32_t)profile->region_count, .reported = LWP_NONE};
        profile->region_count++;
    }
}

/* One sample: the loop waits for the first of the accesses, and a little later makes the others one after the other. */
static void world_sample(struct world *world, uint32_t loop, int count, const int *arrays, const uint64_t *indices)
{
    struct lwp_profile *profile = &world->profile;
    struct lwp_traversal_access accesses[8];
    world_loop(world, loop);
    world->time += 2000000;
    for (int i = 0; i < count; i++) {
        uint32_t object = world->array[arrays[i]];
        uint64_t code = 0x1000 * (uint64_t)(loop + 1) + (uint64_t)arrays[i] * 8, offset = indices[i] * SIZE;
        struct lwps_access access = {.bytes = SIZE, .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN};
        access.flags |= i == 0 ? LWPS_ACCESS_WEIGHTED : 0;
        access.source = i == 0 ? LWPS_SOURCE_UNDO : LWPS_SOURCE_DITHERED;
        streams_add(profile, object, loop, LWP_NONE, code, &access, offset, 1);
        profile->objects[object].accesses++;
        if (i == 0) {
            lwp_tally_add(&profile->objects[object].weight, 1);
            lwp_tally_add(&profile->regions[loop].weight, 1);
            profile->regions[loop].stalled += 1;
            lwp_tally_add(&profile->total, 1);
            lwp_tally_add(&profile->stalled, 1);
        }
        accesses[i] = (struct lwp_traversal_access){.object = object, .region = loop, .code = code, .offset = offset, .close = i > 1};
    }
    profile->samples_with_address++;
    lwp_moves_sample(&profile->moves, profile, accesses, count);
    lwp_traversals_sample(&profile->traversals, &world->walker, accesses, count, world->time);
}

/* A sample of a loop that stores one array's elements. */
static void world_fill(struct world *world, uint32_t loop, int array, uint64_t index)
{
    const uint32_t object = world->array[array];
    const uint64_t code = 0x1000 * (uint64_t)(loop + 1);
    const struct lwps_access access = {.bytes = SIZE, .flags = LWPS_ACCESS_STORE | LWPS_ACCESS_KNOWN, .source = LWPS_SOURCE_DITHERED};
    const struct lwp_traversal_access stored = {.object = object, .region = loop, .code = code, .offset = index * SIZE};
    world_loop(world, loop);
    streams_add(&world->profile, object, loop, LWP_NONE, code, &access, index * SIZE, 1);
    lwp_traversals_sample(&world->profile.traversals, &world->walker, &stored, 1, world->time);
}

static void world_advise(struct world *world)
{
    lwp_streams_link(&world->profile);
    lwp_regroup_advise(&world->profile, &world->splits, &world->regroups);
}

static size_t regrouped(const struct world *world)
{
    return world->regroups.count ? world->regroups.regroups[0].count : 0;
}

static bool has(const struct world *world, const char *name)
{
    const struct lwp_regroup *regroup = &world->regroups.regroups[0];
    for (size_t i = 0; i < regroup->count; i++)
        if (strcmp(world->regroups.candidates.arrays[regroup->members[i]].name, name) == 0)
            return true;
    return false;
}

static const struct lwp_regroup_verdict *rejected(const struct world *world, const char *name)
{
    for (size_t i = 0; world->regroups.count && i < world->regroups.regroups[0].rejected_count; i++)
        if (strcmp(world->regroups.regroups[0].rejected[i].name, name) == 0)
            return &world->regroups.regroups[0].rejected[i].verdict;
    return NULL;
}

/* Eight arrays, at random places; v7's index is made of the others' by `other`. */
enum other { SAME, SHIFTED, MIRRORED, UNRELATED, HALF };

static uint64_t other_index(enum other other, uint64_t index)
{
    switch (other) {
    case SAME:
        return index;
    case SHIFTED:
        return (index + ELEMENTS / 3) % ELEMENTS;
    case MIRRORED:
        return ELEMENTS - 1 - index;
    case UNRELATED:
        return random_below(ELEMENTS);
    default:
        return ELEMENTS / 2 + index;
    }
}

static void use_eight(struct world *world, enum other other, int samples)
{
    for (int s = 0; s < samples; s++) {
        uint64_t before = random_below(other == HALF ? ELEMENTS / 2 : ELEMENTS);
        uint64_t now = random_below(other == HALF ? ELEMENTS / 2 : ELEMENTS);
        int first = s % ARRAYS;
        int arrays[4] = {first, (int)random_below(ARRAYS), 0, 0};
        arrays[2] = (arrays[1] + 1) % ARRAYS;
        arrays[3] = (arrays[1] + 2) % ARRAYS;
        uint64_t indices[4] = {before, now, now, now};
        for (int i = 0; i < 4; i++)
            if (arrays[i] == LAST)
                indices[i] = other_index(other, indices[i]);
        world_sample(world, 0, 4, arrays, indices);
    }
}

static void eight(struct world *world, enum other other)
{
    world_open(world);
    for (int i = 0; i < ARRAYS; i++)
        world_array(world, i, LWP_OBJECT_HEAP, ELEMENTS);
    use_eight(world, other, 1600);
}

static void test_together(void **state)
{
    (void)state;
    struct world world;
    eight(&world, SAME);
    world_advise(&world);
    assert_int_equal(world.regroups.count, 1);
    assert_int_equal(regrouped(&world), ARRAYS);
    const struct lwp_regroup *regroup = &world.regroups.regroups[0];
    assert_int_equal(regroup->bytes, 64);
    assert_int_equal(regroup->rejected_count, 0);
    /* At random: one line for each array before; 64 bytes that begin at 16 past a line lie on two. */
    assert_true(regroup->gain.before > 7.9 && regroup->gain.before < 8.1);
    assert_true(regroup->gain.after > 1.9 && regroup->gain.after < 2.1);
    assert_true(regroup->gain.low > 1.02 && regroup->gain.low < regroup->gain.high);
    assert_non_null(strstr(regroup->declaration, "v0"));
    assert_non_null(strstr(regroup->declaration, "*group;"));
    assert_string_equal(regroup->confidence, "medium"); /* without types, by addresses alone */
    for (size_t i = 0; i < ARRAYS * ARRAYS; i++)
        if (i / ARRAYS != i % ARRAYS)
            assert_true(world.regroups.candidates.affinity[i] > 0.99);
    world_close(&world);
}

static void expect_rejected(struct world *world, enum lwp_regroup_reason reason)
{
    world_advise(world);
    assert_int_equal(world->regroups.count, 1);
    assert_int_equal(regrouped(world), LAST);
    assert_false(has(world, "v7"));
    const struct lwp_regroup_verdict *verdict = rejected(world, "v7");
    assert_non_null(verdict);
    assert_string_equal(lwp_regroup_reason_name(verdict->reason), lwp_regroup_reason_name(reason));
    assert_non_null(verdict->detail);
    world_close(world);
}

static void test_order(void **state)
{
    (void)state;
    for (enum other other = SHIFTED; other <= UNRELATED; other++) {
        struct world world;
        eight(&world, other);
        expect_rejected(&world, LWP_REGROUP_ORDER);
    }
}

static void test_range(void **state)
{
    (void)state;
    struct world world;
    eight(&world, HALF);
    expect_rejected(&world, LWP_REGROUP_RANGE);
}

/* One loop, but v7 in the second half of the run. */
static void test_time(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    for (int i = 0; i < ARRAYS; i++)
        world_array(&world, i, LWP_OBJECT_HEAP, ELEMENTS);
    for (int s = 0; s < 1600; s++) {
        uint64_t now = random_below(ELEMENTS);
        int early[4] = {s % LAST, s % LAST, (s + 1) % LAST, (s + 2) % LAST}, late[4] = {LAST, LAST, LAST, LAST};
        world_sample(&world, 0, 4, s < 1100 ? early : late, (uint64_t[]){random_below(ELEMENTS), now, now, now});
    }
    expect_rejected(&world, LWP_REGROUP_TIME);
}

static void test_classes(void **state)
{
    (void)state;
    struct world world;
    eight(&world, SAME);
    world.profile.objects[world.array[LAST]].largest *= 2;
    world.profile.objects[world.array[LAST]].bytes *= 2;
    expect_rejected(&world, LWP_REGROUP_SCHEME);
    eight(&world, SAME);
    world.profile.objects[world.array[LAST]].kind = LWP_OBJECT_MMAP;
    world_advise(&world);
    assert_int_equal(rejected(&world, "v7")->reason, LWP_REGROUP_LOCATION);
    assert_string_equal(rejected(&world, "v7")->detail, "one is allocated, the other is mapped");
    world_close(&world);
    eight(&world, SAME);
    world.profile.objects[world.array[LAST]].allocations = 30; /* anew for each step */
    expect_rejected(&world, LWP_REGROUP_LIFETIME);
    eight(&world, SAME); /* half of the others' use is over when it is made */
    world.profile.objects[world.array[LAST]].allocated_ns = world.time / 2;
    world.profile.objects[world.array[0]].first_ns = 0;
    expect_rejected(&world, LWP_REGROUP_LIFETIME);
    eight(&world, SAME); /* but filling one before another is made is no obstacle */
    world.profile.objects[world.array[LAST]].allocated_ns = world.time / 50;
    world_advise(&world);
    assert_int_equal(regrouped(&world), ARRAYS);
    world_close(&world);
    eight(&world, SAME); /* nor where that takes long */
    world.time = 0;
    for (uint64_t s = 0; s < 8000; s++, world.time += 10000)
        world_fill(&world, 5, (int)(s % LAST), s * (ELEMENTS / 8000));
    world.profile.objects[world.array[LAST]].allocated_ns = 95000000;
    world_advise(&world);
    assert_int_equal(regrouped(&world), ARRAYS);
    world_close(&world);
}

/* v7 is used with the others now and then, and mostly by itself. */
static void test_affinity(void **state)
{
    (void)state;
    struct world world;
    eight(&world, SAME);
    for (int s = 0; s < 3000; s++) {
        uint64_t now = random_below(ELEMENTS);
        world_sample(&world, 1, 4, (int[]){LAST, LAST, LAST, LAST}, (uint64_t[]){now, now + 9, now + 10, now + 11});
        if (s % 2)
            world_sample(&world, 2, 3, (int[]){s / 2 % LAST, s % LAST, (s + 1) % LAST}, (uint64_t[]){random_below(ELEMENTS), now, now});
    }
    world_advise(&world);
    assert_int_equal(world.regroups.count, 1);
    assert_false(has(&world, "v7"));
    assert_int_equal(rejected(&world, "v7")->reason, LWP_REGROUP_AFFINITY);
    world_close(&world);
}

/* A function called with either array: one loop by its code, but no run of it uses both. */
static void test_turns(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    for (int i = 0; i < 2; i++)
        world_array(&world, i, LWP_OBJECT_HEAP, ELEMENTS);
    for (int s = 0; s < 400; s++) {
        int which = s / 20 % 2;
        uint64_t now = random_below(ELEMENTS);
        world_sample(&world, 0, 3, (int[]){which, which, which}, (uint64_t[]){now, random_below(ELEMENTS), random_below(ELEMENTS)});
    }
    world_advise(&world);
    assert_int_equal(world.regroups.count, 0);
    assert_int_equal(world.regroups.apart_count, 1);
    assert_int_equal(world.regroups.apart[0].verdict.reason, LWP_REGROUP_AFFINITY);
    world_close(&world);
}

/* From each element to the next arrays gain nothing, however many there are, though they go together. */
static void in_order(int arrays)
{
    struct world world;
    world_open(&world);
    for (int i = 0; i < arrays; i++)
        world_array(&world, i, LWP_OBJECT_HEAP, ELEMENTS);
    for (uint64_t s = 0; s < 200 * (uint64_t)arrays; s++) {
        uint64_t now = s * 1299 % (ELEMENTS - 10);
        int first = (int)(s % (uint64_t)arrays);
        world_sample(&world, 0, 4, (int[]){first, first, (first + 1) % arrays, (first + 2) % arrays},
                     (uint64_t[]){now, now + 1 + random_below(5), now + 6, now + 6});
    }
    world_advise(&world);
    assert_int_equal(world.regroups.count, 0);
    assert_int_equal(world.regroups.apart_count, 0);
    assert_int_equal(world.regroups.left_count, 1);
    assert_true(world.regroups.left[0].gain.high < lwp_regroup_needs);
    bool said = false;
    for (size_t i = 0; i < world.profile.note_count; i++)
        said |= strstr(world.profile.notes[i], "at the same index") && strstr(world.profile.notes[i], "Loops use v0, v1, ") &&
                strstr(world.profile.notes[i], "x as fast at most");
    assert_true(said);
    world_close(&world);
}

static void test_in_order(void **state)
{
    (void)state;
    in_order(4);
    in_order(6);
    in_order(27);
}

/* A line for each of three arrays, and one for all of them: the least that this saves is something. */
static void test_three_at_random(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    for (int i = 0; i < 3; i++)
        world_array(&world, i, LWP_OBJECT_HEAP, 8 * ELEMENTS);
    for (int s = 0; s < 800; s++) {
        uint64_t now = random_below(8 * ELEMENTS);
        world_sample(&world, 0, 4, (int[]){s % 3, s % 3, (s + 1) % 3, (s + 2) % 3},
                     (uint64_t[]){random_below(8 * ELEMENTS), now, now, now});
    }
    world_advise(&world);
    assert_int_equal(world.regroups.count, 1);
    assert_int_equal(regrouped(&world), 3);
    assert_true(world.regroups.regroups[0].gain.before > 2.9 && world.regroups.regroups[0].gain.after < 1.5);
    assert_true(world.regroups.regroups[0].gain.low > 1.02 && world.regroups.regroups[0].gain.low < 1.31);
    assert_true(world.regroups.regroups[0].gain.high > 1.44);
    world_close(&world);
}

/* 27 coefficients and what they are applied to, at 27 distances: few samples catch two given ones. */
static void test_many(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    for (int i = 0; i < 28; i++)
        world_array(&world, i, LWP_OBJECT_HEAP, ELEMENTS);
    const uint64_t row = 98, plane = 98 * 98;
    for (int s = 0; s < 900; s++) {
        int arrays[4];
        uint64_t indices[4], now = plane + row + 1 + random_below(ELEMENTS - 2 * (plane + row + 10));
        for (int i = 0; i < 4; i++) {
            uint64_t place = i == 0 ? random_below(54) : (uint64_t)(arrays[0] * 2 + 17 + i) % 54;
            uint64_t term = place / 2, at = i == 0 ? now : now + 1;
            arrays[i] = place % 2 ? 27 : (int)term;
            indices[i] = place % 2 ? at + (term / 9) * plane + (term / 3 % 3) * row + term % 3 - plane - row - 1 : at;
        }
        world_sample(&world, 0, 4, arrays, indices);
    }
    world.profile.machine.l2_bytes = 1 << 20;
    lwp_streams_link(&world.profile);
    lwp_regroup_advise(&world.profile, &world.splits, &world.regroups);
    const struct lwp_regroup_candidates *candidates = &world.regroups.candidates;
    size_t n = candidates->count, together = 0, with_last = 0;
    assert_int_equal(n, 28);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j && candidates->verdicts[i * n + j].reason == LWP_REGROUP_NONE) {
                together++;
                with_last += strcmp(candidates->arrays[i].name, "v27") == 0;
            }
    assert_int_equal(together, 27 * 26);
    assert_int_equal(with_last, 0);
    world_close(&world);
}

/* Four threads, each on its own quarter: unrelated indices are near each other, but not nearer than by chance. */
static void test_threads(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        struct world world;
        world_open(&world);
        for (int i = 0; i < 2; i++)
            world_array(&world, i, LWP_OBJECT_HEAP, ELEMENTS);
        for (uint64_t s = 0; s < 1600; s++) {
            uint64_t part = ELEMENTS / 16, thread = s % 16, base = thread * part;
            uint64_t now = base + random_below(part), then = base + random_below(part);
            world.walker.thread = (uint32_t)thread;
            world_sample(&world, 0, 4, (int[]){(int)(s / 16 % 2), 0, 1, 0},
                         (uint64_t[]){then, now, same ? now : base + random_below(part), now});
        }
        lwp_streams_link(&world.profile);
        lwp_regroup_advise(&world.profile, &world.splits, &world.regroups);
        assert_int_equal(world.regroups.candidates.verdicts[1].reason, same ? LWP_REGROUP_NONE : LWP_REGROUP_ORDER);
        world_close(&world);
    }
}

/* Along a column of each: near each other, as rows are, but on the same lines only if it is the same column. */
static void test_columns(void **state)
{
    (void)state;
    enum { ROW = 1024 };
    for (int same = 0; same < 2; same++) {
        struct world world;
        world_open(&world);
        for (int i = 0; i < 2; i++)
            world_array(&world, i, LWP_OBJECT_HEAP, ELEMENTS);
        for (uint64_t s = 0; s < 400; s++) {
            const uint64_t row = random_below(ELEMENTS / ROW - 12) * ROW, rows = 1 + random_below(12), column = random_below(ROW),
                           other = random_below(ROW);
            const uint64_t mine = row + column, its = row + (same ? column : other);
            world_sample(&world, 0, 4, (int[]){(int)(s % 2), 0, 1, (int)(s % 2)},
                         (uint64_t[]){s % 2 ? its : mine, mine, its, (s % 2 ? its : mine) + rows * ROW});
        }
        lwp_streams_link(&world.profile);
        lwp_regroup_advise(&world.profile, &world.splits, &world.regroups);
        assert_int_equal(world.regroups.candidates.verdicts[1].reason, same ? LWP_REGROUP_NONE : LWP_REGROUP_ORDER);
        world_close(&world);
    }
}

/* What is to be split is not to be regrouped. */
static void test_split_first(void **state)
{
    (void)state;
    struct world world;
    eight(&world, SAME);
    struct lwp_layout layout = {.objects = &world.array[2], .object_count = 1};
    struct lwp_split split = {.layout = &layout};
    world.splits = (struct lwp_splits){.splits = &split, .count = 1};
    world_advise(&world);
    assert_int_equal(regrouped(&world), LAST);
    assert_false(has(&world, "v2"));
    world_close(&world);
}

/* What is reported of all pairs, with and without advice. */
static void test_reported(void **state)
{
    (void)state;
    struct world world;
    eight(&world, HALF);
    world.profile.objects[world.array[3]].kind = LWP_OBJECT_MMAP;
    world_advise(&world);
    size_t classes[LWP_REGROUP_ARRAYS_MAX];
    lwp_regroup_classes(&world.regroups.candidates, classes);
    for (size_t a = 0; a < ARRAYS; a++)
        assert_int_equal(classes[a], a == 3);
    for (size_t a = 0; a < ARRAYS; a++)
        for (size_t b = a + 1; b < ARRAYS; b++) {
            struct lwp_regroup_pattern pattern = lwp_regroup_pattern(&world.regroups.candidates, a, b);
            enum lwp_regroup_reason reason = lwp_regroup_pair_verdict(&world.regroups, a, b).reason;
            assert_int_equal(reason, a == 3 || b == 3 ? LWP_REGROUP_LOCATION : b == LAST ? LWP_REGROUP_RANGE : LWP_REGROUP_NONE);
            assert_int_equal(pattern.region, 0);
            assert_int_equal(pattern.conflict, b == LAST);
            assert_true(pattern.low[0] >= 0 && pattern.low[0] < 0.1 && pattern.high[0] > 0.4 && pattern.high[0] <= 0.5);
            assert_true(b == LAST ? pattern.low[1] >= 0.5 : pattern.high[1] <= 0.5);
        }
    world_close(&world);
}

static size_t candidate(const struct world *world, int array)
{
    size_t i = 0;
    while (i < world->regroups.candidates.count && world->regroups.candidates.arrays[i].object != world->array[array])
        i++;
    return i;
}

/* Eq. 11 of random programs, counted from all of their accesses. */
static void test_affinity_counted(void **state)
{
    (void)state;
    enum { PROGRAMS = AMOUNT(200, 40), LOOPS = 4, MOST = 5 };
    size_t compared = 0;
    for (int program = 0; program < PROGRAMS; program++) {
        struct world world;
        double weight[LOOPS] = {0}, accesses[LOOPS] = {0}, samples = 0;
        int arrays = 2 + (int)random_below(MOST - 1);
        bool uses[LOOPS][MOST] = {{false}};
        world_open(&world);
        for (int i = 0; i < arrays; i++)
            world_array(&world, i, LWP_OBJECT_HEAP, ELEMENTS);
        for (int l = 0; l < LOOPS; l++) {
            int used[MOST], count = 0;
            for (int i = 0; i < arrays; i++)
                if (random_below(2) || (l == 0 && i < 2))
                    used[count++] = i;
            for (uint64_t s = 0, all = 50 + random_below(300); s < all && count > 0; s++, samples++) {
                int in[8];
                uint64_t at[8], now = random_below(ELEMENTS);
                for (int i = 0; i < count; i++) {
                    in[i] = used[(i + (int)s) % count];
                    at[i] = now;
                    uses[l][in[i]] = true;
                }
                world_sample(&world, (uint32_t)l, count, in, at);
                weight[l]++;
                accesses[l] += count;
            }
        }
        world_advise(&world);
        for (int l = 0; l < LOOPS; l++)
            weight[l] += 0.02 * accesses[l]; /* each sample weighs 1 */
        for (int i = 0; i < arrays; i++)
            for (int j = 0; j < arrays; j++) {
                double common = 0, all = 0;
                for (int l = 0; l < LOOPS; l++) {
                    int used = 0;
                    for (int k = 0; k < arrays; k++)
                        used += uses[l][k];
                    for (int of = 0; of < 2; of++)
                        if (uses[l][of ? j : i]) {
                            all += weight[l] / used;
                            common += uses[l][i] && uses[l][j] ? weight[l] / used : 0;
                        }
                }
                size_t n = world.regroups.candidates.count, a = candidate(&world, i), b = candidate(&world, j);
                if (a >= n || b >= n || i == j)
                    continue;
                assert_true(fabs(world.regroups.candidates.affinity[a * n + b] - common / all) < 1e-9);
                compared++;
            }
        world_close(&world);
    }
    assert_true(compared > AMOUNT(1000, 200)); /* how many there are is drawn, too */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_affinity),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_split_first),
        cmocka_unit_test(test_three_at_random),
        cmocka_unit_test(test_reported),
        cmocka_unit_test(test_affinity_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
