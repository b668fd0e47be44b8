/* A thread of the program: its file, its contexts, its call stack. One runs at a time; what it is made of is in
 * lwp_thread_now, lwp_calls_now and lwp_context_now. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_THREAD_H
#define LWP_COLLECTOR_EXACT_PROGRAM_THREAD_H

#include "collector/exact/program/blocks.h"
#include "collector/exact/program/call_stacks.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/valgrind/tool.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>

/* The outermost call of an allocator that a thread is in. */
struct lwp_heap_call {
    Addr slot; /* of its return address; 0: none */
    uint8_t function; /* enum lwp_heap_function */
    uint32_t node;
    Addr pointer; /* first argument */
    SizeT size;
    bool had;     /* `old` was given back for it */
    struct lwp_block old;
};

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
    uint32_t storer;         /* for redundant accesses: 1, 2, ... in the order they ran */
    struct lwp_values_thread *values;
    struct lwp_thread_sums *shadow_sums, *value_sums, *register_sums; /* thread_sums.h; they outlive it */
};

extern struct lwp_exact_thread *lwp_thread_now;

/* Its file, NULL: none can be written. */
struct lwps_writer *lwp_thread_file(struct lwp_exact_thread *thread);

/* All of them (threads.c). `leave`: called before the running thread stops running or ends; `enter`: after another one runs; `runs`:
 * before it runs, each time. */
void lwp_threads_start(void (*leave)(void), void (*enter)(void), void (*runs)(ThreadId));
/* All files are closed. */
void lwp_threads_finish(void);
/* In the child of a fork only the running thread goes on, with a file of its own. */
void lwp_threads_abandon(void);

enum { LWP_THREAD_NAME_BYTES = 32 };
/* What the kernel calls a thread of the process; in `name` (LWP_THREAD_NAME_BYTES) or elsewhere. */
const HChar *lwp_thread_name(uint32_t tid, HChar *name);

#endif
