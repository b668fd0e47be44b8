/* Comparing two results made by hand: what is matched with what, what is said about the promise, and that no JSON,
 * however wrong, does more than give a poor answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/diff/diff.h"
#include "tests/unit/amount.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *loaded(const char *text)
{
    json_error_t problem;
    json_t *root = json_loads(text, 0, &problem);
    if (!root)
        fail_msg("%s at %d", problem.text, problem.position);
    return root;
}

/* A structure of 64 bytes, of which one loop uses x, another y and z; and an array that stays as it is. */
static json_t *wide(void)
{
    return loaded(
        "{\"schema\":\"lwp-analysis\",\"version\":\"1.0\",\"run\":{\"command\":[\"./"
        "p\",\"1\"],\"host\":\"h\",\"cpu_s\":4.0,"
        "\"wall_s\":4.1,\"exit\":{\"code\":0,\"signal\":null},\"engine\":\"timer\",\"weight_unit\":\"ns\",\"weight\":3."
        "9e9,"
        "\"samples\":1600,\"machine\":{\"cpu\":\"c\",\"cores\":2,\"line_bytes\":64,\"caches\":null},"
        "\"processes\":[{\"pid\":1,\"threads\":1}]},"
        "\"loops\":[{\"kind\":\"loop\",\"function\":\"walk\",\"file\":\"/s/"
        "p.c\",\"first_line\":10,\"last_line\":11,\"share\":0.5,"
        "\"samples\":800},"
        "{\"kind\":\"loop\",\"function\":\"step\",\"file\":\"/s/"
        "p.c\",\"first_line\":20,\"last_line\":22,\"share\":0.3,\"samples\":480},"
        "{\"kind\":\"loop\",\"function\":\"other\",\"file\":\"/s/"
        "p.c\",\"first_line\":30,\"last_line\":31,\"share\":0.2,"
        "\"samples\":320}],"
        "\"objects\":[{\"kind\":\"heap\",\"name\":\"points\",\"type\":\"struct "
        "point\",\"bytes\":64000000,\"element_bytes\":64,"
        "\"elements\":1000000,\"site\":{\"function\":\"main\",\"file\":\"/s/p.c\",\"line\":50},\"share\":0.6,"
        "\"share_ci\":[0.57,0.63],\"time_share\":0.8,\"samples\":960,\"single\":false,"
        "\"fields\":[{\"offset\":0,\"bytes\":8,\"name\":\"x\"},{\"offset\":8,\"bytes\":8,\"name\":\"y\"},"
        "{\"offset\":16,\"bytes\":8,\"name\":\"z\"},{\"offset\":24,\"bytes\":40,\"name\":\"rest\"}],"
        "\"loops\":[{\"loop\":0,\"share\":0.4,\"stride\":64,\"offsets\":[0],\"samples\":700},"
        "{\"loop\":1,\"share\":0.2,\"stride\":64,\"offsets\":[8,16],\"samples\":400}]},"
        "{\"kind\":\"heap\",\"name\":\"block allocated in fill() at p.c:60\",\"type\":\"double\",\"bytes\":8000000,"
        "\"element_bytes\":8,\"elements\":1000000,\"site\":{\"function\":\"fill\",\"file\":\"/s/p.c\",\"line\":60},"
        "\"share\":0.1,\"share_ci\":[0.08,0.12],\"time_share\":0.2,\"samples\":160,\"fields\":[],"
        "\"loops\":[{\"loop\":2,\"share\":0.1,\"stride\":8,\"offsets\":[],\"samples\":300}]}],"
        "\"splits\":[{\"object\":0,\"objects\":[0],\"traffic\":{\"before\":1,\"after\":0.2,"
        "\"loops\":[{\"loop\":0,\"before\":1},{\"loop\":1,\"before\":1}]},\"groups\":[{\"fields\":[\"x\"]},{\"fields\":"
        "[\"y\",\"z\"]}],"
        "\"cold\":{\"fields\":[\"rest\"]},\"declaration\":\"struct point_x { double x; };\\nstruct point_yz { double "
        "y; double z; "
        "};\\nstruct point_cold { char rest[40]; };\\n\"}],"
        "\"regroups\":null,"
        "\"findings\":[{\"id\":\"split-point-1\",\"kind\":\"split\",\"title\":\"Split "
        "it\",\"expected_speedup\":[1.4,2.1],"
        "\"refs\":{\"split\":0}}]}");
}

