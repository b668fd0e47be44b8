/* The kernel's records, built byte by byte: the ring buffer they come in, and what becomes of the data source that
 * processors give with them (arch/x86/events/intel/ds.c and amd/ibs.c write these). */
#include "collector/perf/open.h"
#include "collector/perf/record.h"
#include "collector/perf/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a ring ---- */

enum { RING_BYTES = 256 };

struct made_ring {
    struct perf_event_mmap_page page;
    uint8_t data[RING_BYTES];
    struct lwp_perf_ring ring;
};

static void ring_make(struct made_ring *made, uint64_t start)
{
    *made = (struct made_ring){.page = {.data_head = start, .data_tail = start}};
    made->ring = (struct lwp_perf_ring){.page = &made->page, .data = made->data, .size = RING_BYTES};
}

static void ring_put(struct made_ring *made, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        made->data[made->page.data_head++ % RING_BYTES] = ((const uint8_t *)bytes)[i];
}

static void ring_record(struct made_ring *made, uint32_t type, uint8_t fill, uint16_t size)
{
    uint8_t bytes[RING_BYTES];
    struct perf_event_header header = {.type = type, .size = size};
    memset(bytes, fill, sizeof bytes);
    memcpy(bytes, &header, sizeof header);
    ring_put(made, bytes, size);
}

static void records_come_in_order_and_whole_over_the_end(void **state)
{
    (void)state;
    struct made_ring made;
    uint8_t record[64];
    struct perf_event_header header;
    for (uint64_t start = 0; start < 2 * RING_BYTES; start += 8) {
        ring_make(&made, start);
        ring_record(&made, PERF_RECORD_SAMPLE, 0x11, 48);
        ring_record(&made, PERF_RECORD_LOST, 0x22, 64);
        assert_true(lwp_perf_ring_take(&made.ring, record, sizeof record));
        memcpy(&header, record, sizeof header);
        assert_int_equal(header.type, PERF_RECORD_SAMPLE);
        for (size_t i = sizeof header; i < 48; i++)
            assert_int_equal(record[i], 0x11);
        assert_true(lwp_perf_ring_take(&made.ring, record, sizeof record));
        memcpy(&header, record, sizeof header);
        assert_int_equal(header.type, PERF_RECORD_LOST);
        assert_int_equal(record[63], 0x22);
        assert_false(lwp_perf_ring_take(&made.ring, record, sizeof record));
        assert_int_equal(made.page.data_tail, start + 48 + 64);
        assert_int_equal(made.ring.skipped, 0);
    }
}

static void too_long_records_are_passed_over(void **state)
{
    (void)state;
    struct made_ring made;
    uint8_t record[32];
    ring_make(&made, 200);
    ring_record(&made, PERF_RECORD_SAMPLE, 1, 40);
    ring_record(&made, PERF_RECORD_SAMPLE, 2, 24);
    assert_true(lwp_perf_ring_take(&made.ring, record, sizeof record));
    assert_int_equal(record[23], 2);
    assert_int_equal(made.ring.skipped, 1);
}

static void nonsense_ends_what_is_there(void **state)
{
    (void)state;
    static const uint16_t sizes[] = {0, 1, 7, 100, 65535};
    uint8_t record[256];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct made_ring made;
        struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizes[i]};
        ring_make(&made, 64);
        ring_put(&made, &header, sizeof header);
        ring_put(&made, "12345678", 8);
        assert_false(lwp_perf_ring_take(&made.ring, record, sizeof record));
        assert_int_equal(made.page.data_tail, made.page.data_head);
        assert_int_equal(made.ring.skipped, 1);
    }
    struct made_ring made;
    ring_make(&made, 64);
    made.page.data_head = 64 + 10 * RING_BYTES; /* more than can be there */
    assert_false(lwp_perf_ring_take(&made.ring, record, sizeof record));
    assert_int_equal(made.page.data_tail, made.page.data_head);
}

static void whatever_is_in_it_reading_ends(void **state)
{
    (void)state;
    srand(4);
    for (int round = 0; round < 20000; round++) {
        struct made_ring made;
        uint8_t bytes[RING_BYTES], record[128];
        uint64_t callers[LWP_PERF_CALLERS_MAX];
        size_t size = (size_t)rand() % sizeof bytes;
        ring_make(&made, (uint64_t)rand());
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(rand() % 3 ? rand() % 64 : rand());
        ring_put(&made, bytes, size);
        for (unsigned taken = 0; lwp_perf_ring_take(&made.ring, record, sizeof record); taken++) {
            struct perf_event_attr attr = {.sample_type = (uint64_t)rand() << 8 ^ (uint64_t)rand()};
            struct perf_event_header header;
            struct lwp_perf_sample sample;
            assert_true(taken <= RING_BYTES / sizeof header);
            memcpy(&header, record, sizeof header);
            lwp_perf_sample_parse(&attr, header.misc, record + sizeof header, header.size - sizeof header, callers, &sample);
        }
    }
}

