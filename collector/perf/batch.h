/* Records of several ring buffers, put in order: each CPU writes to a ring of its own, so that those of one thread may lie in several. */
#ifndef LWP_PERF_BATCH_H
#define LWP_PERF_BATCH_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_PERF_RECORD_MOST = 1 << 16 }; /* bytes of a record, header and all */

struct lwp_perf_batched {
    uint64_t time; /* 0: not recorded */
    size_t at;     /* in the batch's bytes, header first */
};

/* Start from zero. */
struct lwp_perf_batch {
    struct lwp_perf_batched *records;
    size_t record_count, record_room;
    uint8_t *bytes;
    size_t byte_count, byte_room;
};

/* Room for one record of the longest kind, which counts once it is kept. `attr`: of its event; of any event if it is no sample. */
uint8_t *lwp_perf_batch_room(struct lwp_perf_batch *batch);
void lwp_perf_batch_keep(struct lwp_perf_batch *batch, const struct perf_event_attr *attr);

/* By time; those of one time as they came. */
void lwp_perf_batch_sort(struct lwp_perf_batch *batch);

/* The first `count` are done with; the others stay, in their order. */
void lwp_perf_batch_drop(struct lwp_perf_batch *batch, size_t count);

void lwp_perf_batch_free(struct lwp_perf_batch *batch);

#endif
