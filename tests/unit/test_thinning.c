/* A thread that does nothing but allocate is thinned out before its next samples come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/heap/thinning.c"
#include "collector/light/own/budget.c"

enum { BLOCK_NS = 60, BLOCKS = 20000000 };

static struct lwp_run_account account;
struct lwp_run_account *lwp_run = &account;

double lwp_pools_kept(void)
{
    return 1;
}

void lwp_run_tell(struct lwp_thread *thread)
{
    (void)thread;
}

static void spends_no_more_than_its_advance(void **state)
{
    (void)state;
    static struct lwp_thread thread = {.budget = {.share = 0.03}};
    const uint64_t advance = (uint64_t)lwp_run_advance(thread.budget.share);
    for (unsigned block = 0, timed = 0; block < BLOCKS; block++) {
        if (lwp_thinning_skips) {
            lwp_thinning_skips--;
            continue;
        }
        lwp_thinning_next(&thread);
        thread.heap_left_out = lwp_thinning_skips; /* leaving out costs nothing here */
        if (++timed % LWP_HOOKS_TIMED)
            continue;
        thread.hooks_ns += BLOCK_NS * LWP_HOOKS_TIMED;
        lwp_thinning_spent(&thread, BLOCK_NS * LWP_HOOKS_TIMED);
    }
    const uint64_t earned = lwp_clock(CLOCK_THREAD_CPUTIME_ID) / 32, steps = 4 * LWP_HEAP_COLD * (REVIEW_NS + BLOCK_NS * LWP_HOOKS_TIMED);
    assert_true(thread.budget.spent[LWP_COST_HEAP] > advance / 2);
    assert_true(thread.budget.spent[LWP_COST_HEAP] < advance + earned + steps);
    assert_int_equal(account.thinning, thread.heap_thinning);
    lwp_thinning_end(&thread);
}

/* Of the blocks that a draw says are left out those count that came. */
static void only_what_came_is_left_out(void **state)
{
    (void)state;
    enum { CAME = 5 };
    static struct lwp_thread thread = {.budget = {.share = 0.03}, .heap_thinning = LWP_THINNING_MOST};
    while (lwp_thinning_skips < CAME)
        lwp_thinning_next(&thread);
    const uint64_t before = thread.heap_left_out - lwp_thinning_skips;
    lwp_thinning_skips -= CAME;
    lwp_thinning_charge(&thread);
    assert_int_equal(thread.budget.spent[LWP_COST_HEAP], (before + CAME) * (LEFT_OUT_NS + LEFT_OUT_COLD_NS));
    lwp_thinning_end(&thread);
    assert_int_equal(thread.heap_left_out, before + CAME);
    thread.heap_left_out -= CAME; /* as in the middle of a draw: nothing is charged twice, nor taken back */
    lwp_thinning_charge(&thread);
    assert_int_equal(thread.budget.spent[LWP_COST_HEAP], (before + CAME) * (LEFT_OUT_NS + LEFT_OUT_COLD_NS));
}

static void more_is_recorded_again_when_that_is_asked(void **state)
{
    (void)state;
    const uint64_t second = 1000000000;
    static struct lwp_thread thread = {.budget = {.share = 0.03}, .heap_thinning = 7, .hooks_ns = 1000};
    lwp_thinning_review(&thread, second, false);
    assert_int_equal(thread.heap_thinning, 7);
    assert_int_equal(thread.budget.spent[LWP_COST_HEAP], 1000 * LWP_HEAP_COLD);
    lwp_thinning_review(&thread, second, true);
    assert_int_equal(thread.heap_thinning, 3);
    assert_int_equal(thread.budget.spent[LWP_COST_HEAP], 1000 * LWP_HEAP_COLD); /* charged once */
    thread.hooks_ns = second;
    lwp_thinning_review(&thread, second, true);
    assert_int_equal(thread.heap_thinning, 7);
}