/* ---- several events in one ring ---- */

static void put_sample(struct made_ring *made, uint64_t id, uint64_t ip, uint64_t address, uint32_t latency)
{
    struct {
        struct perf_event_header header;
        uint64_t id, ip;
        uint32_t pid, tid;
        uint64_t time, address;
        uint32_t cpu, reserved;
        uint64_t weight, source;
    } record = {.header = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof record},
                .id = id, .ip = ip, .pid = 1, .tid = 2, .time = 3, .address = address, .weight = latency};
    ring_put(made, &record, sizeof record);
}

static void each_sample_is_its_events_and_what_is_lost_is_counted(void **state)
{
    (void)state;
    struct made_ring made;
    struct lwp_pmu_record record;
    struct lwp_pmu_open open = {.count = 2, .unit = LWPS_WEIGHT_CYCLES};
    open.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                            PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC;
    open.event[0].id = 71;
    open.event[0].period = 1009;
    open.event[1].id = 72;
    open.event[1].period = 20011;
    open.event[1].restarted = true; /* as a software event is */
    ring_make(&made, 96);
    put_sample(&made, 72, 0x401000, 0x1000, 0);
    put_sample(&made, 72, 0x401000, 0x1008, 0);
    open.ring = made.ring;
    open.ring.page = &made.page;
    open.ring.data = made.data;
    assert_true(lwp_pmu_next(&open, &record));
    assert_int_equal(record.event, 1);
    assert_int_equal(record.sample.period, 1);
    assert_true(lwp_pmu_next(&open, &record));
    assert_int_equal(record.sample.period, 20011);
    assert_int_equal(record.sample.address, 0x1008);
    put_sample(&made, 71, 0x401010, 0x2000, 300);
    put_sample(&made, 99, 0x401010, 0x2000, 300); /* of nobody */
    assert_true(lwp_pmu_next(&open, &record));
    assert_int_equal(record.event, 0);
    assert_int_equal(record.sample.weight, 300);
    assert_int_equal(record.sample.period, 1009);
    assert_true(lwp_pmu_next(&open, &record));
    assert_int_equal(record.event, open.count);

    struct {
        struct perf_event_header header;
        uint64_t id, lost;
    } lost = {{PERF_RECORD_LOST, 0, sizeof lost}, 71, 17};
    struct {
        struct perf_event_header header;
        uint64_t lost;
    } lost_samples = {{PERF_RECORD_LOST_SAMPLES, 0, sizeof lost_samples}, 4};
    struct perf_event_header cut = {PERF_RECORD_LOST, 0, sizeof cut}, short_sample = {PERF_RECORD_SAMPLE, 0, sizeof cut};
    ring_put(&made, &lost, sizeof lost);
    ring_put(&made, &lost_samples, sizeof lost_samples);
    ring_put(&made, &cut, sizeof cut);
    ring_put(&made, &short_sample, sizeof short_sample);
    ring_record(&made, PERF_RECORD_THROTTLE, 0, 32);
    static const struct {
        uint32_t type;
        uint64_t lost;
    } expected[] = {{PERF_RECORD_LOST, 17}, {PERF_RECORD_LOST_SAMPLES, 4}, {PERF_RECORD_LOST, 0}, {PERF_RECORD_SAMPLE, 0},
                    {PERF_RECORD_THROTTLE, 0}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(lwp_pmu_next(&open, &record));
        assert_int_equal(record.type, expected[i].type);
        assert_int_equal(record.lost, expected[i].lost);
        assert_int_equal(record.event, open.count);
    }
    assert_false(lwp_pmu_next(&open, &record));
}

/* ---- the level byte ---- */

#define S(field, value) ((uint64_t)PERF_MEM_##field##_##value << PERF_MEM_##field##_SHIFT)
#define NUMBER(number)  ((uint64_t)(number) << PERF_MEM_LVLNUM_SHIFT)
#define HIT(level) (S(OP, LOAD) | S(LVL, HIT) | S(LVL, level) | S(LVLNUM, level))

enum { TLB_NONE = 0, TLB_1 = LWPS_TLB_L1 << LWPS_TLB_SHIFT, TLB_WALK = LWPS_TLB_WALK << LWPS_TLB_SHIFT };

