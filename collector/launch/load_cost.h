/* What it costs a process that lwp's library is loaded into it, though nothing is set up. */
#ifndef LWP_LAUNCH_LOAD_COST_H
#define LWP_LAUNCH_LOAD_COST_H

/* CPU time, ns, measured on a program that does nothing, so many times with and without, in the environment that the run had; 0: not
 * known. */
double lwp_load_cost(char *const *environment, unsigned pairs);

#endif
