/* Most candidates find no register free, and all that matters of them is how many there were between two decisions of one
 * instruction and call path. So they are written as one record when the next decision comes, when another instruction needs
 * the place, or when they are many (a killed program loses no more than that). */
#include "collector/light/candidates.h"

enum { MANY = 32 };

static struct lwps_candidates *candidates_set(struct lwp_candidates *candidates, const struct lwps_watch *record)
{
    uint64_t hash = (record->first.ip ^ (uint64_t)record->first_context << 40) * 0x9e3779b97f4a7c15u;
    return candidates->at[hash >> 59];
}

_Static_assert(LWP_CANDIDATE_SETS == 1 << (64 - 59), "the hash's upper bits");

static void candidates_put(struct lwps_candidates *counted, struct lwp_thread *self)
{
    if (counted->count)
        lwps_put_candidates(&self->file, counted);
    *counted = (struct lwps_candidates){0};
}

void lwp_candidates_count(struct lwp_candidates *candidates, struct lwp_thread *self, const struct lwps_watch *record)
{
    /* what is still open of a store after it was loaded has a way of its own */
    unsigned way = record->verdicts == LWPS_VERDICT_SILENT_STORE;
    struct lwps_candidates *counted = &candidates_set(candidates, record)[way];
    if (counted->ip != record->first.ip || counted->context != record->first_context ||
        counted->verdicts != record->verdicts)
        candidates_put(counted, self);
    counted->ip = record->first.ip;
    counted->context = record->first_context;
    counted->verdicts = record->verdicts;
    counted->time = record->time;
    counted->weight += record->weight;
    if (++counted->count >= MANY)
        candidates_put(counted, self);
}

void lwp_candidates_write_before(struct lwp_candidates *candidates, struct lwp_thread *self,
                                 const struct lwps_watch *record)
{
    struct lwps_candidates *set = candidates_set(candidates, record);
    for (unsigned way = 0; way < LWP_CANDIDATE_WAYS; way++)
        if (set[way].ip == record->first.ip && set[way].context == record->first_context)
            candidates_put(&set[way], self);
}

void lwp_candidates_write(struct lwp_candidates *candidates, struct lwp_thread *self)
{
    for (unsigned i = 0; i < LWP_CANDIDATE_SETS; i++)
        for (unsigned way = 0; way < LWP_CANDIDATE_WAYS; way++)
            candidates_put(&candidates->at[i][way], self);
}
