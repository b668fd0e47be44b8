#include "collector/outside/sample.h"

#include "collector/outside/process/thread_base.h"

#include <asm/perf_regs.h>

enum { REFRESH_NS = 100000000, BASE_TRIES = 4 };

/* A library that was loaded meanwhile, or memory that was mapped. */
static void sample_see(struct lwp_followed *followed, uint64_t address, uint64_t time)
{
    bool known = lwp_mappings_at(&followed->interpreter->remote.mappings, address) != NULL;
    if (followed->stale || (!known && time > followed->refreshed_ns + REFRESH_NS))
        lwp_followed_refresh(followed, time);
}

void lwp_outside_sample(struct lwp_followed *followed, const struct perf_event_attr *attr, const struct lwp_perf_sample *from)
{
    struct lwp_thread_file *thread = lwp_followed_thread(followed, (pid_t)from->tid, from->time);
    struct lwps_sample sample;
    if (!thread || !from->registers) {
        followed->lost++;
        return;
    }
    if (!thread->base && thread->base_tries < BASE_TRIES) { /* a thread that has just begun has none yet */
        thread->base = lwp_thread_base(&followed->interpreter->remote, thread->tid);
        thread->base_tries++;
    }
    sample_see(followed, from->ip, from->time);
    sample_see(followed, lwp_perf_register(attr, from, PERF_REG_X86_SP), from->time); /* the stack grows */
    bool known = lwp_interpret(followed->interpreter, attr, from, thread->base, &thread->paths, &sample);
    for (unsigned i = 0; i < sample.access_count; i++)
        if (sample.access[i].flags & LWPS_ACCESS_KNOWN)
            sample_see(followed, sample.access[i].address, from->time);
    if (lwps_put_sample(&thread->file, &sample)) {
        followed->lost++;
        return;
    }
    followed->samples++;
    followed->weight_ns += from->period;
    followed->with_address += known;
}
