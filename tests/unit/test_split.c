/* Parts of split structures: where fields come to lie, other orders, declarations in other languages, and threads that
 * own elements in turn. */
#include "analysis/advice/placement/spread.h"
#include "analysis/advice/layout/split_internal.h"
#include "analysis/elements/elements.h"
#include "analysis/profile/objects.h"
#include "format/record.h"
#include "tests/unit/streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct lwp_field gappy_fields[] = {
    {.name = "kind", .offset = 0, .bytes = 1, .type = "char", .declaration = "char kind", .alignment = 1},
    {.name = "weight", .offset = 8, .bytes = 8, .type = "double", .declaration = "double weight", .alignment = 8},
    {.name = "state", .offset = 16, .bytes = 1, .type = "char", .declaration = "char state", .alignment = 1},
    {.name = "width", .offset = 24, .bytes = 8, .type = "double", .declaration = "double width", .alignment = 8},
    {.name = "name", .offset = 32, .bytes = 48, .type = "char[48]", .declaration = "char name[48]", .alignment = 1},
};

static struct lwp_type gappy = {.name = "struct gappy",
                                .tag = "gappy",
                                .kind = LWP_TYPE_STRUCT,
                                .bytes = 80,
                                .alignment = 8,
                                .language = LWP_LANGUAGE_C,
                                .owner = LWP_TYPE_OF_PROJECT,
                                .file = "gappy.h",
                                .line = 3,
                                .fields = gappy_fields,
                                .field_count = 5};

static const uint64_t elements = 1000000;

static uint32_t make_object(struct lwp_profile *profile, const struct lwp_type *type)
{
    uint32_t id = lwp_objects_allocated(profile, LWP_OBJECT_HEAP, 0, 0);
    struct lwp_object *object = &profile->objects[id];
    object->bytes = object->largest = elements * type->bytes;
    object->type = type;
    object->type_exact = true;
    object->element_bytes = type->bytes;
    object->element_probability = 1;
    object->accessed = true;
    object->label = "all";
    return id;
}

/* A loop that loads or stores one field of each element. */
static void use(struct lwp_profile *profile, uint32_t object, uint32_t region, uint64_t offset, uint16_t bytes,
                bool store, int samples)
{
    while (profile->region_count <= region) {
        LWP_GROW(&profile->regions, profile->region_count, &profile->region_room);
        profile->regions[profile->region_count] = (struct lwp_region){.module = LWP_NONE,
                                                                      .parent = LWP_NONE,
                                                                      .function = "loop",
                                                                      .same_as = (uint32_t)profile->region_count,
                                                                      .reported = LWP_NONE};
        profile->region_count++;
    }
    uint64_t size = profile->objects[object].element_bytes;
    for (int i = 0; i < samples; i++) {
        struct lwps_access access = {.bytes = bytes,
                                     .source = LWPS_SOURCE_DITHERED,
                                     .flags = LWPS_ACCESS_KNOWN | LWPS_ACCESS_WEIGHTED |
                                              (store ? LWPS_ACCESS_STORE : LWPS_ACCESS_LOAD)};
        uint64_t element = (uint64_t)i * 7919 % elements;
        uint32_t stream = streams_add(profile, object, region, LWP_NONE, 0x1000 + region * 0x100 + offset, &access,
                                          element * size + offset, 1);
        streams_distance(profile, stream, size);
        lwp_tally_add(&profile->objects[object].weight, 1);
        lwp_tally_add(&profile->total, 1);
        lwp_tally_add(&profile->stalled, 1);
        profile->objects[object].accesses++;
    }
}

static void parts_lie_as_a_compiler_would_lay_them(void **state)
{
    (void)state;
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    uint32_t object = make_object(&profile, &gappy);
    use(&profile, object, 0, 8, 8, false, 100);
    lwp_streams_link(&profile);
    const struct lwp_layout *layout = lwp_layout_make(&profile, &object, 1);
    assert_non_null(layout);
    static const int group[] = {0, 0, 1, 0, -1};
    struct lwp_split split = {.layout = layout, .group = group, .groups = 2, .cold = true};
    struct lwp_split_part part;
    struct {
        char kind;
        double weight, width;
    } first; /* what the compiler makes of part 0 */
    lwp_split_part(&split, 0, &part);
    assert_int_equal(part.count, 3);
    assert_int_equal(part.offsets[1], (uintptr_t)&first.weight - (uintptr_t)&first);
    assert_int_equal(part.offsets[2], (uintptr_t)&first.width - (uintptr_t)&first);
    assert_int_equal(part.bytes, sizeof first);
    lwp_split_part(&split, -1, &part);
    assert_int_equal(part.bytes, 48);
    static const size_t order[] = {1, 3, 0, 2, 4};
    static const int all[] = {0, 0, 0, 0, 0};
    struct lwp_split other = {
        .kind = LWP_SPLIT_REORDER, .layout = layout, .group = all, .groups = 1, .order = order, .align = 64};
    lwp_split_part(&other, 0, &part);
    assert_int_equal(part.fields[0], 1);
    assert_int_equal(part.offsets[2], 16); /* kind, behind the two doubles */
    assert_int_equal(part.offsets[4], 18);
    assert_int_equal(part.bytes, 128);
    lwp_profile_fini(&profile);
}

