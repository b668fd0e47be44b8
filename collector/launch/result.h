/* The result directory: making it, and what is in it after the run. */
#ifndef LWP_LAUNCH_RESULT_H
#define LWP_LAUNCH_RESULT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* lwp-APP, or lwp-APP.SUFFIX, without what would trouble a shell or a terminal. Owned. */
char *lwp_result_default(const char *app, const char *suffix);

/* Makes `dir`. One that exists is an error without `force`; with it, only what lwp wrote there is removed, and a folder
 * that holds anything else is refused untouched. It is marked as being written (base/busy.h) before anything else is done there,
 * so that of several that want it one gets it: until *busy is closed, which may be -1. */
int lwp_result_create(const char *dir, bool force, int *busy, struct lwp_error *err);

/* Removes the directory again when nothing was run; only if it is what lwp_result_create left. */
void lwp_result_discard(const char *dir);

bool lwp_result_is_process(const char *name); /* p<PID> or p<PID>.<n> */
bool lwp_result_is_rank(const char *name);    /* r<RANK> */

struct lwp_rank;

/* Where a run is written. Alone, `shown` and `own` are one folder; a rank of a parallel job has its own inside. */
struct lwp_place {
    const char *shown;           /* as the user knows it */
    const char *own;             /* as the user knows it too */
    char *absolute;              /* of `own` */
    const struct lwp_rank *rank; /* NULL: alone */
    int busy;                    /* the mark on `shown` (base/busy.h), -1: there is none */
};

/* Summed over the processes of a result. */
struct lwp_result {
    unsigned processes, threads;
    unsigned ran;            /* processes of the run, recorded or not; 0: not known */
    double overhead_percent; /* of the whole run; -1: as the processes measured it */
    unsigned running; /* processes that outlived the program */
    uint32_t running_pid; /* one of them */
    uint64_t samples, samples_with_address, samples_lost;
    uint64_t lost_records; /* did not fit on the disk */
    int unwritten; /* errno of what could not be written at the end; 0: all was */
    uint64_t cpu_ns, own_ns; /* as the processes measured them */
    unsigned unreadable, unsealed;
    char problem[LWP_ERROR_TEXT]; /* the first thing that went wrong, "" when none */
    char note[LWP_ERROR_TEXT];    /* the first note a process left, "" when none */
};

/* Copies what compilers in the processes said of their code; `began`: the run, seconds since 1970. */
void lwp_result_keep_jit_files(const char *dir, double began);

/* Seals every sample file whose process has ended, and sums up. */
void lwp_result_finish(const char *dir, struct lwp_result *result);

#endif
