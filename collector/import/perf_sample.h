/* One PERF_RECORD_SAMPLE, and the id that other records end with. See perf_sample.c. */
#ifndef LWP_IMPORT_PERF_SAMPLE_H
#define LWP_IMPORT_PERF_SAMPLE_H

#include "collector/import/perf_file.h"

/* False: the record is shorter than its event says. `callers` is room for LWP_PERF_CALLERS_MAX addresses. */
enum { LWP_PERF_CALLERS_MAX = 512 };
bool lwp_perf_sample_parse(const struct perf_event_attr *attr, uint16_t misc, const uint8_t *bytes, size_t size,
                           uint64_t *callers, struct lwp_perf_sample *sample);

/* The id of a sample's event in its first or a later place; 0: none, or too short. */
uint64_t lwp_perf_sample_id(const struct perf_event_attr *attr, const uint8_t *bytes, size_t size);

/* How many bytes of sample_id every other record ends with, and where the time is in them (SIZE_MAX: not).
 */
struct lwp_perf_trailer {
    size_t bytes, time;
};
struct lwp_perf_trailer lwp_perf_trailer(const struct perf_event_attr *attr);

#endif
