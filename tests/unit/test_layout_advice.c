/* From streams to advice, on profiles made by hand with a known truth: element sizes, fields by offset, field sets,
 * groups, and when nothing must be said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/layout/split.h"
#include "analysis/elements/elements.h"
#include "analysis/findings/findings.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "format/record.h"
#include "tests/unit/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 99;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
}

struct use {
    int loop;
    double percent; /* of the object's weight */
    uint64_t offset;
    uint16_t bytes;
};

static uint32_t make_loop(struct lwp_profile *profile, int number)
{
    while (profile->region_count <= (size_t)number) {
        LWP_GROW(&profile->regions, profile->region_count, &profile->region_room);
        profile->regions[profile->region_count] = (struct lwp_region){.module = LWP_NONE,
                                                                      .parent = LWP_NONE,
                                                                      .function = "loop",
                                                                      .same_as = (uint32_t)profile->region_count,
                                                                      .reported = LWP_NONE};
        profile->region_count++;
    }
    return (uint32_t)number;
}

/* Samples as the timer engine takes them: the stall on the line's first toucher, a dithered access without bias. */
static void sample(struct lwp_profile *profile, uint32_t object, const struct use *uses, size_t count, uint64_t size,
                   uint64_t elements, int samples, int far)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t region = make_loop(profile, uses[i].loop);
        int n = (int)(samples * uses[i].percent / 100 + 0.5);
        for (int k = 0; k < n; k++) {
            uint64_t element = random_below(elements);
            uint64_t near = far ? random_below(elements) : element + 1 + random_below(20);
            struct lwps_access access = {.bytes = uses[i].bytes, .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN};
            access.flags |= LWPS_ACCESS_WEIGHTED;
            access.source = LWPS_SOURCE_UNDO;
            uint32_t stream = streams_add(profile, object, region, LWP_NONE,
                                              0x1000 + (uint64_t)uses[i].loop * 0x1000 + uses[i].offset, &access,
                                              element * size + uses[i].offset, 1);
            lwp_tally_add(&profile->objects[object].weight, 1);
            lwp_tally_add(&profile->total, 1);
            lwp_tally_add(&profile->stalled, 1);
            access.flags &= (uint8_t)~LWPS_ACCESS_WEIGHTED;
            access.source = LWPS_SOURCE_DITHERED;
            streams_add(profile, object, region, LWP_NONE,
                            0x1000 + (uint64_t)uses[i].loop * 0x1000 + uses[i].offset, &access,
                            near * size + uses[i].offset, 0);
            uint64_t distance = near > element ? near - element : element - near;
            streams_distance(profile, stream, distance * size);
            profile->objects[object].accesses += 2;
        }
    }
    profile->objects[object].accessed = true;
}

static uint32_t make_array(struct lwp_profile *profile, uint64_t bytes)
{
    uint32_t context = lwp_contexts_child(profile, 0, LWP_NONE, 0x4000 + profile->object_count, false);
    uint32_t object = lwp_objects_allocated(profile, LWP_OBJECT_HEAP, context, 0);
    profile->objects[object].bytes = profile->objects[object].largest = bytes;
    profile->objects[object].allocations = 1;
    return object;
}

static void advise(struct lwp_profile *profile, struct lwp_splits *splits)
{
    lwp_regions_merge(profile);
    lwp_streams_link(profile);
    lwp_elements_find(profile);
    lwp_split_advise(profile, splits);
}

static int group_at(const struct lwp_split *split, uint64_t offset)
{
    for (size_t f = 0; f < split->layout->field_count; f++)
        if (split->layout->fields[f].offset == offset)
            return split->group[f];
    fail_msg("no field at offset %llu", (unsigned long long)offset);
    return 0;
}

static const struct use neuron[] = {
    {0, 0.4, 32, 8}, {0, 0.3, 40, 8},  {1, 3, 0, 8},     {1, 2.6, 8, 8},   {1, 2.6, 32, 8},
    {2, 10.7, 8, 8}, {3, 3, 16, 8},    {3, 3.5, 48, 8},  {4, 11.3, 24, 8}, {5, 0.3, 32, 8},
    {5, 0.2, 40, 8}, {6, 10.3, 40, 8}, {7, 51.6, 40, 8}, {8, 0.2, 0, 8},
};

