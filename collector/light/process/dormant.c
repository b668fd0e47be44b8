/* See dormant.h. Waking in a signal: what was interrupted must not hold a lock that it needs. */
#include "collector/light/process/dormant.h"

#include "collector/env.h"
#include "collector/light/heap/early.h"
#include "collector/light/heap/heap.h"
#include "collector/light/heap/thinning.h"
#include "collector/light/own/confinement.h"
#include "collector/light/own/floats.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/run.h"
#include "collector/light/own/settings.h"
#include "collector/light/process/held_locks.h"
#include "collector/light/sampling/debugger.h"
#include "collector/light/sampling/sampler.h"
#include "collector/light/sampling/stop_cost.h"
#include "collector/light/sampling/timer.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { DORMANT_NS = 20000000, AGAIN_NS = 1000000 };

static struct {
    void (*wake)(void *); /* NULL: awake */
    struct lwp_timer *timer;
    pid_t pid;
} dormant;

/* The first process of a run measures what the others go by; where it cannot sample by perf's clock, they cannot either. */
bool lwp_dormant_is_possible(void)
{
    const char *timer = lwp_setting(LWP_ENV_TIMER), *pmu = lwp_setting(LWP_ENV_PMU);
    bool by_clock = !timer || !*timer || strcmp(timer, "auto") == 0 || strcmp(timer, "sigtrap") == 0;
    return lwp_setting(LWP_ENV_COSTS) && by_clock && !(pmu && *pmu) && !(lwp_setting_number(LWP_ENV_PERIOD, 0) > 0) &&
           lwp_heap_is_glibc() && !lwp_debugger_is_here();
}

/* What passing on calls of the allocator has cost so far. */
static void dormant_charge_calls(void)
{
    static uint64_t before_ns;
    const uint64_t calls = lwp_heap_idle_calls(), now_ns = calls ? lwp_clock(CLOCK_PROCESS_CPUTIME_ID) : 0;
    if (!calls)
        return;
    lwp_run_spend(lwp_thinning_left_out_ns(calls, now_ns > before_ns ? now_ns - before_ns : 0)); /* in a child that begins anew */
    before_ns = now_ns;
}

static void dormant_leave(void)
{
    dormant_charge_calls();
    lwp_heap_end_idle();
    dormant.wake = NULL;
    lwp_early_on = false;
}

static void dormant_stop(void)
{
    dormant_leave();
    if (dormant.timer)
        lwp_timer_stop(dormant.timer);
    dormant.timer = NULL;
}

static void dormant_forget(void)
{
    lwp_heap_forget_early();
    lwp_heap_idle();
}

/* The loader may be in the middle of what waking would ask of it. Where the run cannot afford it, what was allocated so far is not
 * known should the process be set up after all. */
static void dormant_wake_from(const uint64_t *frame)
{
    if (lwp_held_locks_in(*frame))
        return;
    const uint32_t floats = lwp_floats_begin();
    if (lwp_run_is_rich())
        lwp_dormant_wake();
    else
        dormant_forget();
    lwp_floats_end(floats);
}

/* Not by a clock whose signal could interrupt a system call. */
static bool dormant_arm(void)
{
    dormant.pid = getpid();
    dormant.timer = lwp_timer_start(LWP_TIMER_SIGTRAP, lwp_thread_tid(), DORMANT_NS);
    return dormant.timer && !lwp_timer_waits(dormant.timer);
}

bool lwp_dormant_begin(void (*wake)(void *))
{
    if (!lwp_held_locks_start())
        return false;
    if (!dormant_arm()) {
        dormant_stop();
        return false;
    }
    dormant.wake = wake;
    lwp_process.wake = dormant_wake_from;
    lwp_early_begin();
    if (!lwp_run_affords()) /* of the processes to come most are never set up */
        lwp_heap_forget_early();
    return true;
}

static void dormant_wake(void)
{
    void (*wake)(void *) = dormant.wake;
    dormant_stop();
    lwp_own_stack_run(wake, NULL);
}

void lwp_dormant_wake(void)
{
    if (!dormant.wake && lwp_run_is_certain()) /* with each thread that is made */
        return;
    if (getpid() != dormant.pid) /* the child of a vfork */
        return;
    lwp_run_certain();
    if (dormant.wake)
        dormant_wake();
}

void lwp_dormant_begun(void)
{
    if (dormant.wake)
        lwp_heap_idle();
}

bool lwp_dormant_end(bool ends)
{
    if (!dormant.wake || getpid() != dormant.pid)
        return false;
    if (ends)
        dormant_leave();
    else
        dormant_stop();
    lwp_run_tell_dormant(true);
    return true;
}

void lwp_dormant_before_fork(void)
{
    lwp_held_locks_fork(true);
}

void lwp_dormant_in_parent(void)
{
    lwp_held_locks_fork(false);
}

bool lwp_dormant_in_child(void)
{
    lwp_held_locks_fork(false);
    if (!dormant.wake)
        return false;
    lwp_timer_forget(dormant.timer);
    lwp_run_forked();
    lwp_own_stack_after_fork();
    lwp_heap_idle_calls(); /* the parent's */
    if (!dormant_arm())
        lwp_dormant_wake();
    return true;
}

static void dormant_charge_tick(uint64_t from_ns)
{
    const uint64_t measured = LWP_RUN_GET(lwp_run, tick_ns);
    lwp_run_spend((measured ? measured : lwp_stop_cost_sample(LWP_TIMER_SIGTRAP)) + lwp_clock(CLOCK_THREAD_CPUTIME_ID) - from_ns);
}

/* Whether to wake. */
static bool dormant_look(const void *ucontext)
{
    if (lwp_debugger_is_here())
        dormant_stop();
    else if (lwp_held_locks_are(ucontext))
        lwp_timer_set_period(dormant.timer, AGAIN_NS);
    else if (lwp_run_may_join())
        return true;
    else
        lwp_timer_set_period(dormant.timer, lwp_run_look_again_ns());
    return false;
}

bool lwp_dormant_tick(const void *ucontext)
{
    int saved = errno;
    if (!dormant.wake)
        return false;
    if (lwp_confinement_came()) {
        dormant_stop();
    } else {
        uint64_t from_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
        dormant_charge_calls();
        bool wakes = dormant_look(ucontext);
        dormant_charge_tick(from_ns);
        if (wakes) /* charges itself */
            dormant_wake();
    }
    errno = saved;
    return true;
}
