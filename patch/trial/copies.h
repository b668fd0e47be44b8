/* The two programs, each in a copy of the project's folder for each placement of its code. */
#ifndef LWP_PATCH_TRIAL_COPIES_H
#define LWP_PATCH_TRIAL_COPIES_H

#include "patch/sources/source.h"
#include "patch/sources/units.h"

enum { LWP_TRIAL_SECONDS_MOST = 600 }; /* for one build or run */

struct lwp_copies {
    struct lwp_arena *arena;
    const struct lwp_sources *sources;
    const struct lwp_units *units;
    const char *top;     /* the temporary folder that all of it is in */
    const char *below;   /* the current folder, within the tree */
    const char *path;    /* PATH with the compilers in front */
    unsigned placements; /* 1: the build calls compilers that lwp cannot stand in front of */
};

/* Makes and builds them. Nothing outside of the temporary folder is written. */
int lwp_copies_make(struct lwp_copies *copies, const char *build, struct lwp_error *err);

/* The folder that the user's commands run in. */
const char *lwp_copies_folder(const struct lwp_copies *copies, bool patched, unsigned placement);

void lwp_copies_remove(const struct lwp_copies *copies);

#endif
