/* Events by libpfm4's names, where the kernel's own list cannot be read. Only processors whose bits were checked
 * against Intel's event lists and the kernel are asked for. AMD's IBS has no name there, and its type is only in sysfs;
 * but the kernel turns a precise count of retired operations into IBS by itself. */
#include "collector/perf/events.h"

#include <config.h>
#include <cpuid.h>
#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sapphire Rapids has MEM_TRANS_RETIRED:STORE_SAMPLE too (0x2cd), but libpfm 4.12 gives it the unit mask 3. */
static const char loads_name[] = "MEM_TRANS_RETIRED:LOAD_LATENCY", stores_name[] = "MEM_INST_RETIRED:ALL_STORES";
static const char retired_name[] = "RETIRED_OPS";

enum { AUX_CONFIG = 0x8203, FAMILY_ZEN_3 = 0x19 }; /* MEM_LOADS_AUX, which libpfm4 does not know  */

static const struct names_model {
    unsigned family, first, last; /* models */
    const char *pmu;
    bool leader;
} names_models[] = {
    {6, 0x4e, 0x4e, "skl", false},
    {6, 0x5e, 0x5e, "skl", false},
    {6, 0x8e, 0x8e, "skl", false},
    {6, 0x9e, 0x9e, "skl", false},
    {6, 0xa5, 0xa6, "skl", false},
    {6, 0x55, 0x55, "skx", false},
    {6, 0x7d, 0x7e, "icl", false},
    {6, 0xa7, 0xa7, "icl", false},
    {6, 0x8c, 0x8d, "icl", false},
    {6, 0x6a, 0x6a, "icx", false},
    {6, 0x6c, 0x6c, "icx", false},
    {6, 0x8f, 0x8f, "spr", true},
    {6, 0xcf, 0xcf, "spr", true},
    {FAMILY_ZEN_3, 0x00, 0x0f, "amd64_fam19h_zen3", false},
    {FAMILY_ZEN_3, 0x20, 0x5f, "amd64_fam19h_zen3", false},
    {FAMILY_ZEN_3, 0x10, 0x1f, "amd64_fam19h_zen4", false},
    {FAMILY_ZEN_3, 0x60, 0x7f, "amd64_fam19h_zen4", false},
    {FAMILY_ZEN_3, 0xa0, 0xaf, "amd64_fam19h_zen4", false},
};

void lwp_pmu_cpu_here(struct lwp_pmu_cpu *cpu)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    *cpu = (struct lwp_pmu_cpu){0};
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return;
    memcpy(cpu->vendor, &b, 4);
    memcpy(cpu->vendor + 4, &d, 4);
    memcpy(cpu->vendor + 8, &c, 4);
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return;
    cpu->family = a >> 8 & 15;
    cpu->model = a >> 4 & 15;
    if (cpu->family == 6 || cpu->family == 15)
        cpu->model |= a >> 12 & 0xf0;
    if (cpu->family == 15)
        cpu->family += a >> 20 & 255;
}

static const struct names_model *names_model(const struct lwp_pmu_cpu *cpu)
{
    bool intel = !strcmp(cpu->vendor, "GenuineIntel");
    if (!intel && strcmp(cpu->vendor, "AuthenticAMD") && strcmp(cpu->vendor, "HygonGenuine"))
        return NULL;
    for (size_t i = 0; i < sizeof names_models / sizeof *names_models; i++) {
        const struct names_model *model = &names_models[i];
        if (model->family == cpu->family && intel == (cpu->family == 6) && cpu->model >= model->first && cpu->model <= model->last)
            return model;
    }
    return NULL;
}

/* Its tables take longer to load than the rest of lwp, and few need them. */
static struct {
    __typeof__(&pfm_initialize) initialize;
    __typeof__(&pfm_get_os_event_encoding) encode;
} pfm;

