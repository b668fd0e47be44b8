/* Communication between threads, estimated: which thread reads what which other one wrote, from stores that were watched. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_SAMPLED_COMMUNICATION_H
#define LWP_ANALYSIS_ADVICE_THREADS_SAMPLED_COMMUNICATION_H

#include "analysis/advice/threads/communication_matrix.h"
#include "analysis/profile/profile.h"

struct lwp_communication_cell {
    struct lwp_share share; /* of all communication */
    uint64_t samples;       /* trials that ended with the reader reading */
};

struct lwp_sampled_communication {
    bool measured;
    size_t count;                                  /* threads; the last one stands for all others when `others` */
    const struct lwp_interaction_thread **threads; /* by process and number; NULL: the others together */
    struct lwp_communication_cell *cells;          /* count * count, row: writer */
    size_t others;                                 /* threads that the last row and column stand for, 0: none */
    double read;                                   /* part of what these threads stored that another one read */
    size_t unwatched;                              /* threads with others beside them of which nothing is known */
    uint64_t trials, decided;                      /* stores watched in another thread; those with a known end */
};

/* In profile->arena. */
void lwp_sampled_communication_find(struct lwp_profile *profile, struct lwp_sampled_communication *found);

#endif
