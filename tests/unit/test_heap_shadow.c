/* Whether free() may pass a block on unseen: never where one is recorded, always where none is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "collector/light/heap/shadow.c"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { GRANULES = 4096, STEPS = 200000, THREADS = 4, SHARED = 16 };
static const uint64_t heap = 0x7f0000100000;
static const uint64_t again = (uint64_t)LWP_SHADOW_PAGES * LWP_SHADOW_PAGE; /* further on the same counts are used */

void *lwp_own_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *lwp_own_memory_at_once(size_t bytes)
{
    return lwp_own_memory(bytes);
}

static uint64_t place(unsigned granule)
{
    return heap + (uint64_t)granule * LWP_SHADOW_GRANULE + (granule % 3 == 0) * 16 + granule % 5 * again;
}

/* One in THREADS granules, as if the others' blocks were those of other threads. */
static void come_and_go(uint8_t *recorded, unsigned thread, uint32_t random)
{
    for (unsigned step = 0; step < STEPS; step++) {
        const unsigned granule = lwp_random_below(&random, GRANULES / THREADS) * THREADS + thread;
        const uint64_t at = place(granule);
        if (recorded[granule]) {
            assert_true(lwp_shadow_may_know(at));
            assert_int_equal(lwp_shadow_clear(at), recorded[granule]);
            recorded[granule] = 0;
        } else {
            recorded[granule] = (uint8_t)(1 + lwp_random_below(&random, LWP_SHADOW_HOT));
            lwp_shadow_set(at, recorded[granule]);
        }
    }
}

static unsigned counted(const uint8_t *recorded)
{
    unsigned sum = 0, known = 0;
    for (unsigned i = 0; i < LWP_SHADOW_PAGES; i++)
        sum += lwp_shadow_begin[i];
    for (unsigned i = 0; i < GRANULES; i++)
        known += recorded[i] != 0;
    assert_int_equal(sum, known);
    return sum;
}

static void take_all(uint8_t *recorded)
{
    for (unsigned i = 0; i < GRANULES; i++) {
        lwp_shadow_clear(place(i));
        recorded[i] = 0;
    }
    assert_int_equal(counted(recorded), 0);
    for (unsigned i = 0; i < GRANULES; i++)
        assert_false(lwp_shadow_may_know(place(i)));
}

static uint8_t recorded[GRANULES];

static void test_alone(void **state)
{
    (void)state;
    assert_true(lwp_shadow_init(true));
    for (unsigned thread = 0; thread < THREADS; thread++)
        come_and_go(recorded, thread, thread + 1);
    assert_true(counted(recorded) > GRANULES / 4);
    take_all(recorded);
    for (unsigned i = 0; i < LWP_SHADOW_PAGES / 64; i++)
        assert_int_equal(lwp_shadow_any[i], 0);
}

static void *thread_main(void *number)
{
    come_and_go(recorded, (unsigned)(uintptr_t)number, (uint32_t)(uintptr_t)number + 1);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_main, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(counted(recorded) > GRANULES / 4);
    take_all(recorded);
}

/* Two blocks of 16 bytes may begin in one granule: the second is recorded in the first's place. */
static void test_other_allocator(void **state)
{
    (void)state;
    assert_true(lwp_shadow_init(false));
    assert_false(lwp_shadow_may_know(heap));
    lwp_shadow_set(heap, 1);
    lwp_shadow_set(heap + 16, 2);
    assert_true(lwp_shadow_may_know(heap + 16));
    assert_int_equal(lwp_shadow_clear(heap), 0);
    assert_int_equal(lwp_shadow_clear(heap + 16), 2);
    assert_false(lwp_shadow_may_know(heap + 16)); /* most calls of free() end there */
}

/* Threads whose blocks begin in the same granules, half of them at its middle. */
static void *neighbours_main(void *number)
{
    uint32_t random = (uint32_t)(uintptr_t)number + 1;
    const uint64_t half = (uintptr_t)number % 2 * 16;
    for (unsigned step = 0; step < 5 * STEPS; step++) {
        const uint64_t at = heap + lwp_random_below(&random, SHARED) * LWP_SHADOW_GRANULE + half;
        lwp_shadow_set(at, 1 + (uint8_t)(uintptr_t)number);
        if (lwp_random_below(&random, 4))
            lwp_shadow_clear(at);
    }
    return NULL;
}

static void test_neighbours(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    unsigned there = 0, counts = 0;
    assert_true(lwp_shadow_init(false));
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, neighbours_main, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < SHARED; i++)
        there += *lwp_shadow_byte(lwp_shadow_region(heap), heap + (uint64_t)i * LWP_SHADOW_GRANULE) != 0;
    for (unsigned i = 0; i < LWP_SHADOW_PAGES; i++)
        counts += lwp_shadow_begin[i];
    assert_int_equal(counts, there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone), cmocka_unit_test(test_threads), cmocka_unit_test(test_other_allocator),
                                       cmocka_unit_test(test_neighbours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
