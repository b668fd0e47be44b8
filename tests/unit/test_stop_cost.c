/* What stops and switches cost, where the machine is a stand-in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/sampling/stop_cost.c"

enum { ASKING_NS = 1000000 };

__thread struct lwp_own_stack *lwp_own_stack_self;

const char *lwp_setting(const char *name)
{
    return getenv(name);
}

bool lwp_debugger_is_here(void)
{
    return false;
}

bool lwp_debug_arm(struct lwp_debug_registers *registers, unsigned which, enum lwp_debug_kind kind, uint64_t address, unsigned bytes)
{
    (void)registers, (void)which, (void)kind, (void)address, (void)bytes;
    return false;
}

void lwp_debug_disarm(struct lwp_debug_registers *registers, unsigned which)
{
    (void)registers, (void)which;
}

void lwp_debug_close(struct lwp_debug_registers *registers)
{
    (void)registers;
}

struct lwp_timer *lwp_timer_start(enum lwp_timer_kind kind, pid_t tid, uint64_t period_ns)
{
    (void)kind, (void)tid, (void)period_ns;
    return NULL;
}

void lwp_timer_stop(struct lwp_timer *timer)
{
    (void)timer;
}

int lwp_timer_file(const struct lwp_timer *timer)
{
    (void)timer;
    return -1;
}

void *lwp_own_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}

uint64_t lwp_thread_switches(void)
{
    return 0;
}

bool lwp_own_stack_has_variables(const struct lwp_own_stack *stack)
{
    (void)stack;
    for (uint64_t begun = lwp_clock(CLOCK_MONOTONIC); lwp_clock(CLOCK_MONOTONIC) - begun < ASKING_NS;)
        ;
    return true;
}

static void what_each_signal_asks_first_is_part_of_its_cost(void **state)
{
    (void)state;
    const struct lwp_stop_costs guessed = lwp_stop_costs;
    unsetenv(LWP_ENV_COSTS);
    lwp_stop_cost_measure();
    assert_true(lwp_stop_costs.tick_ns >= guessed.tick_ns + ASKING_NS);
    assert_true(lwp_stop_costs.trap_ns >= guessed.trap_ns + ASKING_NS);
}

static void what_was_measured_reaches_the_next_process(void **state)
{
    (void)state;
    struct lwp_stop_costs read, told;
    memset(&told, 0, sizeof told);
    memset(&read, 0, sizeof read);
    told.trap_ns = 1, told.tick_ns = 2, told.call_ticks = 3, told.open_ns = 4, told.running_ns = 5, told.soon_ns = 6, told.soon_for_ns = 7;
    told.armed.switch_ns = 8, told.armed.fault_ns = 9, told.strings = true, told.dead = true;
    cost_tell(&told);
    assert_true(cost_read(&read));
    assert_int_equal(read.trap_ns, 1);
    assert_int_equal(read.tick_ns, 2);
    assert_int_equal(read.call_ticks, 3);
    assert_int_equal(read.open_ns, 4);
    assert_int_equal(read.running_ns, 5);
    assert_int_equal(read.soon_ns, 6);
    assert_int_equal(read.soon_for_ns, 7);
    assert_int_equal(read.armed.switch_ns, 8);
    assert_int_equal(read.armed.fault_ns, 9);
    assert_true(read.strings && !read.stores && read.dead);
    unsetenv(LWP_ENV_COSTS);
}

/* On a machine where setting a timer is dear only shortly before it is due. */
static void switches_cost_what_setting_the_timer_takes_on_average(void **state)
{
    (void)state;
    lwp_stop_costs = (struct lwp_stop_costs){.running_ns = 500, .soon_ns = 24500, .soon_for_ns = 1000000};
    assert_int_equal(lwp_stop_cost_running(200000), 24500);
    assert_int_equal(lwp_stop_cost_running(2000000), 500 + 24000 / 2);
    assert_int_equal(lwp_stop_cost_running(8000000), 500 + 24000 / 8);
}

/* Neither the time when the scheduler's timer is due nor that when another thread had the processor. */
static void of_several_turns_the_middle_one_counts(void **state)
{
    (void)state;
    uint64_t took[] = {24, 1, 26, 900, 25, 24, 1};
    assert_int_equal(cost_median(took, sizeof took / sizeof *took), 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_each_signal_asks_first_is_part_of_its_cost),
                                       cmocka_unit_test(what_was_measured_reaches_the_next_process),
                                       cmocka_unit_test(switches_cost_what_setting_the_timer_takes_on_average),
                                       cmocka_unit_test(of_several_turns_the_middle_one_counts)};
    return cmocka_run_group_tests_name("stop_cost", tests, NULL, NULL);
}
