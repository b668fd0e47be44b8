/* What the kernel's records are read by: perf.data files as they come, and the bytes of a ring buffer. */
#include "collector/import/perf_file.h"
#include "collector/perf/record.h"
#include "collector/perf/ring.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { RING = 1 << 12 };

static void on_sample(void *to, const struct lwp_perf_event *event, const struct lwp_perf_sample *sample)
{
    struct lwps_sample record;
    (void)event;
    for (uint32_t i = 0; i < sample->caller_count; i++)
        *(volatile uint64_t *)to += sample->callers[i];
    lwp_perf_record(sample, LWPS_WEIGHT_CYCLES, &record);
}

/* The event's sample_type, where reading begins, then what the kernel wrote. */
static void read_ring(const uint8_t *bytes, size_t size, uint64_t *sum)
{
    static uint8_t data[RING], record[256];
    static uint64_t callers[LWP_PERF_CALLERS_MAX];
    struct perf_event_attr attr = {.sample_period = 1};
    uint16_t start;
    if (size < 10 || size > 10 + RING)
        return;
    memcpy(&attr.sample_type, bytes, 8);
    memcpy(&start, bytes + 8, 2);
    size -= 10;
    struct perf_event_mmap_page page = {.data_tail = start, .data_head = start + size};
    struct lwp_perf_ring ring = {.page = &page, .data = data, .size = RING};
    for (size_t i = 0; i < size; i++)
        data[(start + i) % RING] = bytes[10 + i];
    while (lwp_perf_ring_take(&ring, record, sizeof record)) {
        struct perf_event_header header;
        struct lwp_perf_sample sample;
        memcpy(&header, record, sizeof header);
        if (lwp_perf_sample_parse(&attr, header.misc, record + sizeof header, header.size - sizeof header, callers, &sample))
            on_sample(sum, NULL, &sample);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct lwp_perf_visitor visitor = {.sample = on_sample};
    struct lwp_perf_about about;
    struct lwp_error err;
    uint64_t sum = 0;
    if (size > 0 && bytes[0] == 'R')
        read_ring(bytes + 1, size - 1, &sum);
    else
        lwp_perf_read_memory("input", bytes, size, &visitor, &sum, &about, &err);
    return 0;
}
