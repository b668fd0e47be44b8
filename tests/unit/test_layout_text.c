/* What people read: declarations, titles, the report. And that pieces of advice about one type are one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/layout/split_internal.h"
#include "analysis/elements/elements.h"
#include "analysis/findings/findings.h"
#include "analysis/json/json.h"
#include "analysis/output/report.h"
#include "analysis/output/terminal.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "format/record.h"
#include "tests/unit/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lwp_field cell_fields[] = {
    {"key", 0, 8, "long", "long key", 8, NULL, false},
    {"a", 8, 4, "unsigned", "unsigned a : 3", 4, NULL, false},
    {"b", 8, 4, "unsigned", "unsigned b : 5", 4, NULL, false},
    {"call", 16, 8, "int (*)(int)", "int (*call)(int)", 8, NULL, false},
    {"name", 24, 40, "char [40]", "char name[40]", 1, NULL, false},
    {"tail", 64, 0, "char []", "char tail[]", 1, NULL, false},
};
static const struct lwp_type cell = {.name = "struct cell",
                                     .tag = "cell",
                                     .kind = LWP_TYPE_STRUCT,
                                     .bytes = 64,
                                     .line = 7,
                                     .fields = cell_fields,
                                     .field_count = 6};
static const struct lwp_type cell_class = {.name = "Cell",
                                           .tag = "Cell",
                                           .kind = LWP_TYPE_STRUCT,
                                           .is_typedef = true,
                                           .is_class = true,
                                           .bytes = 64,
                                           .fields = cell_fields,
                                           .field_count = 6};

static uint32_t array_of(struct lwp_profile *profile, const struct lwp_type *type, uint64_t pool, int loop,
                         uint64_t offset, int samples)
{
    uint32_t context = lwp_contexts_child(profile, 0, LWP_NONE, 0x4000 + profile->object_count, false);
    uint32_t index = lwp_objects_allocated(profile, LWP_OBJECT_HEAP, context, pool);
    struct lwp_object *object = &profile->objects[index];
    object->bytes = 64 << 20;
    object->largest = pool ? pool : 64 << 20;
    object->accessed = true;
    object->accesses = (uint64_t)samples;
    object->type = type;
    object->type_exact = true;
    object->element_bytes = 64;
    object->single = pool != 0;
    object->variable = "cells\033[31m";
    while (profile->region_count <= (size_t)loop) {
        LWP_GROW(&profile->regions, profile->region_count, &profile->region_room);
        profile->regions[profile->region_count] = (struct lwp_region){.module = LWP_NONE,
                                                                      .parent = LWP_NONE,
                                                                      .function = "walk\nall",
                                                                      .same_as = (uint32_t)profile->region_count,
                                                                      .reported = LWP_NONE};
        profile->region_count++;
    }
    for (int i = 0; i < samples; i++) {
        struct lwps_access access = {.bytes = 8,
                                     .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN | LWPS_ACCESS_WEIGHTED,
                                     .source = LWPS_SOURCE_UNDO};
        uint64_t at = (pool ? 0 : 64 * (uint64_t)(i * 37 % 1000)) + offset;
        uint32_t stream = streams_add(profile, index, (uint32_t)loop, LWP_NONE, 0x1000 + offset, &access, at, 1000);
        streams_distance(profile, stream, 640);
        lwp_tally_add(&object->weight, 1000);
        lwp_tally_add(&profile->total, 1000);
        lwp_tally_add(&profile->stalled, 1000);
        lwp_tally_add(&profile->regions[loop].weight, 1000);
    }
    if (pool)
        streams_lead(profile, index, 640);
    return index;
}

static void advise(struct lwp_profile *profile, struct lwp_splits *splits)
{
    lwp_regions_merge(profile);
    lwp_streams_link(profile);
    lwp_split_advise(profile, splits);
}

static void test_array_declaration(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_splits splits;
    lwp_profile_init(&profile);
    array_of(&profile, &cell, 0, 0, 0, 300);
    array_of(&profile, &cell, 0, 1, 16, 200); /* another array of the same type */
    advise(&profile, &splits);
    assert_int_equal(splits.count, 1); /* one piece of advice for the type */
    assert_int_equal(splits.splits[0].layout->object_count, 2);
    assert_int_equal(splits.splits[0].layout->field_count, 4); /* bit fields are one, the empty tail none */
    assert_string_equal(splits.splits[0].declaration,
                        "struct cell_key { long key; };\n"
                        "struct cell_call { int (*call)(int); };\n"
                        "struct cell_cold { unsigned a : 3; unsigned b : 5; char name[40]; };\n");
    lwp_profile_fini(&profile);
}

static void test_node_declaration(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_splits splits;
    lwp_profile_init(&profile);
    array_of(&profile, &cell_class, 64, 0, 16, 300);
    advise(&profile, &splits);
    assert_int_equal(splits.count, 1);
    assert_string_equal(splits.splits[0].declaration,
                        "/* A sketch: Cell is a class; keep its methods and adapt them. */\n"
                        "struct Cell_cold { long key; unsigned a : 3; unsigned b : 5; char name[40]; };\n"
                        "typedef struct Cell {\n    int (*call)(int);                   /* +0, 100.0 % of the time */\n"
                        "    struct Cell_cold *cold;\n} Cell;\n");
    lwp_profile_fini(&profile);
}

