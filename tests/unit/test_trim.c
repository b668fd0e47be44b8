/* What a page of a large result leaves out, and what it shows first: it fits, ids stay right, findings keep what they speak of, and
 * what went is told. */
#include "web/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 3000, SIDE = 32, REGIONS = 40, FOUND = 2900 };

static json_t *matrix(void)
{
    json_t *rows = json_array();
    for (int i = 0; i < SIDE; i++) {
        json_t *row = json_array();
        for (int k = 0; k < SIDE; k++)
            json_array_append_new(row, json_integer(100000 + i * k));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* Shares fall; object i is allocated in context i, pair i is made there; the advice is about nearly the last of each. */
static json_t *large(void)
{
    json_t *objects = json_array(), *contexts = json_array(), *pairs = json_array(), *regions = json_array();
    for (int i = 0; i < ITEMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %d", i);
        double share = 1.0 / (i + 2);
        json_array_append_new(contexts, json_pack("{s:[{s:s}]}", "frames", "function", name));
        json_array_append_new(objects, json_pack("{s:s, s:f, s:i, s:[{s:i}], s:[]}", "name", name, "share", share, "context", i,
                                                 "fields", "offset", i, "loops"));
        json_array_append_new(pairs, json_pack("{s:s, s:f, s:i, s:i}", "kind", name, "share", share, "first", i, "second", i));
    }
    for (int i = 0; i < REGIONS; i++)
        json_array_append_new(regions, json_pack("{s:i, s:o, s:o, s:o}", "communicated", 1000 - i, "true", matrix(), "reuse",
                                                 matrix(), "crr", matrix()));
    return json_pack("{s:o, s:o, s:o, s:{s:o}, s:[{s:i, s:[i]}], s:[{s:{s:i}}]}", "objects", objects, "contexts", contexts,
                     "redundancies", pairs, "communication", "regions", regions, "splits", "object", FOUND, "objects", FOUND,
                     "findings", "refs", "redundancy", FOUND);
}

static size_t bytes_of(const json_t *value)
{
    return json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(9));
}

static json_int_t told(const json_t *left_out, const char *what)
{
    size_t i;
    const json_t *item;
    json_array_foreach(left_out, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "what")), what) == 0)
            return json_integer_value(json_object_get(item, "count"));
    }
    return 0;
}

static void test_small_results_stay(void **state)
{
    (void)state;
    json_t *analysis = large(), *copy = json_deep_copy(analysis), *left_out = lwp_trim(analysis, bytes_of(analysis));
    assert_int_equal(json_array_size(left_out), 0);
    assert_true(json_equal(analysis, copy));
    json_decref(left_out);
    json_decref(copy);
    json_decref(analysis);
}

static void test_large_results_fit(void **state)
{
    (void)state;
    size_t most = 400000;
    json_t *analysis = large(), *left_out = lwp_trim(analysis, most);
    assert_true(bytes_of(analysis) <= most);
    json_t *objects = json_object_get(analysis, "objects"), *pairs = json_object_get(analysis, "redundancies");
    /* all objects are there by their ids, the heaviest and the advised one with all they had */
    assert_int_equal(json_array_size(objects), ITEMS);
    assert_int_equal(json_array_size(json_object_get(json_array_get(objects, 0), "fields")), 1);
    assert_int_equal(json_array_size(json_object_get(json_array_get(objects, FOUND), "fields")), 1);
    assert_null(json_object_get(json_array_get(objects, ITEMS - 1), "fields"));
    assert_true(json_is_true(json_object_get(json_array_get(objects, ITEMS - 1), "left_out")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(objects, ITEMS - 1), "name")), "name 2999");
    /* the finding leads to the pair it led to, and that to its call path */
    json_int_t id = json_integer_value(
        json_object_get(json_object_get(json_array_get(json_object_get(analysis, "findings"), 0), "refs"), "redundancy"));
    const json_t *pair = json_array_get(pairs, (size_t)id);
    assert_string_equal(json_string_value(json_object_get(pair, "kind")), "name 2900");
    const json_t *context = json_array_get(json_object_get(analysis, "contexts"), FOUND);
    assert_int_equal(json_array_size(json_object_get(context, "frames")), 1);
    assert_int_equal(json_array_size(json_object_get(analysis, "contexts")), ITEMS);
    /* what went is told, and the whole program keeps its matrix */
    assert_int_equal(told(left_out, "redundancies"), ITEMS - (json_int_t)json_array_size(pairs));
    assert_true(told(left_out, "objects") > 0 && told(left_out, "regions") > 0);
    const json_t *regions = json_object_get(json_object_get(analysis, "communication"), "regions");
    assert_int_equal(json_array_size(regions), REGIONS);
    assert_int_equal(json_array_size(json_object_get(json_array_get(regions, 0), "true")), SIDE);
    assert_true(json_is_null(json_object_get(json_array_get(regions, REGIONS - 1), "true")));
    json_decref(left_out);
    json_decref(analysis);
}