/* The same program after following that: 2.25 s, lines moved, other file name. */
static json_t *narrow(void)
{
    return loaded(
        "{\"schema\":\"lwp-analysis\",\"version\":\"1.0\",\"run\":{\"command\":[\"./"
        "p_fixed\",\"1\"],\"host\":\"h\",\"cpu_s\":2.25,"
        "\"wall_s\":2.3,\"exit\":{\"code\":0,\"signal\":null},\"engine\":\"timer\",\"weight_unit\":\"ns\",\"weight\":2."
        "2e9,"
        "\"samples\":900,\"machine\":{\"cpu\":\"c\",\"cores\":2,\"line_bytes\":64,\"caches\":null},"
        "\"processes\":[{\"pid\":1,\"threads\":1}]},"
        "\"loops\":[{\"kind\":\"loop\",\"function\":\"walk\",\"file\":\"/s/"
        "q.c\",\"first_line\":17,\"last_line\":18,\"share\":0.4,"
        "\"samples\":360},"
        "{\"kind\":\"loop\",\"function\":\"other\",\"file\":\"/s/"
        "q.c\",\"first_line\":37,\"last_line\":38,\"share\":0.355,"
        "\"samples\":320},"
        "{\"kind\":\"loop\",\"function\":\"step\",\"file\":\"/s/"
        "q.c\",\"first_line\":27,\"last_line\":29,\"share\":0.245,"
        "\"samples\":220}],"
        "\"objects\":["
        "{\"kind\":\"heap\",\"name\":\"block allocated in fill() at q.c:69\",\"type\":\"double\",\"bytes\":8000000,"
        "\"element_bytes\":8,\"elements\":1000000,\"site\":{\"function\":\"fill\"},\"share\":0.2,\"share_ci\":[0.18,0."
        "22],"
        "\"time_share\":0.36,\"samples\":180,\"fields\":[],\"loops\":[{\"loop\":1,\"share\":0.2,\"stride\":8,"
        "\"offsets\":[],"
        "\"samples\":300}]},"
        "{\"kind\":\"heap\",\"name\":\"xs\",\"type\":\"struct point_x\",\"bytes\":8000000,\"element_bytes\":8,"
        "\"elements\":1000000,\"site\":{\"function\":\"main\"},\"share\":0.1,\"share_ci\":[0.08,0.12],\"time_share\":0."
        "4,"
        "\"samples\":90,\"fields\":[],\"loops\":[{\"loop\":0,\"share\":0.1,\"stride\":8,\"offsets\":[],\"samples\":300}"
        "]},"
        "{\"kind\":\"heap\",\"name\":\"pairs\",\"type\":\"struct yz\",\"bytes\":16000000,\"element_bytes\":16,"
        "\"elements\":1000000,\"site\":{\"function\":\"main\"},\"share\":0.05,\"share_ci\":[0.04,0.06],\"time_share\":"
        "0.24,"
        "\"samples\":45,\"fields\":[{\"offset\":0,\"bytes\":8,\"name\":\"y\"},{\"offset\":8,\"bytes\":8,\"name\":\"z\"}"
        "],"
        "\"loops\":[{\"loop\":2,\"share\":0.05,\"stride\":16,\"offsets\":[0,8],\"samples\":200}]},"
        "{\"kind\":\"static\",\"name\":\"table\",\"type\":\"int\",\"bytes\":4000,\"element_bytes\":4,\"elements\":1000,"
        "\"site\":null,\"share\":0.02,\"share_ci\":[0.01,0.03],\"samples\":18,\"fields\":[],\"loops\":[]}],"
        "\"splits\":[],\"regroups\":null,\"findings\":[]}");
}

static json_t *compare(json_t *before, json_t *after)
{
    struct lwp_error err = {0};
    json_t *diff = lwp_diff_build(before, "before", after, "after", &err);
    json_decref(before);
    json_decref(after);
    if (!diff)
        fail_msg("%s", err.text);
    return diff;
}

static const json_t *structure(const json_t *diff, const char *name)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(diff, "structures"), i, row)
    {
        const char *text = json_string_value(json_object_get(row, "name"));
        if (text && strcmp(text, name) == 0)
            return row;
    }
    fail_msg("no structure is called %s", name);
    return NULL;
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "(null)";
}