static void advise(struct lwp_profile *profile, const struct lwp_type *type, struct lwp_splits *splits)
{
    lwp_profile_init(profile);
    uint32_t object = make_object(profile, type);
    for (size_t f = 0; f < type->field_count; f++)
        use(profile, object, 0, type->fields[f].offset, (uint16_t)type->fields[f].bytes, false, 400);
    lwp_streams_link(profile);
    lwp_split_advise(profile, splits);
}

static void holes_call_for_another_order(void **state)
{
    (void)state;
    struct lwp_type type = gappy;
    struct lwp_profile profile;
    struct lwp_splits splits;
    type.field_count = 4; /* without the name: 32 bytes with 14 of holes */
    type.bytes = 32;
    advise(&profile, &type, &splits);
    assert_int_equal(splits.count, 1);
    const struct lwp_split *split = &splits.splits[0];
    assert_int_equal(split->kind, LWP_SPLIT_REORDER);
    struct lwp_split_part part;
    lwp_split_part(split, 0, &part);
    assert_int_equal(part.bytes, 24);
    assert_true(split->gain.after / split->gain.before > 0.7 &&
                split->gain.after / split->gain.before < 0.8); /* 24 / 32 */
    assert_non_null(strstr(split->declaration, "struct gappy {\n    double weight; "));
    lwp_profile_fini(&profile);

    static const struct {
        enum lwp_language language;
        enum lwp_type_owner owner;
        bool is_derived;
    } not_ours[] = {{LWP_LANGUAGE_RUST, LWP_TYPE_OF_PROJECT, false},
                    {LWP_LANGUAGE_C, LWP_TYPE_OF_SYSTEM, false},
                    {LWP_LANGUAGE_CXX, LWP_TYPE_OF_PROJECT, true}};
    for (size_t i = 0; i < sizeof not_ours / sizeof *not_ours; i++) {
        struct lwp_type other = type;
        other.language = not_ours[i].language;
        other.owner = not_ours[i].owner;
        other.is_class = other.is_derived = not_ours[i].is_derived;
        advise(&profile, &other, &splits);
        assert_int_equal(splits.count, 0);
        lwp_profile_fini(&profile);
    }
    type.language = LWP_LANGUAGE_CXX; /* methods are in nobody's way */
    type.is_class = true;
    advise(&profile, &type, &splits);
    assert_int_equal(splits.count, 1);
    assert_int_equal(splits.splits[0].kind, LWP_SPLIT_REORDER);
    lwp_profile_fini(&profile);
}

/* Nodes that malloc put 96 bytes apart on average: no order of their fields brings them closer. */
static void an_order_moves_no_blocks_together(void **state)
{
    (void)state;
    static const struct lwp_field fields[] = {
        {.name = "size", .offset = 0, .bytes = 4, .type = "int", .declaration = "int size", .alignment = 4},
        {.name = "rank", .offset = 4, .bytes = 4, .type = "int", .declaration = "int rank", .alignment = 4},
        {.name = "next", .offset = 8, .bytes = 8, .type = "void *", .declaration = "void *next", .alignment = 8}};
    struct lwp_type type = gappy;
    type.fields = fields;
    type.field_count = 3;
    type.bytes = 16;
    struct lwp_profile profile;
    struct lwp_splits splits;
    lwp_profile_init(&profile);
    uint32_t object = make_object(&profile, &type);
    profile.objects[object].single = true;
    profile.objects[object].largest = profile.objects[object].pool_size = type.bytes;
    for (size_t f = 0; f < 3; f++)
        use(&profile, object, 0, fields[f].offset, (uint16_t)fields[f].bytes, false, 400);
    for (uint64_t i = 0; i < 500; i++) {
        struct lwp_traversal_access at = {.object = object, .address = i * 7919 % elements * 96};
        lwp_moves_sample(&profile.moves, &profile, &at, 1);
    }
    lwp_streams_link(&profile);
    double error;
    assert_true(lwp_placement_spread(&profile, &object, 1, &error) > 64);
    lwp_split_advise(&profile, &splits);
    for (size_t i = 0; i < splits.count; i++)
        assert_int_not_equal(splits.splits[i].kind, LWP_SPLIT_REORDER);
    lwp_profile_fini(&profile);
}

static const char *declared(struct lwp_profile *profile, struct lwp_type *type, bool single)
{
    static const int arrays[] = {0, 1, -1, -1}, nodes[] = {0, -1, 0, 0}, *group;
    group = single ? nodes : arrays;
    lwp_profile_init(profile);
    uint32_t *object = lwp_arena_alloc(profile->arena, 1, sizeof *object);
    *object = make_object(profile, type);
    profile->objects[*object].single = single;
    use(profile, *object, 0, 8, 8, false, 100);
    lwp_streams_link(profile);
    const struct lwp_layout *layout = lwp_layout_make(profile, object, 1);
    assert_non_null(layout);
    struct lwp_split split = {.layout = layout, .group = group, .groups = single ? 1 : 2, .cold = true};
    return lwp_declaration_write(profile, &split);
}

