/* What it costs to start a process here, and that lwp's library is loaded into it, though nothing is set up. */
#ifndef LWP_LAUNCH_LOAD_COST_H
#define LWP_LAUNCH_LOAD_COST_H

#include "collector/machine/machine.h"

/* CPU time, ns, measured on a program that does nothing, so many times with and without, in the environment that the run had; 0: not
 * known. */
double lwp_load_cost(char *const *environment, unsigned pairs);

/* Fills the machine's start_ns, page_fault_ns and cycle_ps. */
void lwp_start_cost(struct lwp_machine *machine);

#endif
