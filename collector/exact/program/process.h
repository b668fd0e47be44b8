/* The process as a whole under the exact engine: its folder, process.lwps, its clock. Valgrind runs one thread at a
 * time, so nothing here is locked. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_PROCESS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_PROCESS_H

#include "collector/exact/program/contexts.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_exact_process {
    bool active;             /* its files are open */
    struct lwps_writer file; /* process.lwps */
    struct lwp_context_map contexts; /* of process.lwps */
    uint64_t samples, samples_with_address, allocations;
    uint64_t native_instructions, native_ns, native_least_ns, native_most_ns, native_page_faults; /* of what copies ran, too (trace/speed.h) */
};

extern struct lwp_exact_process lwp_exact_process;

/* Makes DIR/p<PID>[.<n>] with process.lwps; false: nothing can be recorded (a sentence went to stderr). */
bool lwp_exact_process_start(void);
/* What the process did so far, into process.lwps. */
void lwp_exact_process_totals(void);
/* Writes that for the last time and closes. */
void lwp_exact_process_finish(void);
/* In the child of a fork: lets go of the parent's file; recording begins anew with lwp_exact_process_start. */
void lwp_exact_process_abandon(void);

bool lwp_exact_process_open(struct lwps_writer *file, const char *name, uint32_t tid);
/* A file that is written as a whole, again and again: opens one beside `name`, and closes it in its place unless what it is
 * to hold did not fit on the disk and `name` is there from before. */
bool lwp_exact_process_rewrite(struct lwps_writer *file, const char *name);
void lwp_exact_process_rewritten(struct lwps_writer *file, const char *name);
void lwp_exact_process_note(const char *text);
/* A node of the call tree as a context of process.lwps. */
uint32_t lwp_exact_process_context(uint32_t node);

#endif
