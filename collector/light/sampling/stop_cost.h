/* What being stopped costs a thread on this machine, besides the handler: measured once a process. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_STOP_COST_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_STOP_COST_H

#include "collector/code/insn.h"
#include "collector/light/sampling/timer.h"
#include "collector/light/watch/debug_registers.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_stop_costs {
    uint64_t trap_ns; /* of a stop by a debug register, hot */
    uint64_t tick_ns; /* of an interrupt by a timer of perf's, with its signal, hot */
    /* more that it takes to leave the processor and come back: with a file of perf's open, with a timer of perf's running besides, the
     * same where that is due at once; and for how long before it is due it costs as much, on average */
    uint64_t open_ns, running_ns, soon_ns, soon_for_ns;
    struct lwp_armed_costs armed;
    bool dead;            /* debug registers can be armed, but stop nothing */
    uint64_t call_ticks;  /* of reading the thread's clock, hot; 0: not known */
    bool strings, stores; /* those instructions take several times as long while a register is armed */
};

/* Until they are measured, or where they cannot be: what a stop costs in virtual machines. */
extern struct lwp_stop_costs lwp_stop_costs;

/* At the start, before there is a handler for SIGTRAP. Takes a millisecond. */
void lwp_stop_cost_measure(void);

uint64_t lwp_stop_cost_sample(enum lwp_timer_kind kind); /* ns of one of the timer's signals */
uint64_t lwp_stop_cost_tick(void);                       /* ns of one of its interrupts within the kernel, without a signal */

/* ns that a sample's handler costs which ran for so long: what it takes from the program's caches the program has to fetch again. 1.5 times
 * in lua, whose samples take 30 us, and 1.6 times in clang, where they take 160. */
static inline uint64_t lwp_stop_cost_handler(uint64_t ran_ns)
{
    return ran_ns + ran_ns / 2;
}

/* The period, or the shortest one that leaves the thread most of its time: where the next tick is due before the last one is over, neither
 * the program nor lwp's handler gets any further. */
uint64_t lwp_stop_cost_bearable(uint64_t period_ns);

/* ns of one stop by a debug register; `first_call`: ticks that it took to read the thread's clock, before anything else. */
uint64_t lwp_stop_cost_trap(uint64_t first_call);

/* More ns that it takes to leave the processor and come back with a file of perf's open; in a thread that had one and closed it;
 * besides, with a timer of perf's running that fires each `period_ns`. */
uint64_t lwp_stop_cost_open(void);
uint64_t lwp_stop_cost_closed(void);
uint64_t lwp_stop_cost_running(uint64_t period_ns);

/* Whether an instruction like this takes several times as long while any register is armed, for whatever bytes. */
bool lwp_stop_cost_slows(const struct lwp_insn *insn);

#endif
