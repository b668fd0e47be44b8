/* Names, paths, fingerprints and foreign text, as reviews say them. */
#include "analysis/check/check.h"
#include "analysis/output/formats.h"
#include "analysis/output/redact.h"
#include "analysis/review/review_parts.h"
#include "analysis/review/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_stable_names(void **state)
{
    (void)state;
    static const char *const functions[][2] = {
        {"work", "work"},           {"work.constprop.0.isra.3", "work"}, {"work.part.1", "work"}, {"f [clone .cold]", "f"},
        {"operator.", "operator."}, {"a::b::h0123456789abcdef", "a::b"}, {"a::h123", "a::h123"},  {"", ""},
    };
    static const char *const names[][2] = {
        {"layer", "layer"}, {"block allocated in f() at x.c:12", "block allocated in f()"}, {"blocks at home", "blocks at home"}};
    struct lwp_arena *arena = lwp_arena_new();
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        assert_string_equal(lwp_stable_function(arena, functions[i][0]), functions[i][1]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(lwp_stable_name(arena, names[i][0]), names[i][1]);
    lwp_arena_free(arena);
}

static void test_relative_paths(void **state)
{
    (void)state;
    static const struct {
        const char *root, *path, *relative;
    } table[] = {
        {"/src", "/src/a.c", "a.c"},         {"/src", "/src/x/../y/./a.c", "y/a.c"}, {"/src", "/srcs/a.c", "/srcs/a.c"},
        {"/src", "/src/../a.c", "/a.c"},     {"/src", "/../../src//a.c", "a.c"},     {"/src", "b/a.c", "b/a.c"},
        {"/src", "../a/../b.c", "../b.c"},   {NULL, "/src/a.c", "/src/a.c"},         {"/", "/a.c", "a.c"},
        {"/src", "/src", "/src"},            {"/src", "", "."},                      {"/src", "a/../../b.c", "../b.c"},
    };
    struct lwp_arena *arena = lwp_arena_new();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_string_equal(lwp_source_relative(arena, table[i].root, table[i].path), table[i].relative);
    json_t *data = json_loads("{\"loops\":[{\"file\":\"/none/p/src/a/x.c\"},{\"file\":\"/none/p/src/b/../b/y.c\"},{\"file\":\"/usr/include/stdio.h\"},"
                              "{\"file\":\"libc.c\"},{\"file\":null}]}", 0, NULL);
    assert_string_equal(lwp_source_root(arena, data, NULL), "/none/p/src");
    assert_string_equal(lwp_source_root(arena, data, "/given/"), "/given");
    json_decref(data);
    lwp_arena_free(arena);
}

/* What lwp added to the run; a run shorter than lwp's start says so. */
static void test_cost(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } table[] = {
        {"{\"run\":{\"cpu_s\":2.9,\"overhead_percent\":1.44}}", "1.4 %"},
        {"{\"run\":{\"cpu_s\":0.004,\"overhead_percent\":753.7}}", "7.5 times the run: so short a run bears the whole start of lwp"},
        {"{\"run\":{\"cpu_s\":0.5,\"overhead_percent\":12}}", "12.0 %: so short a run bears the whole start of lwp"},
        {"{\"run\":{\"overhead_percent\":3}}", "3.0 %"},
    };
    struct lwp_review review = {.arena = lwp_arena_new()};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        json_t *root = json_loads(table[i].json, 0, NULL);
        review.root = root;
        assert_string_equal(lwp_review_cost(&review), table[i].text);
        json_decref(root);
    }
    review.root = NULL;
    assert_null(lwp_review_cost(&review));
    lwp_arena_free(review.arena);
}

static char *written(void (*write)(FILE *, const char *), const char *text)
{
    char *made = NULL;
    size_t length;
    FILE *out = open_memstream(&made, &length);
    write(out, text);
    fclose(out);
    return made;
}

static void test_markdown_text(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"feed_back (x.c:12)", "feed_back (x.c:12)"}, {"_x_ *y*", "\\_x\\_ \\*y\\*"},   {"a|b", "a\\|b"},
        {"<b>&", "&lt;b&gt;&amp;"},                   {"@name", "@&#8203;name"},        {"53 % of", "53 % of"},
        {"1. one", "&#8203;1. one"},                  {"1.5 two", "1.5 two"},           {"- item", "&#8203;- item"},
        {"http://x", "http:&#8203;//x"},              {"www.x", "w&#8203;ww.x"},        {"std::string::npos", "std::string::npos"},
        {":tada:", ":&#8203;tada:"},                  {"", ""},
    };
    static const char *const codes[][2] = {{"a b", "`a b`"}, {"", "<code></code>"}, {"a|b", "<code>a&#124;b</code>"}, {"`", "<code>&#96;</code>"}, {" a", "`  a `"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *made = written(lwp_markdown_text, texts[i][0]);
        assert_string_equal(made, texts[i][1]);
        free(made);
    }
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char *made = written(lwp_markdown_code, codes[i][0]);
        assert_string_equal(made, codes[i][1]);
        free(made);
    }
}