static void declarations_speak_the_language_of_the_type(void **state)
{
    (void)state;
    static const struct lwp_field fortran[] = {
        {.name = "x", .offset = 0, .bytes = 8, .declaration = "real(kind=8) :: x", .alignment = 8},
        {.name = "y", .offset = 8, .bytes = 8, .declaration = "real(kind=8) :: y", .alignment = 8},
        {.name = "tag", .offset = 16, .bytes = 24, .declaration = "character(len=24) :: tag", .alignment = 1},
        {.name = "_tag_length", .offset = 40, .bytes = 8, .declaration = "integer(kind=8) :: _tag_length", .alignment = 8}};
    static const struct lwp_field rust[] = {
        {.name = "x", .offset = 0, .bytes = 8, .declaration = "x: f64", .alignment = 8},
        {.name = "y", .offset = 8, .bytes = 8, .declaration = "y: f64", .alignment = 8},
        {.name = "tag", .offset = 16, .bytes = 32, .declaration = "tag: [u8; 32]", .alignment = 1}};
    static const struct lwp_field tuple[] = {
        {.name = "0", .offset = 0, .bytes = 8, .declaration = "0: f64", .alignment = 8},
        {.name = "1", .offset = 8, .bytes = 8, .declaration = "1: f64", .alignment = 8},
        {.name = "2", .offset = 16, .bytes = 32, .declaration = "2: [u8; 32]", .alignment = 1}};
    struct lwp_type type = {.name = "place",
                            .tag = "place",
                            .kind = LWP_TYPE_STRUCT,
                            .bytes = 48,
                            .alignment = 8,
                            .language = LWP_LANGUAGE_FORTRAN,
                            .fields = fortran,
                            .field_count = 4};
    struct lwp_profile profile;
    const char *text = declared(&profile, &type, false);
    assert_non_null(strstr(text, "type :: place_x\n    real(kind=8) :: x "));
    assert_non_null(strstr(text, "end type place_x\n"));
    assert_null(strchr(text, ';'));
    assert_non_null(strstr(text, "    ! _tag_length, +24, is the compiler's own\n"));
    assert_null(strstr(text, ":: _tag_length"));
    lwp_profile_fini(&profile);
    text = declared(&profile, &type, true);
    assert_non_null(strstr(text, "    type(place_cold), pointer :: cold\nend type place\n"));
    lwp_profile_fini(&profile);
    type.language = LWP_LANGUAGE_RUST;
    type.fields = rust;
    type.field_count = 3;
    text = declared(&profile, &type, false);
    assert_non_null(
        strstr(text, "struct place_x { x: f64 }\nstruct place_y { y: f64 }\nstruct place_cold { tag: [u8; 32] }\n"));
    lwp_profile_fini(&profile);
    text = declared(&profile, &type, true);
    assert_non_null(strstr(text, "    tag: [u8; 32], "));
    assert_non_null(strstr(text, "    cold: Box<place_cold>,\n}\n"));
    lwp_profile_fini(&profile);
    type.name = "alloc::rc::RcInner<place>"; /* its pointers count: a Box each would lie between the values */
    type.owner = LWP_TYPE_OF_SYSTEM;
    type.payload = &(struct lwp_type){.name = "place", .tag = "place", .bytes = 48, .language = LWP_LANGUAGE_RUST};
    text = declared(&profile, &type, true);
    assert_non_null(strstr(text, "    cold: usize, "));
    assert_non_null(strstr(text, "// its place in a Vec<place_cold>\n}\n"));
    lwp_profile_fini(&profile);
    type.owner = LWP_TYPE_OF_PROJECT;
    type.payload = NULL;
    type.name = type.tag = "(f64, f64, [u8; 32])";
    type.fields = tuple;
    text = declared(&profile, &type, false);
    assert_non_null(strstr(text, "struct element_0(f64);\nstruct element_1(f64);\nstruct element_cold([u8; 32]);\n"));
    lwp_profile_fini(&profile);
    text = declared(&profile, &type, true);
    assert_non_null(strstr(text, "struct element(\n    f64, "));
    assert_non_null(strstr(text, "    [u8; 32], "));
    assert_non_null(strstr(text, "    Box<element_cold>,\n);\n"));
    lwp_profile_fini(&profile);
}

static uint64_t in_turns(uint64_t element)
{
    return element % 4;
}

static uint64_t in_slices(uint64_t element)
{
    return element * 4 / elements;
}

static uint64_t anyhow(uint64_t element)
{
    return element * 0x9e3779b97f4a7c15u >> 62;
}

static uint64_t by_one(uint64_t element)
{
    (void)element;
    return 0;
}

