/* From a sample of the kernel's with registers and stack to a sample record: the same model as the light engine's
 * (collector/code/charge.c), but for breakpoints and watchpoints, which a process cannot be given from outside in time. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_INTERPRETER_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_INTERPRETER_H

#include "collector/code/predecessors.h"
#include "collector/outside/process/remote.h"
#include "collector/outside/process/unwinder.h"
#include "collector/perf/sample.h"
#include "format/paths.h"
#include "format/record.h"

/* Of one process. */
struct lwp_interpreter {
    struct lwp_remote remote;
    struct lwp_unwinder *unwinder;
    struct lwp_code_cache *cache;
    uint32_t random;
};

/* NULL: no memory, or no decoder. */
struct lwp_interpreter *lwp_interpreter_new(pid_t pid);
void lwp_interpreter_free(struct lwp_interpreter *interpreter); /* NULL is fine */

/* A module is gone, and others may be mapped there. */
void lwp_interpreter_forget(struct lwp_interpreter *interpreter);

/* Makes a record of a sample that has registers; `attr`: of the event that took it; `thread_base`: the thread's FS, 0: not known. Calling
 * contexts go to `paths`. Returns whether any address is known. */
bool lwp_interpret(struct lwp_interpreter *interpreter, const struct perf_event_attr *attr, const struct lwp_perf_sample *from,
                   uint64_t thread_base, struct lwps_paths *paths, struct lwps_sample *sample);

#endif
