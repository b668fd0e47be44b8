/* What a run is told to have been: the machine read from a made-up kernel tree, and run.json of awkward command lines. */
#include "collector/machine/machine.h"
#include "collector/launch/launch.h"
#include "collector/launch/result.h"
#include "collector/launch/run_json.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <glob.h>

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-launch.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Writes folder/name, making the folders on the way. */
static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void put_cpu(unsigned cpu, const char *package, const char *core)
{
    char name[128];
    snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
    put(name, package);
    snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/topology/core_id", cpu);
    put(name, core);
}

/* `ways`, `shared` and `line` may be NULL: no such file. */
static void put_cache(unsigned cpu, unsigned index, const char *type, const char *level, const char *size,
                      const char *ways, const char *shared, const char *line)
{
    const struct {
        const char *file, *text;
    } files[] = {{"type", type}, {"level", level}, {"size", size}, {"ways_of_associativity", ways},
                 {"shared_cpu_list", shared}, {"coherency_line_size", line}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[128];
        snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index, files[i].file);
        if (files[i].text)
            put(name, files[i].text);
    }
}

static void assert_cache(const struct lwp_machine_cache *cache, unsigned level, uint64_t bytes, unsigned ways, unsigned shared_by)
{
    assert_int_equal(cache->level, level);
    assert_int_equal(cache->bytes, bytes);
    assert_int_equal(cache->ways, ways);
    assert_int_equal(cache->shared_by, shared_by);
}

/* ---- machine ---- */

static void test_machine_whole(void **state)
{
    (void)state;
    struct lwp_machine machine;
    put("proc/cpuinfo", "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Made-up CPU: 3 GHz\nmodel name\t: second\n");
    put("sys/devices/system/cpu/online", "2-4,7\n"); /* CPU 0 is off: the caches are those of CPU 2 */
    put_cpu(2, "0\n", "0\n");
    put_cpu(3, "0\n", "0\n"); /* its sibling */
    put_cpu(4, "0\n", "1\n");
    put_cpu(7, "1\n", "0\n"); /* the same core number in another package is another core */
    put_cache(0, 0, "Data\n", "1\n", "1K\n", "1\n", "0\n", "32\n");
    put_cache(2, 0, "Unified\n", "3\n", "36M\n", "0\n", "2-4,7\n", "64\n");
    put_cache(2, 1, "Instruction\n", "1\n", "32K\n", "8\n", "2-3\n", "64\n");
    put_cache(2, 2, "Data\n", "1\n", "48K\n", "12\n", "2-3\n", "64\n");
    put_cache(2, 3, "Unified\n", "2\n", "2048K\n", "16\n", NULL, "64\n");
    put("sys/devices/system/node/online", "0-1,3\n");

    lwp_machine_read(&machine, folder);
    assert_string_equal(machine.cpu, "Made-up CPU: 3 GHz");
    assert_int_equal(machine.cpus, 4);
    assert_int_equal(machine.cores, 3);
    assert_int_equal(machine.line_bytes, 64);
    assert_int_equal(machine.page_bytes, sysconf(_SC_PAGESIZE));
    assert_in_range(machine.tick_ns, 1000000, 10000000);
    assert_int_equal(machine.numa_nodes, 3);
    assert_int_equal(machine.cache_count, 3);
    assert_cache(&machine.caches[0], 1, 48 << 10, 12, 2);
    assert_cache(&machine.caches[1], 2, 2048 << 10, 16, 0);
    assert_cache(&machine.caches[2], 3, 36 << 20, 0, 4);
    assert_string_equal(machine.caches[2].groups, "2-4,7");
    assert_string_equal(machine.caches[0].groups, ""); /* CPU 4 does not say */
}