static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

static const json_t *program(const json_t *diff)
{
    return json_object_get(diff, "program");
}

static void near(double value, double wanted)
{
    if (fabs(value - wanted) > 0.005 * fabs(wanted) + 1e-9)
        fail_msg("%f instead of %f", value, wanted);
}

static void set(json_t *root, const char *object, const char *key, json_t *value)
{
    json_object_set_new(object ? json_object_get(root, object) : root, key, value);
}

static void test_split(void **state)
{
    (void)state;
    json_t *diff = compare(wide(), narrow());
    assert_true(json_is_true(json_object_get(diff, "comparable")));
    assert_string_equal(text_in(program(diff), "verdict"), "arrived");
    assert_string_equal(text_in(program(diff), "sentence"), "the gain is as predicted: 1.78x measured, 1.40-2.10x predicted");
    assert_true(json_is_null(json_object_get(program(diff), "cpu_ratio_ci"))); /* one run each */
    near(number_in(program(diff), "cpu_ratio"), 4 / 2.25);
    const json_t *points = structure(diff, "points"), *parts = json_object_get(points, "parts");
    assert_string_equal(text_in(points, "status"), "split");
    assert_int_equal(json_array_size(parts), 2);
    assert_string_equal(text_in(json_array_get(parts, 0), "type"), "struct point_x");
    assert_int_equal(number_in(json_array_get(parts, 0), "group"), 0);
    assert_string_equal(text_in(json_array_get(parts, 1), "type"), "struct yz");
    assert_int_equal(number_in(json_array_get(parts, 1), "group"), 1);
    const json_t *before = json_object_get(points, "before"), *after = json_object_get(points, "after");
    near(number_in(before, "waiting_s"), 2.4);
    near(number_in(after, "waiting_s"), 0.15 * 2.25);
    near(number_in(before, "weight"), 2.4e9);
    near(number_in(before, "lines_per_element"), 1);
    near(number_in(after, "lines_per_element"), (0.4 * 8 + 0.2 * 16) / 0.6 / 64);
    /* walk: 2.0 s -> 0.9 s, step: 1.2 s -> 0.55 s, all of it for this structure */
    near(number_in(points, "arrived"), 4 / (4 - (2.0 - 0.9) - (1.2 - 0.245 * 2.25)));
    assert_string_equal(text_in(points, "verdict"), "arrived");
    /* Loops are matched although their lines and order moved. */
    const json_t *loop = json_array_get(json_object_get(points, "loops"), 0);
    assert_string_equal(text_in(loop, "function"), "walk");
    assert_int_equal(number_in(json_object_get(loop, "after"), "first_line"), 17);
    /* The allocation's line is no part of an identity. */
    assert_string_equal(text_in(structure(diff, "block allocated in fill()"), "status"), "same");
    assert_string_equal(text_in(structure(diff, "table"), "status"), "new");
    const json_t *findings = json_object_get(diff, "findings");
    assert_int_equal(json_array_size(json_object_get(findings, "gone")), 1);
    assert_int_equal(json_array_size(json_object_get(findings, "new")), 0);
    json_decref(diff);
}

/* The status of wide()'s structure when it has these fields after, and no other structure was seen. */
static void status_with(const char *fields, int element_bytes, const char *status)
{
    json_t *after = wide(), *points = json_array_get(json_object_get(after, "objects"), 0);
    json_object_set_new(points, "element_bytes", json_integer(element_bytes));
    json_object_set_new(points, "fields", loaded(fields));
    json_t *diff = compare(wide(), after);
    assert_string_equal(text_in(structure(diff, "points"), "status"), status);
    json_decref(diff);
}

#define XYZ                                                                                                            \
    "[{\"offset\":0,\"bytes\":8,\"name\":\"x\"},{\"offset\":8,\"bytes\":8,\"name\":\"y\"},"                            \
    "{\"offset\":16,\"bytes\":8,\"name\":\"z\"}"

/* The cold part takes no sample in many a run: the pointer to it tells. */
static void test_part_unseen(void **state)
{
    (void)state;
    status_with(XYZ ",{\"offset\":24,\"bytes\":8,\"name\":\"cold\"}]", 32, "split");
    status_with(XYZ "]", 24, "changed"); /* dropped for all one can see */
    status_with(XYZ ",{\"offset\":24,\"bytes\":16,\"name\":\"less\"}]", 40, "changed");
    status_with("[{\"offset\":0,\"bytes\":8,\"name\":\"all\"}]", 8, "changed"); /* nothing stayed */
}

