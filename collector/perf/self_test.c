#include "collector/perf/self_test.h"

#include "base/order.h"
#include "collector/perf/open.h"
#include "collector/perf/probe.h"
#include "collector/perf/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, PAGE = 4096, FEW = 20, ENOUGH = 400, TRIES = 200, STEPS = 200000, FAULT_PAGES = 512 };
static const uint64_t pages_bytes = 256ull << 20, memory_most = 1ull << 30;

/* ---- what samples say ---- */

void lwp_self_add(struct lwp_self_samples *of, const struct lwp_perf_sample *sample, uint64_t low, uint64_t high)
{
    struct lwps_sample record;
    lwp_perf_record(sample, LWPS_WEIGHT_CYCLES, &record);
    if (!sample->user || !record.access_count)
        return;
    const uint8_t level = record.access[0].level;
    of->taken++;
    if (sample->address < low || sample->address >= high)
        return;
    of->inside++;
    of->levels[level & LWPS_LEVEL_MASK]++;
    of->walks += (level >> LWPS_TLB_SHIFT & 3) == LWPS_TLB_WALK;
    of->stores += record.kind == LWPS_SAMPLE_STORE;
    if (sample->weight && of->latency_count < LWP_SELF_LATENCIES)
        of->latencies[of->latency_count++] = sample->weight > UINT32_MAX ? UINT32_MAX : (uint32_t)sample->weight;
}

/* ---- loops ---- */

static struct lwp_pmu_open self_open;
static struct lwp_self_samples *self_now;
static uint64_t self_low, self_high;

/* The ring has room for some forty samples only: each is taken as it comes. */
static void self_take(int signal)
{
    const int error = errno;
    struct lwp_pmu_record record;
    (void)signal;
    while (lwp_pmu_next(&self_open, &record))
        if (record.type == PERF_RECORD_SAMPLE && record.event < self_open.count)
            lwp_self_add(self_now, &record.sample, self_low, self_high);
    errno = error;
}

static void *self_memory(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_NOHUGEPAGE); /* page walks are asked for */
    return memory;
}

/* A ring through one word of each `step` bytes, in random order (Sattolo). */
static void self_link(char *memory, uint64_t bytes, uint64_t step)
{
    const uint64_t count = bytes / step;
    uint64_t random = 88172645463325252u;
    for (uint64_t i = 0; i < count; i++)
        *(uint64_t *)(memory + i * step) = i;
    for (uint64_t i = count - 1; i > 0; i--) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t *a = (uint64_t *)(memory + i * step), *b = (uint64_t *)(memory + random % i * step), other = *a;
        *a = *b;
        *b = other;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *at = (uint64_t *)(memory + i * step);
        *at = (uint64_t)(uintptr_t)(memory + *at * step);
    }
}

/* Nothing but the loads asked for: the counters are in registers. */
__attribute__((noinline)) static const void *self_chase(const void *at, uint64_t steps)
{
    for (; steps; steps--) {
        at = *(void *const volatile *)at;
        __asm__ volatile("" : "+r"(at));
    }
    return at;
}

__attribute__((noinline)) static void self_store(char *memory, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += LINE)
        *(volatile uint64_t *)(memory + i) = i;
}

static int self_loop(enum lwp_self_loop loop, char *memory, uint64_t bytes, uint64_t step)
{
    const void *at = memory;
    self_low = (uint64_t)(uintptr_t)memory;
    self_high = self_low + bytes;
    self_now->pages = bytes / PAGE;
    if (step)
        self_link(memory, bytes, step), at = self_chase(at, bytes / step);
    lwp_pmu_switch(&self_open, true);
    for (int i = 0; i < TRIES && self_now->inside < ENOUGH && (i == 0 || loop != LWP_SELF_FAULTS); i++) {
        if (step)
            at = self_chase(at, STEPS);
        else
            self_store(memory, bytes);
    }
    lwp_pmu_switch(&self_open, false);
    self_take(0);
    return at ? 0 : EFAULT;
}

struct self_given {
    const struct lwp_pmu_events *events;
    const struct lwp_self_sizes *sizes;
    unsigned loops;
    struct lwp_self_samples *samples; /* shared with the parent */
};

static int self_child(const void *given)
{
    const struct self_given *from = given;
    const struct lwp_self_sizes *sizes = from->sizes;
    const uint64_t memory = 4 * sizes->last_bytes < memory_most ? 4 * sizes->last_bytes : memory_most;
    const struct {
        uint64_t bytes, step;
    } loops[LWP_SELF_LOOPS] = {{sizes->l1_bytes / 4, LINE}, {sizes->l2_bytes / 2, LINE}, {memory, LINE},
                               {pages_bytes, PAGE + LINE}, /* not all in one set of the caches */
                               {sizes->l2_bytes, 0},        {FAULT_PAGES * PAGE, 0}};
    struct sigaction take = {.sa_handler = self_take};
    const struct lwp_pmu_wish wish = {.period = from->loops == 1u << LWP_SELF_FAULTS, .sig_data = 1};
    sigaction(SIGTRAP, &take, NULL);
    self_now = from->samples;
    int status = lwp_pmu_open(&self_open, from->events, 0, &wish);
    for (unsigned i = 0; !status && i < LWP_SELF_LOOPS; i++) {
        if (!(from->loops >> i & 1) || !loops[i].bytes)
            continue;
        char *of = self_memory(loops[i].bytes);
        self_now = &from->samples[i];
        status = of ? -self_loop((enum lwp_self_loop)i, of, loops[i].bytes, loops[i].step) : -ENOMEM;
        if (of)
            munmap(of, loops[i].bytes);
    }
    return -status;
}