static const struct {
    const char *what;
    uint64_t source;
    uint8_t level;
} sources[] = {
    {"nothing said", 0, 0},
    {"Intel: L1", HIT(L1) | S(SNOOP, NONE), LWPS_LEVEL_L1},
    {"Intel: fill buffer", S(OP, LOAD) | S(LVL, HIT) | S(LVL, LFB) | S(LVLNUM, LFB), LWPS_LEVEL_BUFFER},
    {"Intel: L2", HIT(L2), LWPS_LEVEL_L2},
    {"Intel: L3", HIT(L3) | S(SNOOP, NONE), LWPS_LEVEL_L3},
    {"Intel: L3, modified in another core", HIT(L3) | S(SNOOP, HITM), LWPS_LEVEL_L3 | LWPS_LEVEL_MODIFIED},
    {"Intel: unknown beyond L3", S(OP, LOAD) | S(LVL, MISS) | S(LVLNUM, L3) | S(SNOOP, NA), 0},
    {"Intel: memory", S(OP, LOAD) | S(LVL, MISS) | S(LVL, LOC_RAM) | S(LVLNUM, RAM), LWPS_LEVEL_MEMORY},
    {"Intel: memory of another socket", S(OP, LOAD) | S(LVL, MISS) | S(LVL, REM_RAM1) | S(LVLNUM, RAM) | S(REMOTE, REMOTE),
     LWPS_LEVEL_MEMORY | LWPS_LEVEL_REMOTE},
    {"Intel: cache of another socket", S(OP, LOAD) | S(LVL, HIT) | S(LVL, REM_CCE1) | S(LVLNUM, L3) | S(SNOOP, HITM) | S(REMOTE, REMOTE),
     LWPS_LEVEL_L3 | LWPS_LEVEL_REMOTE | LWPS_LEVEL_MODIFIED},
    {"Intel: shared in another socket's memory",
     S(OP, LOAD) | S(LVL, HIT) | S(LVL, REM_RAM1) | S(LVLNUM, L3) | S(SNOOP, HIT) | S(REMOTE, REMOTE),
     LWPS_LEVEL_MEMORY | LWPS_LEVEL_REMOTE},
    {"Intel: miss handling buffer of L2", S(OP, LOAD) | S(LVL, HIT) | NUMBER(5), LWPS_LEVEL_BUFFER},
    {"Intel: memory-side cache", S(OP, LOAD) | S(LVL, HIT) | NUMBER(6), LWPS_LEVEL_OTHER},
    {"Intel: before L1", S(OP, LOAD) | S(LVL, HIT) | NUMBER(7), LWPS_LEVEL_L1},
    {"Intel: uncached", S(OP, LOAD) | S(LVL, HIT) | S(LVL, UNC) | S(LVLNUM, NA), LWPS_LEVEL_OTHER},
    {"Intel: persistent memory", S(OP, LOAD) | S(LVL, HIT) | S(LVLNUM, PMEM), LWPS_LEVEL_MEMORY},
    {"Intel: I/O", S(OP, LOAD) | S(LVL, IO) | S(LVLNUM, NA), LWPS_LEVEL_OTHER},
    {"Intel: a store that missed L1", S(OP, STORE) | S(LVL, MISS) | S(LVL, L1) | S(LVLNUM, L1), 0},
    {"Intel: found in one of the TLBs", HIT(L1) | S(TLB, HIT) | S(TLB, L1) | S(TLB, L2), LWPS_LEVEL_L1 | TLB_NONE},
    {"Intel: page walk", HIT(L2) | S(TLB, MISS) | S(TLB, L2), LWPS_LEVEL_L2 | TLB_WALK},
    {"Intel: locked", HIT(L1) | S(LOCK, LOCKED), LWPS_LEVEL_L1 | LWPS_LEVEL_LOCKED},
    {"AMD: L1, first TLB", HIT(L1) | S(TLB, L1) | S(TLB, HIT), LWPS_LEVEL_L1 | TLB_1},
    {"AMD: miss buffer", S(OP, LOAD) | S(LVL, LFB) | S(LVLNUM, LFB), LWPS_LEVEL_BUFFER},
    {"AMD: cache of another core complex",
     S(OP, LOAD) | S(LVL, HIT) | S(LVL, REM_CCE1) | S(LVLNUM, ANY_CACHE) | S(REMOTE, REMOTE) | S(HOPS, 0), LWPS_LEVEL_L3},
    {"AMD: cache of another node", S(OP, LOAD) | S(LVL, HIT) | S(LVL, REM_CCE2) | S(LVLNUM, ANY_CACHE) | S(REMOTE, REMOTE) | S(HOPS, 1),
     LWPS_LEVEL_L3 | LWPS_LEVEL_REMOTE},
    {"AMD: L2", HIT(L2) | S(TLB, L2) | S(TLB, HIT), LWPS_LEVEL_L2 | LWPS_TLB_L2 << LWPS_TLB_SHIFT},
    {"AMD: this core complex, before Zen 4", S(OP, LOAD) | S(LVL, HIT) | S(LVL, L3) | S(LVL, REM_CCE1) | S(LVLNUM, ANY_CACHE) | S(HOPS, 0),
     LWPS_LEVEL_L3},
    {"AMD: this core complex, Zen 4", HIT(L3) | S(SNOOP, HITM), LWPS_LEVEL_L3 | LWPS_LEVEL_MODIFIED},
    {"AMD: page walk", HIT(L2) | S(TLB, L2) | S(TLB, MISS), LWPS_LEVEL_L2 | TLB_WALK},
    {"AMD: uncached", S(OP, LOAD) | S(LVL, HIT) | S(LVL, UNC) | NUMBER(8), LWPS_LEVEL_OTHER},
    {"AMD: persistent memory of another node", S(OP, LOAD) | S(LVLNUM, PMEM) | S(REMOTE, REMOTE) | S(HOPS, 1),
     LWPS_LEVEL_MEMORY | LWPS_LEVEL_REMOTE},
    {"AMD: nobody knows", S(OP, STORE) | S(LVL, NA) | S(LVLNUM, NA) | S(SNOOP, NA) | S(TLB, NA) | S(LOCK, NA), 0},
    {"AMD: memory", S(OP, LOAD) | S(LVL, HIT) | S(LVL, LOC_RAM) | S(LVLNUM, RAM), LWPS_LEVEL_MEMORY},
    {"AMD: memory of another node", S(OP, LOAD) | S(LVL, HIT) | S(LVL, REM_RAM1) | S(LVLNUM, RAM) | S(REMOTE, REMOTE) | S(HOPS, 1),
     LWPS_LEVEL_MEMORY | LWPS_LEVEL_REMOTE},
    {"AMD: CXL", S(OP, LOAD) | S(LVL, HIT) | S(LVLNUM, CXL), LWPS_LEVEL_MEMORY},
    {"bits only, as of old kernels", S(OP, LOAD) | S(LVL, HIT) | S(LVL, L3), LWPS_LEVEL_L3},
    {"numbers only", S(OP, LOAD) | S(LVLNUM, RAM), LWPS_LEVEL_MEMORY},
};

