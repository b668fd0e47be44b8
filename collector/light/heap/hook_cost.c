#include "collector/light/heap/hook_cost.h"

#include "collector/light/heap/thinning.h"
#include "collector/light/own/process.h"

#include <time.h>

__attribute__((noinline, cold)) void lwp_hook_time(struct lwp_thread *self, struct lwp_hook *hook)
{
    uint64_t before = lwp_clock(CLOCK_MONOTONIC);
    self->hooks_left = LWP_HOOKS_TIMED;
    hook->charged_ns = self->budget.spent[LWP_COST_HEAP];
    hook->begun_ns = lwp_clock(CLOCK_MONOTONIC);
    hook->clock_ns = hook->begun_ns - before;
}

__attribute__((noinline, cold)) void lwp_hook_timed(struct lwp_thread *self, const struct lwp_hook *hook)
{
    uint64_t took = lwp_clock(CLOCK_MONOTONIC) - hook->begun_ns;
    if (took <= hook->clock_ns || took >= LWP_HOOK_LONGEST_NS || hook->charged_ns != self->budget.spent[LWP_COST_HEAP])
        return;
    uint64_t all = (took - hook->clock_ns) * LWP_HOOKS_TIMED;
    self->hooks_ns += all;
    lwp_thinning_spent(self, all);
}
