/* Events whose samples carry addresses, and as text for the preload library's environment. */
#ifndef LWP_PERF_EVENT_H
#define LWP_PERF_EVENT_H

#include "format/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    enum lwps_weight_unit unit; /* cycles: samples carry a latency; else events */
    struct lwp_pmu_event event[LWP_PMU_EVENTS_MAX];
    unsigned count;
};

/* Events between samples: what to begin with before it is known how often they come, the least that is sensible, and the
 * step that the hardware takes (IBS: 16). */
struct lwp_pmu_period {
    uint64_t first, least, step;
};
struct lwp_pmu_period lwp_pmu_period(const struct lwp_pmu_events *events, unsigned event);

/* Without the names. False: it needs more than `room`. */
bool lwp_pmu_events_print(const struct lwp_pmu_events *events, char *text, size_t room);

/* False: not what lwp_pmu_events_print wrote. */
bool lwp_pmu_events_parse(const char *text, struct lwp_pmu_events *events);

#endif
