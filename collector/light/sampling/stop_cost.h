/* What being stopped costs a thread on this machine, besides the handler: measured once a process. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_STOP_COST_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_STOP_COST_H

#include "collector/light/code/insn.h"
#include "collector/light/own/timer.h"

#include <stdbool.h>
#include <stdint.h>

/* At the start, before there is a handler for SIGTRAP. Takes a quarter of a millisecond. */
void lwp_stop_cost_measure(void);

uint64_t lwp_stop_cost_sample(enum lwp_timer_kind kind); /* ns of one of the timer's signals */
uint64_t lwp_stop_cost_tick(void);                       /* ns of one of its interrupts within the kernel, without a signal */
/* ns of one stop by a debug register; `first_call`: ticks that it took to read the thread's clock, before anything else. */
uint64_t lwp_stop_cost_trap(uint64_t first_call);

uint64_t lwp_stop_cost_switch(void); /* ns of leaving the processor and coming back with a timer of perf's running */

/* Whether an instruction like this takes several times as long while any register is armed, wherever that watches. */
bool lwp_stop_cost_slows(const struct lwp_insn *insn);

#endif
