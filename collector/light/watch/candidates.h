/* Accesses to come that may get a watchpoint; those of which nothing was seen, counted by instruction and call path. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_CANDIDATES_H
#define LWP_COLLECTOR_LIGHT_WATCH_CANDIDATES_H

#include "collector/light/own/thread.h"
#include "format/record.h"

/* The one that a sample chose. */
struct lwp_watch_candidate {
    uint64_t time, weight; /* of the sample */
    uint32_t context;      /* callers of the access's function */
    const uint32_t *contexts; /* of all that the sample looked at, by their path; NULL: `context` */
    struct lwps_access access;
    uint8_t element; /* bytes of a floating point number, 0: none */
};

enum { LWP_CANDIDATE_SETS = 32, LWP_CANDIDATE_WAYS = 4 };

struct lwp_watch_candidates { /* zeroed: none */
    struct lwps_candidates at[LWP_CANDIDATE_SETS][LWP_CANDIDATE_WAYS];
};

/* Whether these can be counted without recording others that were counted lately. */
bool lwp_candidates_room(struct lwp_watch_candidates *candidates, const struct lwps_candidates *more);

/* Some more of an instruction and call path. */
void lwp_candidates_count(struct lwp_watch_candidates *candidates, struct lwp_thread *self,
                          const struct lwps_candidates *more);

/* Before a watch of this instruction and call path is written: those counted until now come first. */
void lwp_candidates_write_before(struct lwp_watch_candidates *candidates, struct lwp_thread *self, uint64_t ip,
                                 uint32_t context);

void lwp_candidates_write(struct lwp_watch_candidates *candidates, struct lwp_thread *self); /* all */

#endif