static void test_neuron(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_answers answers = {0};
    lwp_profile_init(&profile);
    uint32_t object = make_array(&profile, 64 * 1000000);
    sample(&profile, object, neuron, sizeof neuron / sizeof *neuron, 64, 1000000, 3000, 0);
    advise(&profile, &answers.splits);
    assert_int_equal(profile.objects[object].element_bytes, 64);
    assert_int_equal(answers.splits.count, 1);
    const struct lwp_split *split = &answers.splits.splits[0];
    assert_int_equal(split->groups, 5);
    assert_true(split->cold);
    assert_int_equal(group_at(split, 40), 0);                      /* P first */
    assert_int_equal(group_at(split, 16), group_at(split, 48));    /* X, Q */
    assert_int_equal(group_at(split, 0), group_at(split, 32));     /* I, U */
    assert_int_not_equal(group_at(split, 8), group_at(split, 0));  /* W apart */
    assert_int_not_equal(group_at(split, 24), group_at(split, 8)); /* V apart */
    assert_int_equal(group_at(split, 56), -1);                     /* R */
    assert_true(split->gain.low > 1.1 && split->gain.low < split->gain.high);
    assert_true(split->gain.before > 0.9 && split->gain.before < 1.1);
    assert_true(split->gain.after < 0.3);
    assert_non_null(strstr(split->declaration, "field_40"));
    lwp_findings_rank(&profile, &answers);
    assert_int_equal(answers.findings.count, 1);
    assert_string_equal(answers.findings.findings[0].severity, "high");
    lwp_profile_fini(&profile);
}

/* Each element size from 8 to 136 with 5 % stray addresses, and as an unrolled loop makes it: known where the block's
 * size tells (an odd number of elements), never wrong otherwise. */
static void test_sizes(void **state)
{
    (void)state;
    for (uint64_t size = 8; size <= 136; size += 8)
        for (int run = 0, unrolled = 1; run < 5; run++, unrolled = run == 3 ? 2 : unrolled * 2) {
            bool odd = run < 3;
            struct lwp_profile profile;
            struct lwp_splits splits;
            struct use uses[8];
            size_t count = 0;
            lwp_profile_init(&profile);
            uint32_t object = make_array(&profile, size * (odd ? 400001 : 400000));
            for (int copy = 0; copy < unrolled; copy++)
                uses[count++] = (struct use){0, 60.0 / unrolled, (uint64_t)copy * size, 8};
            for (int copy = 0; copy < unrolled && size > 16; copy++)
                uses[count++] = (struct use){1, 40.0 / unrolled, (uint64_t)copy * size + 16, 8};
            sample(&profile, object, uses, count, size * (uint64_t)unrolled, 100000, 1200, 0);
            struct use stray = {0, 1, 3, 8};
            sample(&profile, object, &stray, 1, 1, 8 << 20, 100, 0);
            advise(&profile, &splits);
            if (profile.objects[object].element_bytes != size && (odd || profile.objects[object].element_bytes))
                fail_msg("size %llu unrolled %d: found %llu", (unsigned long long)size, unrolled,
                         (unsigned long long)profile.objects[object].element_bytes);
            if (size == 8)
                assert_int_equal(splits.count, 0);
            lwp_profile_fini(&profile);
        }
}

static void expect_none(const struct use *uses, size_t count, uint64_t size, uint64_t bytes, int samples)
{
    struct lwp_profile profile;
    struct lwp_splits splits;
    lwp_profile_init(&profile);
    uint32_t object = make_array(&profile, bytes);
    sample(&profile, object, uses, count, size, bytes / size, samples, 0);
    advise(&profile, &splits);
    assert_int_equal(splits.count, 0);
    lwp_profile_fini(&profile);
}

