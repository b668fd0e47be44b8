/* The program to profile: where it is, and whether lwp can profile it. */
#ifndef LWP_LAUNCH_TARGET_H
#define LWP_LAUNCH_TARGET_H

#include "base/error.h"

#include <stdbool.h>

struct lwp_target {
    char *path;      /* what to execute, found along PATH; owned */
    bool by_shell;   /* neither ELF nor "#!": a shell runs it, as from a shell */
    const char *closed; /* why lwp's library cannot be loaded into it, so that it is sampled from outside; NULL: it can */
    bool traced;     /* by the exact engine, without a preload library */
    int exit_status; /* when lwp_target_find failed: 125, 126 or 127 */
};

/* Looks `name` up as a shell would and checks the file and, for a script, its interpreter. */
int lwp_target_find(struct lwp_target *target, const char *name, bool traced, struct lwp_error *err);
void lwp_target_fini(struct lwp_target *target);

#endif
