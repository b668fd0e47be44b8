/* The two witnesses of a field, its address and its code, on streams made by hand: together they find where elements
 * begin, and where they disagree nothing is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/elements/element_code.h"
#include "analysis/elements/element_count.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "format/record.h"
#include "tests/unit/streams.h"

#include <string.h>

enum { SAMPLES = 60, BLOCK = 1 << 23 };

static const struct lwp_field item_fields[] = {
    {.name = "key", .offset = 0, .bytes = 8, .type = "long", .declaration = "long key"},
    {.name = "price", .offset = 8, .bytes = 8, .type = "double", .declaration = "double price"},
    {.name = "rest", .offset = 16, .bytes = 24, .type = "long", .declaration = "long rest[3]"}};
static const struct lwp_type item = {.name = "struct item",
                                     .kind = LWP_TYPE_STRUCT,
                                     .bytes = 40,
                                     .alignment = 8,
                                     .fields = item_fields,
                                     .field_count = 3},
                             node = {.name = "struct node",
                                     .kind = LWP_TYPE_STRUCT,
                                     .bytes = 72,
                                     .alignment = 8,
                                     .fields = item_fields,
                                     .field_count = 3};

static struct lwp_profile profile;
static struct lwp_element_code code;
static uint32_t object;

/* Where in the block the element of a number begins. */
typedef uint64_t element_at(uint64_t number);

static uint64_t packed(uint64_t number)
{
    return 40 * number;
}
static uint64_t cookie(uint64_t number)
{
    return 8 + 40 * number;
}
static uint64_t padded(uint64_t number)
{
    return 16 + 48 * number;
}
static uint64_t turns(uint64_t number)
{
    return 24 + 128 * number;
}

static uint64_t slabs(uint64_t number)
{
    return number / 100 * 4096 + 64 + number % 100 * 40;
}
static uint64_t nodes_behind(uint64_t number)
{
    return 8 + 40 * 5000 + 72 * number;
}
/* Two types in turn, now more of the one, now of the other. */
static uint64_t mixed_items(uint64_t number)
{
    return 40 * number + 72 * (number / 3 * 2 + number / 7 * 3);
}
static uint64_t odd(uint64_t number)
{
    return 40 * number + (number % 5) * 3;
}

/* An instruction that the code says is at `at` of the type, while its addresses are `beyond` bytes further. */
struct access {
    const struct lwp_type *type;
    uint64_t at;
    element_at *element;
    uint64_t beyond;
    bool beside;
};

static void look(const struct access *items, size_t count)
{
    lwp_profile_init(&profile);
    object =
        lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, lwp_contexts_child(&profile, 0, LWP_NONE, 0x4000, false), 0);
    profile.objects[object].bytes = profile.objects[object].largest = BLOCK;
    profile.objects[object].allocations = 1;
    profile.objects[object].accessed = true;
    memset(&code, 0, sizeof code);
    for (size_t i = 0; i < count; i++) {
        struct lwps_access access = {
            .bytes = 8, .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN, .source = LWPS_SOURCE_DITHERED};
        uint64_t random = 4711 + i;
        for (int k = 0; k < SAMPLES; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            streams_add(&profile, object, LWP_NONE, LWP_NONE, 0x1000 + 16 * i, &access,
                        items[i].element((random >> 33) % 5000) + items[i].at + items[i].beyond, 0);
            profile.objects[object].accesses++;
        }
    }
    lwp_streams_link(&profile);
    for (size_t i = 0; i < count; i++)
        code.items[code.count++] = (struct lwp_element_spoken){
            &profile.streams[i],
            {.type = items[i].type, .at = items[i].at, .variable = "p", .beside = items[i].beside}};
    code.accesses = (double)count * SAMPLES;
}

#define LOOK(...)                                                                                                      \
    do {                                                                                                               \
        const struct access accesses[] = {__VA_ARGS__};                                                                   \
        look(accesses, sizeof accesses / sizeof *accesses);                                                                     \
    } while (0)

static void done(void)
{
    lwp_profile_fini(&profile);
}

