/* The bits of each processor's events with addresses, against a table from the documentation: Intel's perfmon event
 * lists (MEM_TRANS_RETIRED, MEM_INST_RETIRED, MEM_UOPS_RETIRED), the kernel's arch/x86/events/intel/core.c and
 * amd/ibs.c. Both ways to them: a made-up /sys/bus/event_source/devices as the kernel of such a machine shows it, and
 * libpfm4. */
#include "collector/perf/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { LATENCY = 30, CORE = 4, ATOM = 10, IBS = 11 };

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-pmu.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    mkdir(folder, 0700);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void put_device(const char *device, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", device, name);
    put(path, text);
}

static void put_intel(const char *device, const char *type, const char *loads, const char *stores, const char *aux)
{
    put_device(device, "type", type);
    put_device(device, "format/event", "config:0-7\n");
    put_device(device, "format/umask", "config:8-15\n");
    put_device(device, "format/ldlat", "config1:0-15\n");
    put_device(device, "caps/max_precise", "3\n");
    if (loads)
        put_device(device, "events/mem-loads", loads);
    if (stores)
        put_device(device, "events/mem-stores", stores);
    if (aux)
        put_device(device, "events/mem-loads-aux", aux);
}

static void put_amd(const char *swfilt)
{
    put("cpu/type", "4\n");
    put("cpu/events/cpu-cycles", "event=0x76\n");
    put("ibs_op/type", "11\n");
    put("ibs_op/format/cnt_ctl", "config:19\n");
    put("ibs_op/format/l3missonly", "config:16\n");
    if (swfilt)
        put("ibs_op/format/swfilt", swfilt);
}

static void put_skylake(void)
{
    put_intel("cpu", "4\n", "event=0xcd,umask=0x1,ldlat=3\n", "event=0xd0,umask=0x82\n", NULL);
}

static void put_sapphire_rapids(void)
{
    put_intel("cpu", "4\n", "event=0xcd,umask=0x1,ldlat=3\n", "event=0xcd,umask=0x2\n", "event=0x03,umask=0x82\n");
}

static void put_alder_lake(void)
{
    put_intel("cpu_core", "4\n", "event=0xcd,umask=0x1,ldlat=3\n", "event=0xcd,umask=0x2\n", "event=0x03,umask=0x82\n");
    put_intel("cpu_atom", "10\n", "event=0xd0,umask=0x5,ldlat=3\n", "event=0xd0,umask=0x6\n", NULL);
}

static void put_zen_3(void)
{
    put_amd(NULL); /* an older kernel */
}

static void put_zen_4(void)
{
    put_amd("config2:0\n");
}

struct row {
    uint8_t accesses;
    uint32_t type;
    uint64_t config, config1, config2, leader; /* leader: its config, 0: none */
    uint8_t precise;
    bool kernel_too;
};

enum { LOADS = LWP_PMU_LOADS, STORES = LWP_PMU_STORES };

static const struct processor {
    const char *name;
    struct lwp_pmu_cpu cpu;
    void (*put)(void);
    struct row sysfs[4], names[4]; /* ended by accesses 0 */
} processors[] = {
    {"Skylake",
     {"GenuineIntel", 6, 0x5e},
     put_skylake,
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0, 3, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 3, false}},
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0, 2, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 2, false}}},
    {"Skylake X",
     {"GenuineIntel", 6, 0x55},
     put_skylake,
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0, 3, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 3, false}},
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0, 2, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 2, false}}},
    {"Ice Lake",
     {"GenuineIntel", 6, 0x7e},
     put_skylake, /* the same events */
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0, 3, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 3, false}},
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0, 2, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 2, false}}},
    {"Ice Lake X",
     {"GenuineIntel", 6, 0x6a},
     put_skylake,
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0, 3, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 3, false}},
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0, 2, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 2, false}}},
    {"Sapphire Rapids",
     {"GenuineIntel", 6, 0x8f},
     put_sapphire_rapids,
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0x8203, 3, false}, {STORES, CORE, 0x2cd, 0, 0, 0, 3, false}},
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0x8203, 2, false}, {STORES, CORE, 0x82d0, 0, 0, 0, 2, false}}},
    {"Alder Lake",
     {"GenuineIntel", 6, 0x97},
     put_alder_lake,
     {{LOADS, CORE, 0x1cd, LATENCY, 0, 0x8203, 3, false},
      {STORES, CORE, 0x2cd, 0, 0, 0, 3, false},
      {LOADS, ATOM, 0x5d0, LATENCY, 0, 0, 3, false},
      {STORES, ATOM, 0x6d0, 0, 0, 0, 3, false}},
     {{0}}}, /* the type of its small cores is only in sysfs */
    {"Zen 3",
     {"AuthenticAMD", 0x19, 0x21},
     put_zen_3,
     {{LOADS | STORES, IBS, 1 << 19, 0, 0, 0, 0, true}},
     {{LOADS | STORES, CORE, 0xc1, 0, 0, 0, 2, true}}},
    {"Zen 4",
     {"AuthenticAMD", 0x19, 0x61},
     put_zen_4,
     {{LOADS | STORES, IBS, 1 << 19, 0, 1, 0, 0, false}},
     {{LOADS | STORES, CORE, 0xc1, 0, 0, 0, 2, true}}},
};

