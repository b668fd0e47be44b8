/* Call paths: what is read back is what was interned, with recursion folded and each node written once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/paths.h"
#include "format/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 1 << 14, DEPTH = 64 };

static struct lwps_context nodes[NODES];
static uint32_t node_count;
static char folder[] = "/tmp/lwp-paths.XXXXXX";
static char file_name[64];
static struct lwps_writer writer;
static struct lwps_paths paths;

static int on_context(void *to, const struct lwps_context *record)
{
    (void)to;
    assert_true(record->id < NODES && record->parent < record->id);
    assert_int_equal(nodes[record->id].id, 0); /* not written before */
    nodes[record->id] = *record;
    node_count++;
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    const struct lwps_file head = {.engine = LWPS_ENGINE_TIMER, .weight_unit = LWPS_WEIGHT_NS, .pid = 1, .tid = 1};
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(file_name, sizeof file_name, "%s/t1.lwps", folder);
    memset(nodes, 0, sizeof nodes);
    node_count = 0;
    paths = (struct lwps_paths){.file = &writer};
    return lwps_writer_open(&writer, file_name, &head);
}

static int tear_down(void **state)
{
    (void)state;
    lwps_paths_free(&paths);
    return unlink(file_name) || rmdir(folder);
}

static void read_back(void)
{
    const struct lwps_visitor visitor = {.context = on_context};
    struct lwps_damage damage;
    struct lwp_error error;
    lwps_writer_close(&writer);
    assert_int_equal(lwps_read(file_name, &visitor, NULL, &damage, &error), 0);
}

static void expect_path(uint32_t node, const uint64_t *ips, unsigned count)
{
    for (unsigned i = 0; i < count; i++, node = nodes[node].parent)
        assert_int_equal(nodes[node].ip, ips[i]);
    assert_int_equal(node, 0);
}

static void test_shared_ends(void **state)
{
    (void)state;
    const uint64_t one[] = {5, 3, 2, 1}, other[] = {4, 3, 2, 1};
    uint32_t first = lwps_paths_intern(&paths, one, 4), second = lwps_paths_intern(&paths, other, 4);
    assert_int_equal(lwps_paths_intern(&paths, one, 4), first);
    assert_int_equal(lwps_paths_intern(&paths, one, 0), 0);
    read_back();
    assert_int_equal(node_count, 5);
    expect_path(first, one, 4);
    expect_path(second, other, 4);
}

static void test_recursion(void **state)
{
    (void)state;
    const uint64_t direct[] = {9, 2, 2, 2, 2, 1}, folded[] = {9, 2, 1};
    const uint64_t mutual[] = {8, 5, 4, 3, 5, 4, 3, 2, 1}, once[] = {8, 5, 4, 3, 2, 1};
    const uint64_t turns[] = {7, 3, 2, 3, 3, 2, 1}, two[] = {7, 3, 2, 1};
    const uint64_t again[] = {6, 4, 6, 5, 1}, not_twice[] = {6, 5, 1}; /* what lies between the two is one more round */
    uint32_t a = lwps_paths_intern(&paths, direct, 6), b = lwps_paths_intern(&paths, mutual, 9);
    uint32_t c = lwps_paths_intern(&paths, turns, 7), d = lwps_paths_intern(&paths, again, 5);
    read_back();
    expect_path(a, folded, 3);
    expect_path(b, once, 6);
    expect_path(c, two, 4);
    expect_path(d, not_twice, 3);
}

static uint64_t function_of(uint64_t ip)
{
    return ip / 100 * 100;
}

/* A tree walked in all turns, to any depth, by a function that calls itself in 25 places: a path for each. */
static void test_walked_tree(void **state)
{
    (void)state;
    enum { CALLS = 25 };
    uint32_t random = 1;
    paths.function = function_of;
    for (int i = 0; i < 20000; i++) {
        uint64_t ips[DEPTH];
        unsigned count = 2 + (unsigned)i % (DEPTH - 2);
        for (unsigned k = 0; k < count; k++)
            ips[k] = 100 + ((random = random * 1664525u + 1013904223u) >> 16) % CALLS;
        ips[count - 1] = 1;
        const uint64_t folded[] = {ips[0], 1};
        uint32_t node = lwps_paths_intern(&paths, ips, count);
        assert_int_equal(node, lwps_paths_intern(&paths, folded, 2));
    }
    read_back();
    assert_int_equal(node_count, 1 + CALLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shared_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recursion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_walked_tree, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
