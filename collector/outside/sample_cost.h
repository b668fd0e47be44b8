/* What a sample costs the thread that is sampled, on this machine. */
#ifndef LWP_COLLECTOR_OUTSIDE_SAMPLE_COST_H
#define LWP_COLLECTOR_OUTSIDE_SAMPLE_COST_H

#include <linux/perf_event.h>
#include <stdint.h>

/* ns of one sample of such an event, measured on the calling thread in some 40 ms. 0: not known. */
uint64_t lwp_sample_cost(const struct perf_event_attr *attr);

#endif