/* Four threads store to elements; thread t to those that `owner` gives it. */
static unsigned turns_of(uint64_t (*owner)(uint64_t element), bool store)
{
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    struct lwp_type type = gappy;
    uint32_t object = make_object(&profile, &type);
    use(&profile, object, 0, 8, 8, store, 300);
    struct lwp_traversal_thread walkers[4] = {{.thread = 11}, {.thread = 22}, {.thread = 33}, {.thread = 44}};
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t element = i * 2654435761u % elements;
        struct lwp_traversal_access access = {.object = object, .region = 0, .offset = element * type.bytes + 8};
        lwp_traversals_sample(&profile.traversals, &walkers[owner(element)], &access, 1, i * 1000);
    }
    lwp_streams_link(&profile);
    const struct lwp_layout *layout = lwp_layout_make(&profile, &object, 1);
    assert_non_null(layout);
    unsigned turns = lwp_element_writers_turns(&profile, layout);
    assert_int_equal(lwp_element_writers_mingle(&profile, layout), store && owner != in_slices && owner != by_one);
    bool stored[LWP_FIELDS_MAX];
    lwp_element_writers_fields(&profile, layout, stored);
    assert_int_equal(stored[1], store);
    assert_false(stored[0] || stored[4]);
    lwp_profile_fini(&profile);
    return turns;
}

static void turns_of_threads_are_found(void **state)
{
    (void)state;
    assert_int_equal(turns_of(in_turns, true), 4);
    assert_int_equal(turns_of(in_turns, false), 0); /* nobody writes */
    assert_int_equal(turns_of(in_slices, true), 0);
    assert_int_equal(turns_of(anyhow, true), 0);
    assert_int_equal(turns_of(by_one, true), 0);
}

static const struct lwp_field item_fields[] = {
    {.name = "next",
     .offset = 0,
     .bytes = 8,
     .type = "struct item *",
     .declaration = "struct item *next",
     .alignment = 8},
    {.name = "x", .offset = 8, .bytes = 8, .type = "double", .declaration = "double x", .alignment = 8},
    {.name = "y", .offset = 16, .bytes = 8, .type = "double", .declaration = "double y", .alignment = 8},
    {.name = "open", .offset = 24, .bytes = 1, .type = "unsigned", .declaration = "unsigned open : 3", .alignment = 4},
    {.name = "seen", .offset = 25, .bytes = 1, .type = "unsigned", .declaration = "unsigned seen : 8", .alignment = 4},
    {.name = "left", .offset = 32, .bytes = 8, .type = "long", .declaration = "long left", .alignment = 8},
    {.name = "right", .offset = 40, .bytes = 8, .type = "long", .declaration = "long right", .alignment = 8},
    {.name = "name", .offset = 48, .bytes = 0, .type = "char[]", .declaration = "char name[]", .alignment = 1},
};

static struct lwp_type item = {.name = "struct item",
                               .tag = "item",
                               .kind = LWP_TYPE_STRUCT,
                               .bytes = 48,
                               .alignment = 8,
                               .owner = LWP_TYPE_OF_PROJECT,
                               .file = "item.h",
                               .line = 9,
                               .fields = item_fields,
                               .field_count = 7};

/* Loops use next, x and y; of nodes only next: with a pointer to the rest that makes parts of which none lies on two lines, wherever in a
 * line the first one begins. */
static void advise_items(struct lwp_profile *profile, bool single, bool scattered, struct lwp_splits *splits)
{
    lwp_profile_init(profile);
    uint32_t object = make_object(profile, &item);
    profile->objects[object].single = single;
    if (single || scattered)
        profile->objects[object].largest = 100 * item.bytes;
    for (uint64_t offset = 0; offset < (single ? 8 : 24); offset += 8)
        use(profile, object, 0, offset, 8, false, single ? 1200 : 400);
    for (size_t i = 0; i < profile->region_count; i++)
        profile->regions[i].weight = profile->total;
    for (uint32_t i = 0; single && i < profile->stream_count; i++) /* nodes lie anywhere */
        for (int k = 0; k < 1000; k++)
            streams_distance(profile, i, 1 << 24);
    if (single)
        streams_lead(profile, object, 1 << 24);
    lwp_streams_link(profile);
    lwp_split_advise(profile, splits);
}

static const struct lwp_field shape_fields[] = {
    {.name = "_vptr.Shape", .offset = 0, .bytes = 8, .type = "void *", .declaration = "void *_vptr.Shape", .alignment = 8},
    {.name = "x", .offset = 8, .bytes = 8, .type = "double", .declaration = "double x", .alignment = 8},
    {.name = "next", .offset = 16, .bytes = 8, .type = "Shape *", .declaration = "Shape *next", .alignment = 8},
    {.name = "name", .offset = 24, .bytes = 56, .type = "char[56]", .declaration = "char name[56]", .alignment = 1}};

/* Of a class with these four fields: one loop for each of the places. Returns how many groups are advised. */
static size_t advise_shape(struct lwp_profile *profile, const struct lwp_field *fields, const uint64_t *used, size_t count,
                           struct lwp_split_part *first)
{
    static struct lwp_type type;
    struct lwp_splits splits;
    type = gappy;
    type.name = type.tag = "Shape";
    type.language = LWP_LANGUAGE_CXX;
    type.is_class = true;
    type.fields = fields;
    type.field_count = 4;
    lwp_profile_init(profile);
    uint32_t object = make_object(profile, &type);
    for (uint32_t region = 0; region < count; region++)
        use(profile, object, region, used[region], 8, false, 400);
    for (size_t i = 0; i < profile->region_count; i++)
        profile->regions[i].weight = profile->total;
    lwp_streams_link(profile);
    lwp_split_advise(profile, &splits);
    assert_int_equal(splits.count, 1);
    lwp_split_part(&splits.splits[0], 0, first);
    return splits.splits[0].groups;
}