/* The other way round: the structure is new, the parts are gone or it is a regrouping; nothing was promised. */
static void test_back(void **state)
{
    (void)state;
    json_t *diff = compare(narrow(), wide());
    assert_string_equal(text_in(program(diff), "verdict"), "nothing_promised");
    assert_string_equal(text_in(structure(diff, "table"), "status"), "gone");
    assert_int_equal(json_array_size(json_object_get(json_object_get(diff, "findings"), "new")), 1);
    json_decref(diff);
}

static void test_nothing_done(void **state)
{
    (void)state;
    json_t *diff = compare(wide(), wide());
    assert_string_equal(text_in(program(diff), "verdict"), "not_followed");
    assert_string_equal(text_in(structure(diff, "points"), "status"), "same");
    assert_int_equal(json_array_size(json_object_get(json_object_get(diff, "findings"), "unchanged")), 1);
    near(number_in(json_object_get(program(diff), "control"), "before_s"), 4);
    json_decref(diff);
}

static void verdict_for(double cpu_s, const char *verdict, const char *words)
{
    json_t *after = narrow();
    set(after, "run", "cpu_s", json_real(cpu_s));
    /* the control takes 0.8 s as before */
    json_t *loops = json_object_get(after, "loops");
    json_object_set_new(json_array_get(loops, 1), "share", json_real(0.8 / cpu_s));
    json_t *diff = compare(wide(), after);
    assert_string_equal(text_in(program(diff), "verdict"), verdict);
    if (!strstr(text_in(program(diff), "sentence"), words))
        fail_msg("'%s' does not say '%s'", text_in(program(diff), "sentence"), words);
    json_decref(diff);
}

static void test_verdicts(void **state)
{
    (void)state;
    verdict_for(4 / 1.62, "arrived", "the gain is as predicted: 1.62x measured, 1.40-2.10x predicted");
    verdict_for(4 / 1.40, "arrived", "1.40x");
    verdict_for(4 / 1.15, "less", "the gain is smaller than predicted: 1.15x measured, 1.40-2.10x predicted");
    verdict_for(4 / 1.38, "cannot_tell", "cannot tell from one run of each");
    verdict_for(4 / 1.01, "none", "no gain");
    verdict_for(4 / 0.80, "slower", "slower");
    verdict_for(4 / 2.50, "more", "larger than predicted");
}

/* Several runs on each side give an interval, and with it doubt where one is due. */
static void test_runs(void **state)
{
    (void)state;
    json_t *before = wide(), *after = narrow();
    set(before, "run", "runs",
        json_pack("[{s:f,s:f},{s:f,s:f}]", "cpu_s", 3.9, "wall_s", 4.0, "cpu_s", 4.1, "wall_s", 4.2));
    set(after, "run", "runs",
        json_pack("[{s:f,s:f},{s:f,s:f}]", "cpu_s", 2.8, "wall_s", 2.9, "cpu_s", 3.4, "wall_s", 3.5));
    json_object_set_new(json_array_get(json_object_get(after, "loops"), 1), "share", json_real(0.26));
    json_t *diff = compare(before, after);
    near(number_in(program(diff), "cpu_ratio"), 4 / 3.1);
    const json_t *interval = json_object_get(program(diff), "cpu_ratio_ci");
    assert_int_equal(json_array_size(interval), 2);
    assert_true(json_number_value(json_array_get(interval, 0)) < 1.1);
    assert_true(json_number_value(json_array_get(interval, 1)) > 1.4);
    assert_string_equal(text_in(program(diff), "verdict"), "cannot_tell");
    assert_int_equal(number_in(json_object_get(diff, "before"), "runs"), 2);
    json_decref(diff);
}

