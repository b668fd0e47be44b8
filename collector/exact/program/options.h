/* What `lwp collect -e exact` was asked for, as the tool's command line brings it. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_OPTIONS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_exact_options {
    const char *folder;      /* the result directory, absolute */
    uint64_t heap_threshold; /* bytes: smaller blocks are pooled by call path and size */
    bool follow;             /* children of fork are recorded, too */
    bool copies;             /* copies of the program measure how fast it is (trace/speed.h) */
    uint64_t page_fault_ns;  /* what one takes on this machine; 0: not known */
    uint64_t window_on, window_off; /* instructions traced, and not traced after; off 0: all are traced */
    bool window_grows;              /* window_off is the first gap; they grow as Fibonacci's numbers do */
    bool windows;            /* detectors that could follow the whole run count in windows only */
    const char *allocators;  /* functions of the program, FUNC:ARGUMENT,... */
    const char *caches;      /* base/cache.h: geometry as text */
};

extern struct lwp_exact_options lwp_exact_options;

#endif
