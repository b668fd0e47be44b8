/* What a process pays for keeping allocations it may never be asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collector/light/heap/early.c"

enum { COPY_NS = 20000, BLOCKS = 160 };

static uint64_t spent_ns;

void lwp_run_spend(uint64_t ns)
{
    spent_ns += ns;
}

void *lwp_own_memory(size_t bytes)
{
    return calloc(1, bytes);
}

int lwp_own_unmap(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
    return 0;
}

size_t lwp_unwind_copy(struct lwp_stack_copy *copy, size_t room, struct lwp_stack_words *words)
{
    (void)copy, (void)room, (void)words;
    for (uint64_t from = lwp_clock(CLOCK_MONOTONIC); lwp_clock(CLOCK_MONOTONIC) < from + COPY_NS;)
        ;
    return sizeof(struct lwp_stack_copy);
}

void lwp_stack_words_add(struct lwp_stack_words *words, const struct lwp_stack_copy *copy)
{
    (void)words, (void)copy;
}

/* Some are timed and stand for the others; what takes longer had to wait for a processor, and does not count. */
static void what_is_kept_is_charged(void **state)
{
    (void)state;
    uint64_t frame;
    lwp_early_begin();
    for (uintptr_t i = 1; i <= BLOCKS; i++)
        assert_true(lwp_early_add((void *)(i * 64), 24, LWPS_BLOCK_HEAP, false, &frame));
    assert_true(spent_ns > (uint64_t)BLOCKS * COPY_NS / 2);
    lwp_early_end(NULL);
}

static void what_is_not_kept_costs_nothing(void **state)
{
    (void)state;
    uint64_t frame, before = spent_ns;
    lwp_early_begin();
    lwp_early_forget();
    for (uintptr_t i = 1; i <= BLOCKS; i++)
        assert_true(lwp_early_add((void *)(i * 64), 24, LWPS_BLOCK_HEAP, false, &frame));
    assert_true(lwp_early_remove((void *)64, true));
    assert_true(spent_ns - before < (uint64_t)BLOCKS * COPY_NS / 2);
    lwp_early_end(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_kept_is_charged), cmocka_unit_test(what_is_not_kept_costs_nothing)};
    return cmocka_run_group_tests_name("early", tests, NULL, NULL);
}
