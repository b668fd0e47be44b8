/* A stop is timed in a loop that does nothing else. In programs that work on memory it costs a multiple: the kernel's and,
 * in a virtual machine, the hypervisor's way there and back are cold, and so are the program's caches afterwards. That
 * cannot be seen from inside; the multiples are from comparing programs with and without stops (bench/cost measures
 * the sum on every machine). How cold it is differs between programs and, with stops that come soon after others, within one:
 * the first system call after a stop shows it.
 *
 * An armed register costs other code nothing, but some of it runs far slower until it is disarmed, as was measured on two kinds
 * of processors: on Zen (4 and 5) string instructions go byte by byte; on Sapphire Rapids short ones take 16 ns instead of 3,
 * and stores of 64 bytes, or of 32 that are not aligned, 8 ns instead of 0.5. In virtual machines page faults take longer, too: 2.7 us
 * instead of 1.7, 12 instead of 11.3. There are some whose registers can be armed and cost that, but stop nothing. */
#include "collector/light/sampling/stop_cost.h"

#include "collector/env.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/process.h"
#include "collector/light/own/settings.h"
#include "collector/light/own/thread.h"
#include "collector/light/sampling/debugger.h"

#include <cpuid.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

enum { ASYNC_NS = 40000, POSIX_NS = 15000 };
enum { COST_BYTES = 2048, SLOW_TIMES = 2 };
static const double cold_sample = 1.5, cold_tick = 0.9; /* times a hot tick; the second has no signal */
static const double cold_call = 0.8, cold_trap_least = 1.3, cold_trap_most = 4; /* times a hot trap; the first times how cold its first call is */

struct lwp_stop_costs lwp_stop_costs = {.trap_ns = 20000, .tick_ns = 33000}; /* as in virtual machines */

static volatile unsigned cost_hits;

static void cost_handler(int signal)
{
    (void)signal;
    cost_hits++;
}

/* The least time of several: what it takes hot and without an interruption. `clock`: an expression. */
#define COST_LEAST(times, clock, work)                                                                                                     \
    ({                                                                                                                                     \
        uint64_t least = UINT64_MAX;                                                                                                       \
        for (int time = 0; time < (times); time++) {                                                                                       \
            uint64_t start = (clock);                                                                                                      \
            work;                                                                                                                          \
            uint64_t took = (clock)-start;                                                                                                 \
            least = took < least ? took : least;                                                                                           \
        }                                                                                                                                  \
        least;                                                                                                                             \
    })

static uint64_t cost_less(uint64_t ns, uint64_t part)
{
    return ns > part ? ns - part : 0;
}

/* Sorts. */
static uint64_t cost_median(uint64_t *took, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned at = i; at && took[at] < took[at - 1]; at--) {
            uint64_t less = took[at];
            took[at] = took[at - 1];
            took[at - 1] = less;
        }
    return took[count / 2];
}

static uint64_t cost_of_calls(int fd, unsigned long first, unsigned long second)
{
    enum { TIMES = 7 };
    uint64_t took[TIMES];
    for (int time = 0; time < TIMES; time++) {
        uint64_t start = lwp_clock(CLOCK_MONOTONIC);
        ioctl(fd, first, 0);
        ioctl(fd, second, 0);
        took[time] = lwp_clock(CLOCK_MONOTONIC) - start;
    }
    return cost_median(took, TIMES); /* the least is one during which the scheduler's timer was just due, and perf's cost nothing */
}

/* Stopping and starting one of a thread's events does what a switch does to all of that kind. Calls that find nothing to change show
 * what the calls themselves take. */
static uint64_t cost_of_turn(int fd)
{
    uint64_t calls = cost_of_calls(fd, PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_ENABLE);
    return cost_less(cost_of_calls(fd, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_ENABLE), calls);
}

static bool cost_arm(struct lwp_debug_registers *registers, unsigned which, volatile uint64_t *watched)
{
    return lwp_debug_arm(registers, which, LWP_DEBUG_ACCESS, (uint64_t)watched, sizeof *watched);
}

