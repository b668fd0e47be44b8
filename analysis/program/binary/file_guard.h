/* Survives files that get shorter while they are mapped. */
#ifndef LWP_ANALYSIS_PROGRAM_BINARY_FILE_GUARD_H
#define LWP_ANALYSIS_PROGRAM_BINARY_FILE_GUARD_H

/* From now on a mapped page whose file no longer reaches so far reads as zeros instead of killing the process. */
void lwp_file_guard(void);

#endif
