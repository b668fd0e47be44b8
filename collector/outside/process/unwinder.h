/* Call paths of another process's threads, from registers and the part of the stack that was saved with a sample. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_UNWINDER_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_UNWINDER_H

#include "collector/code/forward_walk.h"
#include "collector/outside/process/remote.h"

enum { LWP_REMOTE_FRAMES = 64 };

struct lwp_remote_frames {
    uint64_t sp;
    unsigned count;                       /* callers */
    uint64_t ips[LWP_REMOTE_FRAMES + 1];  /* interrupted, then callers, as struct lwps_context has them */
    uint64_t cfas[LWP_REMOTE_FRAMES + 1]; /* of the function that ips[i] lies in; known below `count` */
};

struct lwp_unwinder;

/* The process outlives it. */
struct lwp_unwinder *lwp_unwinder_new(struct lwp_remote *remote);
void lwp_unwinder_free(struct lwp_unwinder *unwinder);

/* A module is gone, and others may be mapped there. */
void lwp_unwinder_forget(struct lwp_unwinder *unwinder);

/* Ends where the saved stack does, or what a function does with it is not known. */
void lwp_unwinder_frames(struct lwp_unwinder *unwinder, uint64_t ip, const struct lwp_registers *registers,
                         struct lwp_remote_frames *frames);

#endif