/* Which processors share each cache, as two sockets with siblings have it. */
static void test_machine_groups(void **state)
{
    (void)state;
    static const char *const cores[] = {"0,4\n", "1,5\n", "2,6\n", "3,7\n"};
    struct lwp_machine machine;
    put("sys/devices/system/cpu/online", "0-7\n");
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        put_cache(cpu, 0, "Data\n", "1\n", "32K\n", "8\n", cores[cpu % 4], "64\n");
        put_cache(cpu, 3, "Unified\n", "3\n", "16M\n", "16\n", cpu % 2 ? "1,3,5,7\n" : "0,2,4,6\n", "64\n");
    }
    lwp_machine_read(&machine, folder);
    assert_int_equal(machine.cache_count, 2);
    assert_string_equal(machine.caches[0].groups, "0,4;1,5;2,6;3,7");
    assert_string_equal(machine.caches[1].groups, "0,2,4,6;1,3,5,7");
}

static void test_machine_nothing_known(void **state)
{
    (void)state;
    struct lwp_machine machine;
    memset(&machine, 0xff, sizeof machine);
    lwp_machine_read(&machine, folder);
    assert_string_equal(machine.cpu, "");
    assert_int_equal(machine.cpus, 0);
    assert_int_equal(machine.cores, 0);
    assert_int_equal(machine.line_bytes, 0);
    assert_int_equal(machine.cache_count, 0);
    assert_int_equal(machine.numa_nodes, 1);
}

static void test_machine_without_topology(void **state)
{
    (void)state;
    struct lwp_machine machine;
    put("sys/devices/system/cpu/online", "0-2\n");
    put_cpu(0, "0\n", "0\n");
    put_cpu(1, "0\n", "0\n"); /* nothing about CPU 2: two siblings must not make it one core */
    lwp_machine_read(&machine, folder);
    assert_int_equal(machine.cpus, 3);
    assert_int_equal(machine.cores, 3);
}