static void doubted(json_t *after, const char *kind, bool serious)
{
    json_t *diff = compare(wide(), after);
    const json_t *doubt;
    size_t i;
    bool found = false;
    json_array_foreach(json_object_get(diff, "doubts"), i, doubt)
    {
        if (strcmp(text_in(doubt, "kind"), kind) == 0) {
            found = true;
            assert_int_equal(json_is_true(json_object_get(doubt, "serious")), serious);
        }
    }
    if (!found)
        fail_msg("no doubt about the %s", kind);
    if (serious) {
        assert_false(json_is_true(json_object_get(diff, "comparable")));
        assert_string_equal(text_in(program(diff), "verdict"), "cannot_tell");
        assert_non_null(strstr(text_in(program(diff), "sentence"), "cannot tell: "));
        assert_string_equal(text_in(structure(diff, "points"), "verdict"), "cannot_tell");
        assert_true(json_is_null(json_object_get(program(diff), "cpu_ratio")) == (strcmp(kind, "engine") == 0));
    }
    json_decref(diff);
}

/* 1 % of the time takes three times as long, in enough samples: the change may have done that itself, through the caches. */
static void test_small_control(void **state)
{
    (void)state;
    json_t *before = wide(), *after = narrow();
    json_object_set_new(json_array_get(json_object_get(before, "loops"), 2), "share", json_real(0.01));
    json_object_set_new(json_array_get(json_object_get(after, "loops"), 1), "share", json_real(0.049));
    json_t *diff = compare(before, after);
    assert_true(json_is_true(json_object_get(diff, "comparable")));
    assert_int_equal(json_array_size(json_object_get(diff, "doubts")), 0);
    json_decref(diff);
}

static void test_doubts(void **state)
{
    (void)state;
    json_t *after = narrow(), *machine = json_object_get(json_object_get(after, "run"), "machine");
    json_object_set_new(machine, "cpu", json_string("another"));
    doubted(after, "machine", true);
    set(after = narrow(), "run", "engine", json_string("exact"));
    set(after, "run", "weight_unit", json_string("simulated cycles"));
    doubted(after, "engine", true);
    set(after = narrow(), "run", "exit", json_pack("{s:i,s:n}", "code", 1, "signal"));
    doubted(after, "exit", true);
    /* Other arguments, but the rest of the program took as long as before. */
    set(after = narrow(), "run", "command", json_pack("[s,s]", "./p", "2"));
    doubted(after, "arguments", false);
    /* Other arguments, and nothing to check with. */
    set(after = narrow(), "run", "command", json_pack("[s,s]", "./p", "2"));
    json_array_remove(json_object_get(after, "loops"), 1);
    doubted(after, "arguments", true);
    /* Half of the elements; the others may not have been recorded. */
    for (int unrecorded = 0; unrecorded < 2; unrecorded++) {
        after = narrow();
        for (size_t i = 1; i < 3; i++)
            json_object_set_new(json_array_get(json_object_get(after, "objects"), i), "elements", json_integer(500000));
        if (unrecorded)
            set(after, "run", "allocations_unrecorded", json_integer(500000));
        doubted(after, "data", !unrecorded);
    }
    /* A fifth fewer are no other work where 20 samples show how far an array is used. */
    after = narrow();
    for (size_t i = 1; i < 3; i++) {
        json_t *object = json_array_get(json_object_get(after, "objects"), i);
        json_object_set_new(object, "elements", json_integer(800000));
        json_object_set_new(object, "used_bytes", json_integer(12800000));
        json_object_set_new(object, "samples", json_integer(20));
    }
    json_t *diff = compare(wide(), after);
    assert_true(json_is_true(json_object_get(diff, "comparable")));
    json_decref(diff);
    /* What was not touched takes three times as long. */
    after = narrow();
    json_object_set_new(json_array_get(json_object_get(after, "loops"), 1), "share", json_real(1));
    doubted(after, "control", true);
    after = narrow();
    for (size_t i = 0; i < 3; i++)
        json_object_set_new(json_array_get(json_object_get(after, "loops"), i), "function", json_sprintf("f%zu", i));
    doubted(after, "program", true);
    set(after = narrow(), "run", "processes", json_pack("[{s:i}]", "threads", 4));
    doubted(after, "threads", false);
}

/* Arrays that became fields of one structure. */
static void test_regrouped(void **state)
{
    (void)state;
    json_t *before = narrow(), *after = wide();
    json_t *objects = json_object_get(before, "objects"), *x = json_array_get(objects, 1),
           *y = json_array_get(objects, 2);
    json_object_set_new(x, "name", json_string("pos_x"));
    json_object_set_new(x, "type", json_string("double"));
    json_object_set_new(y, "name", json_string("y"));
    json_object_set_new(y, "type", json_string("double"));
    json_object_set_new(y, "fields", json_array());
    json_t *diff = compare(before, after);
    const json_t *row = structure(diff, "pos_x");
    assert_string_equal(text_in(row, "status"), "regrouped");
    assert_int_equal(json_array_size(json_object_get(row, "whole")), 2);
    assert_int_equal(json_array_size(json_object_get(row, "parts")), 1);
    json_decref(diff);
}

