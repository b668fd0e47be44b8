/* The kernel's records of samples, threads and mappings: taken from the rings, put in order, and what each of them says. */
#ifndef LWP_COLLECTOR_OUTSIDE_RECORDS_H
#define LWP_COLLECTOR_OUTSIDE_RECORDS_H

#include "collector/outside/processes.h"

/* Start from zero. */
struct lwp_outside_records {
    struct lwp_outside_record *records; /* of one batch, by time */
    size_t record_count, record_room;
    uint8_t *bytes;
    size_t byte_count, byte_room;
    uint64_t lost, throttled; /* so far */
};

/* Takes and reads all that is in the rings of the processes' events. */
void lwp_outside_drain(struct lwp_outside_records *records, struct lwp_processes *processes);

void lwp_outside_records_free(struct lwp_outside_records *records);

#endif
