/* Element sizes from addresses alone, on streams made by hand: right, or unknown, never another size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/elements/element_evidence.h"
#include "analysis/elements/element_place.h"
#include "analysis/elements/elements.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "format/record.h"
#include "tests/unit/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 4711;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
}

/* One instruction: `samples` accesses of `bytes` at start + step * i + offset for random i below `count`. */
struct walk {
    int loop; /* loops of ten belong to one function */
    uint64_t start, step, offset, count;
    uint16_t bytes;
    int samples;
    bool vector;
};

static struct lwp_profile profile;
static struct lwp_element_evidence evidence;
static uint32_t object;

static uint32_t make_loop(int number)
{
    static const char *const functions[] = {"first", "second", "third"};
    while (profile.region_count <= (size_t)number) {
        LWP_GROW(&profile.regions, profile.region_count, &profile.region_room);
        profile.regions[profile.region_count] = (struct lwp_region){.module = LWP_NONE,
                                                                    .parent = LWP_NONE,
                                                                    .function = functions[profile.region_count / 10],
                                                                    .same_as = (uint32_t)profile.region_count,
                                                                    .reported = LWP_NONE};
        profile.region_count++;
    }
    return (uint32_t)number;
}

static void look(uint64_t block, const struct walk *walks, size_t count)
{
    lwp_profile_init(&profile);
    uint32_t context = lwp_contexts_child(&profile, 0, LWP_NONE, 0x4000, false);
    object = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, context, 0);
    profile.objects[object].bytes = profile.objects[object].largest = block;
    profile.objects[object].allocations = 1;
    profile.objects[object].accessed = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t region = make_loop(walks[i].loop);
        for (int k = 0; k < walks[i].samples; k++) {
            struct lwps_access access = {
                .bytes = walks[i].bytes, .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN, .source = LWPS_SOURCE_DITHERED};
            if (walks[i].vector)
                access.flags |= LWPS_ACCESS_VECTOR;
            uint64_t at = walks[i].start + walks[i].step * random_below(walks[i].count) + walks[i].offset;
            streams_add(&profile, object, region, LWP_NONE, 0x1000 + 16 * i, &access, at, 0);
            profile.objects[object].accesses++;
        }
    }
    lwp_streams_link(&profile);
    lwp_elements_find(&profile);
    lwp_element_evidence_find(&profile, object, &evidence);
}

static void done(void)
{
    lwp_element_covers_free(&evidence.covers);
    lwp_profile_fini(&profile);
}

#define LOOK(block, ...)                                                                                               \
    do {                                                                                                               \
        const struct walk walks[] = {__VA_ARGS__};                                                                     \
        look(block, walks, sizeof walks / sizeof *walks);                                                              \
    } while (0)

/* Equal halves always used together could be two elements; one loop that uses one half only decides. */
static void test_halves(void **state)
{
    (void)state;
    LOOK(1600000, {0, 0, 16, 0, 100000, 8, 200, false}, {0, 0, 16, 8, 100000, 8, 200, false});
    assert_int_equal(evidence.stride, 16);
    assert_int_equal(evidence.bytes, 0);
    assert_int_equal(profile.objects[object].element_bytes, 0);
    assert_true(lwp_element_evidence_allows(&evidence, 16));
    assert_true(lwp_element_evidence_allows(&evidence, 8));
    assert_false(lwp_element_evidence_allows(&evidence, 4)); /* accesses of 8 bytes */
    assert_false(lwp_element_evidence_allows(&evidence, 1));
    done();
    LOOK(1600000, {0, 0, 16, 0, 100000, 8, 200, false}, {0, 0, 16, 8, 100000, 8, 200, false},
         {1, 0, 16, 8, 100000, 8, 200, false});
    assert_int_equal(profile.objects[object].element_bytes, 16);
    assert_true(profile.objects[object].element_probability > 0.99);
    assert_false(lwp_element_evidence_allows(&evidence, 8));
    done();
}

/* An unrolled loop over elements of 24 bytes: known when a remainder loop of its function steps by one, or when the
 * block holds an odd number of them. */