static void expect_lattice(uint64_t start, uint64_t spacing, uint64_t page)
{
    struct lwp_element_lattice lattice = lwp_element_code_lattice(&code, &item, 0);
    assert_true(lattice.share > 0.99);
    assert_int_equal(lattice.start, start);
    assert_int_equal(lattice.spacing, spacing);
    assert_int_equal(lattice.page, page);
    done();
}

static void test_lattices(void **state)
{
    (void)state;
    LOOK({&item, 8, packed, 0, false}, {&item, 0, packed, 0, false});
    expect_lattice(0, 40, 0);
    LOOK({&item, 8, cookie, 0, false});
    expect_lattice(8, 40, 0);
    LOOK({&item, 8, padded, 0, false}, {&item, 32, padded, 0, false});
    expect_lattice(16, 48, 0);
    LOOK({&item, 8, turns, 0, false}); /* with another type in between: not a divisor of it that has room, too */
    expect_lattice(24, 128, 0);
    LOOK({&item, 8, slabs, 0, false});
    expect_lattice(24, 40, 4096); /* 64 modulo 40 */
    LOOK({&item, 8, mixed_items, 0, false});
    assert_true(lwp_element_code_lattice(&code, &item, 0).share < LWP_ELEMENT_LATTICE_GOOD);
    assert_true(lwp_element_code_lattice(&code, &node, 0).share < 0); /* nobody speaks of it */
    done();
    LOOK({&item, 8, cookie, 0, true}); /* of a neighbour, if there is one */
    assert_true(lwp_element_code_lattice(&code, &item, 0).share < 0);
    done();
}

/* Elements as somebody decided; returns whether fields are named still. */
static bool agrees(uint64_t start)
{
    profile.objects[object].type = &item;
    profile.objects[object].element_bytes = profile.objects[object].element_spacing = 40;
    profile.objects[object].element_start = start;
    lwp_element_agreement_check(&profile, object, &code);
    return profile.objects[object].fields_unknown == NULL;
}

static void test_agreement(void **state)
{
    (void)state;
    LOOK({&item, 8, cookie, 0, false}, {&item, 0, cookie, 0, false});
    assert_true(agrees(8));
    assert_float_equal(profile.objects[object].agreement.compared, 2 * SAMPLES, 1e-6);
    assert_float_equal(profile.objects[object].agreement.agree, 2 * SAMPLES, 1e-6);
    assert_int_equal(profile.objects[object].element_bytes, 40);
    assert_false(agrees(0)); /* as if there was no cookie */
    assert_float_equal(profile.objects[object].agreement.agree, 0, 1e-6);
    assert_int_equal(profile.objects[object].element_bytes, 0);
    assert_null(profile.objects[object].type);
    done();
    /* Half of the accesses are through pointers that are 8 bytes off. */
    LOOK({&item, 8, packed, 0, false}, {&item, 0, packed, 8, false});
    assert_false(agrees(0));
    assert_float_equal(profile.objects[object].agreement.agree, SAMPLES, 1e-6);
    assert_non_null(
        strstr(profile.objects[object].fields_unknown, "by address price of struct item, by code key of struct item"));
    done();
    LOOK({&item, 8, packed, 0, false},
         {&item, 0, packed, 8, true}); /* what may be of another element disagrees with nothing */
    assert_true(agrees(0));
    done();
    LOOK({&item, 8, packed, 0, false}, {&node, 8, nodes_behind, 0, false}); /* another type in the same block */
    assert_false(agrees(0));
    done();
}

static uint64_t stray_every, asked;
static uint64_t strays(uint64_t number)
{
    return 40 * number + (asked++ % stray_every ? 0 : 8);
}

/* What has no pointer with a type is no evidence that the rest agrees. */
static void test_few_agree(void **state)
{
    (void)state;
    for (int few = 0; few < 2; few++) {
        asked = 1;
        stray_every = few ? 2 * SAMPLES : SAMPLES / 2;
        LOOK({&item, 8, strays, 0, false}, {&item, 0, strays, 0, false});
        code.accesses *= 5; /* of 600 accesses 120 speak, of which 4 are to somewhere else, or 1: that may be a stray one */
        assert_int_equal(agrees(0), few);
        assert_float_equal(profile.objects[object].agreement.agree, 2 * SAMPLES - (few ? 1 : 4), 1e-6);
        done();
    }
}

