/* Which events make this processor's PMU give the addresses of loads and stores: Intel's load latency and stores
 * (PEBS), AMD's sampled operations (IBS). For the launcher and `lwp doctor`: the preload library gets the result as
 * text, so that libpfm4 stays out of the profiled program. */
#ifndef LWP_PERF_EVENTS_H
#define LWP_PERF_EVENTS_H

#include "base/error.h"
#include "collector/perf/event.h"

struct lwp_pmu_cpu {
    char vendor[13]; /* as cpuid has it: "GenuineIntel" */
    unsigned family, model;
};

void lwp_pmu_cpu_here(struct lwp_pmu_cpu *cpu);

/* Loads of `latency` cycles and more (IBS knows no bound: all). What the kernel says below `devices`
 * ("/sys/bus/event_source/devices") goes first, else libpfm4's names for `cpu`. That an event is known does not mean
 * that it samples here: guests of a hypervisor often count and refuse to sample. */
int lwp_pmu_events_find(const char *devices, const struct lwp_pmu_cpu *cpu, unsigned latency, struct lwp_pmu_events *events,
                        struct lwp_error *err);

/* Not of the PMU, and so on every machine: the accesses that first touch a page. */
void lwp_pmu_events_of_faults(struct lwp_pmu_events *events);

/* The kernel says what it can count, and the processor is not among it. */
bool lwp_pmu_is_missing(const char *devices);

int lwp_pmu_events_from_sysfs(const char *devices, unsigned latency, struct lwp_pmu_events *events, struct lwp_error *err);

#endif
