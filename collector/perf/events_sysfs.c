/* Events as the kernel describes them: DEVICE/type is the attr's type, DEVICE/events/NAME a list of terms
 * ("event=0xcd,umask=0x1,ldlat=3"), DEVICE/format/TERM says which bits of which word a term fills ("config1:0-15").
 * The devices: cpu, or cpu_core and cpu_atom of a hybrid processor, with mem-loads and mem-stores (and mem-loads-aux
 * where loads need a leader); ibs_op, which has no events but formats. */
#include "collector/perf/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 256, PRECISE_LOADS = 2 };

static bool sysfs_text(const char *devices, const char *device, const char *name, char text[TEXT_BYTES])
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s/%s", devices, device, name) >= (int)sizeof path)
        return false;
    FILE *from = fopen(path, "re");
    if (!from)
        return false;
    size_t length = fread(text, 1, TEXT_BYTES - 1, from);
    fclose(from);
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return true;
}

static bool sysfs_number(const char *devices, const char *device, const char *name, uint64_t *number)
{
    char text[TEXT_BYTES], *end;
    if (!sysfs_text(devices, device, name, text))
        return false;
    *number = strtoull(text, &end, 0);
    return end != text && !*end;
}

static bool sysfs_has(const char *devices, const char *device, const char *name)
{
    char text[TEXT_BYTES];
    return sysfs_text(devices, device, name, text);
}

/* Puts `value` into the bits that `format` names, low bits first: "config:0-7,32-35". False: not understood, or the
 * value needs more bits than there are. */
static bool sysfs_place(const char *format, uint64_t value, struct lwp_pmu_code *code)
{
    static const char *const names[] = {"config", "config1", "config2"};
    uint64_t *const words[] = {&code->config, &code->config1, &code->config2};
    size_t word = 0, length = strcspn(format, ":");
    while (word < 3 && (strlen(names[word]) != length || strncmp(names[word], format, length)))
        word++;
    if (word == 3 || format[length] != ':')
        return false;
    for (const char *at = format + length + 1;; at++) {
        char *end;
        unsigned long low = strtoul(at, &end, 10), high = low;
        if (end == at)
            return false;
        if (*end == '-') {
            at = end + 1;
            high = strtoul(at, &end, 10);
            if (end == at)
                return false;
        }
        if (low > high || high > 63)
            return false;
        uint64_t bits = high - low == 63 ? UINT64_MAX : ((uint64_t)1 << (high - low + 1)) - 1;
        *words[word] = (*words[word] & ~(bits << low)) | (value & bits) << low;
        value = high - low == 63 ? 0 : value >> (high - low + 1);
        at = end;
        if (*at != ',')
            return !*at && !value;
    }
}

static bool sysfs_term(const char *devices, const char *device, const char *term, uint64_t value,
                       struct lwp_pmu_code *code)
{
    char name[TEXT_BYTES], format[TEXT_BYTES];
    return strcspn(term, "/.") == strlen(term) && snprintf(name, sizeof name, "format/%s", term) < (int)sizeof name &&
           sysfs_text(devices, device, name, format) && sysfs_place(format, value, code);
}

/* `latency` stands in for the event's own where it has one. */
static bool sysfs_event(const char *devices, const char *device, const char *event, unsigned latency,
                        struct lwp_pmu_code *code)
{
    char name[TEXT_BYTES], terms[TEXT_BYTES], *rest;
    uint64_t type, precise;
    *code = (struct lwp_pmu_code){0};
    snprintf(name, sizeof name, "events/%s", event);
    if (!sysfs_text(devices, device, name, terms) || !sysfs_number(devices, device, "type", &type) || type > UINT32_MAX)
        return false;
    code->type = (uint32_t)type;
    for (char *term = strtok_r(terms, ",", &rest); term; term = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(term, '='), *end;
        uint64_t value = equals ? strtoull(equals + 1, &end, 0) : 1;
        if (equals && (end == equals + 1 || *end))
            return false;
        if (equals)
            *equals = '\0';
        if (!strcmp(term, "ldlat") && value < latency)
            value = latency;
        if (!sysfs_term(devices, device, term, value, code))
            return false;
    }
    code->precise_ip = PRECISE_LOADS;
    if (sysfs_number(devices, device, "caps/max_precise", &precise))
        code->precise_ip = precise > 3 ? 3 : (uint8_t)precise;
    return code->precise_ip > 0;
}

static void sysfs_intel(const char *devices, const char *device, unsigned latency, struct lwp_pmu_events *events)
{
    struct lwp_pmu_event loads = {.accesses = LWP_PMU_LOADS}, stores = {.accesses = LWP_PMU_STORES};
    bool good = sysfs_event(devices, device, "mem-loads", latency, &loads.code);
    if (good && sysfs_has(devices, device, "events/mem-loads-aux")) {
        loads.has_leader = true;
        good = sysfs_event(devices, device, "mem-loads-aux", latency, &loads.leader);
        loads.leader.precise_ip = 0; /* it only counts */
    }
    if (good && events->count < LWP_PMU_EVENTS_MAX) {
        snprintf(loads.name, sizeof loads.name, "%s/mem-loads,ldlat=%u/", device, latency);
        events->event[events->count++] = loads;
    }
    if (events->count < LWP_PMU_EVENTS_MAX && sysfs_event(devices, device, "mem-stores", latency, &stores.code)) {
        snprintf(stores.name, sizeof stores.name, "%s/mem-stores/", device);
        events->event[events->count++] = stores;
    }
}

/* cnt_ctl: every so many operations, not cycles, so that none is favoured for taking long. swfilt: the kernel drops its
 * own samples; before it was there (Linux 6.14) IBS refused exclude_kernel. */
static void sysfs_ibs(const char *devices, struct lwp_pmu_events *events)
{
    static const char device[] = "ibs_op";
    struct lwp_pmu_event both = {.name = "ibs_op/cnt_ctl=1/", .accesses = LWP_PMU_LOADS | LWP_PMU_STORES};
    uint64_t type;
    if (events->count >= LWP_PMU_EVENTS_MAX || !sysfs_number(devices, device, "type", &type) || type > UINT32_MAX)
        return;
    both.code.type = (uint32_t)type;
    if (!sysfs_term(devices, device, "cnt_ctl", 1, &both.code)) /* Family 10h Barcelona: cycles only */
        snprintf(both.name, sizeof both.name, "ibs_op//");
    both.code.kernel_too = !sysfs_term(devices, device, "swfilt", 1, &both.code);
    events->event[events->count++] = both;
}

static const char *const sysfs_intel_devices[] = {"cpu", "cpu_core", "cpu_atom", "cpu_lowpower"};

bool lwp_pmu_is_missing(const char *devices)
{
    for (size_t i = 0; i < sizeof sysfs_intel_devices / sizeof *sysfs_intel_devices; i++)
        if (sysfs_has(devices, sysfs_intel_devices[i], "type"))
            return false;
    return sysfs_has(devices, "software", "type") && !sysfs_has(devices, "ibs_op", "type");
}

int lwp_pmu_events_from_sysfs(const char *devices, unsigned latency, struct lwp_pmu_events *events,
                              struct lwp_error *err)
{
    *events = (struct lwp_pmu_events){.unit = LWPS_WEIGHT_CYCLES};
    for (size_t i = 0; i < sizeof sysfs_intel_devices / sizeof *sysfs_intel_devices; i++)
        sysfs_intel(devices, sysfs_intel_devices[i], latency, events);
    sysfs_ibs(devices, events);
    if (events->count)
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_MISSING, "the kernel offers neither load latency sampling (PEBS) nor IBS in %s",
                         devices);
}