static void test_machine_odd_lists(void **state)
{
    (void)state;
    static const struct {
        const char *online;
        unsigned cpus;
    } rows[] = {{"0\n", 1}, {"5-5\n", 1}, {"0,2,4-6", 5}, {"3-1\n", 0}, {"0-99999999\n", 0}, {"0,9000\n", 1},
                {"\n", 0}, {"x\n", 0}, {"0-1,x\n", 2}, {"-1\n", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lwp_machine machine;
        put("sys/devices/system/cpu/online", rows[i].online);
        lwp_machine_read(&machine, folder);
        if (machine.cpus != rows[i].cpus)
            print_error("online \"%s\"\n", rows[i].online);
        assert_int_equal(machine.cpus, rows[i].cpus);
    }
}

static void test_machine_odd_caches(void **state)
{
    (void)state;
    struct lwp_machine machine;
    put("sys/devices/system/cpu/online", "0\n");
    put_cache(0, 0, "Data\n", "0\n", "32K\n", NULL, NULL, "64\n");      /* no level */
    put_cache(0, 1, "Data\n", "1\n", "unknown\n", NULL, NULL, "64\n");  /* no size */
    put_cache(0, 2, "Unified\n", "2\n", "4096\n", NULL, NULL, "128\n"); /* bytes without a unit */
    for (unsigned i = 3; i < 14; i++)
        put_cache(0, i, "Unified\n", "3\n", "1M\n", NULL, NULL, NULL); /* more than there is room for */
    lwp_machine_read(&machine, folder);
    assert_int_equal(machine.cache_count, LWP_CACHES_MAX);
    assert_cache(&machine.caches[0], 2, 4096, 0, 0);
    assert_cache(&machine.caches[LWP_CACHES_MAX - 1], 3, 1 << 20, 0, 0);
    assert_int_equal(machine.line_bytes, 128);
}

static void test_machine_long_name(void **state)
{
    (void)state;
    struct lwp_machine machine;
    char text[400] = "model name\t: ";
    memset(text + strlen(text), 'x', 300);
    put("proc/cpuinfo", text);
    lwp_machine_read(&machine, folder);
    assert_int_equal(strlen(machine.cpu), sizeof machine.cpu - 1);
}

/* ---- run.json ---- */

static json_t *read_run(void)
{
    char path[128];
    json_error_t error;
    snprintf(path, sizeof path, "%s/run.json", folder);
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        print_error("run.json: %s\n", error.text);
    assert_non_null(root);
    return root;
}

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static const struct lwp_run usual = {.cwd = "/here", .host = "box", .engine = "timer", .event = "task-clock",
                                     .weight_unit = "ns", .machine = {.page_bytes = 4096, .numa_nodes = 1},
                                     .started = {.tv_sec = 86399, .tv_nsec = 7999999}};

static void test_run_bytes(void **state)
{
    (void)state;
    static const char *const command[] = {"./app", "", "a\"b\\c\n", "\xc3\xa4", "\xff", "x\xe2\x82", "\xed\xa0\x80z", NULL};
    struct lwp_run run = usual;
    struct lwp_error err;
    run.command = (char *const *)command;
    run.cwd = "/tmp/\xe4";
    run.options = json_pack("{s:i}", "rate", 700);
    assert_int_equal(lwp_run_json_write(&run, folder, "run.json", &err), LWP_OK);
    assert_int_equal(run.options->refcount, 1); /* borrowed, given back */
    json_decref(run.options);

    json_t *root = read_run(), *words = json_object_get(root, "command");
    assert_int_equal(json_array_size(words), 7);
    for (size_t i = 0; i < 4; i++) /* what is UTF-8 stays as it was */
        assert_string_equal(json_string_value(json_array_get(words, i)), command[i]);
    assert_string_equal(json_string_value(json_array_get(words, 4)), "\xef\xbf\xbd");
    for (size_t i = 5; i < 7; i++) /* how many U+FFFD one broken sequence makes is left to base/text */
        assert_non_null(strstr(json_string_value(json_array_get(words, i)), "\xef\xbf\xbd"));
    assert_int_equal(*json_string_value(json_array_get(words, 5)), 'x');
    const char *last = json_string_value(json_array_get(words, 6));
    assert_int_equal(last[strlen(last) - 1], 'z');
    assert_string_equal(text_at(root, "cwd"), "/tmp/\xef\xbf\xbd");
    assert_string_equal(text_at(root, "started"), "1970-01-01T23:59:59.007Z");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "options"), "rate")), 700);
    assert_null(json_object_get(root, "ended")); /* still running */
    assert_null(json_object_get(root, "exit"));

    json_t *machine = json_object_get(root, "machine"); /* unknown is null, not 0 */
    assert_true(json_is_null(json_object_get(machine, "cpu")));
    assert_true(json_is_null(json_object_get(machine, "cores")));
    assert_true(json_is_null(json_object_get(machine, "line_bytes")));
    assert_true(json_is_null(json_object_get(machine, "caches")));
    json_decref(root);
}

static void test_run_ends(void **state)
{
    (void)state;
    static const char *const command[] = {"app", NULL};
    struct lwp_run run = usual;
    struct lwp_error err;
    run.command = (char *const *)command;
    run.options = json_object();
    run.machine.caches[0] = (struct lwp_machine_cache){.level = 1, .bytes = 32768, .ways = 8};
    run.machine.cache_count = 1;
    run.machine.tick_ns = 4000000;
    assert_int_equal(lwp_run_json_write(&run, folder, "run.json", &err), LWP_OK);
    run.ended = true;
    run.end = (struct timespec){.tv_sec = 86400};
    run.wall_s = 1.5;
    run.cpu_s = 2.25;
    run.exit_code = 3;
    assert_int_equal(lwp_run_json_write(&run, folder, "run.json", &err), LWP_OK); /* over the first one */
    json_t *root = read_run(), *end = json_object_get(root, "exit");
    assert_string_equal(text_at(root, "ended"), "1970-01-02T00:00:00.000Z");
    assert_true(json_real_value(json_object_get(root, "wall_s")) == 1.5);
    assert_true(json_real_value(json_object_get(root, "cpu_s")) == 2.25);
    assert_int_equal(json_integer_value(json_object_get(end, "code")), 3);
    assert_true(json_is_null(json_object_get(end, "signal")));
    json_t *cache = json_array_get(json_object_get(json_object_get(root, "machine"), "caches"), 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "machine"), "tick_ns")), 4000000);
    assert_int_equal(json_integer_value(json_object_get(cache, "bytes")), 32768);
    assert_true(json_is_null(json_object_get(cache, "shared_by")));
    json_decref(root);

    run.exit_code = -1;
    run.exit_signal = 11;
    assert_int_equal(lwp_run_json_write(&run, folder, "run.json", &err), LWP_OK);
    root = read_run();
    end = json_object_get(root, "exit");
    assert_true(json_is_null(json_object_get(end, "code")));
    assert_int_equal(json_integer_value(json_object_get(end, "signal")), 11);
    json_decref(root);
    json_decref(run.options);
}