static void virtual_functions_stay_with_the_class(void **state)
{
    (void)state;
    static const uint64_t x[] = {8};
    struct lwp_profile profile;
    struct lwp_split_part part;
    assert_int_equal(advise_shape(&profile, shape_fields, x, 1, &part), 1);
    assert_int_equal(part.count, 2);
    assert_int_equal(part.fields[0], 0);
    assert_int_equal(part.bytes, 16);
    lwp_profile_fini(&profile);
}

/* Where the library looks for its hook: also if no loop uses it, or another loop than the one of the hot fields. */
static void members_of_a_library_s_base_class_stay_with_the_class(void **state)
{
    (void)state;
    static const uint64_t used[] = {8, 16};
    struct lwp_field fields[4];
    memcpy(fields, shape_fields, sizeof fields);
    fields[0] = (struct lwp_field){.name = "prev", .bytes = 8, .type = "void *", .declaration = "void *prev", .alignment = 8};
    for (size_t loops = 1; loops <= 2; loops++) {
        struct lwp_profile profile;
        struct lwp_split_part part;
        for (int hooked = 0; hooked < 2; hooked++) {
            fields[0].of_library = fields[2].of_library = hooked;
            assert_int_equal(advise_shape(&profile, fields, used, loops, &part), hooked ? 1 : loops);
            assert_int_equal(part.count, hooked ? 3 : 1);
            assert_int_equal(part.bytes, hooked ? 24 : 8);
            lwp_profile_fini(&profile);
        }
    }
}

static void pointers_to_elements_decide_what_links_the_parts(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_splits splits;
    struct lwp_split_part part;
    advise_items(&profile, false, false, &splits); /* one array */
    assert_int_equal(splits.count, 1);
    assert_string_equal(splits.splits[0].layout->pointed, "next in struct item");
    assert_false(splits.splits[0].layout->linked);
    lwp_split_part(&splits.splits[0], 0, &part);
    assert_int_equal(part.links, 0);
    assert_int_equal(part.bytes, 24);
    assert_non_null(strstr(splits.splits[0].declaration, "struct item {\n    struct item *next;"));
    lwp_profile_fini(&profile);

    advise_items(&profile, false, true, &splits); /* many */
    assert_int_equal(splits.count, 1);
    assert_true(splits.splits[0].layout->linked);
    lwp_split_part(&splits.splits[0], 0, &part);
    assert_int_equal(part.links, 1);
    assert_int_equal(part.bytes, 32);
    assert_non_null(strstr(splits.splits[0].declaration, "    struct item_cold *cold;\n};\n"));
    lwp_profile_fini(&profile);

    /* Nodes: 8 bytes and a pointer, from a pool. */
    advise_items(&profile, true, false, &splits);
    assert_int_equal(splits.count, 1);
    assert_false(splits.splits[0].pooled);
    assert_true(splits.splits[0].gain.low >= 1.02);
    assert_true(splits.splits[0].gain.speedup >= splits.splits[0].gain.low && splits.splits[0].gain.speedup <= splits.splits[0].gain.high);
    lwp_split_part(&splits.splits[0], 0, &part);
    assert_int_equal(part.links, 1);
    assert_int_equal(part.bytes, 16);
    assert_non_null(strstr(splits.splits[0].declaration, "*cold"));
    lwp_profile_fini(&profile);
}

/* Of 24 bytes one field of 8 leaves, and a pointer to it comes: whatever the nodes gain by lying closer together, it is not the split.
 * Where nobody saw whereto one leads they may be few that are searched again and again, and nothing is gained. */
static void a_pointer_takes_as_much_room_as_what_leaves(void **state)
{
    (void)state;
    struct lwp_type entry = item;
    struct lwp_profile profile;
    struct lwp_splits splits;
    for (int k = 0; k < 4; k++) {
        const uint64_t bytes = k % 2 ? 32 : 24;
        const bool seen = k >= 2;
        entry.field_count = (uint32_t)bytes / 8;
        entry.bytes = bytes;
        lwp_profile_init(&profile);
        uint32_t object = make_object(&profile, &entry);
        profile.objects[object].single = true;
        profile.objects[object].largest = profile.objects[object].pool_size = bytes;
        for (uint64_t offset = 0; offset < 16; offset += 8)
            use(&profile, object, 0, offset, 8, false, 400);
        for (size_t i = 0; i < profile.region_count; i++)
            profile.regions[i].weight = profile.total;
        for (uint64_t i = 0; i < 500; i++) { /* they lie far from each other */
            struct lwp_traversal_access at = {.object = object, .address = i * 7919 % elements * 512};
            lwp_moves_sample(&profile.moves, &profile, &at, 1);
        }
        if (seen)
            streams_lead(&profile, object, 512);
        lwp_streams_link(&profile);
        lwp_split_advise(&profile, &splits);
        size_t parts = 0;
        for (size_t i = 0; i < splits.count; i++)
            parts += splits.splits[i].kind == LWP_SPLIT_PARTS;
        assert_int_equal(parts, seen && bytes > 24);
        lwp_profile_fini(&profile);
    }
}