static void test_unrolled(void **state)
{
    (void)state;
    LOOK(2400000, {0, 0, 48, 8, 50000, 8, 300, false}, {0, 0, 48, 32, 50000, 8, 300, false});
    assert_int_equal(profile.objects[object].element_bytes, 0);
    done();
    LOOK(2400000, {0, 0, 48, 8, 50000, 8, 300, false}, {0, 0, 48, 32, 50000, 8, 300, false},
         {1, 0, 24, 8, 100000, 8, 30, false});
    assert_int_equal(profile.objects[object].element_bytes, 24);
    done();
    LOOK(2400024, {0, 0, 48, 8, 50000, 8, 300, false}, {0, 0, 48, 32, 50000, 8, 300, false});
    assert_int_equal(profile.objects[object].element_bytes, 24);
    done();
}

/* An unrolled gather from elements of 16 bytes, its last lane not sampled: as likely as not while the others hardly are,
 * but not when they are all the time. */
static void test_lanes(void **state)
{
    (void)state;
    for (int samples = 12; samples <= 120; samples += 108) {
        struct walk lanes[15];
        for (size_t i = 0; i < 15; i++)
            lanes[i] = (struct walk){0, 0, 256, 16 * i + 4, 100000, 4, samples, false};
        look(25600000, lanes, 15);
        assert_int_equal(evidence.stride, 256);
        assert_int_equal(evidence.bytes, samples == 12 ? 16 : 256);
        assert_true(lwp_element_evidence_allows(&evidence, 16) == (samples == 12));
        assert_false(lwp_element_evidence_allows(&evidence, 2)); /* accesses of 4 bytes */
        done();
        look(25600000, lanes, 9); /* too few to be all lanes but for some */
        assert_int_equal(evidence.bytes, 256);
        done();
    }
}

/* Vectors over all bytes say nothing of where elements end. */
static void test_vectors(void **state)
{
    (void)state;
    LOOK(3200000, {0, 0, 64, 0, 50000, 32, 300, true}, {0, 0, 64, 32, 50000, 32, 300, true});
    assert_int_equal(profile.objects[object].element_bytes, 0);
    assert_true(lwp_element_evidence_allows(&evidence, 8));
    assert_true(lwp_element_evidence_allows(&evidence, 16));
    done();
    /* a vector over two fields of a larger structure does not hide its size */
    LOOK(4800000, {0, 0, 48, 16, 100000, 16, 300, true});
    assert_int_equal(profile.objects[object].element_bytes, 48);
    done();
}

/* Arrays of different types carved out of one block, also when a loop fills the whole of it first. */
static void test_several(void **state)
{
    (void)state;
    LOOK(8800000, {0, 0, 48, 8, 100000, 8, 200, false}, {1, 4800000, 40, 16, 100000, 8, 200, false});
    assert_true(evidence.several);
    assert_true(profile.objects[object].several);
    assert_int_equal(profile.objects[object].element_bytes, 0);
    done();
    LOOK(8800000, {0, 0, 48, 8, 100000, 8, 200, false}, {1, 4800000, 40, 16, 100000, 8, 200, false},
         {10, 0, 8, 0, 1100000, 8, 100, false});
    assert_int_equal(profile.objects[object].element_bytes, 0);
    done();
    LOOK(1600000, {0, 0, 16, 8, 100000, 4, 300, false}, {1, 0, 16, 0, 90000, 8, 300, false}); /* one array */
    assert_false(evidence.several);
    assert_int_equal(profile.objects[object].element_bytes, 16);
    done();
}

/* Elements begin behind a header, or what is left of the block comes after them: nobody knows without their type, unless an access
 * would span two elements. */