static void check(const char *name, const struct lwp_pmu_events *events, const struct row rows[4])
{
    unsigned count = 0;
    while (count < 4 && rows[count].accesses)
        count++;
    print_message("%s: %u events\n", name, events->count);
    assert_int_equal(events->count, count);
    for (unsigned i = 0; i < count; i++) {
        const struct lwp_pmu_event *event = &events->event[i];
        print_message("  %s\n", event->name);
        assert_int_equal(event->accesses, rows[i].accesses);
        assert_int_equal(event->code.type, rows[i].type);
        assert_int_equal(event->code.config, rows[i].config);
        assert_int_equal(event->code.config1, rows[i].config1);
        assert_int_equal(event->code.config2, rows[i].config2);
        assert_int_equal(event->code.precise_ip, rows[i].precise);
        assert_int_equal(event->code.kernel_too, rows[i].kernel_too);
        assert_int_equal(event->has_leader, rows[i].leader != 0);
        assert_int_equal(event->leader.config, rows[i].leader);
        assert_int_equal(event->leader.type, rows[i].leader ? rows[i].type : 0);
        assert_int_equal(event->leader.precise_ip, 0);
    }
}

static void bits_by_sysfs(void **state)
{
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        struct lwp_pmu_events events;
        struct lwp_error err;
        processors[i].put();
        assert_int_equal(lwp_pmu_events_find(folder, &processors[i].cpu, LATENCY, &events, &err), LWP_OK);
        check(processors[i].name, &events, processors[i].sysfs);
        assert_int_equal(tear_down(state), 0);
    }
}

static void bits_by_libpfm(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        struct lwp_pmu_events events;
        struct lwp_error err = {0};
        bool known = processors[i].names[0].accesses;
        assert_int_equal(lwp_pmu_events_find("/proc/nonexistent", &processors[i].cpu, LATENCY, &events, &err),
                         known ? LWP_OK : LWP_ERR_MISSING);
        check(processors[i].name, &events, processors[i].names);
        assert_null(getenv("LIBPFM_ENCODE_INACTIVE")); /* nothing of ours is left for the program */
        assert_int_equal(strlen(err.text) > 20, 1);    /* what sysfs lacked, or what nobody knows */
    }
}

static void no_events(void **state)
{
    (void)state;
    static const struct lwp_pmu_cpu unknown[] = {{"GenuineIntel", 6, 0xff},
                                                 {"AuthenticAMD", 0x17, 1},
                                                 {"", 0, 0},
                                                 {"AuthenticAMD", 6, 0x5e},
                                                 {"GenuineIntel", 0x19, 1}};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct lwp_pmu_events events;
        struct lwp_error err = {0};
        assert_int_equal(lwp_pmu_events_find("/proc/nonexistent", &unknown[i], LATENCY, &events, &err), LWP_ERR_MISSING);
        assert_int_equal(events.count, 0);
        assert_non_null(strstr(err.text, "family"));
    }
}

/* The kernel lists its software events and nothing of the processor's: libpfm4 has nothing to add. */
static void no_pmu(void **state)
{
    (void)state;
    struct lwp_pmu_events events;
    struct lwp_error err = {0};
    put("software/type", "1");
    assert_true(lwp_pmu_is_missing(folder));
    assert_int_equal(lwp_pmu_events_find(folder, &processors[0].cpu, LATENCY, &events, &err), LWP_ERR_MISSING);
    assert_non_null(strstr(err.text, "no PMU"));
    put("cpu/type", "4");
    assert_false(lwp_pmu_is_missing(folder));
}