static json_t *analysis(unsigned line, const char *function)
{
    return json_pack("{s:s,s:s,s:{s:s},s:[{s:s,s:s,s:{s:s,s:s,s:i},s:[{}],s:f,s:[f,f]}],s:[{s:i,s:s,s:s}],s:[{s:s,s:s,s:s,s:s,s:f,s:[f,f],s:{s:i},s:s}]}", "schema",
                     "lwp-analysis", "version", "1.0", "run", "engine", "timer", "objects", "name", "cells", "type", "struct cell", "site", "function", function,
                     "file", "/s/a.c", "line", (int)line, "fields", "share", 0.5, "share_ci", 0.4, 0.6, "splits", "object", 0, "confidence", "high",
                     "declaration", "struct cell { int a; };", "findings", "id", "split-cell-1", "kind", "split", "title", "Split it", "severity", "high",
                     "share", 0.5, "expected_speedup", 1.2, 1.5, "refs", "split", 0, "next_step", "Do it.");
}

/* FNV-1a of "split\nstruct cell". Kept in repositories and by services: it must be the same in the next version, on the next line, in the next build. */
static void test_fingerprint(void **state)
{
    (void)state;
    static const char *const functions[] = {"fill", "fill", "fill.constprop.0"};
    for (unsigned i = 0; i < 3; i++) {
        json_t *root = analysis(10 + i, functions[i]);
        struct lwp_review *review = lwp_review_new(root, NULL, NULL);
        assert_int_equal(review->count, 1);
        assert_string_equal(review->items[0].rule, "split");
        assert_string_equal(review->items[0].subject, "struct cell");
        assert_string_equal(review->items[0].fingerprint, "65fae20779412b8e");
        assert_string_equal(review->items[0].locations[0].file, "a.c");
        assert_true(review->items[0].low == 1.2 && review->items[0].part_low == 0.4);
        lwp_review_free(review);
        json_decref(root);
    }
}

/* As many cache lines in another order are no change of their number. */
static void test_as_many_lines(void **state)
{
    (void)state;
    for (int fewer = 0; fewer < 2; fewer++) {
        json_t *root = analysis(1, "fetch");
        json_object_set_new(json_array_get(json_object_get(root, "splits"), 0), "traffic",
                            json_pack("{s:f,s:f}", "before", 0.991, "after", fewer ? 0.5 : 0.99));
        struct lwp_review *review = lwp_review_new(root, NULL, NULL);
        const char *said =
            fewer ? "cache lines per element visited 0.99 -> 0.50" : "as many cache lines per element visited as today, 0.99";
        size_t found = 0;
        for (size_t i = 0; i < review->items[0].fact_count; i++)
            found += strcmp(review->items[0].facts[i].text, said) == 0;
        assert_int_equal(found, 1);
        lwp_review_free(review);
        json_decref(root);
    }
}

/* A split is of all objects of a type: what is said of it is what they take together, and each place that allocates them. */
static void test_split_of_several(void **state)
{
    (void)state;
    json_t *root = analysis(1, "fetch");
    json_object_set_new(root, "loops", json_loads("[{\"function\":\"first\"},{\"function\":\"last\"}]", 0, NULL));
    json_object_set_new(
        root, "objects",
        json_loads("[{\"name\":\"a\",\"type\":\"struct cell\",\"elements\":1000,\"bytes\":4096,\"samples\":30,\"time_share\":0.3,"
                   "\"share\":0.3,\"share_ci\":[0.2,0.4],\"fields\":[{}],\"site\":{\"function\":\"fetch\",\"file\":\"/s/a.c\",\"line\":1},"
                   "\"loops\":[{\"loop\":0,\"share\":0.2,\"fields\":[\"x\"]},{\"loop\":1,\"share\":0.1,\"fields\":[\"x\"]}]},"
                   "{\"name\":\"b\",\"type\":\"struct cell\",\"elements\":500,\"bytes\":4096,\"samples\":20,\"time_share\":0.25,"
                   "\"share\":0.2,\"share_ci\":[0.1,0.3],\"fields\":[{}],\"site\":{\"function\":\"make\",\"file\":\"/s/a.c\",\"line\":7},"
                   "\"loops\":[{\"loop\":1,\"share\":0.15,\"fields\":[\"x\",\"y\"]}]}]",
                   0, NULL));
    json_object_set_new(json_array_get(json_object_get(root, "splits"), 0), "objects", json_pack("[i,i]", 0, 1));
    json_object_update_new(json_array_get(json_object_get(root, "findings"), 0),
                           json_pack("{s:f,s:[f,f]}", "share", 0.5, "share_ci", 0.45, 0.55));
    struct lwp_review *review = lwp_review_new(root, NULL, NULL);
    const struct lwp_review_item *item = &review->items[0];
    static const char *const said[] = {"memory stall on it takes 50.0 % of all time (45.0-55.0), 50 samples",
                                       "1500 elements of 0 bytes, 8.0 KiB; its loops take 55.0 %", "in fetch() at a.c:1",
                                       "in make() at a.c:7"};
    for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
        size_t found = 0;
        for (size_t i = 0; i < item->fact_count; i++)
            found += strcmp(item->facts[i].text, said[k]) == 0;
        assert_int_equal(found, 1);
    }
    assert_int_equal(item->row_count, 2);
    assert_string_equal(item->rows[0].text, "x, y");
    assert_float_equal(item->rows[0].share, 0.25, 1e-9);
    assert_float_equal(item->rows[1].share, 0.2, 1e-9);
    lwp_review_free(review);
    json_decref(root);
}