int lwp_self_run(const struct lwp_pmu_events *events, const struct lwp_self_sizes *sizes, unsigned loops,
                 struct lwp_self_samples samples[LWP_SELF_LOOPS])
{
    const size_t bytes = LWP_SELF_LOOPS * sizeof *samples;
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return ENOMEM;
    const struct self_given given = {events, sizes, loops, shared};
    int why = lwp_probe(self_child, &given);
    memcpy(samples, shared, bytes);
    munmap(shared, bytes);
    return why;
}

/* ---- judged ---- */

/* Of what is in the loop's memory; a first level's buffer of misses is as good as the level it waits for. */
static const struct self_rule {
    const char *name;
    enum lwp_self_loop loop;
    unsigned levels; /* a bit each that is right */
    double least;    /* part of the samples */
} self_rules[LWP_SELF_QUESTIONS] = {
    [LWP_SELF_OF_ADDRESSES] = {"addresses", LWP_SELF_LOOPS, 0, 0.95},
    [LWP_SELF_OF_L1] = {"level: first", LWP_SELF_L1, 1u << LWPS_LEVEL_L1 | 1u << LWPS_LEVEL_BUFFER, 0.9},
    [LWP_SELF_OF_L2] = {"level: second", LWP_SELF_L2, 1u << LWPS_LEVEL_L2, 0.6},             /* some lines are in the first level */
    [LWP_SELF_OF_MEMORY] = {"level: memory", LWP_SELF_MEMORY, 1u << LWPS_LEVEL_MEMORY, 0.5}, /* others in the last one */
    [LWP_SELF_OF_LATENCIES] = {"latencies", LWP_SELF_LOOPS, 0, 0},
    [LWP_SELF_OF_WALKS] = {"page walks", LWP_SELF_PAGES, 0, 0.8},
    [LWP_SELF_OF_STORES] = {"stores", LWP_SELF_STORES, 0, 0.9},
    [LWP_SELF_OF_FAULTS] = {"addresses of page faults", LWP_SELF_FAULTS, 0, 1},
};

const char *lwp_self_question_name(enum lwp_self_question question)
{
    return self_rules[question].name;
}

/* 0: too few, or none has one: a processor may give no latency to what hits the first level. */
static uint32_t self_median(const struct lwp_self_samples *of)
{
    static uint32_t sorted[LWP_SELF_LATENCIES];
    if (of->latency_count < FEW)
        return 0;
    memcpy(sorted, of->latencies, of->latency_count * sizeof *sorted);
    qsort(sorted, of->latency_count, sizeof *sorted, lwp_compare_u32);
    return sorted[of->latency_count / 2];
}

static enum lwp_self_verdict judge_latencies(const struct lwp_self_samples *samples, char *text, size_t room)
{
    const uint32_t first = self_median(&samples[LWP_SELF_L1]), second = self_median(&samples[LWP_SELF_L2]);
    const uint32_t memory = self_median(&samples[LWP_SELF_MEMORY]);
    snprintf(text, room, "medians of %u, %u and %u cycles for the first and second level and for memory (0: none has one)", first, second,
             memory);
    if (!second || !memory)
        return LWP_SELF_UNKNOWN;
    return first < second && 2 * second < memory ? LWP_SELF_RIGHT : LWP_SELF_WRONG;
}

static enum lwp_self_verdict judge_addresses(const struct lwp_self_samples *samples, double least, char *text, size_t room)
{
    uint64_t taken = 0, inside = 0;
    for (unsigned i = 0; i < LWP_SELF_FAULTS; i++) {
        taken += samples[i].taken;
        inside += samples[i].inside;
    }
    snprintf(text, room, "%llu of %llu samples are in the memory that the loops use", (unsigned long long)inside,
             (unsigned long long)taken);
    return taken < FEW ? LWP_SELF_UNKNOWN : (double)inside >= least * (double)taken ? LWP_SELF_RIGHT : LWP_SELF_WRONG;
}

enum lwp_self_verdict lwp_self_judge(const struct lwp_self_samples samples[LWP_SELF_LOOPS], enum lwp_self_question question, char *text,
                                     size_t room)
{
    const struct self_rule *rule = &self_rules[question];
    if (question == LWP_SELF_OF_ADDRESSES)
        return judge_addresses(samples, rule->least, text, room);
    if (question == LWP_SELF_OF_LATENCIES)
        return judge_latencies(samples, text, room);
    const struct lwp_self_samples *of = &samples[rule->loop];
    uint64_t right = question == LWP_SELF_OF_WALKS ? of->walks : question == LWP_SELF_OF_STORES ? of->stores : of->inside, all = of->inside;
    if (question == LWP_SELF_OF_FAULTS)
        all = of->pages;
    for (unsigned level = 0; rule->levels && level < LWP_SELF_LEVELS; level++)
        right -= rule->levels >> level & 1 ? 0 : of->levels[level];
    snprintf(text, room, "%llu of %llu %s", (unsigned long long)right, (unsigned long long)all,
             question == LWP_SELF_OF_FAULTS ? "pages that were touched" : "samples of its loop");
    return of->inside < FEW ? LWP_SELF_UNKNOWN : (double)right >= rule->least * (double)all ? LWP_SELF_RIGHT : LWP_SELF_WRONG;
}
