#include "collector/light/heap/hook_cost.h"

#include "collector/light/heap/thinning.h"
#include "collector/light/own/floats.h"
#include "collector/light/own/process.h"

#include <time.h>

enum { HOT_NS = 20, HOOK_MOST_NS = 5000 /* longer: the thread had to wait for a processor */ };

/* The clock is read when all before is done. Without that what a hook misses in the caches is fetched while the processor goes on with the
 * program: redis, whose hooks took 110 ns each, was as fast with 120,000 blocks recorded as with none. */
static uint64_t hook_cost(uint64_t took_ns)
{
    enum { MISSES = 4 /* one part of so many is waited for */ };
    return took_ns <= HOT_NS ? took_ns : HOT_NS + (took_ns - HOT_NS) / MISSES;
}

/* Of a hook that does nothing; the second time, what runs at its end is in the caches. */
static uint64_t hook_empty(struct lwp_thread *self, struct lwp_hook *hook)
{
    enum { TIMES = 2 };
    hook->clock_ns = UINT64_MAX; /* nothing is charged */
    for (int time = 0; time < TIMES; time++) {
        hook->begun_ns = lwp_clock(CLOCK_MONOTONIC);
        lwp_hook_timed(self, hook);
    }
    return hook->took_ns;
}

__attribute__((noinline, cold)) void lwp_hook_time(struct lwp_thread *self, struct lwp_hook *hook)
{
    self->hooks_left = LWP_HOOKS_TIMED;
    hook->charged_ns = self->budget.spent[LWP_COST_HEAP];
    hook->clock_ns = hook_empty(self, hook);
    hook->begun_ns = lwp_clock(CLOCK_MONOTONIC);
}

__attribute__((noinline, cold)) void lwp_hook_timed(struct lwp_thread *self, struct lwp_hook *hook)
{
    uint64_t took = hook->took_ns = lwp_clock(CLOCK_MONOTONIC) - hook->begun_ns;
    if (took <= hook->clock_ns || took >= HOOK_MOST_NS || hook->charged_ns != self->budget.spent[LWP_COST_HEAP])
        return;
    uint64_t all = hook_cost(took - hook->clock_ns) * LWP_HOOKS_TIMED;
    self->hooks_ns += all;
    const uint32_t floats = lwp_floats_begin();
    lwp_thinning_spent(self, all);
    lwp_floats_end(floats);
}
