/* What starting a program, a page fault and a cycle take on this machine. */
#ifndef LWP_MACHINE_COSTS_H
#define LWP_MACHINE_COSTS_H

#include "collector/machine/machine.h"

#include <sys/resource.h>

double lwp_cpu_s(const struct rusage *usage);      /* user and system time */
double lwp_cpu_user_s(const struct rusage *usage); /* without the kernel's, in which nothing is sampled */

/* CPU time of a program that does nothing, ns, and its page faults unless NULL; below 0: it could not be run. */
double lwp_costs_start(char *const *environment, long *faults);

/* Fills the machine's start_ns, page_fault_ns and cycle_ps. */
void lwp_costs_measure(struct lwp_machine *machine);

#endif