/* A program that allocates nothing but such blocks is reviewed all the time. */
static void larger_blocks_come_by_time(void **state)
{
    (void)state;
    enum { REVIEWS = 1000 };
    static struct lwp_thread thread = {.budget = {.share = 0.03}};
    for (unsigned i = 1; i <= REVIEWS; i++)
        lwp_thinning_review(&thread, (uint64_t)i * REVIEW_NS / 10, false);
    assert_in_range(thread.heap_larger, 1, LWP_LARGER_MOST);
    thread.heap_larger = 0;
    lwp_thinning_review(&thread, (uint64_t)REVIEWS * REVIEW_NS / 10 + REVIEW_NS, false);
    assert_in_range(thread.heap_larger, 1, LWP_LARGER_MOST / 50);
    lwp_thinning_review(&thread, (uint64_t)100 * REVIEWS * REVIEW_NS, false);
    assert_int_equal(thread.heap_larger, LWP_LARGER_MOST);
}

/* As far as it takes in one review, and no further. */
static void as_many_are_left_out_at_once_as_it_takes(void **state)
{
    (void)state;
    const uint64_t second = 1000000000;
    static struct lwp_thread thread = {.budget = {.share = 0.04}, .heap_thinning = 1}; /* .03 of it for the heap */
    thread.hooks_ns = (uint64_t)(0.21 * 10e9) / LWP_HEAP_COLD; /* seven times that: an eighth of these may be, so one in sixteen */
    lwp_thinning_review(&thread, 10 * second, true);
    assert_int_equal(thread.heap_thinning, 15);
    thread.hooks_ns = 1; /* what was too much before is no reason to leave out more than one step */
    lwp_thinning_review(&thread, 11 * second, true);
    assert_int_equal(thread.heap_thinning, 31);
}

static void what_is_left_out_is_charged_once(void **state)
{
    (void)state;
    static struct lwp_thread thread = {.budget = {.share = 0.03}, .heap_left_out = 1000};
    const uint64_t second = 1000000000, each = LEFT_OUT_NS + LEFT_OUT_COLD_NS;
    lwp_thinning_charge(&thread);
    assert_int_equal(thread.budget.spent[LWP_COST_HEAP], 1000 * each);
    thread.heap_left_out += 10;
    lwp_thinning_review(&thread, 2 * second, true);
    assert_int_equal(thread.budget.spent[LWP_COST_HEAP], 1010 * each);
    thread.heap_left_out += second / 40; /* in the caches */
    lwp_thinning_review(&thread, 3 * second, true);
    const uint64_t warm = thread.budget.spent[LWP_COST_HEAP] - 1010 * each;
    assert_in_range(warm, second / 40 * 3, second / 40 * 5);
}

/* Of two kinds of blocks that are allocated in turn half of the recorded ones are of each. */
static void kinds_in_turn_are_recorded_alike(void **state)
{
    (void)state;
    enum { ALL = 1 << 20, THINNING = 127 };
    static struct lwp_thread thread = {.heap_thinning = THINNING};
    unsigned recorded[2] = {0};
    for (unsigned block = 0; block < ALL; block++) {
        if (lwp_thinning_skips) {
            lwp_thinning_skips--;
            continue;
        }
        recorded[block % 2]++;
        lwp_thinning_next(&thread);
    }
    unsigned all = recorded[0] + recorded[1], expected = ALL / (THINNING + 1);
    assert_in_range(all, expected * 0.95, expected * 1.05);
    assert_in_range(recorded[0], all * 0.47, all * 0.53);
    lwp_thinning_end(&thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(larger_blocks_come_by_time),
        cmocka_unit_test(spends_no_more_than_its_advance),
        cmocka_unit_test(only_what_came_is_left_out),
        cmocka_unit_test(more_is_recorded_again_when_that_is_asked),
        cmocka_unit_test(as_many_are_left_out_at_once_as_it_takes),
        cmocka_unit_test(what_is_left_out_is_charged_once),
        cmocka_unit_test(kinds_in_turn_are_recorded_alike),
    };
    return cmocka_run_group_tests_name("thinning", tests, NULL, NULL);
}