static void test_header(void **state)
{
    (void)state;
    LOOK(24 + 4000000, {0, 24, 40, 0, 100000, 8, 200, false}, {0, 24, 40, 32, 100000, 8, 200, false});
    assert_int_equal(profile.objects[object].element_bytes, 40);
    assert_true(profile.objects[object].start_open);
    assert_non_null(profile.objects[object].fields_unknown);
    done();
    LOOK(24 + 4000000, {0, 24, 40, 0, 100000, 8, 200, false}, {0, 24, 40, 12, 100000, 8, 200, false});
    assert_int_equal(profile.objects[object].element_start, 24);
    assert_false(profile.objects[object].start_open);
    assert_null(profile.objects[object].fields_unknown);
    uint64_t place;
    assert_true(lwp_element_place(&profile.objects[object], 24 + 40 * 7 + 12, &place));
    assert_int_equal(place, 12);
    assert_false(lwp_element_place(&profile.objects[object], 16, &place));
    done();
    LOOK(4001792, {0, 0, 40, 0, 100000, 8, 200, false}, {0, 0, 40, 32, 100000, 8, 200, false}); /* 977 pages */
    assert_int_equal(profile.objects[object].element_bytes, 40);
    assert_true(profile.objects[object].start_open);
    done();
    LOOK(4000000, {0, 0, 40, 0, 100000, 8, 200, false}, {0, 0, 40, 32, 100000, 8, 200, false}); /* whole elements */
    assert_int_equal(profile.objects[object].element_start, 0);
    assert_false(profile.objects[object].start_open);
    done();
}

/* `walked` samples of a loop over double position[3] of elements of 48 bytes, `filled` of one over all words. */
static void look_inside(int walked, int filled)
{
    lwp_profile_init(&profile);
    object = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, lwp_contexts_child(&profile, 0, LWP_NONE, 1, false), 0);
    profile.objects[object].bytes = profile.objects[object].largest = 4800000;
    profile.objects[object].allocations = 1;
    profile.objects[object].accessed = true;
    for (int i = 0; i < walked + filled; i++) { /* one instruction at all three places */
        struct lwps_access access = {.bytes = 8, .flags = LWPS_ACCESS_LOAD, .source = LWPS_SOURCE_DITHERED};
        uint64_t word = i < walked ? random_below(3) : random_below(6);
        streams_add(&profile, object, make_loop(i >= walked), LWP_NONE, i < walked ? 0x1000 : 0x2000, &access,
                        48 * random_below(100000) + 8 * word, 0);
        profile.objects[object].accesses++;
    }
    lwp_streams_link(&profile);
    lwp_elements_find(&profile);
    lwp_element_evidence_find(&profile, object, &evidence);
}

/* A loop inside of elements is found by what it leaves out, also where another loop fills that, and in few samples. */
static void test_inside(void **state)
{
    (void)state;
    seed = 4711; /* whatever other tests drew */
    static const int samples[][2] = {{300, 0}, {300, 60}, {30, 30}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        look_inside(samples[i][0], samples[i][1]);
        assert_int_equal(profile.objects[object].element_bytes, 0); /* not 8 */
        assert_true(lwp_element_evidence_allows(&evidence, 48));
        done();
    }
    int known = 0;
    for (int i = 0; i < 100; i++) { /* while a plain array stays one */
        look_inside(0, 40);
        known += profile.objects[object].element_bytes == 8;
        done();
    }
    assert_true(known >= 98);
}

/* A loop that sets a block word by word does not make an array of words of what another loop takes for structures. */
static void test_words(void **state)
{
    (void)state;
    LOOK(5600000, {0, 0, 8, 0, 700000, 8, 100, false}, {1, 0, 56, 8, 100000, 8, 300, false});
    assert_int_equal(profile.objects[object].element_bytes, 0);
    done();
    LOOK(5600000, {0, 0, 8, 0, 700000, 8, 300, false});
    assert_int_equal(profile.objects[object].element_bytes, 8);
    done();
}

/* Tables of hashbrown, as their allocators were asked for them, and blocks that are none. */
static void test_tables(void **state)
{
    (void)state;
    uint64_t start, end;
    static const struct {
        uint64_t block, element, start, end;
    } tables[] = {{6553616, 24, 0, 6291456}, {36, 1, 12, 16}, {52, 8, 0, 32}, {96, 12, 0, 0}, {84, 16, 0, 64}, {6553600, 24, 0, 0}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        bool is = lwp_element_table(tables[i].block, tables[i].element, &start, &end);
        assert_int_equal(is, tables[i].end != 0);
        if (!is)
            continue;
        assert_int_equal(start, tables[i].start);
        assert_int_equal(end, tables[i].end);
    }
    assert_false(lwp_element_table(100, 0, &start, &end));
}

