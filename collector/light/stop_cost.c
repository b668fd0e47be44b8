/* A stop is timed in a loop that does nothing else. In programs that work on memory it costs a multiple: the kernel's and,
 * in a virtual machine, the hypervisor's way there and back are cold, and so are the program's caches afterwards. That
 * cannot be seen from inside; the multiples are from comparing programs with and without stops (bench/run measures
 * the sum on every machine). */
#define _GNU_SOURCE
#include "collector/light/stop_cost.h"

#include "collector/light/debug_registers.h"
#include "collector/light/debugger.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

/* Where it cannot be measured: what it is in virtual machines, hot. */
enum { TRAP_NS = 20000, ASYNC_NS = 40000, POSIX_NS = 15000 };
static const double cold_sample = 2.5, cold_trap = 4; /* times a hot trap */
static const double cold_tick = 1.5;                  /* 1.15 in a loop of system calls */

static uint64_t cost_trap = TRAP_NS;
static bool cost_strings;
static volatile unsigned cost_hits;

static void cost_handler(int signal)
{
    (void)signal;
    cost_hits++;
}

static uint64_t cost_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void cost_measure_trap(volatile uint64_t *watched)
{
    enum { TIMES = 10 };
    uint64_t least = UINT64_MAX;
    cost_hits = 0;
    for (int i = 0; i < TIMES; i++) {
        uint64_t start = cost_clock();
        *watched = start;
        uint64_t took = cost_clock() - start;
        least = took < least ? took : least;
    }
    if (cost_hits == TIMES)
        cost_trap = least;
}

/* Ticks of copying some bytes that nobody watches. */
static uint64_t cost_copy(void)
{
    enum { TIMES = 5, BYTES = 2048 };
    char from[BYTES], to[BYTES];
    uint64_t least = UINT64_MAX;
    memset(from, 0, sizeof from);
    for (int i = 0; i < TIMES; i++) {
        void *rdi = to;
        const void *rsi = from;
        uint64_t rcx = BYTES, start = __rdtsc();
        __asm__ volatile("rep movsb" : "+D"(rdi), "+S"(rsi), "+c"(rcx) : : "memory");
        uint64_t took = __rdtsc() - start;
        least = took < least ? took : least;
    }
    return least;
}

void lwp_stop_cost_measure(void)
{
    static volatile uint64_t watched;
    struct lwp_debug_registers registers = {0};
    struct sigaction quick = {.sa_handler = cost_handler}, before;
    sigset_t mask;
    if (lwp_debugger_is_here() || sigprocmask(SIG_BLOCK, NULL, &mask) || sigismember(&mask, SIGTRAP) ||
        sigaction(SIGTRAP, &quick, &before))
        return;
    uint64_t plain = cost_copy();
    if (lwp_debug_arm(&registers, 0, LWP_DEBUG_ACCESS, (uint64_t)&watched, sizeof watched)) {
        cost_strings = cost_copy() > 4 * plain;
        cost_measure_trap(&watched);
    }
    lwp_debug_close(&registers);
    sigaction(SIGTRAP, &before, NULL);
}

uint64_t lwp_stop_cost_sample(enum lwp_timer_kind kind)
{
    if (kind == LWP_TIMER_SIGTRAP)
        return (uint64_t)((double)cost_trap * cold_sample);
    return kind == LWP_TIMER_ASYNC ? 2 * ASYNC_NS : 2 * POSIX_NS;
}

uint64_t lwp_stop_cost_tick(void)
{
    return (uint64_t)((double)cost_trap * cold_tick);
}

uint64_t lwp_stop_cost_trap(void)
{
    return (uint64_t)((double)cost_trap * cold_trap);
}

bool lwp_stop_cost_slows_strings(void)
{
    return cost_strings;
}