static uint64_t first(uint64_t number)
{
    (void)number;
    return 0;
}
static uint64_t behind_header(uint64_t number)
{
    (void)number;
    return 8;
}
static uint64_t numbers(uint64_t number)
{
    return 40 + 8 * (number % 1000);
}

/* Most accesses are to an array within, but the code knows what has the block's size, and begins where it does. */
static void test_whole(void **state)
{
    const struct lwp_type number = {.name = "double", .kind = LWP_TYPE_SCALAR, .bytes = 8, .alignment = 8};
    const char *variable = NULL;
    (void)state;
    LOOK({&item, 8, first, 0, false}, {&number, 0, numbers, 0, false}, {&number, 0, numbers, 0, false});
    assert_ptr_equal(lwp_element_code_whole(&code, 40, &variable), &item);
    assert_string_equal(variable, "p");
    assert_null(lwp_element_code_whole(&code, 8 * 1005, &variable)); /* a header, as far as anyone knows */
    assert_null(lwp_element_code_whole(&code, 8, &variable));        /* no structure */
    done();
    LOOK({&item, 8, behind_header, 0, false}); /* there is a header before it */
    assert_null(lwp_element_code_whole(&code, 40, &variable));
    done();
    LOOK({&item, 8, first, 0, true}); /* a neighbour of what the pointer is to */
    assert_null(lwp_element_code_whole(&code, 40, &variable));
    done();
    LOOK({&item, 8, first, 0, false}); /* hardly any of what is accessed */
    code.accesses *= 200;
    assert_null(lwp_element_code_whole(&code, 40, &variable));
    done();
}

static const struct lwp_object *part_of(const struct lwp_type *type)
{
    for (size_t i = 0; i < profile.object_count; i++)
        if (i != object && profile.objects[i].type == type)
            return &profile.objects[i];
    return NULL;
}

static void expect_place(const struct lwp_object *part, uint64_t place)
{
    int streams = 0;
    LWP_STREAMS_OF(&profile, (uint32_t)(part - profile.objects), stream) {
        uint64_t found;
        assert_true(lwp_element_stream_place(&profile, stream, &found) > 0.99);
        assert_int_equal(found, place);
        streams++;
    }
    assert_int_equal(streams, 1);
}

static void test_parts(void **state)
{
    (void)state;
    /* Two arrays, one behind the other: as many elements as lie between the first and the last one seen. */
    LOOK({&item, 8, cookie, 0, false}, {&node, 16, nodes_behind, 0, false});
    assert_true(lwp_element_parts_carve(&profile, object, &code));
    lwp_streams_link(&profile);
    const struct lwp_object *items = part_of(&item), *nodes = part_of(&node);
    assert_non_null(items);
    assert_non_null(nodes);
    expect_place(items, 8);
    expect_place(nodes, 16);
    assert_int_equal(items->element_start, 8);
    assert_int_equal(items->element_bytes, 40);
    assert_true(items->bytes > 30 * 5000 && items->bytes <= 40 * 5000);
    assert_true(nodes->bytes > 60 * 5000 && nodes->bytes <= 72 * 5000);
    assert_int_equal(items->accesses, SAMPLES);
    assert_int_equal(profile.objects[object].accesses, 0);
    assert_non_null(strstr(profile.objects[object].fields_unknown, "struct node"));
    assert_null(strstr(profile.objects[object].fields_unknown, "the other accesses")); /* there are none */
    done();
    /* In turn: the fields are known by their code, how many there are is not, nor where they begin; nobody confirms it.
     */
    LOOK({&item, 8, mixed_items, 0, false}, {&node, 16, mixed_items, 40, false});
    assert_true(lwp_element_parts_carve(&profile, object, &code));
    lwp_streams_link(&profile);
    items = part_of(&item);
    expect_place(items, 8);
    assert_int_equal(items->bytes, 0);
    assert_true(items->start_open);
    assert_true(items->agreement.compared <= 0);
    done();
    const struct lwp_type number = {.name = "double", .kind = LWP_TYPE_SCALAR, .bytes = 8, .alignment = 8};
    LOOK({&item, 8, packed, 0, false}, {&number, 0, nodes_behind, 0, false});
    assert_true(lwp_element_parts_carve(&profile, object, &code));
    assert_non_null(strstr(profile.objects[object].fields_unknown, "what the other accesses to it are to is not known"));
    done();
    LOOK({&item, 8, odd, 0, false}); /* places that no struct of this alignment has: the code is wrong */
    assert_false(lwp_element_parts_carve(&profile, object, &code));
    assert_int_equal(profile.objects[object].accesses, SAMPLES);
    done();
}

