/* Ranks of one parallel job that write one result: `mpirun -n 4 lwp collect -o DIR ./app`.
 *
 * Each rank's lwp collects into a folder of its own, DIR/r<RANK>, as if it were alone. At its end the process folders
 * move up into DIR, and its run.json becomes DIR/run.<RANK>.json with "rank", "ranks" and "folders". What was killed,
 * or runs on, stays in DIR/r<RANK> and is read there. DIR/job holds the job's name, so that an older result is never
 * joined by mistake. */
#ifndef LWP_LAUNCH_RANK_H
#define LWP_LAUNCH_RANK_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct lwp_rank {
    unsigned rank, size;
    char job[256]; /* the same in every rank of the job, another one in the next job */
    bool first;    /* this rank made DIR (lwp_rank_join) */
};

/* What the launcher (Open MPI, MPICH and its kin, PMIx, srun) says in the environment; false: no parallel job. */
bool lwp_rank_find(struct lwp_rank *rank);

/* Makes DIR or joins the other ranks there, and makes DIR/r<RANK> (returned in *own, owned). *busy: as of lwp_result_create, if this rank
 * has made DIR. */
int lwp_rank_join(struct lwp_rank *rank, const char *dir, bool force, char **own, int *busy, struct lwp_error *err);

/* Moves the process folders of `own` up to `dir`. Returns the names they have there (new reference). */
json_t *lwp_rank_move_up(const char *dir, const char *own);

/* How many ranks are still in DIR after waiting up to `seconds` for them. */
unsigned lwp_rank_wait(const char *dir, double seconds);

/* Removes DIR again when nothing was run in it, by this rank or another. */
void lwp_rank_discard(const char *dir);

#endif