/* Terms in several pieces, and what cannot be a term: never wrong bits, rather no event. */
static void awkward_trees(void **state)
{
    static const struct {
        const char *format, *terms;
        bool good;
        uint64_t config;
    } cases[] = {
        {"config:0-7,32-35\n", "event=0xabc\n", true, 0xa000000bc},
        {"config:0-63\n", "event=0xffffffffffffffff\n", true, UINT64_MAX},
        {"config:5\n", "event\n", true, 1 << 5}, /* a term without a value is 1 */
        {"config:0-7\n", "event=0x100\n", false, 0},
        {"config:0-7\n", "event=\n", false, 0},
        {"config:0-7\n", "event=0x1z\n", false, 0},
        {"config:0-7\n", "nonsense=1\n", false, 0},
        {"config:0-7\n", "../type=1\n", false, 0},
        {"config:7-0\n", "event=1\n", false, 0},
        {"config:0-64\n", "event=1\n", false, 0},
        {"config:0-\n", "event=1\n", false, 0},
        {"config:\n", "event=1\n", false, 0},
        {"config:0-7,\n", "event=1\n", false, 0},
        {"config9:0-7\n", "event=1\n", false, 0},
        {"conf:0-7\n", "event=1\n", false, 0},
        {"", "event=1\n", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lwp_pmu_events events;
        struct lwp_error err;
        put_intel("cpu", "4\n", NULL, cases[i].terms, NULL);
        put("cpu/format/event", cases[i].format);
        int status = lwp_pmu_events_from_sysfs(folder, LATENCY, &events, &err);
        print_message("%s", cases[i].format);
        assert_int_equal(status, cases[i].good ? LWP_OK : LWP_ERR_MISSING);
        assert_int_equal(events.count, cases[i].good);
        if (cases[i].good)
            assert_int_equal(events.event[0].code.config, cases[i].config);
        assert_int_equal(tear_down(state), 0);
    }
    /* a leader that is not understood takes its event with it; a guest's PMU that cannot be precise has none */
    struct lwp_pmu_events events;
    struct lwp_error err;
    put_intel("cpu", "4\n", "event=0xcd,umask=0x1,ldlat=3\n", "event=0xcd,umask=0x2\n", "nonsense\n");
    assert_int_equal(lwp_pmu_events_from_sysfs(folder, LATENCY, &events, &err), LWP_OK);
    assert_int_equal(events.count, 1);
    assert_int_equal(events.event[0].accesses, STORES);
    put("cpu/caps/max_precise", "0\n");
    assert_int_equal(lwp_pmu_events_from_sysfs(folder, LATENCY, &events, &err), LWP_ERR_MISSING);
    put("cpu/caps/max_precise", "3\n");
    put("cpu/type", "99999999999\n");
    assert_int_equal(lwp_pmu_events_from_sysfs(folder, LATENCY, &events, &err), LWP_ERR_MISSING);
}

/* The preload library gets what was found, and takes nothing else. */
static void as_text_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        struct lwp_pmu_events events, again;
        struct lwp_error err;
        char text[1024];
        processors[i].put();
        assert_int_equal(lwp_pmu_events_find(folder, &processors[i].cpu, LATENCY, &events, &err), LWP_OK);
        assert_int_equal(events.unit, LWPS_WEIGHT_CYCLES);
        assert_true(lwp_pmu_events_print(&events, text, sizeof text));
        assert_true(lwp_pmu_events_parse(text, &again));
        assert_int_equal(again.unit, events.unit);
        check("again", &again, processors[i].sysfs);
        for (size_t length = 0; length < strlen(text); length++) { /* cut short: never more than was said */
            char cut[1024];
            snprintf(cut, sizeof cut, "%.*s", (int)length, text);
            assert_false(lwp_pmu_events_print(&events, cut, length + 1));
            if (lwp_pmu_events_parse(cut, &again))
                assert_true(again.count <= events.count);
        }
        assert_int_equal(tear_down(state), 0);
    }
    static const char *const wrong[] = {"", "1;3,1,2,0,0,0,0", "4", "4;", "4;0,1,2,0,0,0,0", "4;3,1,2,0,0,9,0", "4;3,1,2,0,0,0,2",
                                        "4;3,1,2,0,0,0,0,1", "4;3,1,2,0,0,0,0 ", "4;3,1,2,0,0,x,0", "4;3,100000000,2,0,0,0,0"};
    struct lwp_pmu_events events;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(lwp_pmu_events_parse(wrong[i], &events));
    lwp_pmu_events_of_faults(&events);
    char text[64];
    assert_true(lwp_pmu_events_print(&events, text, sizeof text));
    assert_true(lwp_pmu_events_parse(text, &events));
    assert_int_equal(events.event[0].code.config, 2); /* PERF_COUNT_SW_PAGE_FAULTS */
    assert_int_equal(events.unit, LWPS_WEIGHT_EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bits_by_sysfs, set_up, tear_down),
        cmocka_unit_test(bits_by_libpfm),
        cmocka_unit_test(no_events),
        cmocka_unit_test_setup_teardown(no_pmu, set_up, tear_down),
        cmocka_unit_test_setup_teardown(awkward_trees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_text_and_back, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