/* What is in a template has the name of itself. */
static void test_template_declaration(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_splits splits;
    struct lwp_type type = cell_class;
    type.name = type.tag = "grid::Of<int, grid::Row>::Cell";
    lwp_profile_init(&profile);
    array_of(&profile, &type, 64, 0, 16, 300);
    advise(&profile, &splits);
    assert_int_equal(splits.count, 1);
    assert_non_null(strstr(splits.splits[0].declaration, "struct Cell_cold {"));
    lwp_profile_fini(&profile);
}

static void test_report(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_answers answers = {0};
    lwp_profile_init(&profile);
    profile.run = json_object();
    array_of(&profile, &cell, 0, 0, 0, 300);
    advise(&profile, &answers.splits);
    lwp_redundancy_find(&profile, &answers.redundancies);
    lwp_findings_rank(&profile, &answers);
    assert_int_equal(answers.findings.count, 1);
    assert_string_equal(answers.findings.findings[0].kind, "split");
    assert_true(strncmp(answers.findings.findings[0].id, "split-cell-", 11) == 0);
    json_t *root = lwp_json_build(&profile, &answers);
    assert_non_null(root);
    assert_int_equal(json_array_size(json_object_get(root, "regroups")), 0);
    assert_true(json_is_null(json_object_get(root, "redundancies")));
    struct lwp_review *review = lwp_review_new(root, NULL, NULL);
    for (int colour = 0; colour < 2; colour++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        lwp_report_print(out, review, "DIR", false, colour);
        fclose(out);
        assert_non_null(strstr(text, "struct cell_key { long key; };"));
        assert_non_null(strstr(text, "cells\\x1b[31m")); /* a name cannot change the terminal */
        assert_non_null(strstr(text, "walk\\x0aall"));
        assert_true((strchr(text, '\033') != NULL) == colour);
        free(text);
    }
    lwp_review_free(review);
    json_decref(root);
    lwp_profile_fini(&profile);
}

static uint32_t region(struct lwp_profile *profile, uint32_t parent, uint32_t first, uint32_t last)
{
    LWP_GROW(&profile->regions, profile->region_count, &profile->region_room);
    profile->regions[profile->region_count] = (struct lwp_region){.module = 0,
                                                                  .parent = parent,
                                                                  .function = "f",
                                                                  .file = "f.c",
                                                                  .first_line = first,
                                                                  .last_line = last,
                                                                  .weight = {.weight = 1, .samples = 1},
                                                                  .same_as = (uint32_t)profile->region_count};
    return (uint32_t)profile->region_count++;
}

/* Vector body and remainder of one loop join; a nest, and loops one after the other, do not. */
static void test_loop_versions(void **state)
{
    (void)state;
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    uint32_t outer = region(&profile, LWP_NONE, 10, 20);
    uint32_t body = region(&profile, outer, 12, 14);
    uint32_t remainder = region(&profile, outer, 12, 13);
    uint32_t next = region(&profile, outer, 16, 18);
    uint32_t copy = region(&profile, LWP_NONE, 10, 19); /* the nest was unswitched: a second outer loop */
    uint32_t inner_copy = region(&profile, copy, 12, 14);
    lwp_regions_merge(&profile);
    assert_int_equal(profile.regions[remainder].same_as, body);
    assert_int_equal(profile.regions[next].same_as, next);
    assert_int_equal(profile.regions[copy].same_as, outer);
    assert_int_equal(profile.regions[inner_copy].same_as, body);
    assert_int_equal(profile.regions[body].same_as, body);
    assert_int_equal(profile.regions[body].weight.samples, 3);
    lwp_profile_fini(&profile);
}

/* A tree built by recursion is one object, not one for each depth. */
/* The name stays whole where there is room for it, whatever its type is called. */
static void test_names_of_rows(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *shown;
    } rows[] = {{"tiles->field.vol_flux_y", "real(kind=8)", "tiles->field.vol_flux_y\n"},
                {"node", "struct property", "node (struct property)\n"},
                {"node", NULL, "node\n"},
                {"J->stack", "struct js_StringNode", "J->stack (struct ...ode)\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        lwp_terminal_name(&(struct lwp_terminal){.out = out, .columns = 80}, 56, rows[i].name, rows[i].type);
        fclose(out);
        assert_string_equal(text, rows[i].shown);
        free(text);
    }
}

static void test_recursion(void **state)
{
    (void)state;
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    uint32_t main_node = lwp_contexts_child(&profile, 0, LWP_NONE, 0x100, false);
    uint32_t build = lwp_contexts_child(&profile, main_node, LWP_NONE, 0x200, false), deep = build;
    for (int i = 0; i < 40; i++)
        deep = lwp_contexts_child(&profile, deep, LWP_NONE, 0x200, false);
    assert_int_equal(lwp_contexts_unrecursed(&profile, deep), build);
    assert_int_equal(lwp_contexts_unrecursed(&profile, main_node), main_node);
    assert_int_equal(lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, deep, 48),
                     lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, build, 48));
    assert_int_equal(lwp_contexts_common(&profile, deep, main_node), main_node);
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_array_declaration),    cmocka_unit_test(test_node_declaration),
        cmocka_unit_test(test_template_declaration), cmocka_unit_test(test_report),
        cmocka_unit_test(test_loop_versions),        cmocka_unit_test(test_names_of_rows), cmocka_unit_test(test_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
