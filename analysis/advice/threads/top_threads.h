/* Which threads of very many have a row of their own in a matrix. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_TOP_THREADS_H
#define LWP_ANALYSIS_ADVICE_THREADS_TOP_THREADS_H

#include "base/arena.h"

enum { LWP_COMMUNICATION_THREADS = 64 }; /* rows of a matrix at the most */

#include <stddef.h>

struct lwp_top_threads {
    size_t rows;   /* in all */
    size_t others; /* how many are told together in the last row; 0: each has its own */
};

/* rows[i] becomes the row of thread i, in the threads' order; -1: left out, since amounts[i] is below 0. Of more threads
 * than `most` the largest amounts have rows of their own, of equal ones the first. */
struct lwp_top_threads lwp_top_threads(struct lwp_arena *arena, const double *amounts, size_t count, size_t most, int *rows);

#endif