/* Two loops that use a pointer and a number each: the number stays where else a pointer to it would be. */
static void what_is_no_larger_than_its_pointer_stays(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_splits splits;
    struct lwp_split_part part;
    lwp_profile_init(&profile);
    const uint32_t object = make_object(&profile, &item);
    profile.objects[object].largest = 100 * item.bytes; /* many arrays: pointers lead to the parts */
    for (uint32_t region = 0; region < 2; region++)
        use(&profile, object, region, 8 * region, 8, false, 400);
    for (size_t i = 0; i < profile.region_count; i++)
        profile.regions[i].weight = profile.total;
    lwp_streams_link(&profile);
    lwp_split_advise(&profile, &splits);
    assert_int_equal(splits.count, 1);
    assert_true(splits.splits[0].layout->linked);
    assert_int_equal(splits.splits[0].groups, 1);
    lwp_split_part(&splits.splits[0], 0, &part);
    assert_int_equal(part.count, 2);
    assert_int_equal(part.links, 1);
    assert_int_equal(part.bytes, 24);
    lwp_profile_fini(&profile);
}

/* A key behind the structure, in its block, is no closer to the next node's after the split; nor are a std::shared_ptr's counters before
 * it. */
static void what_lies_beside_a_node_stays_with_it(void **state)
{
    (void)state;
    static const int group[] = {0, -1, -1, -1, -1};
    double after[3];
    for (int k = 0; k < 3; k++) {
        struct lwp_profile profile;
        struct lwp_gain gain;
        lwp_profile_init(&profile);
        uint32_t object = make_object(&profile, &gappy);
        profile.objects[object].single = true;
        profile.objects[object].element_start = k == 2 ? 40 : 0;
        profile.objects[object].element_bytes = k == 1 ? 120 : 80;
        profile.objects[object].largest = profile.objects[object].pool_size = k ? 120 : 80;
        use(&profile, object, 0, 0, 1, false, 400);
        for (size_t i = 0; i < profile.region_count; i++)
            profile.regions[i].weight = profile.total;
        lwp_streams_link(&profile);
        struct lwp_layout *layout = lwp_layout_make(&profile, &object, 1);
        assert_non_null(layout);
        assert_int_equal(layout->behind, k == 1 ? 40 : 0);
        assert_int_equal(lwp_layout_stays(layout), k ? 40 : 0);
        lwp_gain_estimate(&profile, layout, group, 1, &gain);
        after[k] = gain.bytes_after / (double)profile.objects[object].bytes * (double)layout->spacing;
        lwp_profile_fini(&profile);
    }
    assert_true(after[1] > after[0] + 24);
    assert_true(after[2] > after[0] + 24);
}

/* What is read through a pointer that a search keeps may be any field: parting them may save nothing, another order of them does. */
static void kept_pointers_may_want_all_parts(void **state)
{
    (void)state;
    static const int group[] = {0, -1, -1, -1, -1};
    double low[2];
    for (int k = 0; k < 2; k++) {
        struct lwp_profile profile;
        struct lwp_gain gain;
        lwp_profile_init(&profile);
        uint32_t object = make_object(&profile, &gappy);
        use(&profile, object, 0, 0, 1, false, 400);
        for (size_t i = 0; i < profile.region_count; i++)
            profile.regions[i].weight = profile.total;
        lwp_streams_link(&profile);
        struct lwp_layout *layout = lwp_layout_make(&profile, &object, 1);
        assert_non_null(layout);
        layout->loops[0].keeps = k;
        lwp_gain_estimate(&profile, layout, group, 1, &gain);
        low[k] = gain.low;
        lwp_profile_fini(&profile);
    }
    assert_true(low[0] > 1.1);
    assert_true(low[1] <= 1);
}

/* A tree's node: which of its children is gone to no field says, so that they are on no line with what lies before them. */
static void long_fields_are_moved_beside_nothing(void **state)
{
    (void)state;
    static const struct lwp_field fields[] = {
        {.name = "count", .offset = 0, .bytes = 4, .type = "int", .declaration = "int count", .alignment = 4},
        {.name = "leaf", .offset = 4, .bytes = 4, .type = "int", .declaration = "int leaf", .alignment = 4},
        {.name = "keys", .offset = 8, .bytes = 128, .type = "long[16]", .declaration = "long keys[16]", .alignment = 8},
        {.name = "children",
         .offset = 136,
         .bytes = 136,
         .type = "struct node *[17]",
         .declaration = "struct node *children[17]",
         .alignment = 8}};
    struct lwp_type type = gappy;
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    type.fields = fields;
    type.field_count = 4;
    type.bytes = 272;
    uint32_t object = make_object(&profile, &type);
    use(&profile, object, 0, 0, 4, false, 400);
    use(&profile, object, 0, 4, 4, false, 400);
    use(&profile, object, 0, 136, 8, false, 400);
    use(&profile, object, 1, 8, 8, false, 100);
    lwp_streams_link(&profile);
    struct lwp_layout *layout = lwp_layout_make(&profile, &object, 1);
    assert_non_null(layout);
    static const int group[] = {0, 0, 1, 0};
    static const double affinity[16] = {0};
    struct lwp_split reordered;
    assert_false(lwp_reorder_try(&profile, layout, affinity, group, &reordered));
    lwp_profile_fini(&profile);
}

