/* Set conflicts on addresses made by hand: how many lines of an iteration share a set, what is moved, what is saved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/layout/conflicts_internal.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "format/record.h"
#include "tests/unit/streams.h"

#include <string.h>

/* A first level of 64 sets and 8 ways of 64 bytes. */
enum { WAY = 4096, LINE = 64, WAYS = 8, STREAMS = 32, SIZE = 1 << 20, SAMPLES = 2000, APART = 1 << 24 };

struct world {
    struct lwp_profile profile;
    struct lwp_conflicts conflicts;
    uint64_t at[STREAMS], block[STREAMS]; /* of each stream: where it is in iteration 0, and where its block begins */
    uint32_t object[STREAMS];
    int count;
    uint64_t seed;
};

static uint64_t random_below(struct world *world, uint64_t limit)
{
    world->seed = world->seed * 6364136223846793005u + 1442695040888963407u;
    return (world->seed >> 33) % limit;
}

static void world_open(struct world *world)
{
    memset(world, 0, sizeof *world);
    lwp_profile_init(&world->profile);
    json_t *machine = json_pack("{s:i,s:[{s:i,s:i,s:i}]}", "line_bytes", LINE, "caches", "level", 1, "bytes", WAY * WAYS, "ways", WAYS);
    assert_true(lwp_hierarchy_plan_of(&world->profile.machines[LWP_MACHINE_HERE], machine));
    json_decref(machine);
    world->profile.weight_unit = LWPS_WEIGHT_NS;
    world->seed = 1;
    LWP_PUSH(world->profile.region, (struct lwp_region){.module = LWP_NONE, .parent = LWP_NONE, .function = "loop", .reported = LWP_NONE});
}

static void world_close(struct world *world)
{
    lwp_profile_fini(&world->profile);
}

/* A block of an allocation of its own. */
static uint32_t world_object(struct world *world, uint64_t bytes)
{
    uint32_t context = lwp_contexts_child(&world->profile, 0, LWP_NONE, 0x4000 + world->profile.object_count, false);
    uint32_t index = lwp_objects_allocated(&world->profile, LWP_OBJECT_HEAP, context, 0);
    struct lwp_object *object = &world->profile.objects[index];
    object->bytes = object->largest = bytes;
    object->allocations = 1;
    object->element_bytes = 8;
    object->variable = lwp_arena_printf(world->profile.arena, "v%u", index);
    return index;
}

static void world_stream(struct world *world, uint32_t object, uint64_t block, uint64_t at)
{
    world->block[world->count] = block;
    world->object[world->count] = object;
    world->at[world->count++] = at;
}

static struct lwp_traversal_access world_access(const struct world *world, int stream, uint64_t iteration, bool close)
{
    uint64_t address = world->at[stream] + iteration * 8;
    return (struct lwp_traversal_access){.object = world->object[stream],
                                         .region = 0,
                                         .code = 0x1000 + (uint64_t)stream * 8,
                                         .offset = address - world->block[stream],
                                         .address = address,
                                         .close = close};
}

/* Samples as the light engine takes them: one access that was waited for, and a few iterations later some that follow
 * each other. `stalled`: the part of the samples that waits; `first`: of these, on the first access to a line. */