/* One element is seen in each block of 12 that have room for a hundred: it is no array where the block is no whole number of them. */
static void test_lone(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        LOOK({&item, 8, behind_header, 0, false});
        struct lwp_object *block = &profile.objects[object];
        block->allocations = 12;
        block->largest = block->pool_size = 8 + 40 * 100 + (whole ? 0 : 16);
        block->bytes = 12 * block->pool_size;
        assert_true(lwp_element_parts_carve(&profile, object, &code));
        lwp_streams_link(&profile);
        const struct lwp_object *part = part_of(&item);
        assert_int_equal(part->start_open, !whole);
        assert_int_equal(part->element_start, whole ? 8 : 0);
        assert_false(part->single);
        expect_place(part, 8);
        done();
    }
}

/* One in each block, behind a header: as many as there are blocks. */
static void test_single_behind_header(void **state)
{
    (void)state;
    LOOK({&item, 8, behind_header, 0, false});
    struct lwp_object *block = &profile.objects[object];
    block->allocations = 1000;
    block->largest = block->pool_size = 8 + 40;
    block->bytes = 1000 * block->pool_size;
    assert_true(lwp_element_parts_carve(&profile, object, &code));
    const struct lwp_object *part = part_of(&item);
    assert_true(part->single);
    assert_int_equal(part->element_start, 8);
    assert_int_equal(lwp_element_count(part), 1000);
    done();
}

/* A table's control bytes are no elements. */
static void test_table(void **state)
{
    (void)state;
    enum { BUCKETS = 1 << 10, GROUP = 16 };
    LOOK({&item, 8, packed, 0, false});
    struct lwp_object *table = &profile.objects[object];
    table->element_bytes = table->element_spacing = 40;
    table->element_end = BUCKETS * 40;
    table->bytes = table->largest = BUCKETS * 40 + BUCKETS + GROUP;
    assert_int_equal(lwp_element_count(table), BUCKETS);
    /* Of clauses in an arena, each with as many literals as it has, the number is not known. */
    const struct lwp_field fields[] = {{.name = "size", .bytes = 4}, {.name = "literals", .offset = 4}};
    const struct lwp_type clause = {.name = "clause", .kind = LWP_TYPE_STRUCT, .bytes = 40, .fields = fields, .field_count = 2};
    table->type = &clause;
    assert_int_equal(lwp_element_count(table), 0);
    table->single = true;
    assert_int_equal(lwp_element_count(table), table->bytes / 40);
    done();
}

/* Of a heap that is looked at from outside it is known that it is there: elements are where the busiest loop goes. */
static uint64_t in_the_middle(uint64_t number)
{
    return BLOCK / 2 + 40 * number;
}

static void test_outside(void **state)
{
    (void)state;
    LOOK({&item, 8, in_the_middle, 0, false});
    struct lwp_object *heap = &profile.objects[object];
    heap->element_bytes = heap->element_spacing = 40;
    lwp_element_reach_find(&profile, object);
    assert_true(lwp_element_count(heap) > 2 * 5000); /* allocated: all up to what is used */
    heap->context = 0;
    lwp_element_reach_find(&profile, object);
    assert_in_range(lwp_element_count(heap), 4500, 5500);
    assert_in_range(lwp_element_used(heap), 40 * 4500, 40 * 5500);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lattices),
                                       cmocka_unit_test(test_agreement),
                                       cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_whole),
                                       cmocka_unit_test(test_few_agree),
                                       cmocka_unit_test(test_lone),
                                       cmocka_unit_test(test_single_behind_header),
                                       cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
