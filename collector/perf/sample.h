/* One PERF_RECORD_SAMPLE of the kernel, decoded: from a perf.data file or a ring buffer. Trusts nothing, allocates nothing:
 * also called in the preload library's signal handler. */
#ifndef LWP_PERF_SAMPLE_H
#define LWP_PERF_SAMPLE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp_perf_sample {
    uint32_t pid, tid;
    uint64_t time, ip, address, period;
    uint64_t weight;      /* latency in cycles; 0: not recorded */
    uint64_t data_source; /* union perf_mem_data_src; 0: not recorded */
    bool has_address, has_weight, has_data_source, exact_ip, user;
    const uint8_t *registers; /* of the thread in user space, 8 bytes for each bit of sample_regs_user; NULL: not recorded */
    const uint8_t *stack;     /* from its stack pointer on, as it was; in the record */
    uint64_t stack_bytes;
    const uint64_t *callers; /* in user space, as struct lwps_context has them, innermost first, without ip */
    uint32_t caller_count;
};

/* One of the registers, by its number in enum perf_event_x86_regs; 0: not recorded. */
uint64_t lwp_perf_register(const struct perf_event_attr *attr, const struct lwp_perf_sample *sample, unsigned number);

/* False: the record is shorter than its event says. `callers` is room for LWP_PERF_CALLERS_MAX addresses. */
enum { LWP_PERF_CALLERS_MAX = 512 };
bool lwp_perf_sample_parse(const struct perf_event_attr *attr, uint16_t misc, const uint8_t *bytes, size_t size,
                           uint64_t *callers, struct lwp_perf_sample *sample);

/* The id of a sample's event in its first or a later place; 0: none, or too short. */
uint64_t lwp_perf_sample_id(const struct perf_event_attr *attr, const uint8_t *bytes, size_t size);

/* How many bytes of sample_id every other record ends with, and where the time is in them (SIZE_MAX: not). */
struct lwp_perf_trailer {
    size_t bytes, time;
};
struct lwp_perf_trailer lwp_perf_trailer(const struct perf_event_attr *attr);

/* When a record was written, `bytes` being what is behind its header: a sample of this event, or any other record. 0: not recorded, or too
 * short. */
uint64_t lwp_perf_record_time(const struct perf_event_attr *attr, uint32_t type, const uint8_t *bytes, size_t size);

#endif
