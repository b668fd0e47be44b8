#include "collector/light/heap/thinning.h"

#include "collector/light/heap/pools.h"
#include "collector/light/own/process.h"
#include "collector/light/own/run.h"

#include <time.h>

enum { REVIEW_NS = 1000000, LARGER_FILLED_NS = 100000000 };

/* To find out, at both ends of a block, that it is not recorded: 2 to 3 ns where the program does little else (a loop of malloc and free),
 * 4.5 to 5.5 in lua, redis and clang -O2, 7 in clang -O0, beside the same programs with hooks that nothing calls. */
enum { LEFT_OUT_NS = 3, LEFT_OUT_COLD_NS = 3, COLD_PART = 32 /* of the time between them at most goes into the latter */ };

__thread uint32_t lwp_thinning_skips;

uint64_t lwp_thinning_left_out_ns(uint64_t blocks, uint64_t ran_ns)
{
    const uint64_t cold_ns = blocks * LEFT_OUT_COLD_NS, most_ns = ran_ns / COLD_PART;
    return blocks * LEFT_OUT_NS + (cold_ns < most_ns ? cold_ns : most_ns);
}

/* `ran_ns`: since that was last done. */
static void thinning_charge(struct lwp_thread *self, uint64_t ran_ns)
{
    const uint64_t until_now = self->heap_left_out - lwp_thinning_skips;
    const uint64_t left_out = until_now > self->heap_charged ? until_now - self->heap_charged : 0; /* not in the middle of a draw */
    lwp_budget_spend(&self->budget, LWP_COST_HEAP, self->hooks_ns * LWP_HEAP_COLD + lwp_thinning_left_out_ns(left_out, ran_ns));
    self->hooks_ns = 0;
    self->heap_charged += left_out;
}

void lwp_thinning_charge(struct lwp_thread *self)
{
    thinning_charge(self, UINT64_MAX);
}

/* By as much as what recording has cost since the last review says: step by step, each would let as much through once more. */
static void thinning_grow(struct lwp_thread *self, uint64_t spent_ns, uint64_t ran_ns)
{
    const double part = ran_ns ? (double)spent_ns / (double)ran_ns : 0, most = lwp_budget_heap_part(&self->budget, self->heap_cpu_ns);
    const uint32_t before = self->heap_thinning + 1;
    do
        self->heap_thinning = self->heap_thinning * 2 + 1;
    while (self->heap_thinning < LWP_THINNING_MOST && part * before / (self->heap_thinning + 1) > most);
}

/* Reviews come the sooner the more is recorded: what they let through is by the time since the last one. */
static void thinning_larger(struct lwp_thread *self, uint64_t ran_ns)
{
    const uint64_t more = ran_ns / (LARGER_FILLED_NS / LWP_LARGER_MOST) + self->heap_larger;
    self->heap_larger = more < LWP_LARGER_MOST ? (uint32_t)more : LWP_LARGER_MOST;
}

void lwp_thinning_review(struct lwp_thread *self, uint64_t cpu_ns, bool may_record_more)
{
    thinning_charge(self, cpu_ns - self->heap_cpu_ns);
    const uint64_t spent_ns = self->budget.spent[LWP_COST_HEAP] - self->heap_spent_ns, ran_ns = cpu_ns - self->heap_cpu_ns;
    self->heap_unreviewed_ns = 0;
    self->heap_cpu_ns = cpu_ns;
    self->heap_spent_ns += spent_ns;
    thinning_larger(self, ran_ns);
    if (lwp_budget_affords_heap(&self->budget, cpu_ns, lwp_pools_kept()))
        self->heap_thinning /= may_record_more ? 2 : 1;
    else if (self->heap_thinning < LWP_THINNING_MOST)
        thinning_grow(self, spent_ns, ran_ns);
    __atomic_store_n(&lwp_run->thinning, self->heap_thinning, __ATOMIC_RELAXED);
}

void lwp_thinning_spent(struct lwp_thread *self, uint64_t ns)
{
    self->heap_unreviewed_ns += ns;
    if (self->heap_unreviewed_ns < REVIEW_NS)
        return;
    lwp_thinning_review(self, lwp_clock(CLOCK_THREAD_CPUTIME_ID), false);
    lwp_run_tell(self);
}
