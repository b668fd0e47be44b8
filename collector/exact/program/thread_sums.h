/* What each thread contributed to the sums of a detector, kept also when the thread has ended. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_THREAD_SUMS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_THREAD_SUMS_H

#include "collector/exact/program/thread.h"

enum { LWP_THREAD_SUMS = 6 };

struct lwp_thread_sums {
    struct lwp_thread_sums *next;
    uint32_t number;               /* 1, 2, ... in the order they ran first: the same in every run */
    uint64_t sum[LWP_THREAD_SUMS]; /* what they are of is the detector's */
};

/* Those of a thread, which has a pointer to them for each detector; made and added to the list when they are asked for first. */
struct lwp_thread_sums *lwp_thread_sums_of(struct lwp_thread_sums **list, struct lwp_thread_sums **of_thread);

/* All of them start from zero again. */
void lwp_thread_sums_clear(struct lwp_thread_sums *list);

/* Records of all threads with `waste` or `close`: numbers of sums; -1: there is none. */
struct lwp_thread_sums_record {
    uint8_t verdict, moves;
    int all, waste, close;
};
void lwp_thread_sums_write(const struct lwp_thread_sums *list, struct lwps_writer *file, const struct lwp_thread_sums_record *what);

#endif
