#include "collector/light/sampling/pmu.h"

#include "collector/light/own/own_memory.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/sampling/timer.h"
#include "collector/perf/open.h"
#include "collector/perf/record.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PMU_FD_LEAST = 200, PMU_CHANGE_MOST = 16 };

struct lwp_pmu {
    struct lwp_pmu_open open;
    uint64_t taken[LWP_PMU_EVENTS_MAX]; /* samples of each event since its period was last looked at */
    struct lwp_pmu_counts counts;
};

static struct lwp_pmu_events pmu_events;
static uint64_t pmu_period; /* as asked for; 0: as often as the rate says */

enum lwps_weight_unit lwp_pmu_init(const char *events, uint64_t period)
{
    pmu_period = period;
    if (events && lwp_pmu_events_parse(events, &pmu_events))
        return pmu_events.unit;
    pmu_events.count = 0;
    return LWPS_WEIGHT_NS;
}

static int pmu_open(struct lwp_pmu_open *open, pid_t tid)
{
    struct lwp_pmu_wish wish = {.period = pmu_period, .sig_data = LWP_TIMER_DATA, .fd_least = PMU_FD_LEAST};
    return lwp_pmu_open(open, &pmu_events, tid, &wish);
}

bool lwp_pmu_works(void)
{
    struct lwp_pmu_open open;
    if (!pmu_events.count || pmu_open(&open, (pid_t)syscall(SYS_gettid)))
        return false;
    lwp_pmu_close(&open);
    return true;
}

struct lwp_pmu *lwp_pmu_start(pid_t tid)
{
    struct lwp_pmu *pmu = lwp_own_memory(sizeof *pmu);
    if (!pmu)
        return NULL;
    if (pmu_open(&pmu->open, tid)) {
        munmap(pmu, sizeof *pmu);
        return NULL;
    }
    lwp_pmu_switch(&pmu->open, true);
    return pmu;
}

/* Each event gets the same part of the samples, whatever the others do: there are far more stores than loads that wait. */
void lwp_pmu_set_rate(struct lwp_pmu *pmu, uint64_t period_ns, uint64_t elapsed_ns)
{
    double target = (double)elapsed_ns / (double)period_ns / pmu->open.count;
    for (unsigned i = 0; i < pmu->open.count; i++) {
        double change = ((double)pmu->taken[i] + 0.1) / (target + 0.1);
        uint64_t now = pmu->open.event[i].period, asked = pmu_period, least = asked ? asked : pmu->open.event[i].range.least;
        if (change < 1.0 / PMU_CHANGE_MOST)
            change = 1.0 / PMU_CHANGE_MOST;
        double wanted = (double)now * change;
        uint64_t period = wanted > 1e15 ? (uint64_t)1e15 : wanted > (double)least ? (uint64_t)wanted : least;
        pmu->taken[i] = 0;
        if (period > now + now / 8 || period < now - now / 4) /* else leave it: every change costs a sample */
            lwp_pmu_set_period(&pmu->open, i, period);
    }
}

bool lwp_pmu_take(struct lwp_pmu *pmu, uint64_t until, struct lwps_sample *sample)
{
    struct lwp_pmu_record record;
    while (lwp_pmu_next(&pmu->open, &record)) {
        pmu->counts.lost += record.lost + (record.type == PERF_RECORD_SAMPLE && record.event == pmu->open.count);
        pmu->counts.throttled += record.type == PERF_RECORD_THROTTLE;
        if (record.type != PERF_RECORD_SAMPLE || record.event == pmu->open.count)
            continue;
        bool ours = record.sample.time > until || lwp_is_ours((const void *)(uintptr_t)record.sample.ip);
        pmu->taken[record.event] += !ours;
        if (!record.sample.user)
            pmu->counts.kernel++;
        else if (!ours) {
            lwp_perf_record(&record.sample, pmu_events.unit, sample);
            return true;
        }
    }
    return false;
}

void lwp_pmu_drop(struct lwp_pmu *pmu)
{
    struct lwps_sample unused;
    struct lwp_pmu_counts before = pmu->counts;
    lwp_pmu_take(pmu, 0, &unused);
    pmu->counts = before;
}

void lwp_pmu_run(struct lwp_pmu *pmu, bool on)
{
    lwp_pmu_switch(&pmu->open, on);
}

void lwp_pmu_stop(struct lwp_pmu *pmu, struct lwp_pmu_counts *counts)
{
    lwp_pmu_drop(pmu);
    pmu->counts.lost += pmu->open.ring.skipped;
    __atomic_fetch_add(&counts->lost, pmu->counts.lost, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counts->throttled, pmu->counts.throttled, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counts->kernel, pmu->counts.kernel, __ATOMIC_RELAXED);
    lwp_pmu_close(&pmu->open);
    munmap(pmu, sizeof *pmu);
}

void lwp_pmu_forget(struct lwp_pmu *pmu)
{
    pmu->open.ring.page = NULL; /* the events' pages are not copied to a child */
    lwp_pmu_close(&pmu->open);
    munmap(pmu, sizeof *pmu);
}