static void the_level_is_what_the_processor_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct lwp_perf_sample from = {.address = 0x1000, .has_address = true, .has_data_source = true,
                                       .data_source = sources[i].source, .period = 1};
        struct lwps_sample to;
        lwp_perf_record(&from, LWPS_WEIGHT_CYCLES, &to);
        if (to.access[0].level != sources[i].level)
            print_error("%s: level %#x instead of %#x\n", sources[i].what, to.access[0].level, sources[i].level);
        assert_int_equal(to.access[0].level, sources[i].level);
    }
}

static void weights_are_latency_times_events(void **state)
{
    (void)state;
    struct lwp_perf_sample from = {.time = 5, .ip = 0x401000, .address = 0x1008, .has_address = true, .has_data_source = true,
                                   .data_source = S(OP, STORE), .period = 1000, .weight = 250, .has_weight = true};
    struct lwps_sample to;
    lwp_perf_record(&from, LWPS_WEIGHT_CYCLES, &to);
    assert_int_equal(to.weight, 250000);
    assert_int_equal(to.kind, LWPS_SAMPLE_STORE);
    assert_int_equal(to.access[0].flags, LWPS_ACCESS_STORE | LWPS_ACCESS_KNOWN | LWPS_ACCESS_WEIGHTED);
    assert_int_equal(to.access[0].address, 0x1008);
    lwp_perf_record(&from, LWPS_WEIGHT_EVENTS, &to);
    assert_int_equal(to.weight, 1000);
    from.weight = 0; /* a store without a latency */
    lwp_perf_record(&from, LWPS_WEIGHT_CYCLES, &to);
    assert_int_equal(to.weight, 1000);
    from.weight = from.period = UINT64_MAX;
    lwp_perf_record(&from, LWPS_WEIGHT_CYCLES, &to);
    assert_int_equal(to.weight, UINT64_MAX >> 16);
    from.has_address = false;
    lwp_perf_record(&from, LWPS_WEIGHT_CYCLES, &to);
    assert_int_equal(to.access_count, 0);
    assert_int_equal(to.kind, LWPS_SAMPLE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_in_order_and_whole_over_the_end),
        cmocka_unit_test(too_long_records_are_passed_over),
        cmocka_unit_test(nonsense_ends_what_is_there),
        cmocka_unit_test(whatever_is_in_it_reading_ends),
        cmocka_unit_test(each_sample_is_its_events_and_what_is_lost_is_counted),
        cmocka_unit_test(the_level_is_what_the_processor_meant),
        cmocka_unit_test(weights_are_latency_times_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
