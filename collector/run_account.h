/* One account for all processes of a run: a page that lwp collect makes and they map. Without it (another user, no /proc, lwp collect was
 * killed) each process has one for itself. What stands in it is only advice: the processes could write anything. */
#ifndef LWP_COLLECTOR_RUN_ACCOUNT_H
#define LWP_COLLECTOR_RUN_ACCOUNT_H

#include <stdint.h>

struct lwp_run_account {
    uint64_t cpu_ns;            /* of all processes, as far as they have told */
    uint64_t early_ns;          /* of that: before they could have been sampled */
    uint64_t spent_ns;          /* by lwp in them */
    uint64_t own_ns;            /* by lwp collect itself, with what it will take to end */
    uint64_t load_ns;           /* by loading lwp's library, as estimated; what is printed of it is measured when the run is over */
    uint64_t period_ns;         /* between samples, that a thread had last; 0: none has yet */
    uint64_t join_ns;           /* what setting up a process costs, with its end; 0: none has ended yet */
    uint32_t thinning;          /* of allocations (thread.h), likewise */
    uint64_t tick_ns;           /* what a tick of a process that is not set up costs besides its handler; 0: not measured yet */
    uint32_t processes, set_up; /* that have lwp's library, and those of them that were recorded */
    uint32_t loaded;            /* how often a program was executed with it: not by processes that were forked only */
};

enum { LWP_RUN_ACCOUNT_BYTES = 4096 };

/* In advance of what a run earns, for programs that build their data at the start and then work on it, and for the first processes: what it
 * will have earned when it has run for three quarters of a second. lwp collect and the first process take some 12 ms of it. */
enum { LWP_RUN_ADVANCE_OF_NS = 750000000 };

static inline double lwp_run_advance(double share)
{
    return share * LWP_RUN_ADVANCE_OF_NS;
}

#define LWP_RUN_ADD(account, field, amount) __atomic_fetch_add(&(account)->field, (amount), __ATOMIC_RELAXED)
#define LWP_RUN_GET(account, field)         __atomic_load_n(&(account)->field, __ATOMIC_RELAXED)

/* What may be spent yet, lwp collect itself paid for, ns. */
static inline int64_t lwp_run_surplus(const struct lwp_run_account *account, double share)
{
    double earned = share * (double)LWP_RUN_GET(account, cpu_ns), advance = lwp_run_advance(share);
    double left = (earned > advance ? earned : advance) - (double)LWP_RUN_GET(account, spent_ns) -
                  (double)(LWP_RUN_GET(account, load_ns) + LWP_RUN_GET(account, own_ns));
    return left > 1e18 ? (int64_t)1e18 : left < -1e18 ? -(int64_t)1e18 : (int64_t)left;
}

/* What was spent beyond that, ns. */
static inline double lwp_run_owed(const struct lwp_run_account *account, double share)
{
    const double surplus = (double)lwp_run_surplus(account, share);
    return surplus < 0 ? -surplus : 0;
}

#endif