static void test_run_cannot_write(void **state)
{
    (void)state;
    static const char *const command[] = {"app", NULL};
    struct lwp_run run = usual;
    struct lwp_error err = {0};
    char missing[128], path[160];
    run.command = (char *const *)command;
    run.options = json_object();
    snprintf(missing, sizeof missing, "%s/missing", folder);
    assert_int_not_equal(lwp_run_json_write(&run, missing, "run.json", &err), LWP_OK);
    assert_non_null(strstr(err.text, missing));

    put("run.json/in-the-way", ""); /* a folder cannot be renamed over: nothing may stay behind */
    assert_int_not_equal(lwp_run_json_write(&run, folder, "run.json", &err), LWP_OK);
    snprintf(path, sizeof path, "%s/*.new", folder);
    glob_t left;
    assert_int_equal(glob(path, 0, NULL, &left), GLOB_NOMATCH);
    globfree(&left);
    json_decref(run.options);
}

/* Of those that want a folder one gets it, from the moment on that it is there. */
static void test_result_is_taken_once(void **state)
{
    (void)state;
    struct lwp_error err;
    char dir[80];
    int first, second;
    snprintf(dir, sizeof dir, "%s/r", folder);
    assert_int_equal(lwp_result_create(dir, false, &first, &err), 0);
    if (first < 0)
        skip(); /* no locks here */
    assert_int_not_equal(lwp_result_create(dir, true, &second, &err), 0);
    assert_non_null(strstr(err.text, "still being written"));
    assert_int_equal(second, -1);
    close(first);
    assert_int_equal(lwp_result_create(dir, true, &second, &err), 0);
    assert_int_not_equal(lwp_result_create(dir, false, &first, &err), 0);
    assert_int_equal(first, -1);
    close(second);
}

static int copies;

static void copied(void)
{
    copies++;
}

/* Of lwp's own memory no copy is made for the program, which would pay for that, too. */
static void test_launch_copies_nothing(void **state)
{
    (void)state;
    struct lwp_ended ended;
    struct lwp_error err;
    char *environment[] = {NULL}, *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
    struct lwp_launch launch = {.path = "/bin/sh", .argv = argv, .environment = environment};
    assert_int_equal(pthread_atfork(copied, NULL, NULL), 0);
    assert_int_equal(lwp_launch_run(&launch, &ended, &err), 0);
    assert_true(WIFEXITED(ended.wait_status) && WEXITSTATUS(ended.wait_status) == 7);
    launch.path = "/none";
    assert_int_equal(lwp_launch_run(&launch, &ended, &err), 0);
    assert_int_equal(ended.exec_errno, ENOENT);
    assert_int_equal(copies, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_machine_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machine_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machine_nothing_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machine_without_topology, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machine_odd_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machine_odd_caches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machine_long_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_result_is_taken_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_cannot_write, set_up, tear_down),
        cmocka_unit_test(test_launch_copies_nothing),
    };
    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
