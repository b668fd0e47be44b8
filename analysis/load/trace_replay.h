/* The trace of a process: each access is attributed to its object and loop and runs through the models (reuse distances, caches,
 * TLB), whose results are counted. */
#ifndef LWP_ANALYSIS_LOAD_TRACE_REPLAY_H
#define LWP_ANALYSIS_LOAD_TRACE_REPLAY_H

#include "analysis/caches/hierarchy.h"
#include "analysis/load/data_attribution.h"
#include "analysis/profile/locality_counts.h"
#include "analysis/profile/thread_interaction.h"
#include "format/record.h"

struct lwp_trace;

/* `machines`: by enum lwp_machine_of; the first is the one whose distances and strides are counted. */
struct lwp_trace *lwp_trace_new(const struct lwp_hierarchy_plan *machines, struct lwp_resolver *resolver,
                                struct lwp_data_attribution *attribution, struct lwp_locality_counts *counts,
                                struct lwp_thread_interaction *interaction);
void lwp_trace_free(struct lwp_trace *trace);

/* Another file: its number among all, and its size. */
void lwp_trace_begin(struct lwp_trace *trace, uint32_t file, uint64_t bytes);
void lwp_trace_chunk(struct lwp_trace *trace, const struct lwps_trace *record);

#endif
