/* Reading the program's memory from within it: what is not there, and what a debug register watches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/own/own_memory.c"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

static bool confined;

bool lwp_confinement_came(void)
{
    return confined;
}

static uint64_t watched = 0x1122334455667788;

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    const long page = sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), to[16];
    assert_int_equal(munmap(two + page, (size_t)page), 0);
    assert_true(lwp_own_copy(to, two, sizeof to));
    assert_false(lwp_own_copy(to, two + page - 8, sizeof to));
    lwp_own_stops_at(1, (uint64_t)two + (uint64_t)page, 8);
    assert_false(lwp_own_copy(to, two + page - 8, sizeof to));
    lwp_own_stops_at(1, 0, 0);
    munmap(two, (size_t)page);
}

enum { PAGES = 8, PAGE = 4096 };

static unsigned pages_there(void *memory)
{
    unsigned char there[PAGES];
    unsigned count = 0;
    assert_int_equal(mincore(memory, PAGES * PAGE, there), 0);
    for (int i = 0; i < PAGES; i++)
        count += there[i] & 1;
    return count;
}

static void pages_come_together(void **state)
{
    (void)state;
    char *lazy = lwp_own_memory(PAGES * PAGE), *at_once = lwp_own_memory_at_once(PAGES * PAGE);
    assert_int_equal(pages_there(lazy), 0);
    assert_int_equal(pages_there(at_once), PAGES);
    lazy[0] = 7;
    lwp_own_memory_touch(lazy + PAGE, 4 * PAGE);
    assert_int_equal(pages_there(lazy), 5);
    assert_int_equal(lazy[0], 7);
    for (int i = 1; i < PAGES * PAGE; i++)
        assert_int_equal(lazy[i] | at_once[i], 0);
    munmap(lazy, PAGES * PAGE);
    munmap(at_once, PAGES * PAGE);
}

static void only_what_overlaps_stops(void **state)
{
    (void)state;
    lwp_own_stops_at(3, 0x1000, 8);
    assert_true(lwp_own_stops(0x1007, 1));
    assert_true(lwp_own_stops(0xff9, 8));
    assert_false(lwp_own_stops(0xff8, 8));
    assert_false(lwp_own_stops(0x1008, 8));
    lwp_own_stops_at(3, 0, 0);
    assert_false(lwp_own_stops(0x1007, 1));
}

/* How often a debug register that watches `watched` sees the program read it during a copy. */
static uint64_t stops_of_a_copy(int fd)
{
    uint64_t before = 0, after = 0, copy = 0;
    assert_int_equal(read(fd, &before, sizeof before), sizeof before);
    assert_true(lwp_own_copy(&copy, &watched, sizeof copy));
    assert_int_equal(read(fd, &after, sizeof after), sizeof after);
    assert_true(copy == 0x1122334455667788);
    return after - before;
}

static void what_is_watched_is_read_without_a_stop(void **state)
{
    (void)state;
    struct perf_event_attr attributes = {.size = sizeof attributes,
                                         .type = PERF_TYPE_BREAKPOINT,
                                         .bp_type = HW_BREAKPOINT_RW,
                                         .bp_addr = (uint64_t)&watched,
                                         .bp_len = sizeof watched,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 || stops_of_a_copy(fd) == 0) {
        print_message("no debug registers here\n");
        skip();
    }
    lwp_own_stops_at(2, (uint64_t)&watched, sizeof watched);
    assert_int_equal(stops_of_a_copy(fd), 0);
    confined = true; /* neither by the kernel */
    uint64_t copy;
    assert_false(lwp_own_copy(&copy, &watched, sizeof copy));
    confined = false;
    lwp_own_stops_at(2, 0, 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(pages_come_together),
        cmocka_unit_test(only_what_overlaps_stops),
        cmocka_unit_test(what_is_watched_is_read_without_a_stop),
    };
    return cmocka_run_group_tests_name("own_memory", tests, NULL, NULL);
}
