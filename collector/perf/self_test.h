/* Whether what the PMU says of accesses is true: loops whose addresses, cache level and order of latencies are known are sampled, and
 * their samples compared with that. */
#ifndef LWP_PERF_SELF_TEST_H
#define LWP_PERF_SELF_TEST_H

#include "collector/perf/event.h"
#include "collector/perf/sample.h"

/* Each load's address comes from the load before it, in an order that no prefetcher knows. */
enum lwp_self_loop {
    LWP_SELF_L1,     /* a quarter of the first level */
    LWP_SELF_L2,     /* half of the second level */
    LWP_SELF_MEMORY, /* four times the last level */
    LWP_SELF_PAGES,  /* one line of each of many pages */
    LWP_SELF_STORES, /* stores to memory, one after the other */
    LWP_SELF_FAULTS, /* touches each page of fresh memory once */
    LWP_SELF_LOOPS
};

enum { LWP_SELF_LEVELS = 8, LWP_SELF_LATENCIES = 4096 };

/* Of the samples that a loop's code took. */
struct lwp_self_samples {
    uint64_t taken, inside;                                /* in all; whose address is in the loop's memory */
    uint64_t pages;                                        /* of that memory */
    uint64_t levels[LWP_SELF_LEVELS], walks, stores;       /* enum lwps_level; page walks; those that are no loads */
    uint32_t latencies[LWP_SELF_LATENCIES], latency_count; /* cycles, of those that have one */
};

struct lwp_self_sizes {
    uint64_t l1_bytes, l2_bytes, last_bytes; /* of the caches */
};

/* Adds a sample to what its loop has, of memory [low, high). */
void lwp_self_add(struct lwp_self_samples *of, const struct lwp_perf_sample *sample, uint64_t low, uint64_t high);

/* Runs those loops whose bit is set in `loops` in a child process. 0 or an errno, as lwp_probe(). */
int lwp_self_run(const struct lwp_pmu_events *events, const struct lwp_self_sizes *sizes, unsigned loops,
                 struct lwp_self_samples samples[LWP_SELF_LOOPS]);

enum lwp_self_verdict { LWP_SELF_RIGHT, LWP_SELF_WRONG, LWP_SELF_UNKNOWN };

enum lwp_self_question {
    LWP_SELF_OF_ADDRESSES,
    LWP_SELF_OF_L1,
    LWP_SELF_OF_L2,
    LWP_SELF_OF_MEMORY,
    LWP_SELF_OF_LATENCIES, /* they grow from level to level */
    LWP_SELF_OF_WALKS,
    LWP_SELF_OF_STORES,
    LWP_SELF_OF_FAULTS,
    LWP_SELF_QUESTIONS
};

/* `text`: what was found, one sentence without a full stop. */
enum lwp_self_verdict lwp_self_judge(const struct lwp_self_samples samples[LWP_SELF_LOOPS], enum lwp_self_question question, char *text,
                                     size_t room);

/* "cache level of what the first level holds" */
const char *lwp_self_question_name(enum lwp_self_question question);

#endif