static void world_samples(struct world *world, double stalled, double first)
{
    struct lwp_profile *profile = &world->profile;
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t iteration = random_below(world, SIZE / 16);
        int stream = (int)random_below(world, (uint64_t)world->count), next = (int)random_below(world, (uint64_t)world->count);
        bool waits = (double)random_below(world, 1000) < 1000 * stalled, begins = (double)random_below(world, 1000) < 1000 * first;
        uint64_t within = begins ? 0 : 1 + random_below(world, 7); /* access to the line that the sample is on */
        struct lwp_traversal_access accesses[3] = {
            world_access(world, stream, iteration, false), world_access(world, next, iteration + 4, false),
            world_access(world, (next + 1 + (int)random_below(world, 3)) % world->count, iteration + 4, true)};
        accesses[0].offset += accesses[0].address / LINE * LINE + within * 8 - accesses[0].address;
        accesses[0].address = accesses[0].address / LINE * LINE + within * 8;
        accesses[0].weight = waits;
        lwp_concurrents_sample(&profile->concurrents, accesses, 3);
        if (i % 16 == 0) { /* the same instruction again, an iteration later */
            struct lwp_traversal_access again[2] = {world_access(world, next, iteration, false),
                                                    world_access(world, next, iteration + 1, true)};
            lwp_concurrents_sample(&profile->concurrents, again, 2);
        }
        struct lwps_access access = {.bytes = 8, .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN | (waits ? LWPS_ACCESS_WEIGHTED : 0)};
        streams_add(profile, world->object[stream], 0, LWP_NONE, accesses[0].code, &access, 0, 1);
        lwp_tally_add(&profile->total, 1);
        lwp_tally_add(&profile->regions[0].weight, 1);
        profile->regions[0].stalled += waits;
    }
}

static void world_run(struct world *world, double stalled, double first)
{
    world_samples(world, stalled, first);
    lwp_streams_link(&world->profile);
    lwp_conflicts_find(&world->profile, &world->conflicts);
    assert_true(world->conflicts.looked);
}

/* Arrays of which each begins `apart` bytes after the one before. */
static void world_arrays(struct world *world, int count, uint64_t apart)
{
    for (int i = 0; i < count; i++)
        world_stream(world, world_object(world, SIZE), 0x100000010 + (uint64_t)i * apart, 0x100000010 + (uint64_t)i * apart);
}

static void test_arrays_in_one_set(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    world_arrays(&world, 12, APART);
    world_run(&world, 0.8, 0.125);
    assert_int_equal(world.conflicts.count, 1);
    const struct lwp_conflict *conflict = &world.conflicts.conflicts[0];
    assert_int_equal(conflict->remedy, LWP_CONFLICT_APART);
    assert_int_equal(conflict->count, 12);
    assert_true(conflict->lines > 11.5 && conflict->lines < 12.5);
    assert_int_equal(conflict->ways, WAYS);
    assert_int_equal(llabs(conflict->step), 8);
    for (size_t i = 0; i < conflict->count; i++) /* the next free set is a line further each time */
        assert_int_equal(conflict->arrays[i].move, i * LINE);
    assert_non_null(conflict->declaration);
    /* 80 % stalled, seven of eight fetches saved: 1 / (1 - 0.8 * 7 / 8) */
    assert_true(conflict->gain.low < 3.33 && conflict->gain.high > 2.8);
    assert_true(conflict->gain.high <= 1 / (1 - 0.85));
    assert_true(conflict->gain.before > 11.5 && conflict->gain.after < 1.6);
    world_close(&world);
}

/* Where first fetches cost more than the others, memory is waited for, too, and may be in the time that is won; or what was prefetched was
 * thrown out as well. */
static void test_first_fetches_stay(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    world_arrays(&world, 12, APART);
    world_run(&world, 0.8, 0.3);
    assert_int_equal(world.conflicts.count, 1);
    assert_true(world.conflicts.conflicts[0].gain.low < 1 / (1 - 0.8 * (0.7 - 0.2)));
    assert_true(world.conflicts.conflicts[0].gain.high > 1 / (1 - 0.8 * (0.7 + 0.1)));
    assert_true(world.conflicts.conflicts[0].gain.high < 1 / (1 - 0.85 * 7 / 8));
    world_close(&world);
    world_open(&world);
    world_arrays(&world, 12, APART);
    world_run(&world, 0.8, 0.6);
    assert_int_equal(world.conflicts.count, 0);
    assert_int_equal(world.conflicts.unsaid_count, 1); /* it may gain as much as it seems, or nothing */
    const struct lwp_conflict *unsaid = lwp_conflicts_unsaid(&world.conflicts, world.object[0]);
    assert_true(unsaid && unsaid->gain.low < lwp_conflict_needs && unsaid->gain.high > 1 / (1 - 0.8 * (0.4 + 0.3)));
    world_close(&world);
    world_open(&world);
    world_arrays(&world, 12, APART);
    world.profile.engine = LWPS_ENGINE_EXACT; /* which does not wait for them longer because there are more */
    world.profile.weight_unit = LWPS_WEIGHT_SIMULATED_CYCLES;
    world_run(&world, 0.8, 0.6);
    assert_int_equal(world.conflicts.count, 1);
    assert_true(world.conflicts.conflicts[0].gain.low > 1.2 && world.conflicts.conflicts[0].gain.high < 1 / (1 - 0.8 * 0.5));
    world_close(&world);
}