static void bits_stay_together_and_open_arrays_last(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_type type = item;
    type.field_count = 8;
    lwp_profile_init(&profile);
    uint32_t object = make_object(&profile, &type);
    profile.objects[object].single = true;
    profile.objects[object].element_bytes = 64;
    use(&profile, object, 0, 8, 8, false, 100);
    lwp_streams_link(&profile);
    struct lwp_layout *layout = lwp_layout_make(&profile, &object, 1);
    assert_non_null(layout);
    assert_int_equal(layout->field_count, 7);
    assert_string_equal(layout->fields[3].name, "open, seen");
    assert_int_equal(layout->fields[3].bytes, 2);
    assert_true(layout->fields[6].flexible);
    static const int group[] = {1, 0, 1, 0, 1, 1, 0};
    struct lwp_split split = {.layout = layout, .group = group, .groups = 2};
    struct lwp_split_part part;
    struct {
        double x;
        unsigned open : 3, seen : 8;
        void *part2;
        char name[16];
    } first; /* what the compiler makes of it */
    lwp_split_part(&split, 0, &part);
    assert_int_equal(part.count, 3);
    assert_int_equal(part.links, 1);
    assert_int_equal(part.offsets[1], 8);
    assert_int_equal(part.offsets[2], (uintptr_t)&first.name - (uintptr_t)&first);
    split.declaration = lwp_declaration_write(&profile, &split);
    assert_non_null(strstr(split.declaration, "    unsigned seen : 8;\n    struct item_"));
    assert_non_null(strstr(split.declaration, "*part2;\n    char name[];"));
    lwp_profile_fini(&profile);
}

