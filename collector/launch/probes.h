/* What can be measured here, tried out. Each returns 0 or an errno (ENODATA: opened, but nothing comes), leaves signal
 * handlers and files behind, and so is run by lwp_probe in a process of its own; the argument is not used. */
#ifndef LWP_LAUNCH_PROBES_H
#define LWP_LAUNCH_PROBES_H

int lwp_probe_sigtrap(const void *unused); /* the timer's flavours: perf's task-clock, synchronous */
int lwp_probe_async(const void *unused);
int lwp_probe_posix(const void *unused); /* thread CPU timers */
int lwp_probe_breakpoint(const void *unused);
int lwp_probe_kernel_breakpoint(const void *unused);
int lwp_probe_pmu(const void *unused); /* counts cycles */
int lwp_probe_unwind(const void *unused);
int lwp_probe_zydis(const void *unused);

#endif
