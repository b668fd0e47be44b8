/* Where threads are put: each group into one cache, a core each while there are some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/threads/thread_placement.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 8 };

static json_t *machine_of(const char *l1, const char *l3)
{
    return json_pack("{s:i,s:[{s:i,s:o},{s:i,s:o}]}", "cores", 8, "caches", "level", 1, "groups", json_loads(l1, 0, NULL), "level", 3,
                     "groups", json_loads(l3, 0, NULL));
}

/* 0 with 4, 1 with 5, ...; and all a little. */
static void far_pairs(uint64_t *first, size_t threads)
{
    for (size_t i = 0; i < threads; i++)
        for (size_t k = 0; k < threads; k++)
            first[i * threads + k] = i == k ? 0 : i % (threads / 2) == k % (threads / 2) ? 100 : 1;
}

static void assert_processors(const struct lwp_thread_placement *placement, const unsigned *processors, size_t threads)
{
    for (size_t i = 0; i < threads; i++)
        assert_int_equal(placement->processors[i], processors[i]);
}

/* Two sockets of two cores with two threads each, numbered as Linux does: 4 to 7 are the second ones of the cores. */
static void test_sockets(void **state)
{
    struct lwp_arena *arena = *state;
    json_t *machine = machine_of("[\"0,4\", \"1,5\", \"2,6\", \"3,7\"]", "[\"0,2,4,6\", \"1,3,5,7\"]");
    uint64_t first[THREADS * THREADS];
    far_pairs(first, 4);
    struct lwp_thread_placement placement = lwp_thread_placement(arena, machine, first, 4); /* a core for each: two in each socket */
    assert_true(placement.size == 2 && placement.level == 3 && placement.within > placement.before);
    assert_processors(&placement, (unsigned[]){0, 1, 2, 3}, 4); /* 0 and 2 share a socket's cache, and so do 1 and 3 */
    assert_string_equal(lwp_thread_placement_places(arena, &placement, 4), "{0},{1},{2},{3}");
    assert_string_equal(lwp_thread_placement_groups(arena, &placement, 4), "0 2, 1 3");
    far_pairs(first, THREADS); /* more than cores: all of a socket's threads */
    placement = lwp_thread_placement(arena, machine, first, THREADS);
    assert_int_equal(placement.size, 4);
    for (size_t i = 0; i < THREADS; i++)
        for (size_t k = 0; k < THREADS; k++) {
            assert_true(i == k || placement.processors[i] != placement.processors[k]);
            assert_int_equal(placement.group[i] == placement.group[k], placement.processors[i] % 2 == placement.processors[k] % 2);
        }
    placement = lwp_thread_placement(arena, machine, first, 2); /* all of them in one */
    assert_true(placement.size == 2 && placement.processors[0] == 0 && placement.processors[1] == 2);
    json_decref(machine);
}

/* Two processors that share the last level: threads on one of them share its first. */
static void test_turns(void **state)
{
    struct lwp_arena *arena = *state;
    json_t *machine = machine_of("[\"0\", \"1\"]", "[\"0-1\"]");
    uint64_t first[THREADS * THREADS];
    far_pairs(first, 4);
    struct lwp_thread_placement placement = lwp_thread_placement(arena, machine, first, 4);
    assert_true(placement.size == 2 && placement.level == 1);
    assert_processors(&placement, (unsigned[]){0, 1, 0, 1}, 4);
    placement = lwp_thread_placement(arena, machine, first, 2); /* each has its own */
    assert_true(!placement.processors && !placement.level && placement.size == 2);
    json_decref(machine);
}

static void test_unknown(void **state)
{
    struct lwp_arena *arena = *state;
    static const char *const bad[] = {"[\"0-\"]", "[\"x\"]", "[7]", "[\"0-99999\"]", "[\"3-1\"]", "[]", "null", "\"0\"", "[\"\"]"};
    uint64_t first[THREADS * THREADS];
    far_pairs(first, THREADS);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *machine = machine_of(bad[i], bad[i]);
        struct lwp_thread_placement placement = lwp_thread_placement(arena, machine, first, THREADS);
        assert_true(!placement.processors && placement.size == 2);
        assert_null(lwp_thread_placement_places(arena, &placement, THREADS));
        json_decref(machine);
    }
    assert_int_equal(lwp_thread_placement(arena, NULL, first, THREADS).size, 2);
}

/* Whatever the machine and the matrix: groups in one cache each, none larger than said, `within` as counted by hand. */
static void test_random(void **state)
{
    struct lwp_arena *arena = *state;
    uint32_t random = 5;
    for (unsigned trial = 0; trial < 10000; trial++) {
        char l1[400] = "[", l3[400] = "[";
        const unsigned caches = 2 + lwp_random_below(&random, 3), cores = 1 + lwp_random_below(&random, 4);
        const size_t threads = 2 + lwp_random_below(&random, 10);
        for (unsigned c = 0; c < caches; c++) {
            sprintf(l3 + strlen(l3), "%s\"%u-%u\"", c ? "," : "", c * cores, c * cores + cores - 1);
            for (unsigned k = 0; k < cores; k++)
                sprintf(l1 + strlen(l1), "%s\"%u\"", c + k ? "," : "", c * cores + k);
        }
        json_t *machine = machine_of(strcat(l1, "]"), strcat(l3, "]"));
        uint64_t first[12 * 12], all = 0, inside = 0;
        for (size_t i = 0; i < threads * threads; i++)
            all += first[i] = lwp_random_below(&random, 4) ? 0 : lwp_random_below(&random, 1000);
        struct lwp_thread_placement placement = lwp_thread_placement(arena, machine, first, threads);
        for (size_t i = 0; i < threads; i++) {
            size_t own = 0;
            for (size_t k = 0; k < threads; k++) {
                const bool same = placement.group[i] == placement.group[k];
                own += same;
                inside += same ? first[i * threads + k] : 0;
                if (placement.processors)
                    assert_true(!same || placement.processors[i] / cores == placement.processors[k] / cores);
                if (placement.processors && i != k && threads <= (size_t)caches * cores)
                    assert_int_not_equal(placement.processors[i], placement.processors[k]);
            }
            assert_true(own <= placement.size);
        }
        assert_true(!all || (double)inside / (double)all == placement.within);
        json_decref(machine);
    }
}

static int make(void **state)
{
    *state = lwp_arena_new();
    return 0;
}

static int clean(void **state)
{
    lwp_arena_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sockets), cmocka_unit_test(test_turns), cmocka_unit_test(test_unknown),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, make, clean);
}