static size_t conflicts_of(int arrays, uint64_t apart, double stalled)
{
    struct world world;
    world_open(&world);
    world_arrays(&world, arrays, apart);
    world_run(&world, stalled, 0.125);
    size_t count = world.conflicts.count;
    world_close(&world);
    return count;
}

/* As many lines as ways: what is fetched ahead, or replaced in another order, may throw out some, or not. */
static void test_full_set(void **state)
{
    (void)state;
    for (int arrays = WAYS - 1; arrays <= WAYS; arrays++) {
        struct world world;
        world_open(&world);
        world_arrays(&world, arrays, APART);
        world_run(&world, 0.8, 0.125);
        assert_int_equal(world.conflicts.count, 0); /* nothing was run */
        assert_int_equal(world.conflicts.unsaid_count, arrays == WAYS);
        const struct lwp_conflict *unsaid = lwp_conflicts_unsaid(&world.conflicts, world.object[0]);
        assert_true(arrays < WAYS || (unsaid->gain.low <= 1 && unsaid->gain.high > 1.5));
        world_close(&world);
    }
    struct world world;
    world_open(&world);
    world_arrays(&world, WAYS, APART);
    world.profile.engine = LWPS_ENGINE_EXACT; /* whose caches hold them all */
    world.profile.weight_unit = LWPS_WEIGHT_SIMULATED_CYCLES;
    world_run(&world, 0.8, 0.125);
    assert_int_equal(world.conflicts.count + world.conflicts.unsaid_count, 0);
    world_close(&world);
}

static void test_silent(void **state)
{
    (void)state;
    assert_int_equal(conflicts_of(WAYS - 1, APART, 0.8), 0);
    assert_int_equal(conflicts_of(28, APART + LINE, 0.8), 0); /* apart already */
    assert_int_equal(conflicts_of(28, APART + 2 * LINE, 0.8), 0);
    assert_int_equal(conflicts_of(28, APART, 0.005), 0); /* nothing waits */
    assert_int_equal(conflicts_of(28, 24, 0.8), 0);      /* neighbours: eleven lines in a row */
    assert_int_equal(conflicts_of(WAYS + 1, APART, 0.8), 1);
    assert_int_equal(conflicts_of(28, APART + WAY / 2, 0.8), 1); /* 14 in each of two sets */
}

/* Streams at unrelated places share no set, whatever the samples happen to show. */
static void test_random(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    world_arrays(&world, 12, APART);
    for (int i = 0; i < SAMPLES; i++) {
        struct lwp_traversal_access accesses[2];
        for (int k = 0; k < 2; k++) {
            accesses[k] = world_access(&world, (int)random_below(&world, 12), random_below(&world, SIZE / 8), k > 0);
            struct lwps_access access = {.bytes = 8, .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN | LWPS_ACCESS_WEIGHTED};
            accesses[k].weight = 1;
            streams_add(&world.profile, accesses[k].object, 0, LWP_NONE, accesses[k].code, &access, 0, 1);
            lwp_tally_add(&world.profile.total, 1);
        }
        world.profile.regions[0].stalled += 2;
        lwp_concurrents_sample(&world.profile.concurrents, accesses, 2);
    }
    lwp_streams_link(&world.profile);
    lwp_conflicts_find(&world.profile, &world.conflicts);
    assert_int_equal(world.conflicts.count, 0);
    world_close(&world);
}

