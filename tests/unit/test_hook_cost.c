/* What a call of the allocator takes in page faults is charged, what it waits for a processor is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/heap/hook_cost.c"

#include <sys/mman.h>

enum { PAGES = 256, PAGE_BYTES = 4096, WAITS = 20 };

void lwp_thinning_spent(struct lwp_thread *self, uint64_t ns)
{
    (void)self, (void)ns;
}

/* What one hook is charged in which `work` is done, the least of some. */
static uint64_t charged(void (*work)(void), unsigned times)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < times; i++) {
        struct lwp_thread thread = {.hooks_left = 1};
        struct lwp_hook hook;
        lwp_hook_begin(&thread, &hook);
        work();
        lwp_hook_end(&thread, &hook);
        assert_int_equal(thread.hooks_left, LWP_HOOKS_TIMED);
        least = thread.hooks_ns < least ? thread.hooks_ns : least;
    }
    return least / LWP_HOOKS_TIMED;
}

static void touch(void)
{
    char *memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    for (unsigned i = 0; i < PAGES; i++)
        *(volatile char *)(memory + i * PAGE_BYTES) = 1;
    munmap(memory, PAGES * PAGE_BYTES);
}

static void wait_long(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void nothing(void)
{
}

static void faults_are_charged(void **state)
{
    (void)state;
    assert_in_range(charged(touch, 1), LONG_NS / LWP_HEAP_COLD, LONGEST_NS / LWP_HEAP_COLD);
}

static void waits_are_not(void **state)
{
    (void)state;
    assert_in_range(charged(wait_long, WAITS), 0, LONGEST_NS / LWP_HEAP_COLD - 1);
}

static void a_short_one_is_charged_as_it_takes(void **state)
{
    (void)state;
    assert_in_range(charged(nothing, WAITS), 0, LONG_NS / LWP_HEAP_COLD - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_charged),
        cmocka_unit_test(waits_are_not),
        cmocka_unit_test(a_short_one_is_charged_as_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
