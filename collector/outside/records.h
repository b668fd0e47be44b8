/* The kernel's records of samples, threads and mappings: taken from the rings, put in order, and what each of them says. */
#ifndef LWP_COLLECTOR_OUTSIDE_RECORDS_H
#define LWP_COLLECTOR_OUTSIDE_RECORDS_H

#include "collector/outside/processes.h"
#include "collector/perf/batch.h"

/* Start from zero. */
struct lwp_outside_records {
    struct lwp_perf_batch batch;
    uint64_t lost, throttled; /* so far */
};

/* Takes and reads all that is in the rings of the processes' events. */
void lwp_outside_drain(struct lwp_outside_records *records, struct lwp_processes *processes);

void lwp_outside_records_free(struct lwp_outside_records *records);

#endif