/* A structure that only lost a field keeps its name. */
static void test_changed(void **state)
{
    (void)state;
    json_t *after = wide(), *object = json_array_get(json_object_get(after, "objects"), 0);
    json_array_remove(json_object_get(object, "fields"), 3);
    json_object_set_new(object, "element_bytes", json_integer(24));
    json_t *diff = compare(wide(), after);
    const json_t *row = structure(diff, "points");
    assert_string_equal(text_in(row, "status"), "changed");
    near(number_in(json_object_get(row, "after"), "lines_per_element"),
         (0.4 * 0.375 + 0.2 * 0.375) / 0.6); /* each line is touched by what is packed so tightly */
    json_decref(diff);
}

static void test_refused(void **state)
{
    (void)state;
    struct lwp_error err = {0};
    json_t *good = wide(), *bad = json_object();
    assert_null(lwp_diff_build(good, "a", bad, "b", &err));
    assert_non_null(strstr(err.text, "'b'"));
    assert_null(lwp_diff_build(bad, "a", good, "b", &err));
    assert_non_null(strstr(err.text, "'a'"));
    assert_null(lwp_diff_build(NULL, "a", good, "b", &err));
    set(bad, NULL, "schema", json_string("lwp-analysis"));
    set(bad, NULL, "version", json_string("2.0"));
    assert_null(lwp_diff_build(good, "a", bad, "b", &err));
    assert_int_equal(err.status, LWP_ERR_NEWER);
    json_decref(good);
    json_decref(bad);
}

/* ---- hostile files ---- */

static void survives(const json_t *before, const json_t *after)
{
    struct lwp_error err = {0};
    json_t *diff = lwp_diff_build(before, "a", after, "b", &err);
    if (!diff) {
        assert_int_not_equal(err.status, 0);
        return;
    }
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    lwp_diff_print(out, diff, true, true);
    fclose(out);
    assert_true(size > 0);
    free(text);
    text = json_dumps(diff, 0);
    assert_non_null(text);
    free(text);
    json_decref(diff);
}

/* Totals of one kind on each side: whether they differ, and by how much for certain. */
static void test_redundancies(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *verdict;
        double low, high;
    } table[] = {
        {"{\"share\":0.5,\"share_ci\":[0.4,0.6]}", "{\"share\":0.1,\"share_ci\":[0.05,0.15]}", "less", -0.5118,
         -0.2882},
        {"{\"share\":0.1,\"share_ci\":[0.0,0.13]}", "{\"share\":0.5,\"share_ci\":[0.46,0.6]}", "more", 0.35, 0.5414},
        {"{\"share\":0.5,\"share_ci\":[0.4,0.6]}", "{\"share\":0.4,\"share_ci\":[0.3,0.5]}", "within", -0.2414, 0.0414},
        {"{\"share\":0.5,\"share_ci\":[0.5,0.5]}", "null", "unknown", 0, 0},
        {"{\"share\":2,\"share_ci\":[0.5,0.5]}", "{\"share\":0.4,\"share_ci\":[0.3,0.5]}", "unknown", 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        json_t *before = wide(), *after = narrow();
        json_object_set_new(before, "redundancy_totals", json_pack("{s:o}", "silent_load", loaded(table[i].before)));
        json_object_set_new(after, "redundancy_totals",
                            json_pack("{s:o}", "silent_load", json_loads(table[i].after, JSON_DECODE_ANY, NULL)));
        json_t *diff = lwp_diff_build(before, "before", after, "after", NULL);
        const json_t *found = json_object_get(json_object_get(diff, "redundancies"), "silent_load");
        const json_t *interval = json_object_get(found, "difference_ci");
        assert_string_equal(json_string_value(json_object_get(found, "verdict")), table[i].verdict);
        assert_true(fabs(json_number_value(json_array_get(interval, 0)) - table[i].low) < 1e-4);
        assert_true(fabs(json_number_value(json_array_get(interval, 1)) - table[i].high) < 1e-4);
        assert_string_equal(json_string_value(json_object_get(
                                json_object_get(json_object_get(diff, "redundancies"), "dead_store"), "verdict")),
                            "unknown");
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        lwp_diff_print(out, diff, false, false);
        fclose(out);
        assert_non_null(strstr(text, "silent loads"));
        free(text);
        json_decref(diff);
        json_decref(before);
        json_decref(after);
    }
    json_t *before = wide(), *after = narrow(), *diff = lwp_diff_build(before, "before", after, "after", NULL);
    assert_true(json_is_null(json_object_get(diff, "redundancies"))); /* nobody looked */
    json_decref(diff);
    json_decref(before);
    json_decref(after);
}