static double fit(const struct lwp_type *type)
{
    double share = lwp_element_fit(&profile, object, &(struct lwp_element_try){.size = type->bytes, .type = type, .exact = true});
    done();
    return share;
}

/* A type that pointers claim must agree with the places seen: one instruction keeps to one, walks an array in the struct
 * or chooses between fields of one type; it may copy several fields at once, but not go from one to the next. */
static void test_claimed(void **state)
{
    (void)state;
    static const struct lwp_field event[] = {{.name = "when", .offset = 0, .bytes = 8, .alignment = 8},
                                             {.name = "kind", .offset = 8, .bytes = 4, .alignment = 4},
                                             {.name = "who", .offset = 12, .bytes = 4, .alignment = 4}};
    static const struct lwp_field row[] = {{.name = "v", .offset = 0, .bytes = 32, .alignment = 8},
                                           {.name = "n", .offset = 32, .bytes = 8, .alignment = 8}};
    static const struct lwp_field node[] = {{.name = "left", .offset = 0, .bytes = 8, .alignment = 8, .type = "struct node *"},
                                            {.name = "right", .offset = 8, .bytes = 8, .alignment = 8, .type = "struct node *"},
                                            {.name = "key", .offset = 16, .bytes = 8, .alignment = 8, .type = "double"},
                                            {.name = "cost", .offset = 24, .bytes = 8, .alignment = 8, .type = "float *"}};
    static const struct lwp_field gap[] = {{.name = "at", .offset = 0, .bytes = 8, .alignment = 8},
                                           {.name = "kind", .offset = 8, .bytes = 1, .alignment = 1},
                                           {.name = "value", .offset = 16, .bytes = 8, .alignment = 8}};
    static const struct lwp_type gaps = {.name = "Gaps", .bytes = 24, .fields = gap, .field_count = 3};
    static const struct lwp_type nodes = {.name = "Node", .bytes = 32, .fields = node, .field_count = 4};
    static const struct lwp_type events = {.name = "Event", .bytes = 16, .fields = event, .field_count = 3},
                                 rows = {.name = "Row", .bytes = 40, .fields = row, .field_count = 2};
    LOOK(1600000, {0, 0, 16, 8, 100000, 4, 50, false}, {0, 0, 16, 0, 100000, 8, 50, false});
    assert_float_equal(fit(&events), 1, 1e-9);
    LOOK(1600000, {0, 0, 16, 8, 100000, 8, 50, false}); /* copies kind and who */
    assert_float_equal(fit(&events), 1, 1e-9);
    LOOK(2400000, {0, 0, 24, 8, 100000, 8, 50, false}); /* a copy takes what alignment leaves behind a field, too */
    assert_float_equal(fit(&gaps), 1, 1e-9);
    LOOK(2400000, {0, 0, 24, 4, 100000, 8, 50, false}); /* ... not part of the next one */
    assert_float_equal(fit(&gaps), 0, 1e-9);
    LOOK(1600000, {0, 0, 8, 0, 200000, 8, 50, false}); /* an array of pointers */
    assert_float_equal(fit(&events), 0, 1e-9);
    LOOK(1600000, {0, 0, 16, 4, 100000, 4, 50, false}, {0, 0, 16, 12, 100000, 8, 50, false}); /* beyond the end */
    assert_float_equal(fit(&events), 0.5, 1e-9);
    LOOK(1600000, {0, 0, 8, 0, 4, 8, 50, false});
    assert_float_equal(fit(&rows), 1, 1e-9);
    LOOK(2400000, {0, 0, 8, 0, 2, 8, 50, false}); /* left or right */
    assert_float_equal(fit(&nodes), 1, 1e-9);
    LOOK(2400000, {0, 0, 8, 0, 300000, 8, 50, false});
    assert_float_equal(fit(&nodes), 0, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves),  cmocka_unit_test(test_unrolled), cmocka_unit_test(test_lanes),   cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_several), cmocka_unit_test(test_header),   cmocka_unit_test(test_inside),
        cmocka_unit_test(test_words),   cmocka_unit_test(test_tables),   cmocka_unit_test(test_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
