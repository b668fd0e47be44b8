#include "collector/light/process/late_threads.h"

#include "base/random.h"
#include "collector/light/heap/heap.h"
#include "collector/light/own/confinement.h"
#include "collector/light/own/hot.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/process.h"
#include "collector/light/own/run.h"
#include "collector/light/own/thread.h"
#include "collector/light/own/watched_memory.h"
#include "collector/light/process/held_locks.h"
#include "collector/light/sampling/debugger.h"
#include "collector/light/sampling/sampler.h"
#include "collector/light/sampling/stop_cost.h"
#include "collector/light/sampling/timer.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    LATE_MOST = 256,
    LONG_NS = 20000000,
    LOOK_NS = 10000000,
    SOON_NS = 100000,
    AGAIN_NS = 1000000,
    MADE_A_LOOK = 64,
    COST_FIRST_NS = 50000,
    ENDED_MANY = 8
};

/* A place is a thread's from WAITS to FREE; only who looks at the table has it in LOOKED_AT, and not for long. */
enum late_state { FREE, TAKEN, WAITS, LOOKED_AT };

struct late_thread {
    enum late_state state;
    pid_t tid;
    uint64_t begun_ns;
    struct lwp_timer *timer; /* NULL: it has not waited long */
};

static LWP_LARGE struct {
    void (*set_up)(void);
    bool possible;
    struct late_thread thread[LATE_MOST];
    unsigned high, waiting, left_out; /* places from `high` on were never taken */
    unsigned made;
    uint32_t drawn, seed;
    uint64_t made_cpu_ns, each_ns; /* CPU time of the process at the last look by a maker, and for each thread made before it */
    uint64_t cost_ns, costs;       /* of those that were set up, how many */
    unsigned ended, ended_soon;    /* of these; before they had run for as long as that takes */
    int looks;
} late;

static __thread struct late_thread *late_self;

void lwp_late_threads_start(void (*set_up)(void))
{
    late.set_up = set_up;
    late.seed = (uint32_t)lwp_clock(CLOCK_MONOTONIC) * 2654435761u ^ (uint32_t)getpid();
    late.possible = lwp_sampler_can_wait() && lwp_heap_is_glibc() && lwp_held_locks_start();
}

void lwp_late_threads_after_fork(void)
{
    for (unsigned i = 0; i < late.high; i++)
        if (late.thread[i].timer)
            lwp_timer_forget(late.thread[i].timer);
    memset(&late, 0, sizeof late);
    lwp_threads_whole = (struct lwp_threads_whole){0};
    if (late_self)
        lwp_thread_waits(false);
    late_self = NULL;
}

void lwp_late_threads_charge(uint64_t ns, bool set_up)
{
    __atomic_fetch_add(&late.cost_ns, ns, __ATOMIC_RELAXED);
    if (set_up)
        __atomic_fetch_add(&late.costs, 1, __ATOMIC_RELAXED);
}

static uint64_t late_cost_ns(void)
{
    uint64_t costs = __atomic_load_n(&late.costs, __ATOMIC_RELAXED);
    return costs ? __atomic_load_n(&late.cost_ns, __ATOMIC_RELAXED) / costs : COST_FIRST_NS;
}

void lwp_late_threads_ended(uint64_t ran_ns)
{
    __atomic_fetch_add(&late.ended, 1, __ATOMIC_RELAXED);
    if (ran_ns < 2 * late_cost_ns()) /* what was done for it is in it */
        __atomic_fetch_add(&late.ended_soon, 1, __ATOMIC_RELAXED);
}

/* ---- whether a new thread is set up at once ---- */

/* The run's advance is there for programs that work on what they build, not for one that makes threads for next to nothing. */
static bool late_is_rich(void)
{
    unsigned ended = __atomic_load_n(&late.ended, __ATOMIC_RELAXED), soon = __atomic_load_n(&late.ended_soon, __ATOMIC_RELAXED);
    return (ended < ENDED_MANY || 2 * soon < ended) && lwp_run_is_rich();
}

/* How many threads ago the last look was, where there is one now: at every 64th, and at the first 8, 16 and 32. 0: there is none. */
static unsigned late_look_after(unsigned made)
{
    if (made % MADE_A_LOOK == 0)
        return made > MADE_A_LOOK ? MADE_A_LOOK : made ? MADE_A_LOOK / 2 : 1;
    if (made > MADE_A_LOOK || made < ENDED_MANY || made & (made - 1))
        return 0;
    return made == ENDED_MANY ? made : made / 2;
}

/* CPU time that the process uses for each thread that it makes. */
static uint64_t late_each_ns(void)
{
    unsigned made = __atomic_fetch_add(&late.made, 1, __ATOMIC_RELAXED), since = late_look_after(made);
    if (since) {
        uint64_t now = lwp_clock(CLOCK_PROCESS_CPUTIME_ID);
        late.each_ns = (now - late.made_cpu_ns) / since;
        late.made_cpu_ns = now;
        lwp_late_threads_look();
    }
    return late.each_ns;
}

static double late_chance(void)
{
    if (!late.possible)
        return 1;
    uint64_t each_ns = late_each_ns();
    bool full = __atomic_load_n(&late.waiting, __ATOMIC_RELAXED) >= LATE_MOST;
    return full || late_is_rich() ? 1 : lwp_run_join_chance(each_ns, late_cost_ns());
}