/* Two classes with one base: what the one split keeps together the other must not take apart. */
static void members_of_a_base_class_stay_together(void **state)
{
    (void)state;
    static const struct lwp_field fields[] = {{.name = "key", .offset = 0, .bytes = 8, .inherited = "Base"},
                                              {.name = "price", .offset = 8, .bytes = 8, .inherited = "Base"},
                                              {.name = "own", .offset = 16, .bytes = 8}};
    struct lwp_type types[2] = {{.name = "Circle", .fields = fields, .field_count = 3}, {.name = "Square", .fields = fields, .field_count = 3}};
    struct lwp_layout_field places[3] = {{.offset = 0, .bytes = 8}, {.offset = 8, .bytes = 8}, {.offset = 16, .bytes = 8}};
    struct lwp_layout layouts[2] = {{.type = &types[0], .fields = places, .field_count = 3},
                                    {.type = &types[1], .fields = places, .field_count = 3}};
    static const int key_hot[] = {0, -1, -1}, price_hot[] = {-1, 0, -1}, both_hot[] = {0, 0, -1}, key_and_own[] = {0, -1, 0};
    static const struct {
        const int *first, *second;
        size_t kept;
    } cases[] = {{key_hot, price_hot, 1}, {key_hot, both_hot, 1}, {key_hot, key_and_own, 2}, {both_hot, both_hot, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lwp_profile profile;
        lwp_profile_init(&profile);
        struct lwp_split all[2] = {{.layout = &layouts[0], .group = cases[i].first, .groups = 1, .cold = true},
                                   {.layout = &layouts[1], .group = cases[i].second, .groups = 1, .cold = true}};
        struct lwp_splits splits = {.splits = all, .count = 2};
        const char *caution = lwp_split_caution(&profile, &all[0]);
        assert_int_equal(caution != NULL, cases[i].first == key_hot);
        lwp_split_drop_conflicts(&profile, &splits);
        assert_int_equal(splits.count, cases[i].kept);
        assert_ptr_equal(splits.splits[0].layout, &layouts[0]);
        assert_int_equal(profile.note_count, 2 - cases[i].kept);
        lwp_profile_fini(&profile);
    }
}

/* Nodes and entries of the language's library, and variables of any library of the system, are nobody's to split; structures of the
 * program in arrays of theirs are. */
static void nodes_of_libraries_are_left_alone(void **state)
{
    (void)state;
    struct lwp_type type = {.name = "std::_Rb_tree_node<long>", .language = LWP_LANGUAGE_CXX, .owner = LWP_TYPE_OF_SYSTEM};
    uint32_t object = 0;
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    make_object(&profile, &gappy);
    struct lwp_layout layout = {.objects = &object, .object_count = 1, .type = &type, .single = true};
    assert_true(lwp_split_of_library(&profile, &layout));
    layout.single = false;
    assert_false(lwp_split_of_library(&profile, &layout));
    layout.single = true;
    layout.type = &gappy;
    assert_false(lwp_split_of_library(&profile, &layout));
    layout.single = false;
    profile.objects[object].element_end = 1000; /* control bytes follow */
    assert_true(lwp_split_of_library(&profile, &layout));
    profile.objects[object].element_end = 0;
    profile.code = lwp_code_new(profile.arena);
    profile.objects[object].kind = LWP_OBJECT_STATIC; /* a table of the mathematical library; one of the program */
    profile.objects[object].module = lwp_code_module(profile.code, "/lib/libm.so.6", NULL, 0);
    assert_true(lwp_split_of_library(&profile, &layout));
    profile.objects[object].module = lwp_code_module(profile.code, "/opt/program", NULL, 0);
    assert_false(lwp_split_of_library(&profile, &layout));
    lwp_profile_fini(&profile);
}

/* Another build is advised where the program's own vectors hide its fields, not where the C library's functions do. */
static void library_calls_for_no_other_build(void **state)
{
    (void)state;
    static const char *const files[] = {"/lib/libc.so.6", "/opt/program"};
    static const struct lwp_field fields[] = {
        {.name = "x", .offset = 0, .bytes = 8, .type = "double", .declaration = "double x", .alignment = 8},
        {.name = "y", .offset = 8, .bytes = 8, .type = "double", .declaration = "double y", .alignment = 8},
        {.name = "z", .offset = 16, .bytes = 8, .type = "double", .declaration = "double z", .alignment = 8},
        {.name = "w", .offset = 24, .bytes = 8, .type = "double", .declaration = "double w", .alignment = 8}};
    struct lwp_type point = gappy;
    point.fields = fields;
    point.field_count = 4;
    point.bytes = 32;
    for (size_t i = 0; i < 2; i++) {
        struct lwp_profile profile;
        struct lwp_splits splits = {0};
        lwp_profile_init(&profile);
        profile.code = lwp_code_new(profile.arena);
        const uint32_t module = lwp_code_module(profile.code, files[i], NULL, 0);
        const uint32_t object = make_object(&profile, &point);
        use(&profile, object, 0, 0, (uint16_t)point.bytes, false, 400);
        for (size_t k = 0; k < profile.stream_count; k++) {
            profile.streams[k].module = module;
            profile.streams[k].vector = true;
        }
        lwp_streams_link(&profile);
        lwp_split_advise(&profile, &splits);
        assert_int_equal(splits.reasons[object].verdict, LWP_SPLIT_VAGUE);
        assert_int_equal(splits.reasons[object].copied, i == 0);
        bool advised = false;
        for (size_t k = 0; k < profile.note_count; k++)
            advised |= strstr(profile.notes[k], "-fno-tree-vectorize") != NULL;
        assert_int_equal(advised, i == 1);
        lwp_profile_fini(&profile);
    }
}

/* Who uses which fields need not be known for an order without holes. */
static void vague_fields_leave_holes_known(void **state)
{
    (void)state;
    struct lwp_type type = gappy;
    struct lwp_profile profile;
    struct lwp_splits splits = {0};
    type.field_count = 4;
    type.bytes = 32;
    lwp_profile_init(&profile);
    const uint32_t object = make_object(&profile, &type);
    use(&profile, object, 0, 0, (uint16_t)type.bytes, false, 400);
    for (size_t k = 0; k < profile.stream_count; k++)
        profile.streams[k].vector = true;
    for (int i = 0; i < 12000; i++) /* 3 % of the time are too little to be sure */
        lwp_tally_add(&profile.total, 1);
    lwp_streams_link(&profile);
    lwp_split_advise(&profile, &splits);
    const struct lwp_split_reason *reason = &splits.reasons[object];
    assert_int_equal(reason->verdict, LWP_SPLIT_VAGUE);
    assert_int_equal(reason->order.bytes, 24);
    assert_true(reason->order.low < lwp_split_needs.gain && reason->order.high > 1);
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_calls_for_no_other_build),
        cmocka_unit_test(vague_fields_leave_holes_known),
        cmocka_unit_test(members_of_a_base_class_stay_together),
        cmocka_unit_test(nodes_of_libraries_are_left_alone),
        cmocka_unit_test(parts_lie_as_a_compiler_would_lay_them),
        cmocka_unit_test(holes_call_for_another_order),
        cmocka_unit_test(an_order_moves_no_blocks_together),
        cmocka_unit_test(declarations_speak_the_language_of_the_type),
        cmocka_unit_test(turns_of_threads_are_found),
        cmocka_unit_test(virtual_functions_stay_with_the_class),
        cmocka_unit_test(members_of_a_library_s_base_class_stay_with_the_class),
        cmocka_unit_test(pointers_to_elements_decide_what_links_the_parts),
        cmocka_unit_test(a_pointer_takes_as_much_room_as_what_leaves),
        cmocka_unit_test(what_is_no_larger_than_its_pointer_stays),
        cmocka_unit_test(what_lies_beside_a_node_stays_with_it),
        cmocka_unit_test(kept_pointers_may_want_all_parts),
        cmocka_unit_test(long_fields_are_moved_beside_nothing),
        cmocka_unit_test(bits_stay_together_and_open_arrays_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
