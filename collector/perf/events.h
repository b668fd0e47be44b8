/* Which events make this processor's PMU give the addresses of loads and stores: Intel's load latency and stores
 * (PEBS), AMD's sampled operations (IBS). For the launcher and `lwp doctor`: the preload library gets the result as
 * text, so that libpfm4 stays out of the profiled program. */
#ifndef LWP_PERF_EVENTS_H
#define LWP_PERF_EVENTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_pmu_cpu {
    char vendor[13]; /* as cpuid has it: "GenuineIntel" */
    unsigned family, model;
};

/* What of a perf_event_attr says what is counted; all else is the sampler's. */
struct lwp_pmu_code {
    uint32_t type;
    uint64_t config, config1, config2;
    uint8_t precise_ip;
    bool kernel_too; /* refuses exclude_kernel: samples of the kernel have to be dropped by who reads them */
};

enum lwp_pmu_accesses { LWP_PMU_LOADS = 1, LWP_PMU_STORES = 2 };

struct lwp_pmu_event {
    char name[96];
    uint8_t accesses; /* enum lwp_pmu_accesses */
    bool has_leader;  /* the kernel takes the event only in a group behind this one, which takes no samples */
    struct lwp_pmu_code code, leader;
};

enum { LWP_PMU_EVENTS_MAX = 8 };

/* A hybrid processor has events for each kind of core; a thread opens all, and the one of the core it is on counts. */
struct lwp_pmu_events {
    struct lwp_pmu_event event[LWP_PMU_EVENTS_MAX];
    unsigned count;
};

void lwp_pmu_cpu_here(struct lwp_pmu_cpu *cpu);

/* Loads of `latency` cycles and more (IBS knows no bound: all). What the kernel says below `devices`
 * ("/sys/bus/event_source/devices") goes first, else libpfm4's names for `cpu`. That an event is known does not mean
 * that it samples here: guests of a hypervisor often count and refuse to sample. */
int lwp_pmu_events_find(const char *devices, const struct lwp_pmu_cpu *cpu, unsigned latency,
                        struct lwp_pmu_events *events, struct lwp_error *err);

int lwp_pmu_events_from_sysfs(const char *devices, unsigned latency, struct lwp_pmu_events *events,
                              struct lwp_error *err);
int lwp_pmu_events_from_names(const struct lwp_pmu_cpu *cpu, unsigned latency, struct lwp_pmu_events *events,
                              struct lwp_error *err);

#endif
