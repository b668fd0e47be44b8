/* Communication between threads over the whole run: what the trace brings goes to the shadow (comm_shadow.h), what comes of
 * it is counted for each instruction that reads, by writer and reader, and its distance (comm_distance.h) measured among
 * all that the instruction's function has read so. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMMUNICATION_H
#define LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMMUNICATION_H

#include "collector/exact/program/thread.h"
#include "collector/exact/program/trace_words.h"

extern bool lwp_communication_runs;

/* `granule_bytes`: what is told apart: 1, 4 or 64. False: no memory. */
bool lwp_communication_start(unsigned granule_bytes);

/* A superblock of the trace was described; to be called before any of its words come. */
void lwp_communication_block(struct lwp_trace_block *block);

/* Words of the trace (trace.h): superblocks that ran, each with the addresses of its accesses; 0: it did not happen. */
void lwp_communication_words(const ULong *at, const ULong *end);

/* What was there is gone: freed, unmapped. */
void lwp_communication_forget(Addr address, SizeT bytes);
/* The running thread had the kernel store there. */
void lwp_communication_wrote(Addr address, SizeT bytes);

/* `thread` is about to start: it is given its number. */
void lwp_communication_thread_made(struct lwp_exact_thread *thread);
/* It runs now, with its stack at `sp`. The first time what others left below is gone. */
void lwp_communication_thread(struct lwp_exact_thread *thread, Addr sp);
/* It ends. */
void lwp_communication_thread_ends(const struct lwp_exact_thread *thread, const HChar *name);

/* Writes all counts so far to t0.4.lwps in the process's folder, in place of what was there. */
void lwp_communication_keep(void);
/* Begins to count anew; who wrote what stays known. */
void lwp_communication_anew(void);

#endif