/* `registers`: the first is armed, and the only one. */
static void cost_measure_switches(struct lwp_debug_registers *registers, struct lwp_stop_costs *costs)
{
    static volatile uint64_t never;
    uint64_t one = cost_of_turn(registers->at[0].fd);
    if (!cost_arm(registers, 1, &never))
        return;
    uint64_t another = cost_less(cost_of_turn(registers->at[0].fd), one);
    lwp_debug_disarm(registers, 1);
    costs->armed.switch_ns = another * 3 / 2; /* .5 us in switches where .35 are measured here */
}

enum { FAULTS = 4, PAGE = 4096 };

static uint64_t cost_of_fault(volatile char *pages)
{
    return COST_LEAST(FAULTS, lwp_clock(CLOCK_MONOTONIC), (*pages = 1, pages += PAGE));
}

/* `registers`: the first is armed, and is no more afterwards. */
static void cost_measure_faults(struct lwp_debug_registers *registers, struct lwp_stop_costs *costs)
{
    const size_t bytes = (size_t)2 * FAULTS * PAGE;
    char *pages = lwp_own_memory(bytes);
    if (!pages)
        return;
    madvise(pages, bytes, MADV_NOHUGEPAGE); /* one fault for each page */
    uint64_t armed = cost_of_fault(pages);
    lwp_debug_disarm(registers, 0);
    costs->armed.fault_ns = cost_less(armed, cost_of_fault(pages + FAULTS * PAGE));
    munmap(pages, bytes);
}

/* With a timer that fires after `period_ns`. */
static uint64_t cost_of_running(uint64_t period_ns)
{
    struct lwp_timer *timer = lwp_timer_start(LWP_TIMER_SIGTRAP, (pid_t)syscall(SYS_gettid), period_ns);
    if (!timer)
        return 0;
    uint64_t turn = cost_of_turn(lwp_timer_file(timer));
    lwp_timer_stop(timer);
    return turn;
}

/* A timer that is due before the scheduler's, which comes each 4 ms, has to be set each time: that takes the longer the sooner it is in some
 * virtual machines (24 us in the last half of a millisecond, 8 before). Whether one is before the scheduler's at this moment is chance, as
 * it is at a switch. */
static uint64_t cost_soon_for(const struct lwp_stop_costs *costs)
{
    static const uint64_t steps_ns[] = {0, 500000, 1000000, 2000000, 3000000, 4000000};
    uint64_t sum = 0, base = costs->open_ns + costs->running_ns, most = costs->soon_ns - costs->running_ns;
    for (unsigned i = 1; most && i < sizeof steps_ns / sizeof *steps_ns; i++) {
        uint64_t more = cost_less(cost_of_running((steps_ns[i - 1] + steps_ns[i]) / 2), base);
        sum += (more < most ? more : most) * (steps_ns[i] - steps_ns[i - 1]) / most;
    }
    return sum;
}

/* An event that is there, but stopped, takes about half of what one does that runs late (.3 of .85 us here). */
static void cost_measure_running(struct lwp_stop_costs *costs)
{
    enum { SOON_NS = 200000, LATE_NS = 1000000000 };
    uint64_t late = cost_of_running(LATE_NS);
    costs->open_ns = late / 2;
    costs->running_ns = late - costs->open_ns;
    costs->soon_ns = costs->running_ns + cost_less(cost_of_running(SOON_NS), late);
    costs->soon_for_ns = cost_soon_for(costs);
}

/* For so long a loop stands still that does nothing else, unless the processor went to another thread meanwhile. */
static uint64_t cost_of_tick(void)
{
    enum { TICKS = 3, PERIOD_NS = 200000, MOST_NS = 20 * PERIOD_NS };
    struct lwp_timer *timer = lwp_timer_start(LWP_TIMER_SIGTRAP, (pid_t)syscall(SYS_gettid), PERIOD_NS);
    if (!timer)
        return 0;
    const uint64_t begun = lwp_clock(CLOCK_MONOTONIC);
    uint64_t switches = lwp_thread_switches(), least = UINT64_MAX;
    unsigned hits = cost_hits = 0, seen = 0;
    for (uint64_t before = begun, now; seen < TICKS && before - begun < MOST_NS; before = now) {
        now = lwp_clock(CLOCK_MONOTONIC);
        if (cost_hits == hits)
            continue;
        const uint64_t took = lwp_clock(CLOCK_MONOTONIC) - before, switched = lwp_thread_switches();
        if (switched == switches) {
            seen++;
            least = took < least ? took : least;
        }
        switches = switched;
        hits = cost_hits;
    }
    lwp_timer_stop(timer);
    return seen ? least : 0;
}