/* Of an order of loops that was not run the share is of the data that they traverse so; of one that was run, of the whole loop. */
static void test_evidence_of_order(void **state)
{
    (void)state;
    static const char *const said[] = {"memory stall on this data takes 44.4 % of all time in the loop, which takes 92.0 %",
                                       "the loop takes 92.0 % of all time"};
    for (int run = 0; run < 2; run++) {
        json_t *root = analysis(1, "fetch");
        json_object_set_new(root, "loops", json_loads("[{\"function\":\"main\",\"share\":0.92}]", 0, NULL));
        json_object_set_new(root, "locality", json_loads("[{\"object\":0,\"loop\":0}]", 0, NULL));
        json_object_set_new(root, "findings",
                            json_pack("[{s:s,s:s,s:s,s:s,s:f,s:{s:i},s:s}]", "id", "locality-1", "kind", "locality", "title",
                                      "Block the two", "severity", "medium", "share", run ? 0.92 : 0.444, "refs", "locality", 0,
                                      "next_step", "Do it."));
        struct lwp_review *review = lwp_review_new(root, NULL, NULL);
        size_t found = 0;
        for (size_t i = 0; i < review->items[0].fact_count; i++)
            found += strcmp(review->items[0].facts[i].text, said[run]) == 0;
        assert_int_equal(found, 1);
        lwp_review_free(review);
        json_decref(root);
    }
}

/* Two objects of one name are said by who allocates them, of one site by what their paths do not share. */
static void test_one_name_for_two(void **state)
{
    (void)state;
    json_t *root = analysis(1, "fetch"), *contexts = json_array(), *objects = json_object_get(root, "objects");
    json_array_clear(objects);
    static const struct {
        const char *name, *type, *between, *site, *said;
    } table[] = {{"page", "char", "split", "fetch", "page, below split (a.c:2)"},
                 {"page", "char", "join", "fetch", "page, below join (a.c:2)"},
                 {"page", "char", "join", "fetch", "page, below join (a.c:2)"},
                 {"page", "int", "join", "fetch", "page"},
                 {"list", "char", "split", "fetch", "list"},
                 {"p", "long int", "join", "heat_new", "p in heat_new()"},
                 {"p", "long int", "join", "Mass::Mass(long)", "p in Mass::Mass(long)"},
                 {"p", "int", "join", "mass_new", "p"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        json_array_append_new(contexts,
                              json_pack("{s:[{s:s,s:s,s:i},{s:s,s:s,s:i},{s:s,s:s,s:i}]}", "frames", "function", "fetch", "file", "/s/a.c", "line", 1,
                                        "function", table[i].between, "file", "/s/a.c", "line", 2, "function", "main", "file", "/s/a.c", "line", 3));
        json_array_append_new(objects, json_pack("{s:s,s:s,s:i,s:{s:s}}", "name", table[i].name, "type", table[i].type, "context", (int)i, "site", "function", table[i].site));
    }
    json_object_set_new(root, "contexts", contexts);
    json_object_set_new(root, "findings", json_array());
    struct lwp_review *review = lwp_review_new(root, NULL, NULL);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_string_equal(lwp_review_object(review, json_array_get(objects, i)), table[i].said);
    lwp_review_free(review);
    json_decref(root);
}

/* One conflict between several arrays is told once. */
static void test_one_reason_for_two(void **state)
{
    (void)state;
    json_t *root = json_loads("{\"objects\":[{\"name\":\"a\",\"share\":0.3},{\"name\":\"b\",\"share\":0.2},{\"name\":\"b\",\"share\":0.1},"
                              "{\"name\":\"c\",\"share\":0.1}],"
                              "\"left_alone\":[{\"object\":1,\"sentence\":\"they meet\"},{\"object\":0,\"sentence\":\"it is small\"},"
                              "{\"object\":2,\"sentence\":\"they meet\"},{\"object\":3,\"sentence\":\"they meet\"}]}",
                              0, NULL);
    static const char *const said[] = {"they meet", "it is small", "they meet" /* of one name */, "the same as for b"};
    struct lwp_review review = {.arena = lwp_arena_new(), .root = root};
    struct lwp_review_left left;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(lwp_review_left_alone(&review, i, &left), 4);
        assert_string_equal(left.sentence, said[i]);
    }
    assert_string_equal(left.name, "c");
    json_decref(root);
    lwp_arena_free(review.arena);
}

