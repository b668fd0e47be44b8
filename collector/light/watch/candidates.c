/* Candidates without a watchpoint: a sample looks at many accesses, chooses one, and often finds no register free for it. All that matters
 * of them is how many there were, and of what cost, between two decisions of one instruction and call path. So they are counted
 * in a small set-associative table and recorded together: when the next decision comes, when another instruction needs the slot,
 * or when they are many (a killed program loses no more than that). */
#include "collector/light/watch/candidates.h"

enum { MANY = 32 };

static const uint64_t old_ns = 1000000000;

static struct lwps_candidates *candidates_set(struct lwp_watch_candidates *candidates, uint64_t ip, uint32_t context)
{
    uint64_t hash = (ip ^ (uint64_t)context << 40) * 0x9e3779b97f4a7c15u;
    return candidates->at[hash >> 59];
}

_Static_assert(LWP_CANDIDATE_SETS == 1 << (64 - 59), "the hash's upper bits");

static void candidates_put(struct lwps_candidates *counted, struct lwp_thread *self)
{
    if (counted->weight || counted->count)
        lwps_put_candidates(&self->file, counted);
    *counted = (struct lwps_candidates){0};
}

static bool candidates_alike(const struct lwps_candidates *a, const struct lwps_candidates *b)
{
    return a->ip == b->ip && a->context == b->context && a->verdicts == b->verdicts;
}

/* Where they are counted, a free slot, or that which was not counted for the longest time. */
static struct lwps_candidates *candidates_slot(struct lwps_candidates *set, const struct lwps_candidates *like)
{
    struct lwps_candidates *slot = set;
    for (unsigned way = 0; way < LWP_CANDIDATE_WAYS; way++) {
        if (candidates_alike(&set[way], like))
            return &set[way];
        if (slot->ip && (!set[way].ip || set[way].time < slot->time))
            slot = &set[way];
    }
    return slot;
}

bool lwp_candidates_room(struct lwp_watch_candidates *candidates, const struct lwps_candidates *more)
{
    const struct lwps_candidates *slot = candidates_slot(candidates_set(candidates, more->ip, more->context), more);
    return !slot->ip || candidates_alike(slot, more) || slot->time + old_ns < more->time;
}

void lwp_candidates_count(struct lwp_watch_candidates *candidates, struct lwp_thread *self,
                          const struct lwps_candidates *more)
{
    struct lwps_candidates *counted = candidates_slot(candidates_set(candidates, more->ip, more->context), more);
    if (!candidates_alike(counted, more))
        candidates_put(counted, self);
    struct lwps_candidates sum = *more;
    sum.weight += counted->weight;
    sum.count += counted->count;
    *counted = sum;
    if (counted->count >= MANY)
        candidates_put(counted, self);
}

void lwp_candidates_write_before(struct lwp_watch_candidates *candidates, struct lwp_thread *self, uint64_t ip,
                                 uint32_t context)
{
    struct lwps_candidates *set = candidates_set(candidates, ip, context);
    for (unsigned way = 0; way < LWP_CANDIDATE_WAYS; way++)
        if (set[way].ip == ip && set[way].context == context)
            candidates_put(&set[way], self);
}

void lwp_candidates_write(struct lwp_watch_candidates *candidates, struct lwp_thread *self)
{
    for (unsigned i = 0; i < LWP_CANDIDATE_SETS; i++)
        for (unsigned way = 0; way < LWP_CANDIDATE_WAYS; way++)
            candidates_put(&candidates->at[i][way], self);
}
