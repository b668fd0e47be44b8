/* Made-up results for tests and measurements of the analysis. */
#ifndef LWP_BENCH_SYNTHETIC_H
#define LWP_BENCH_SYNTHETIC_H

#include <stdbool.h>
#include <stdint.h>

/* What an object should get. */
struct synthetic_truth {
    uint64_t weight, accesses;
};

struct synthetic {
    const char *dir;
    uint32_t processes, threads, objects; /* threads of each process; objects are the same in all */
    uint64_t samples;                     /* in all */
    uint32_t accesses;                    /* most of one sample, up to 8, equally often each number; 0: 5 */
    bool sealed;                          /* as `lwp collect` leaves them */
    struct synthetic_truth *truth;        /* by object; NULL: not wanted */
};

/* 0, or -1 and errno. Objects at most 160,000. */
int lwp_synthetic_write(const struct synthetic *wanted);

enum { SYNTHETIC_FRAMES = 4 };

/* A call on an object's allocation path, 0 is the outermost: an address in the file of this binary. */
uint64_t lwp_synthetic_call(uint32_t object, int frame);

#endif