double lwp_late_threads_draw(void)
{
    enum { STEP = 0x1e3779b9, CHANCES = 1 << 20 };
    double chance = late_chance();
    uint32_t random = __atomic_add_fetch(&late.drawn, STEP, __ATOMIC_RELAXED) ^ late.seed;
    if (chance >= 1)
        return 1;
    random += !random;
    lwp_random_next(&random);
    return lwp_random_below(&random, CHANCES) < chance * CHANCES ? 1 / chance : 0;
}

/* ---- the threads that wait ---- */

static struct late_thread *late_take(void)
{
    for (unsigned i = 0; i < LATE_MOST; i++) {
        enum late_state none = FREE;
        if (late.thread[i].state != FREE ||
            !__atomic_compare_exchange_n(&late.thread[i].state, &none, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        unsigned high = __atomic_load_n(&late.high, __ATOMIC_RELAXED);
        while (high < i + 1 && !__atomic_compare_exchange_n(&late.high, &high, i + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            ;
        return &late.thread[i];
    }
    return NULL;
}

bool lwp_late_threads_wait(void)
{
    if (!late.possible || lwp_confinement_came() || !lwp_own_stack_begin())
        return false;
    struct late_thread *self = late_take();
    if (!self)
        return false;
    lwp_shared_all(); /* what it uses cannot be seen */
    self->tid = lwp_own_stack_self->tid;
    self->begun_ns = lwp_clock(CLOCK_MONOTONIC);
    late_self = self;
    lwp_thread_waits(true);
    __atomic_fetch_add(&late.waiting, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&self->state, WAITS, __ATOMIC_RELEASE);
    return true;
}

/* The calling thread's place is free again. False: it is being looked at, perhaps by what the caller has interrupted. */
static bool late_leave(struct late_thread *self)
{
    enum late_state state = WAITS;
    if (!__atomic_compare_exchange_n(&self->state, &state, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    struct lwp_timer *timer = self->timer;
    self->timer = NULL;
    if (timer)
        lwp_timer_stop(timer);
    __atomic_fetch_sub(&late.waiting, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&self->state, FREE, __ATOMIC_RELEASE);
    return true;
}

bool lwp_late_threads_end(void)
{
    struct late_thread *self = late_self;
    if (!self)
        return false;
    late_self = NULL; /* a signal from now on is for nobody */
    __atomic_fetch_add(&late.left_out, 1, __ATOMIC_RELAXED);
    while (!late_leave(self))
        sched_yield();
    lwp_own_stack_end();
    return true;
}

unsigned lwp_late_threads_left_out(void)
{
    return __atomic_load_n(&late.left_out, __ATOMIC_RELAXED);
}

/* The stack's bounds are asked of the C library, which may be just then in the middle of something. */
bool lwp_late_threads_tick(const void *ucontext)
{
    int saved = errno;
    struct late_thread *self = late_self;
    if (!self)
        return false;
    struct lwp_timer *timer = __atomic_load_n(&self->timer, __ATOMIC_ACQUIRE);
    bool held = lwp_held_locks_are(ucontext);
    if (held && timer)
        lwp_timer_set_period(timer, AGAIN_NS);
    if (!held && late_leave(self)) {
        late_self = NULL;
        lwp_thread_waits(false);
        if (!lwp_confinement_came() && !lwp_debugger_is_here() && lwp_process_is_ours())
            late.set_up();
    }
    errno = saved;
    return true;
}

/* ---- the look ---- */

static void late_look_at(struct late_thread *thread, uint64_t before_ns)
{
    enum late_state state = WAITS;
    if (!__atomic_compare_exchange_n(&thread->state, &state, LOOKED_AT, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    if (thread->begun_ns < before_ns && !thread->timer)
        __atomic_store_n(&thread->timer, lwp_timer_start(LWP_TIMER_SIGTRAP, thread->tid, lwp_stop_cost_bearable(SOON_NS)), __ATOMIC_RELEASE);
    __atomic_store_n(&thread->state, WAITS, __ATOMIC_RELEASE);
}

/* By one thread at a time: a handler that interrupts it, or comes beside it, has nothing to do. */
void lwp_late_threads_look(void)
{
    struct lwp_threads_whole *whole = &lwp_threads_whole;
    if (!__atomic_load_n(&late.waiting, __ATOMIC_RELAXED) && !__atomic_load_n(&late.left_out, __ATOMIC_RELAXED))
        return;
    uint64_t now = lwp_clock(CLOCK_MONOTONIC), before = now - LONG_NS;
    if (before < whole->ns + LOOK_NS || __atomic_exchange_n(&late.looks, 1, __ATOMIC_ACQUIRE))
        return;
    unsigned high = __atomic_load_n(&late.high, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < high; i++)
        late_look_at(&late.thread[i], before);
    const struct lwp_thread *by = lwp_thread_self();
    if (by != whole->by)
        whole->others_ns = whole->ns;
    whole->by = by;
    whole->ns = before;
    __atomic_store_n(&late.looks, 0, __ATOMIC_RELEASE);
}