static void cost_copy(char *to, const char *from, size_t bytes)
{
    for (int i = 0; i < 16; i++) {
        void *rdi = to;
        const void *rsi = from;
        size_t rcx = bytes;
        __asm__ volatile("rep movsb" : "+D"(rdi), "+S"(rsi), "+c"(rcx) : : "memory");
    }
}

static void cost_copy_short(char *to, const char *from)
{
    cost_copy(to, from, 64);
}

static void cost_copy_long(char *to, const char *from)
{
    cost_copy(to, from, COST_BYTES);
}

/* Not by the compiler's own way, which asks the processor in each process that loads the library: 40 us in a virtual machine. */
static bool cost_has_avx2(void)
{
    enum { OSXSAVE = 1 << 27, AVX_STATE = 6, AVX2 = 1 << 5 };
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
        return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & AVX_STATE) == AVX_STATE && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & AVX2;
}

/* Aligned ones of 32 bytes are as fast as ever. */
__attribute__((target("avx2"))) static void cost_store(char *to, const char *from)
{
    __m256i value = _mm256_loadu_si256((const __m256i *)from);
    for (int i = 0; i < 16; i++)
        *(volatile __m256i_u *)(to + 64 * (i & 3) + 3) = value;
}

/* Ticks. */
static uint64_t cost_time(void (*work)(char *to, const char *from))
{
    enum { TIMES = 5 };
    char from[COST_BYTES], to[COST_BYTES];
    memset(from, 0, sizeof from);
    return COST_LEAST(TIMES, __rdtsc(), work(to, from));
}

/* What another process of the same run has measured. */
static bool cost_read(struct lwp_stop_costs *costs)
{
    const char *text = lwp_setting(LWP_ENV_COSTS);
    unsigned long long trap, tick, call, open, running, soon, soon_for, switched, fault;
    int strings, stores, dead;
    if (!text || sscanf(text, "%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%d,%d,%d", &trap, &tick, &call, &open, &running, &soon,
                        &soon_for, &switched, &fault, &strings, &stores, &dead) != 12)
        return false;
    *costs = (struct lwp_stop_costs){.trap_ns = trap,
                                     .tick_ns = tick,
                                     .call_ticks = call,
                                     .open_ns = open,
                                     .running_ns = running,
                                     .soon_ns = soon,
                                     .soon_for_ns = soon_for,
                                     .armed = {.switch_ns = switched, .fault_ns = fault},
                                     .strings = strings != 0,
                                     .stores = stores != 0,
                                     .dead = dead != 0};
    return true;
}

static void cost_tell(const struct lwp_stop_costs *costs)
{
    char text[220];
    snprintf(text, sizeof text, "%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%d,%d,%d", (unsigned long long)costs->trap_ns,
             (unsigned long long)costs->tick_ns, (unsigned long long)costs->call_ticks, (unsigned long long)costs->open_ns,
             (unsigned long long)costs->running_ns, (unsigned long long)costs->soon_ns, (unsigned long long)costs->soon_for_ns,
             (unsigned long long)costs->armed.switch_ns, (unsigned long long)costs->armed.fault_ns, costs->strings, costs->stores,
             costs->dead);
    setenv(LWP_ENV_COSTS, text, 1);
}