enum { ODD = 8 };

static json_t *odd(int which)
{
    switch (which) {
    case 0:
        return json_null();
    case 1:
        return json_integer(-1);
    case 2:
        return json_integer(INT64_MAX);
    case 3:
        return json_real(1.7e308);
    case 4:
        return json_string("\x1b[31m a rather long string %s %n with odd characters \xc3\xa9");
    case 5:
        return json_array();
    case 6:
        return json_object();
    default:
        return json_true();
    }
}

/* ---- what will stop scaling ---- */

static void set_distances(json_t *root, const char *communication, const char *locality)
{
    json_object_set_new(root, "communication", loaded(communication));
    json_object_set_new(root, "locality", loaded(locality));
    json_object_set_new(json_object_get(json_object_get(root, "run"), "machine"), "caches",
                        loaded("[{\"level\":1,\"bytes\":32768},{\"level\":2,\"bytes\":1048576}]"));
}

static const json_t *row_of(const json_t *rows, const char *key, const char *name)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
        if (strcmp(json_string_value(json_object_get(row, key)), name) == 0)
            return row;
    return NULL;
}

static double number_of(const json_t *rows, const char *key, const char *name, const char *what)
{
    const json_t *value = json_object_get(row_of(rows, key, name), what);
    return json_is_number(value) ? json_number_value(value) : -1;
}

#define REGION(name, p90)                                                                                                   \
    "{\"name\":\"" name "\",\"kind\":\"function\",\"communicated\":10,\"reused\":20,\"crd\":{\"median\":1,\"p90\":" p90 ",\"min_cutoff\":3200}}"
#define ROW(loop, median) "{\"object\":0,\"loop\":" loop ",\"accesses\":1000,\"misses\":{\"L1\":250},\"reuse_distance\":{\"median\":" median "}}"

static void test_scaling(void **state)
{
    (void)state;
    static const char *const order[] = {"over", "fast", "slow", "same"}; /* 0; log4 16; log2 16; never */
    json_t *before = wide(), *after = wide();
    set_distances(before, "{\"unit\":\"count\",\"regions\":[" REGION("slow", "100") "," REGION("fast", "50") "," REGION("same", "7") "," REGION("over", "2000") "]}",
                  "[" ROW("0", "16") "," ROW("1", "9") "," ROW("2", "null") "]");
    set_distances(after, "{\"unit\":\"count\",\"regions\":[" REGION("slow", "200") "," REGION("fast", "200") "," REGION("same", "7") "," REGION("over", "4000") "," REGION("new", "9") "]}",
                  "[" ROW("0", "256") "," ROW("1", "9") "," ROW("2", "70") "]");
    json_t *diff = lwp_diff_build(before, "before", after, "after", NULL);
    const json_t *regions = json_object_get(diff, "communication"), *rows = json_object_get(diff, "locality");
    assert_int_equal(json_array_size(regions), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(regions, i), "name")), order[i]);
    near(number_of(regions, "name", "fast", "growth"), 4);
    near(number_of(regions, "name", "fast", "steps_left"), 2);
    near(number_of(regions, "name", "slow", "steps_left"), 4);
    near(number_of(regions, "name", "over", "steps_left"), 0);
    near(number_of(regions, "name", "same", "steps_left"), -1);
    assert_int_equal(json_array_size(rows), 3);
    near(number_of(rows, "function", "walk", "growth"), 16);
    near(number_of(rows, "function", "walk", "steps_left"), 1.5); /* 256 of 16384 lines */
    near(json_number_value(json_object_get(json_object_get(row_of(rows, "function", "walk"), "after"), "missing")), 0.25);
    near(number_of(rows, "function", "step", "steps_left"), -1);
    near(number_of(rows, "function", "other", "growth"), -1);
    json_decref(diff);
    json_object_set_new(before, "locality", loaded("[{\"object\":0,\"loop\":0,\"accesses\":null}]")); /* from samples */
    diff = lwp_diff_build(before, "before", after, "after", NULL);
    assert_true(json_is_null(json_object_get(diff, "locality")));
    json_decref(diff);
    json_decref(before);
    json_decref(after);
}

