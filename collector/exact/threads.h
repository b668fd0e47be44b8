/* The program's threads: each has its file, its contexts, its call stack. One runs at a time; what it is made of is in
 * lwp_thread_now, lwp_calls_now and lwp_context_now. */
#ifndef LWP_EXACT_THREADS_H
#define LWP_EXACT_THREADS_H

#include "collector/exact/calls.h"
#include "collector/exact/contexts.h"
#include "collector/exact/heap.h"
#include "collector/exact/values.h"
#include "format/writer.h"

struct lwp_exact_thread {
    bool opened, failed;
    uint32_t tid;            /* the kernel's */
    uint32_t number;         /* for communication: 1, 2, ... in the order they were made; not used again */
    struct lwps_writer file; /* made when there is something to write */
    struct lwp_context_map contexts;
    struct lwp_call_stacks calls;
    struct lwp_heap_call heap_call;
    uint64_t region_slot; /* of the frame of --region's function, 0: it is not running */
    uint64_t stack_low, stack_high;
    uint32_t context;        /* while another thread runs */
    struct lwp_values_thread *values;
};

extern struct lwp_exact_thread *lwp_thread_now;

void lwp_threads_start(void);
/* Its file, NULL: none can be written. */
struct lwps_writer *lwp_thread_file(struct lwp_exact_thread *thread);
/* What the kernel calls a thread of the process; in `name` (32 bytes) or elsewhere. */
const HChar *lwp_thread_name(uint32_t tid, HChar *name);
/* All files are closed. */
void lwp_threads_finish(void);
/* In the child of a fork only the running thread goes on, with a file of its own. */
void lwp_threads_abandon(void);

#endif