static void test_nothing_to_say(void **state)
{
    (void)state;
    static const struct use all[] = {{0, 25, 0, 8}, {0, 25, 8, 8}, {0, 25, 16, 8}, {0, 25, 24, 8}};
    static const struct use one[] = {{0, 100, 0, 8}};
    static const struct use vector[] = {{0, 100, 0, 32}};
    expect_none(all, 4, 32, 64 << 20, 3000);    /* all fields together */
    expect_none(one, 1, 64, 64 << 10, 3000);    /* fits the caches */
    expect_none(one, 1, 64, 64 << 20, 20);      /* too few samples */
    expect_none(one, 1, 8, 64 << 20, 3000);     /* an array of scalars */
    expect_none(vector, 1, 32, 64 << 20, 3000); /* ... by vectors */
}

static void test_small_share(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_splits splits;
    static const struct use one[] = {{0, 100, 0, 8}};
    lwp_profile_init(&profile);
    uint32_t object = make_array(&profile, 64 << 20);
    sample(&profile, object, one, 1, 64, 1 << 20, 100, 0);
    for (int i = 0; i < 9900; i++)
        lwp_tally_add(&profile.total, 1);
    advise(&profile, &splits);
    assert_int_equal(profile.objects[object].element_bytes, 64);
    assert_int_equal(splits.count, 0);
    lwp_profile_fini(&profile);
}

/* Tree nodes of 120 bytes, one malloc each; the search wants the key at 0 and the children at 104 and 112. */
static void test_pool(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_splits splits;
    static const struct use search[] = {{0, 40, 0, 8}, {0, 30, 104, 8}, {0, 27, 112, 8}, {1, 3, 40, 8}};
    /* Jumping: another access of the sample lies anywhere. */
    lwp_profile_init(&profile);
    uint32_t context = lwp_contexts_child(&profile, 0, LWP_NONE, 0x4000, false);
    uint32_t object = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, context, 120);
    profile.objects[object].bytes = 120 * 1000000;
    profile.objects[object].largest = 120;
    profile.objects[object].allocations = 1000000;
    for (size_t i = 0; i < 4; i++) /* offsets are within the block: no stride */
        sample(&profile, object, &search[i], 1, 0, 1000000, 2000, 0);
    for (size_t i = 0; i < profile.stream_count; i++)
        for (int k = 0; k < 20; k++)
            streams_distance(&profile, (uint32_t)i, 1 << 24);
    streams_lead(&profile, object, 1 << 24);
    advise(&profile, &splits);
    assert_int_equal(profile.objects[object].element_bytes, 120);
    assert_true(profile.objects[object].single);
    assert_int_equal(splits.count, 1);
    const struct lwp_split *split = &splits.splits[0];
    assert_int_equal(group_at(split, 0), 0);
    assert_int_equal(group_at(split, 104), 0);
    assert_int_equal(group_at(split, 112), 0);
    assert_int_equal(group_at(split, 40), 0); /* no larger than a pointer to it */
    assert_true(split->gain.before > 2 && split->gain.before < 2.5); /* two lines a visit, or three, then one */
    assert_non_null(strstr(split->declaration, "*cold;"));
    lwp_profile_fini(&profile);
}

/* List nodes of 32 bytes, one malloc each, all of which the loop uses. That they were set up by one field is no reason to
 * split them, though arrays instead of blocks would pay. */
static void test_pool_used_whole(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_splits splits;
    static const struct use uses[] = {{0, 25, 0, 8}, {0, 25, 8, 8}, {0, 25, 16, 8}, {0, 24.9, 24, 8}, {1, 0.1, 0, 8}};
    lwp_profile_init(&profile);
    uint32_t context = lwp_contexts_child(&profile, 0, LWP_NONE, 0x4000, false);
    uint32_t object = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, context, 32);
    profile.objects[object].bytes = (uint64_t)32 * 4000000;
    profile.objects[object].largest = 32;
    profile.objects[object].allocations = 4000000;
    for (size_t i = 0; i < 5; i++)
        sample(&profile, object, &uses[i], 1, 0, 4000000, 4000, 0);
    for (size_t i = 0; i < profile.stream_count; i++)
        for (int k = 0; k < 20; k++)
            streams_distance(&profile, (uint32_t)i, 100);
    advise(&profile, &splits);
    assert_true(profile.objects[object].single);
    assert_int_equal(splits.count, 0);
    lwp_profile_fini(&profile);
}