static bool names_load(void)
{
    void *library = dlopen(LWP_LIBPFM, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    pfm.initialize = (__typeof__(pfm.initialize))dlsym(library, "pfm_initialize");
    pfm.encode = (__typeof__(pfm.encode))dlsym(library, "pfm_get_os_event_encoding");
    return pfm.initialize && pfm.encode;
}

/* libpfm4 is asked for processors that it does not take this one for: whether they work, the kernel decides. It reads
 * that wish from the environment, which the program to be run inherits: it is taken back at once. */
static bool names_start(void)
{
    static const char wish[] = "LIBPFM_ENCODE_INACTIVE";
    bool there = getenv(wish) != NULL;
    setenv(wish, "1", 0);
    bool good = (pfm.encode || names_load()) && pfm.initialize() == PFM_SUCCESS;
    if (!there)
        unsetenv(wish);
    return good;
}

static bool names_encode(const char *name, struct lwp_pmu_code *code)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof argument};
    if (pfm.encode(name, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument) != PFM_SUCCESS)
        return false;
    *code =
        (struct lwp_pmu_code){.type = attr.type, .config = attr.config, .config1 = attr.config1, .config2 = attr.config2, .precise_ip = 2};
    return true;
}

static void names_intel(const struct names_model *model, unsigned latency, struct lwp_pmu_events *events)
{
    struct lwp_pmu_event loads = {.accesses = LWP_PMU_LOADS, .has_leader = model->leader};
    struct lwp_pmu_event stores = {.accesses = LWP_PMU_STORES};
    snprintf(loads.name, sizeof loads.name, "%s::%s:ldlat=%u", model->pmu, loads_name, latency);
    snprintf(stores.name, sizeof stores.name, "%s::%s", model->pmu, stores_name);
    if (names_encode(loads.name, &loads.code)) {
        loads.leader = (struct lwp_pmu_code){.type = loads.code.type, .config = AUX_CONFIG};
        if (!model->leader)
            loads.leader = (struct lwp_pmu_code){0};
        events->event[events->count++] = loads;
    }
    if (names_encode(stores.name, &stores.code))
        events->event[events->count++] = stores;
}

static void names_amd(const struct names_model *model, struct lwp_pmu_events *events)
{
    struct lwp_pmu_event both = {.accesses = LWP_PMU_LOADS | LWP_PMU_STORES};
    snprintf(both.name, sizeof both.name, "%s::%s", model->pmu, retired_name);
    if (!names_encode(both.name, &both.code))
        return;
    both.code.kernel_too = true; /* no telling without sysfs whether IBS can leave the kernel out */
    events->event[events->count++] = both;
}

static int names_events(const struct lwp_pmu_cpu *cpu, unsigned latency, struct lwp_pmu_events *events, struct lwp_error *err)
{
    const struct names_model *model = names_model(cpu);
    *events = (struct lwp_pmu_events){.unit = LWPS_WEIGHT_CYCLES};
    if (!model)
        return lwp_error_set(err, LWP_ERR_MISSING,
                             "no events with addresses are known for this processor (%s family %u"
                             " model %u)",
                             cpu->vendor[0] ? cpu->vendor : "unknown", cpu->family, cpu->model);
    if (!names_start())
        return lwp_error_set(err, LWP_ERR_SYSTEM, "libpfm4 does not start here");
    if (cpu->family == FAMILY_ZEN_3)
        names_amd(model, events);
    else
        names_intel(model, latency, events);
    if (events->count)
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_MISSING, "this libpfm4 knows no events with addresses for %s", model->pmu);
}

void lwp_pmu_events_of_faults(struct lwp_pmu_events *events)
{
    *events = (struct lwp_pmu_events){.unit = LWPS_WEIGHT_EVENTS, .count = 1};
    events->event[0] = (struct lwp_pmu_event){
        .name = "page-faults",
        .accesses = LWP_PMU_LOADS | LWP_PMU_STORES,
        .code = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS},
    };
}

int lwp_pmu_events_find(const char *devices, const struct lwp_pmu_cpu *cpu, unsigned latency, struct lwp_pmu_events *events,
                        struct lwp_error *err)
{
    if (lwp_pmu_events_from_sysfs(devices, latency, events, err) == LWP_OK)
        return LWP_OK;
    if (lwp_pmu_is_missing(devices))
        return lwp_error_set(err, LWP_ERR_MISSING, "there is no PMU, as in most virtual machines");
    return names_events(cpu, latency, events, err);
}
