/* What compilers inside programs (JavaScript, Java, Python, ...) say of the code that they make, in files made for perf. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_JIT_FILES_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_JIT_FILES_H

#include <sys/types.h>

/* Copies the process's /tmp/perf-PID.map to FOLDER/perf.map, and its jit-PID.dump to FOLDER/jit.dump, if there are any: at most 64 MiB of
 * each, and only what was written since `not_before` (seconds since 1970), since numbers of processes are used again. The process
 * may have ended; while it lives it may be in a container. */
void lwp_jit_files_keep(const char *folder, pid_t pid, double not_before);

/* When the process began, in seconds since 1970; 0: it is gone. */
double lwp_jit_files_process_began(pid_t pid);

#endif