void lwp_stop_cost_measure(void)
{
    enum { TIMES = 10 };
    static volatile uint64_t watched;
    struct lwp_stop_costs *costs = &lwp_stop_costs;
    struct lwp_debug_registers registers = {0};
    struct sigaction quick = {.sa_handler = cost_handler}, before;
    sigset_t mask;
    if (cost_read(costs))
        return;
    if (lwp_debugger_is_here() || sigprocmask(SIG_BLOCK, NULL, &mask) || sigismember(&mask, SIGTRAP) || sigaction(SIGTRAP, &quick, &before))
        return;
    bool wide = cost_has_avx2();
    uint64_t short_copy = cost_time(cost_copy_short), long_copy = cost_time(cost_copy_long), store = wide ? cost_time(cost_store) : 0;
    if (cost_arm(&registers, 0, &watched)) {
        costs->strings = cost_time(cost_copy_short) > SLOW_TIMES * short_copy || cost_time(cost_copy_long) > SLOW_TIMES * long_copy;
        costs->stores = wide && cost_time(cost_store) > SLOW_TIMES * store;
        cost_hits = 0;
        uint64_t trap_ns = COST_LEAST(TIMES, lwp_clock(CLOCK_MONOTONIC), watched = 0);
        if (cost_hits == TIMES)
            costs->trap_ns = trap_ns;
        costs->dead = !cost_hits;
        cost_measure_switches(&registers, costs);
        cost_measure_faults(&registers, costs);
    }
    lwp_debug_close(&registers);
    cost_measure_running(costs);
    const uint64_t tick_ns = cost_of_tick();
    costs->tick_ns = tick_ns ? tick_ns : costs->tick_ns;
    /* each signal asks that (signals.c), which takes 4 us where the kernel has to answer */
    uint64_t asking = COST_LEAST(TIMES, lwp_clock(CLOCK_MONOTONIC), lwp_own_stack_has_variables(lwp_own_stack_self));
    costs->tick_ns += asking;
    costs->trap_ns += asking;
    costs->call_ticks = COST_LEAST(TIMES, __rdtsc(), lwp_clock(CLOCK_THREAD_CPUTIME_ID));
    sigaction(SIGTRAP, &before, NULL);
    cost_tell(costs);
}

uint64_t lwp_stop_cost_sample(enum lwp_timer_kind kind)
{
    if (kind == LWP_TIMER_SIGTRAP)
        return (uint64_t)((double)lwp_stop_costs.tick_ns * cold_sample);
    return kind == LWP_TIMER_ASYNC ? 2 * ASYNC_NS : 2 * POSIX_NS;
}

uint64_t lwp_stop_cost_tick(void)
{
    return (uint64_t)((double)lwp_stop_costs.tick_ns * cold_tick);
}

uint64_t lwp_stop_cost_bearable(uint64_t period_ns)
{
    enum { TICKS = 4 /* they may take longer than was measured */ };
    const uint64_t ticks_ns = TICKS * lwp_stop_costs.tick_ns;
    return period_ns > ticks_ns ? period_ns : ticks_ns;
}

uint64_t lwp_stop_cost_trap(uint64_t first_call)
{
    const struct lwp_stop_costs *costs = &lwp_stop_costs;
    double cold = costs->call_ticks ? cold_call * (double)first_call / (double)costs->call_ticks : cold_trap_most;
    cold = cold < cold_trap_least ? cold_trap_least : cold > cold_trap_most ? cold_trap_most : cold;
    return (uint64_t)((double)costs->trap_ns * cold);
}

uint64_t lwp_stop_cost_open(void)
{
    return lwp_stop_costs.open_ns;
}

/* What the kernel keeps of its events: measured as .13 us where an open one took .36. */
uint64_t lwp_stop_cost_closed(void)
{
    return lwp_stop_costs.open_ns / 3;
}

uint64_t lwp_stop_cost_running(uint64_t period_ns)
{
    const struct lwp_stop_costs *costs = &lwp_stop_costs;
    if (period_ns <= costs->soon_for_ns)
        return costs->soon_ns;
    return costs->running_ns + (costs->soon_ns - costs->running_ns) * costs->soon_for_ns / period_ns;
}

bool lwp_stop_cost_slows(const struct lwp_insn *insn)
{
    enum { WIDE = 32 };
    const struct lwp_stop_costs *costs = &lwp_stop_costs;
    return insn->string ? costs->strings : costs->stores && insn->store && insn->vector && insn->bytes >= WIDE;
}
