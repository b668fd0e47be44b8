/* Accesses that were chosen to be watched and of which nothing was seen, counted by instruction and call path. */
#ifndef LWP_LIGHT_CANDIDATES_H
#define LWP_LIGHT_CANDIDATES_H

#include "collector/light/thread.h"
#include "format/record.h"

enum { LWP_CANDIDATE_SETS = 32, LWP_CANDIDATE_WAYS = 2 };

struct lwp_candidates { /* zeroed: none */
    struct lwps_candidates at[LWP_CANDIDATE_SETS][LWP_CANDIDATE_WAYS];
};

/* One more, as `record` would tell of it. */
void lwp_candidates_count(struct lwp_candidates *candidates, struct lwp_thread *self, const struct lwps_watch *record);

/* Before a watch of this instruction and call path is written: those counted until now come first. */
void lwp_candidates_write_before(struct lwp_candidates *candidates, struct lwp_thread *self,
                                 const struct lwps_watch *record);

void lwp_candidates_write(struct lwp_candidates *candidates, struct lwp_thread *self); /* all */

#endif
