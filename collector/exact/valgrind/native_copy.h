/* How long does the program take without Valgrind, from here to its next system call? A copy of the process runs there on the processor
 * itself. It cannot do anything to others: it gets no system call done, and has none of the memory that the process shares. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_NATIVE_COPY_H
#define LWP_COLLECTOR_EXACT_VALGRIND_NATIVE_COPY_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_native_copy {
    uint64_t ns, page_faults; /* CPU time, that of the page faults included */
    uint32_t call;            /* the system call that it came to, */
    Addr address;             /* ... and where it returns to */
};

/* Of a thread that is about to run, alone in its process. False: it came to none within some seconds, or made a fault; or no copy can be
 * made here. */
bool lwp_native_copy_run(ThreadId id, struct lwp_native_copy *copy);

#endif
