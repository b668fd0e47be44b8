/* What a thread may spend on being looked at, and what it has spent: one account for everything. See budget.c. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_BUDGET_H
#define LWP_COLLECTOR_LIGHT_OWN_BUDGET_H

#include "collector/run_account.h"

#include <stdbool.h>
#include <stdint.h>

enum lwp_cost {
    LWP_COST_SAMPLES,  /* deliveries of the timer's signal, and what the handler does */
    LWP_COST_WATCHES,  /* arming debug registers for own accesses, their stops */
    LWP_COST_TRIALS,   /* the same for stores of other threads */
    LWP_COST_HEAP,     /* recording allocations */
    LWP_COST_SWITCHES, /* leaving the processor and coming back while files of perf's are open */
    LWP_COST_KINDS
};

struct lwp_time_budget {
    double share; /* of the thread's CPU time that all may cost */
    bool watches; /* any watchpoint is set at all */
    unsigned before; /* threads of the process that had a credit before this one */
    const struct lwp_run_account *run; /* whose surplus pays credits; NULL: nobody asks */
    uint64_t spent[LWP_COST_KINDS]; /* ns */
};

static inline void lwp_budget_spend(struct lwp_time_budget *budget, enum lwp_cost cost, uint64_t ns)
{
    budget->spent[cost] += ns;
}

/* On what armed registers slow: of the thread's own watchpoints, of a trial, or of both; of neither: for a sample's address. */
void lwp_budget_spend_armed(struct lwp_time_budget *budget, uint64_t ns, bool watches, bool trial);

uint64_t lwp_budget_spent(const struct lwp_time_budget *budget); /* on everything, ns */

/* The time between samples that cost `sample_ns` each, for a thread that has run for `cpu_ns`. */
uint64_t lwp_budget_period(const struct lwp_time_budget *budget, uint64_t sample_ns, uint64_t cpu_ns);

/* Whether samples have cost no more so far than they may. */
bool lwp_budget_affords_samples(const struct lwp_time_budget *budget, uint64_t cpu_ns);

/* Whether another watch or trial, which is going to cost `ahead_ns` just by being there, may be started. `reads`: the thread was seen to
 * read what others store. */
bool lwp_budget_affords_watch(const struct lwp_time_budget *budget, uint64_t cpu_ns, bool reads, uint64_t ahead_ns);
bool lwp_budget_affords_trial(const struct lwp_time_budget *budget, uint64_t cpu_ns, uint64_t ahead_ns);

/* Whether what costs `ns` in `of_ns` of CPU time takes more of it than all watchpoints and trials may. */
bool lwp_budget_is_dear(const struct lwp_time_budget *budget, uint64_t ns, uint64_t of_ns, uint64_t cpu_ns);

/* The part of its CPU time that recording allocations may cost the thread, but for the advance. */
double lwp_budget_heap_part(const struct lwp_time_budget *budget, uint64_t cpu_ns);

/* What finding out the call paths of allocations may have cost, ns, for a thread that has run for `cpu_ns`. */
double lwp_budget_paths_ns(const struct lwp_time_budget *budget, uint64_t cpu_ns);

/* Whether allocations are still recorded as densely as they are. `kept`: of all blocks so far the part that is still there. */
bool lwp_budget_affords_heap(const struct lwp_time_budget *budget, uint64_t cpu_ns, double kept);

#endif
