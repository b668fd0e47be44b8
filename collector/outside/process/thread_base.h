/* Where a thread of another process has its thread control block: the base of FS. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_THREAD_BASE_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_THREAD_BASE_H

#include "collector/outside/process/remote.h"

/* 0: not known. The thread is not stopped for it. */
uint64_t lwp_thread_base(struct lwp_remote *remote, pid_t tid);

#endif
