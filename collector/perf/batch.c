#include "collector/perf/batch.h"

#include "base/arena.h"
#include "base/order.h"
#include "collector/perf/sample.h"

#include <stdlib.h>
#include <string.h>

static int batch_order(const void *a, const void *b)
{
    const struct lwp_perf_batched *x = a, *y = b;
    return LWP_COMPARE(x->time, y->time) ?: LWP_COMPARE(x->at, y->at);
}

static size_t batch_bytes(const struct perf_event_header *header)
{
    return (header->size + 7u) & ~(size_t)7;
}

uint8_t *lwp_perf_batch_room(struct lwp_perf_batch *batch)
{
    if (batch->byte_room < batch->byte_count + LWP_PERF_RECORD_MOST) {
        batch->byte_room = batch->byte_room * 2 + LWP_PERF_RECORD_MOST;
        batch->bytes = lwp_allocated(realloc(batch->bytes, batch->byte_room));
    }
    return batch->bytes + batch->byte_count;
}

void lwp_perf_batch_keep(struct lwp_perf_batch *batch, const struct perf_event_attr *attr)
{
    struct perf_event_header header;
    const uint8_t *bytes = batch->bytes + batch->byte_count;
    memcpy(&header, bytes, sizeof header);
    const uint64_t time = lwp_perf_record_time(attr, header.type, bytes + sizeof header, header.size - sizeof header);
    LWP_PUSH(batch->record, (struct lwp_perf_batched){time, batch->byte_count});
    batch->byte_count += batch_bytes(&header);
}

void lwp_perf_batch_sort(struct lwp_perf_batch *batch)
{
    LWP_SORT(batch->records, batch->record_count, batch_order);
}

void lwp_perf_batch_drop(struct lwp_perf_batch *batch, size_t count)
{
    struct lwp_perf_batch left = {0};
    for (size_t i = count; i < batch->record_count; i++) {
        struct perf_event_header header;
        const uint8_t *from = batch->bytes + batch->records[i].at;
        memcpy(&header, from, sizeof header);
        memcpy(lwp_perf_batch_room(&left), from, header.size);
        LWP_PUSH(left.record, (struct lwp_perf_batched){batch->records[i].time, left.byte_count});
        left.byte_count += batch_bytes(&header);
    }
    if (left.record_count) {
        lwp_perf_batch_free(batch);
        *batch = left;
    } else {
        batch->record_count = batch->byte_count = 0;
    }
}

void lwp_perf_batch_free(struct lwp_perf_batch *batch)
{
    free(batch->records);
    free(batch->bytes);
    *batch = (struct lwp_perf_batch){0};
}