/* Twelve rows of one array, a multiple of a way apart: moving the array would not help. */
static void test_rows(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    uint32_t object = world_object(&world, (uint64_t)64 * WAY);
    for (int i = 0; i < 12; i++)
        world_stream(&world, object, 0x100000000, 0x100000000 + (uint64_t)i * 2 * WAY);
    world_run(&world, 0.8, 0.125);
    assert_int_equal(world.conflicts.count, 1);
    const struct lwp_conflict *conflict = &world.conflicts.conflicts[0];
    assert_int_equal(conflict->remedy, LWP_CONFLICT_ROWS);
    assert_int_equal(conflict->count, 1);
    assert_int_equal(conflict->row_bytes, 2 * WAY);
    assert_int_equal(conflict->pad_bytes, LINE);
    world_close(&world);
}

/* Blocks of one allocation are arrays of their own. */
static void test_blocks(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    uint32_t object = world_object(&world, SIZE);
    for (int i = 0; i < 19; i++)
        world_stream(&world, object, 0x100000010 + (uint64_t)i * (SIZE + WAY), 0x100000010 + (uint64_t)i * (SIZE + WAY));
    world_run(&world, 0.8, 0.125);
    assert_int_equal(world.conflicts.count, 1);
    assert_int_equal(world.conflicts.conflicts[0].remedy, LWP_CONFLICT_APART);
    assert_int_equal(world.conflicts.conflicts[0].count, 19);
    assert_int_equal(world.conflicts.conflicts[0].arrays[18].move, 18 * LINE);
    world_close(&world);
}

/* The loop goes over one half of the arrays and then over the other, as solvers do that swap old and new: each array is
 * in both. */
static void test_swapped(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    uint32_t old = world_object(&world, SIZE), new = world_object(&world, SIZE);
    for (int swapped = 0; swapped < 2; swapped++) {
        world.count = 0;
        for (int i = 0; i < 12; i++) {
            uint64_t block = 0x100000010 + (uint64_t)((i + 6 * swapped) % 12) * (SIZE + WAY);
            world_stream(&world, (i < 6) != swapped ? old : new, block, block);
        }
        if (swapped)
            world_run(&world, 0.8, 0.125);
        else
            world_samples(&world, 0.8, 0.125);
    }
    assert_int_equal(world.conflicts.count, 1);
    assert_int_equal(world.conflicts.conflicts[0].count, 12);
    assert_true(world.conflicts.conflicts[0].lines > 11.5 && world.conflicts.conflicts[0].lines < 12.5);
    world_close(&world);
}

/* Of three blocks that malloc mapped one below the other, each with 80 bytes left on its last page, the second grows by 64 and the third by
 * 128 bytes: only the latter needs a page more, and begins so much lower. Blocks that begin elsewhere in a page are in the heap. */
static void test_grown_blocks(void **state)
{
    (void)state;
    struct lwp_object object = {.kind = LWP_OBJECT_HEAP, .largest = SIZE - 16 - 80};
    const struct lwp_profile profile = {.objects = &object, .object_count = 1};
    struct lwp_conflict_loop loop = {.absolute = true, .count = 4};
    const uint64_t starts[] = {3 * SIZE + 16, 2 * SIZE + 16, SIZE + 16, SIZE + 16};
    const int64_t moved[] = {0, 64, 128, 128};
    int64_t placed[4];
    for (int i = 0; i < 4; i++)
        loop.streams[i].start = starts[i];
    lwp_conflict_grown(&profile, &loop, moved, placed);
    assert_int_equal(placed[0], 0);
    assert_int_equal(placed[1], 64);
    assert_int_equal(placed[2], 128 - 4096);
    assert_int_equal(placed[3], 128 - 4096); /* of the same block */
    object.largest = SIZE - 16;
    lwp_conflict_grown(&profile, &loop, moved, placed);
    assert_int_equal(placed[1], 64 - 4096);
    assert_int_equal(placed[2], 128 - 2 * 4096); /* those above it have grown, too */
    for (int i = 0; i < 4; i++)
        loop.streams[i].start += 16;
    lwp_conflict_grown(&profile, &loop, moved, placed);
    assert_int_equal(placed[2], 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_in_one_set),
        cmocka_unit_test(test_first_fetches_stay),
        cmocka_unit_test(test_full_set),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_grown_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
