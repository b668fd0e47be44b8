/* What recording the blocks of pools costs: one in LWP_HOOKS_TIMED calls of the allocator is timed and stands for all. What is charged
 * by itself (lwp_sites_charge) is left out. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_HOOK_COST_H
#define LWP_COLLECTOR_LIGHT_HEAP_HOOK_COST_H

#include "collector/light/own/thread.h"

struct lwp_hook {
    uint64_t begun_ns, took_ns; /* 0: not timed */
    uint64_t clock_ns;          /* what asking for the time takes */
    uint64_t charged_ns;        /* when it began */
};

void lwp_hook_time(struct lwp_thread *self, struct lwp_hook *hook);
void lwp_hook_timed(struct lwp_thread *self, struct lwp_hook *hook);

/* From here to lwp_hook_end samples of the thread are lost. */
static inline __attribute__((always_inline)) void lwp_hook_begin(struct lwp_thread *self, struct lwp_hook *hook)
{
    self->busy = 1;
    hook->begun_ns = 0;
    if (__builtin_expect(--self->hooks_left == 0, 0))
        lwp_hook_time(self, hook);
}

static inline __attribute__((always_inline)) void lwp_hook_end(struct lwp_thread *self, struct lwp_hook *hook)
{
    if (__builtin_expect(hook->begun_ns != 0, 0))
        lwp_hook_timed(self, hook);
    self->busy = 0;
}

#endif