static void test_known_by_half(void **state)
{
    (void)state;
    struct lwp_baseline_entry entry = {.rule = "regroup", .subject = "a, b, c, d", .fingerprint = "0"};
    struct lwp_baseline baseline = {.entries = &entry, .count = 1};
    static const struct {
        const char *rule, *subject;
        bool known;
    } table[] = {{"regroup", "a, b, c", true}, {"regroup", "a, b", true}, {"regroup", "a, x", false}, {"regroup", "a, b, c, d, e, f, g, h, i", false},
                 {"split", "a, b, c", false}, {"regroup", "aa, bb", false}, {"regroup", "", false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct lwp_review_item item = {.rule = table[i].rule, .subject = table[i].subject, .fingerprint = "1"};
        assert_true((lwp_baseline_find(&baseline, &item) != NULL) == table[i].known);
    }
}

/* Advice and notes are several sentences and stay whole; a name of that length loses its middle. */
static void test_clean(void **state)
{
    (void)state;
    char text[601];
    memset(text, 'a', 600);
    text[600] = '\0';
    json_t *root = json_pack("{s:[{s:s, s:s}], s:[s]}", "findings", "title", text, "next_step", text, "notes", text);
    lwp_review_clean(root);
    json_t *finding = json_array_get(json_object_get(root, "findings"), 0);
    assert_string_equal(json_string_value(json_object_get(finding, "next_step")), text);
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "notes"), 0)), text);
    assert_int_equal(json_string_length(json_object_get(finding, "title")), 400);
    json_decref(root);
}

static void test_redact(void **state)
{
    (void)state;
    json_t *data = json_loads("{\"run\":{\"command\":[\"/home/ann/p\",\"--key=x\",\"7\"],\"host\":\"box.example\",\"cwd\":\"/home/ann\","
                              "\"options\":{\"region\":\"secret_function\",\"rate\":400},\"notes\":[\"/home/ann/x, /home/anna/y on box: --key=x 7; boxes\"]},"
                              "\"loops\":[{\"file\":\"/none/p/src/a.c\"},{\"file\":\"/none/p/src/b.c\"}],\"modules\":[{\"path\":\"/opt/ann/lib.so\"}]}", 0, NULL);
    lwp_redact(data, data, NULL);
    char *text = json_dumps(data, JSON_COMPACT);
    assert_string_equal(text, "{\"run\":{\"command\":[\"p\",\"[2 arguments]\"],\"host\":null,\"cwd\":null,\"options\":{\"region\":\"[left out]\",\"rate\":400},"
                              "\"notes\":[\"~/x, ~/y on [host]: [argument] 7; boxes\"]},\"loops\":[{\"file\":\"a.c\"},{\"file\":\"b.c\"}],"
                              "\"modules\":[{\"path\":\"/opt/[user]/lib.so\"}]}");
    free(text);
    json_decref(data);
}

static void test_gain(void **state)
{
    (void)state;
    struct lwp_review review = {.arena = lwp_arena_new()};
    const struct lwp_review_item item = {.speedup = 9.994, .low = 1.2, .high = 15.32}, at_most = {.stake = 0.9};
    assert_string_equal(lwp_review_gain(&review, &item), "9.99x (1.20-15.3)");
    assert_string_equal(lwp_review_gain(&review, &at_most), "at most 10.0x");
    lwp_arena_free(review.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stable_names),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_relative_paths),
        cmocka_unit_test(test_markdown_text),
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_one_reason_for_two),
        cmocka_unit_test(test_known_by_half),
        cmocka_unit_test(test_as_many_lines),
        cmocka_unit_test(test_evidence_of_order),
        cmocka_unit_test(test_one_name_for_two),
        cmocka_unit_test(test_split_of_several),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_redact),
        cmocka_unit_test(test_gain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
