/* Opens events that carry addresses on one thread, all into one ring. The probe and the sampler open them in this one way,
 * so that what the probe finds is true of the sampler. Allocates nothing. */
#ifndef LWP_PERF_OPEN_H
#define LWP_PERF_OPEN_H

#include "collector/perf/event.h"
#include "collector/perf/ring.h"
#include "collector/perf/sample.h"

#include <sys/types.h>

struct lwp_pmu_wish {
    uint64_t period;   /* events between samples; 0: each event's lwp_pmu_period */
    uint64_t sig_data; /* each sample sends the thread a synchronous SIGTRAP with this word (Linux 5.13) */
    int fd_least;      /* descriptors from here on, out of the program's way; 0: any */
};

struct lwp_pmu_open {
    struct {
        int fd, leader; /* leader: -1: none */
        uint64_t id;    /* as its records have it */
        uint64_t period;
        struct lwp_pmu_period range;
        bool restarted; /* a software event samples at once when its period is changed: that sample stands for one event */
    } event[LWP_PMU_EVENTS_MAX];
    unsigned count;
    enum lwps_weight_unit unit;
    struct perf_event_attr attr; /* what the records of all of them hold */
    struct lwp_perf_ring ring;
};

/* Opens them stopped. Events that are refused are left out; -errno of the first when none is left. */
int lwp_pmu_open(struct lwp_pmu_open *open, const struct lwp_pmu_events *events, pid_t tid,
                 const struct lwp_pmu_wish *wish);
void lwp_pmu_switch(const struct lwp_pmu_open *open, bool on);

/* From now on every `period` events, or the nearest number that the hardware can. */
void lwp_pmu_set_period(struct lwp_pmu_open *open, unsigned event, uint64_t period);

struct lwp_pmu_record {
    uint32_t type;  /* PERF_RECORD_ */
    unsigned event; /* of a sample; `count`: it cannot be read */
    struct lwp_perf_sample sample; /* `period`: for how many events it stands */
    uint64_t lost;  /* of PERF_RECORD_LOST and PERF_RECORD_LOST_SAMPLES */
};

/* The next record. False: there is none. */
bool lwp_pmu_next(struct lwp_pmu_open *open, struct lwp_pmu_record *record);

/* Closes the descriptors that still are events: the program may have closed ours and use their numbers. */
void lwp_pmu_close(struct lwp_pmu_open *open);

#endif