/* As the one before and as the one after; with sanitizers as one of them, in turn, and each ninth only. */
static void survives_both(const json_t *odd, const json_t *other, unsigned turn)
{
    (void)turn; /* not used as compiled for users */
    if (LONG_AMOUNT(true, turn % 18 == 1))
        survives(odd, other);
    if (LONG_AMOUNT(true, turn % 18 == 10))
        survives(other, odd);
}

static void mutate(json_t *root, json_t *at, const json_t *other, unsigned *tried)
{
    const char *key;
    void *next;
    size_t i;
    json_t *child;
    json_object_foreach_safe(at, next, key, child)
    {
        json_incref(child);
        for (int which = 0; which < ODD; which++) {
            json_object_set_new(at, key, odd(which));
            survives_both(root, other, (*tried)++);
        }
        json_object_set_new(at, key, child);
        mutate(root, child, other, tried);
    }
    for (i = 0; i < json_array_size(at); i++) {
        child = json_incref(json_array_get(at, i));
        for (int which = 0; which < ODD; which++) {
            json_array_set_new(at, i, odd(which));
            survives_both(root, other, (*tried)++);
        }
        json_array_set_new(at, i, child);
        mutate(root, child, other, tried);
    }
}

static void test_wrong_types(void **state)
{
    (void)state;
    json_t *before = wide(), *after = narrow();
    unsigned tried = 0;
    mutate(before, before, after, &tried);
    mutate(after, after, before, &tried);
    assert_true(tried > 1500);
    json_decref(before);
    json_decref(after);
}

static void test_cut(void **state)
{
    (void)state;
    json_t *root = wide();
    char *text = json_dumps(root, 0);
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut += LONG_AMOUNT(7, 21)) {
        json_t *part = json_loadb(text, cut, 0, NULL);
        assert_null(part); /* the command says so and ends */
    }
    free(text);
    json_decref(root);
}

/* Loops whose parents go in a circle, and arrays as long as nobody has. */
static void test_huge(void **state)
{
    enum { MANY = AMOUNT(20000, 150), ROWS = AMOUNT(20000, 2) }; /* more than is read of a structure's; structures, loops */
    (void)state;
    json_t *before = wide(), *after = narrow(), *loops = json_object_get(before, "loops");
    json_t *objects = json_object_get(before, "objects"), *object = json_array_get(objects, 0);
    json_object_set_new(json_array_get(loops, 0), "parent", json_integer(1));
    json_object_set_new(json_array_get(loops, 1), "parent", json_integer(0));
    json_t *uses = json_object_get(object, "loops"), *use = json_array_get(uses, 0);
    for (int i = 0; i < MANY; i++)
        json_array_append(uses, use);
    json_t *fields = json_object_get(object, "fields"), *field = json_array_get(fields, 0);
    for (int i = 0; i < MANY; i++)
        json_array_append(fields, field);
    for (int i = 0; i < ROWS; i++) {
        json_array_append(objects, object);
        json_array_append(loops, json_array_get(loops, (size_t)i % 3));
        json_array_append(json_object_get(after, "objects"), json_array_get(json_object_get(after, "objects"), 2));
        json_array_append(json_object_get(before, "findings"), json_array_get(json_object_get(before, "findings"), 0));
    }
    survives(before, after);
    survives(after, before);
    survives(before, before);
    json_decref(before);
    json_decref(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),         cmocka_unit_test(test_part_unseen), cmocka_unit_test(test_back),
        cmocka_unit_test(test_nothing_done),  cmocka_unit_test(test_verdicts),    cmocka_unit_test(test_runs),
        cmocka_unit_test(test_doubts),        cmocka_unit_test(test_regrouped),   cmocka_unit_test(test_changed),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_wrong_types), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_small_control), cmocka_unit_test(test_huge),        cmocka_unit_test(test_redundancies),
        cmocka_unit_test(test_scaling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