/* Blocks the collector left out: their accesses go to the pool the same instruction uses, if it uses but one. */
static void test_adoption(void **state)
{
    (void)state;
    static const struct use key = {0, 100, 0, 8}, left = {0, 100, 8, 8};
    for (int mixed = 0; mixed < 2; mixed++) {
        struct lwp_profile profile;
        lwp_profile_init(&profile);
        uint32_t pool = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, 0, 48);
        uint32_t other = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, 0, 96);
        uint32_t unowned = lwp_objects_special(&profile, LWP_OBJECT_UNOWNED);
        sample(&profile, pool, &key, 1, 0, 10, 80, 0);
        if (mixed)
            sample(&profile, other, &key, 1, 0, 10, 20, 0);
        sample(&profile, unowned, &key, 1, 64, 100000, 30, 0);
        sample(&profile, unowned, &left, 1, 64, 100000, 7, 0); /* an instruction never seen on the pool */
        lwp_regions_merge(&profile);
        double moved = lwp_streams_adopt(&profile, unowned);
        assert_true(moved == (mixed ? 0 : 30));
        assert_true(profile.objects[pool].weight.weight == (mixed ? 80 : 110));
        assert_true(profile.objects[unowned].weight.weight == (mixed ? 37 : 7));
        lwp_streams_link(&profile);
        lwp_elements_find(&profile);
        assert_int_equal(profile.objects[pool].element_bytes, 48);
        lwp_profile_fini(&profile);
    }
}

/* Accesses to what another thread has on its stack are to that, if all that are known of an instruction are. */
static void test_stacks_of_others(void **state)
{
    (void)state;
    static const struct use shared = {0, 100, 0, 8}, anywhere = {0, 100, 8, 8};
    struct lwp_interaction_thread thread = {.stack_low = 0, .stack_high = 1 << 20};
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    const uint32_t unowned = lwp_objects_special(&profile, LWP_OBJECT_UNOWNED);
    sample(&profile, unowned, &shared, 1, 64, 1000, 30, 0);
    sample(&profile, unowned, &anywhere, 1, 64, 100000, 30, 0);
    lwp_regions_merge(&profile);
    profile.interaction.threads = &thread;
    profile.interaction.thread_count = 1;
    lwp_streams_on_stacks(&profile, unowned);
    profile.interaction.threads = NULL;
    profile.interaction.thread_count = 0;
    const uint32_t stack = lwp_objects_special(&profile, LWP_OBJECT_OTHER_STACK);
    assert_int_equal(profile.objects[stack].kind, LWP_OBJECT_STACK);
    assert_true(profile.objects[stack].accessed);
    assert_int_equal(profile.objects[stack].accesses, 60);
    assert_int_equal(profile.objects[unowned].accesses, 60);
    lwp_profile_fini(&profile);
}

/* Few accesses to recorded blocks show which pool the others are of where all of them agree; where in the block is known, too. */
static void test_adoption_of_few(void **state)
{
    (void)state;
    static const struct use key = {0, 100, 8, 8};
    for (int seen = 4; seen <= 5; seen++) { /* of two accesses each */
        struct lwp_profile profile;
        lwp_profile_init(&profile);
        uint32_t pool = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, 0, 48);
        uint32_t unowned = lwp_objects_special(&profile, LWP_OBJECT_UNOWNED);
        sample(&profile, pool, &key, 1, 0, 1, seen, 0);
        sample(&profile, unowned, &key, 1, 64, 100000, 30, 0);
        lwp_regions_merge(&profile);
        assert_true(lwp_streams_adopt(&profile, unowned) == (seen < 5 ? 0 : 30));
        for (size_t i = 0; i < profile.stream_count; i++)
            for (uint32_t k = 0; k < profile.streams[i].offsets.count && profile.streams[i].object == pool; k++)
                assert_int_equal(profile.streams[i].offsets.items[k], 8);
        lwp_profile_fini(&profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neuron),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_nothing_to_say),
        cmocka_unit_test(test_small_share),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_adoption),
        cmocka_unit_test(test_adoption_of_few),
        cmocka_unit_test(test_stacks_of_others),
        cmocka_unit_test(test_pool_used_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
