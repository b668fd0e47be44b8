/* The full trace of windows (--detect locality): each access in order, into t0.5.lwps of the process (format/trace_code.h).
 * Whole windows only, since distances between accesses are told from it; where the whole run is traced (--window all),
 * a stretch of so many instructions takes a window's part. The file has a bound: the fuller it is, the fewer windows get into it. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_TRACE_FILE_H
#define LWP_COLLECTOR_EXACT_TRACE_TRACE_FILE_H

#include "collector/exact/program/trace_words.h"

/* Set before anything is translated. */
extern Bool lwp_trace_file_runs;

/* A window begins. */
void lwp_trace_file_window(void);
/* A superblock ran in a window: the addresses of its accesses, 0: it did not happen. */
void lwp_trace_file_block(struct lwp_trace_block *block, const ULong *addresses);
/* What comes next is of another thread, or after a change of blocks or modules. */
void lwp_trace_file_flush(void);
/* Closes the file. */
void lwp_trace_file_finish(void);
/* In the child of a fork: lets go of the parent's, as nothing is known in the child's yet. */
void lwp_trace_file_abandon(void);

#endif