/* Names alone can be too much: then the last that nothing speaks of go. */
static void test_many_names_fit(void **state)
{
    (void)state;
    size_t most = 350000;
    json_t *analysis = large(), *left_out, *objects = json_object_get(analysis, "objects");
    for (int i = 0; i < 20000; i++)
        json_array_append_new(objects, json_pack("{s:s, s:f, s:n, s:[], s:[]}", "name", "one of many", "share", 1e-6, "bytes", "fields", "loops"));
    left_out = lwp_trim(analysis, most);
    assert_true(bytes_of(analysis) <= most);
    assert_true(json_array_size(objects) > FOUND && json_array_size(objects) < ITEMS);
    assert_int_equal(json_array_size(json_object_get(json_array_get(objects, FOUND), "fields")), 1);
    assert_int_equal(told(left_out, "names"), 20000 + ITEMS - (json_int_t)json_array_size(objects));
    json_decref(left_out);
    json_decref(analysis);
}

static bool kept(const json_t *items, size_t index)
{
    return json_is_object(json_array_get(items, index));
}

/* The first view: the heaviest objects, what findings and advice speak of, where those are allocated; nothing else, at its place. */
static void test_first_view(void **state)
{
    (void)state;
    json_t *data = json_pack("{s:s, s:o}", "view", "result", "analysis", large());
    json_t *first = lwp_page_first(data), *analysis = json_object_get(first, "analysis");
    static const char *const keys[] = {"objects", "contexts"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *items = json_object_get(analysis, keys[i]);
        assert_int_equal(json_array_size(items), FOUND + 1);
        assert_true(kept(items, 0) && kept(items, 9) && kept(items, FOUND));
        assert_false(kept(items, 10) || kept(items, FOUND - 1));
    }
    assert_true(kept(json_object_get(analysis, "redundancies"), FOUND) && !kept(json_object_get(analysis, "redundancies"), 0));
    assert_true(json_is_object(json_object_get(analysis, "communication"))); /* was measured */
    assert_null(json_object_get(json_object_get(analysis, "communication"), "regions"));
    assert_true(json_is_true(json_object_get(first, "partial")));
    assert_null(json_object_get(data, "partial"));
    assert_int_equal(json_array_size(json_object_get(json_object_get(json_object_get(data, "analysis"), "communication"), "regions")),
                     REGIONS);
    json_decref(first);
    json_object_set_new(data, "view", json_string("index"));
    assert_null(lwp_page_first(data));
    json_decref(data);
}

/* Whatever is in it: nothing fits into nothing, and all ends. */
static void test_odd_results(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}", "{\"objects\": 7, \"findings\": null, \"redundancies\": {}, \"communication\": []}",
        "{\"objects\": [1, null, {\"share\": \"x\"}], \"splits\": [{\"object\": -1, \"objects\": [99, \"a\"]}]}",
        "{\"communication\": {\"regions\": [null, {\"true\": 3, \"reuse\": []}]}, \"contexts\": [1, 2]}",
        "{\"redundancies\": [{\"first\": 1e9, \"others\": 3}], \"findings\": [{\"refs\": {\"redundancy\": 5}}, 4]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *analysis = json_loads(texts[i], 0, NULL);
        assert_non_null(analysis);
        json_t *data = json_pack("{s:s, s:O}", "view", "result", "analysis", analysis);
        json_decref(lwp_page_first(data));
        json_decref(data);
        json_decref(lwp_trim(analysis, 0));
        json_decref(analysis);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_results_stay), cmocka_unit_test(test_large_results_fit), cmocka_unit_test(test_many_names_fit),
        cmocka_unit_test(test_first_view),         cmocka_unit_test(test_odd_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
