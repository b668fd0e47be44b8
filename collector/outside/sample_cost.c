/* The same loop with and without the event, alternately. The kernel's work for a sample is part of the thread's CPU time, so that the
 * loop gets less of it. Another process that takes the processor meanwhile does not count; the median leaves out what shares a core. */
#include "collector/outside/sample_cost.h"

#include "base/clock.h"
#include "collector/perf/ring.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5, TURN_NS = 4000000, PERIOD_NS = 100003, PAGES = 64 };

static void cost_work(void)
{
    for (int i = 0; i < 2000; i++)
        __asm__ volatile("" : : "r"(i)); /* or there is no loop */
}

/* Rounds of work within the CPU time, and that time. */
static double cost_turn(uint64_t *ns)
{
    uint64_t begun = lwp_clock(CLOCK_THREAD_CPUTIME_ID), now;
    double rounds = 0;
    do {
        cost_work();
        rounds++;
        now = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    } while (now < begun + TURN_NS);
    *ns = now - begun;
    return rounds;
}

static unsigned cost_samples(struct lwp_perf_ring *ring)
{
    static uint8_t record[1 << 16];
    unsigned samples = 0;
    while (lwp_perf_ring_take(ring, record, sizeof record)) {
        const struct perf_event_header *header = (const void *)record;
        samples += header->type == PERF_RECORD_SAMPLE;
    }
    return samples;
}

static int cost_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

uint64_t lwp_sample_cost(const struct perf_event_attr *given)
{
    struct perf_event_attr attr = *given;
    struct lwp_perf_ring ring = {0};
    double costs[TURNS];
    unsigned measured = 0;
    attr.inherit = attr.inherit_thread = 0;
    attr.sample_period = PERIOD_NS;
    attr.disabled = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return 0;
    if (lwp_perf_ring_map(&ring, fd, PAGES)) {
        close(fd);
        return 0;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t plain_ns, sampled_ns;
        double plain = cost_turn(&plain_ns);
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        double sampled = cost_turn(&sampled_ns);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        unsigned samples = cost_samples(&ring);
        if (samples)
            costs[measured++] = ((double)sampled_ns - sampled * (double)plain_ns / plain) / samples;
    }
    lwp_perf_ring_unmap(&ring);
    close(fd);
    if (!measured)
        return 0;
    qsort(costs, measured, sizeof *costs, cost_order);
    return costs[measured / 2] > 1 ? (uint64_t)costs[measured / 2] : 1;
}
