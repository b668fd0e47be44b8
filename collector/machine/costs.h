/* What starting a program, a page fault and a cycle take on this machine. */
#ifndef LWP_MACHINE_COSTS_H
#define LWP_MACHINE_COSTS_H

#include "collector/machine/machine.h"

/* CPU time of a program that does nothing, ns, and its page faults unless NULL; below 0: it could not be run. */
double lwp_costs_start(char *const *environment, long *faults);

/* Fills the machine's start_ns, page_fault_ns and cycle_ps. */
void lwp_costs_measure(struct lwp_machine *machine);

#endif
