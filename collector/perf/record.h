/* From a sample of the kernel's to a sample record. */
#ifndef LWP_PERF_RECORD_H
#define LWP_PERF_RECORD_H

#include "collector/perf/sample.h"
#include "format/record.h"

/* Time, instruction, cost, and the access with the level that answered it (LWPS_LEVEL_UNKNOWN after a miss: what follows
 * is not said). Left to the caller: context, width, the access's home. In cycles a sample weighs its latency (1 where it has
 * none, as stores) times the events it stands for; in events these alone. */
void lwp_perf_record(const struct lwp_perf_sample *from, enum lwps_weight_unit unit, struct lwps_sample *to);

#endif
