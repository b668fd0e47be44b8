/* Takes the place of the lock of Valgrind's scheduler, all five functions of it, and of the function by which a new thread
 * takes it for the first time and which alone says which thread it is (the linker's --wrap). Kept because otherwise threads
 * run in another order each time, and results differ from run to run.
 *
 * The thread that releases the lock wakes one that waits for it, the elector. The elector waits until all others have
 * settled and then chooses who runs: it has nothing else to do, while the one that releases is on its way into the kernel. */
#include "collector/exact/valgrind/scheduling_order.h"

#include "collector/exact/valgrind/waiting_calls.h"

#include <asm/unistd.h>
#include <stdbool.h>

/* Of Valgrind's core, not in the headers for tools. */
extern SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord, UWord, UWord, UWord);

enum {
    THREADS_MAX = 8192,
    FUTEX_WAIT_PRIVATE = 128, FUTEX_WAKE_PRIVATE = 129,
    LOOKS_AT_ONCE = 64,            /* how often a thread is looked at before the elector sleeps */
    REST_LEAST_NS = 20000, REST_MOST_NS = 1000000,
    PATIENCE_NS = 200000000,       /* for a system call that neither sleeps nor ends */
    PATIENCE_STARTS_NS = 2000000000, /* for a thread's first step */
};

enum thread_state { THREAD_NONE, THREAD_STARTS, THREAD_WAITS, THREAD_RUNS, THREAD_BLOCKS, THREAD_ENDS };
enum go { GO_WAIT, GO_ELECT, GO_RUN };

static struct scheduled_thread {
    Int lwpid;      /* 0: it has not run yet */
    UInt call;      /* the system call that it is in, if THREAD_BLOCKS */
    enum thread_state state;
    bool given_up;  /* it took too long: not waited for until it asks for the lock */
    Int go;         /* enum go; a futex */
} threads[THREADS_MAX];

static ThreadId schedule_last;    /* the highest thread number so far */
static ThreadId schedule_owner;   /* the thread that runs; 0: none */
static ThreadId schedule_before;  /* the thread that ran last */
static ThreadId schedule_elector; /* the thread that chooses the next one; 0: none */
static UInt schedule_came;        /* how often a thread began to wait for the lock */
static bool schedule_woke;        /* since the last choice, threads that sleep in futexes may have been woken */
static Int schedule_guard;        /* protects all of these: a spin lock, held for a few instructions */

static void guard_take(void)
{
    while (__atomic_exchange_n(&schedule_guard, 1, __ATOMIC_ACQUIRE))
        VG_(do_syscall)(__NR_sched_yield, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void guard_leave(void)
{
    __atomic_store_n(&schedule_guard, 0, __ATOMIC_RELEASE);
}

static void thread_wake(struct scheduled_thread *thread, enum go go)
{
    __atomic_store_n(&thread->go, go, __ATOMIC_SEQ_CST);
    VG_(do_syscall)(__NR_futex, (UWord)&thread->go, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0, 0, 0);
}

static enum go thread_wait(struct scheduled_thread *thread)
{
    enum go go;
    while ((go = (enum go)__atomic_load_n(&thread->go, __ATOMIC_SEQ_CST)) == GO_WAIT)
        VG_(do_syscall)(__NR_futex, (UWord)&thread->go, FUTEX_WAIT_PRIVATE, GO_WAIT, 0, 0, 0, 0, 0);
    return go;
}

/* ---- the state of other threads ---- */

struct thread_look {
    HChar state; /* as in /proc/PID/stat; 0: it has ended */
    ULong ticks; /* CPU time */
};

static struct thread_look thread_look(Int lwpid)
{
    enum { FIELDS_BEFORE_TICKS = 10 }; /* between the state and the time in user mode */
    HChar path[64], text[512];
    struct thread_look look = {0};
    VG_(sprintf)(path, "/proc/self/task/%d/stat", lwpid);
    SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return look;
    Int length = VG_(read)((Int)sr_Res(opened), text, sizeof text - 1);
    VG_(close)((Int)sr_Res(opened));
    text[length > 0 ? length : 0] = '\0';
    HChar *at = VG_(strrchr)(text, ')');
    if (!at || !at[1])
        return look;
    look.state = at[2];
    at += 3;
    for (int field = 0; field < FIELDS_BEFORE_TICKS && *at; field++)
        at += 1 + VG_(strcspn)(at + 1, " ");
    look.ticks = (ULong)VG_(strtoll10)(at, &at);
    look.ticks += (ULong)VG_(strtoll10)(at, NULL);
    return look;
}

/* It will not ask for the lock unless another thread wakes it. */
static bool thread_settled(struct scheduled_thread *thread)
{
    HChar state = thread->lwpid ? thread_look(thread->lwpid).state : 'R';
    if (thread->state == THREAD_ENDS) {
        if (state && state != 'Z' && state != 'X')
            return false;
        thread->state = THREAD_NONE;
        return true;
    }
    return state != 'R' && state != 'D';
}

/* A thread that has not settled; 0: none. The one that ran last comes first, as it may still wake others. */
static ThreadId schedule_unsettled(void)
{
    for (ThreadId i = 0; i <= schedule_last; i++) {
        ThreadId id = i ? i : schedule_before;
        struct scheduled_thread *thread = &threads[id];
        if (thread->given_up || (i && i == schedule_before))
            continue;
        bool away = thread->state == THREAD_BLOCKS && (id == schedule_before || schedule_woke || thread->call != __NR_futex);
        if ((away || thread->state == THREAD_STARTS || thread->state == THREAD_ENDS) && !thread_settled(thread))
            return id;
    }
    return 0;
}

static void schedule_rest(ULong *rest)
{
    struct vki_timespec time = {.tv_nsec = (Long)*rest};
    VG_(do_syscall)(__NR_nanosleep, (UWord)&time, 0, 0, 0, 0, 0, 0, 0);
    *rest = 2 * *rest < REST_MOST_NS ? 2 * *rest : REST_MOST_NS;
}

/* It was given enough time; if it is runnable, but other programs take the processors, its CPU time since `ticks` counts. */
static bool thread_is_late(const struct scheduled_thread *thread, ULong ticks)
{
    enum { NS_PER_TICK = 10000000 };
    struct thread_look look = thread_look(thread->lwpid);
    return look.state != 'R' || (look.ticks - ticks) * NS_PER_TICK >= PATIENCE_NS;
}

/* Returns when every thread waits for the lock or sleeps. */
static void schedule_settle(void)
{
    ULong rest = REST_LEAST_NS, rested = 0, ticks = 0;
    UInt looks = 0, came;
    ThreadId unsettled, last = 0;
    for (;;) {
        came = __atomic_load_n(&schedule_came, __ATOMIC_SEQ_CST);
        unsettled = schedule_unsettled();
        if (!unsettled && came == __atomic_load_n(&schedule_came, __ATOMIC_SEQ_CST))
            return;
        if (!unsettled || ++looks < LOOKS_AT_ONCE)
            continue;
        if (unsettled != last) {
            last = unsettled;
            rested = 0;
            ticks = thread_look(threads[last].lwpid).ticks;
        }
        rested += rest;
        schedule_rest(&rest);
        if (rested >= (threads[last].lwpid ? PATIENCE_NS : PATIENCE_STARTS_NS)) {
            threads[last].given_up = thread_is_late(&threads[last], ticks);
            rested = 0;
        }
    }
}

/* ---- the lock ---- */

static ThreadId schedule_next(void)
{
    for (ThreadId i = 1; i <= schedule_last; i++) {
        ThreadId id = (schedule_before + i - 1) % schedule_last + 1;
        if (threads[id].state == THREAD_WAITS)
            return id;
    }
    return 0;
}

static void schedule_give(ThreadId id)
{
    schedule_owner = schedule_before = id;
    schedule_elector = 0;
    schedule_woke = false;
    threads[id].state = THREAD_RUNS;
}

static void schedule_elect(ThreadId me)
{
    schedule_settle();
    guard_take();
    ThreadId next = schedule_next();
    schedule_give(next);
    guard_leave();
    if (next != me)
        thread_wake(&threads[next], GO_RUN);
}

/* The calling thread. Only the first one was not announced by lwp_schedule_created(). */
static ThreadId schedule_self(void)
{
    Int lwpid = VG_(gettid)();
    for (ThreadId i = 1; i <= schedule_last; i++)
        if (threads[i].lwpid == lwpid && threads[i].state != THREAD_NONE)
            return i;
    schedule_last = schedule_last ? schedule_last : 1;
    threads[1].lwpid = lwpid;
    return 1;
}

struct sched_lock;
struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void);
void __wrap_vgModuleLocal_destroy_sched_lock(struct sched_lock *lock);
int __wrap_vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock);
void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock);
void __wrap_vgPlain_acquire_BigLock(ThreadId thread, const HChar *who);
extern void __real_vgPlain_acquire_BigLock(ThreadId thread, const HChar *who);

/* At the start; and in a forked child, where only the thread that runs is left. */
struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void)
{
    ThreadId self = schedule_owner;
    VG_(memset)(threads, 0, (schedule_last + 1) * sizeof *threads);
    schedule_last = schedule_before = self;
    schedule_owner = schedule_elector = 0;
    schedule_guard = 0;
    if (self)
        threads[self] = (struct scheduled_thread){.lwpid = VG_(gettid)(), .state = THREAD_RUNS};
    return (struct sched_lock *)threads;
}

void __wrap_vgModuleLocal_destroy_sched_lock(struct sched_lock *lock)
{
    (void)lock;
}

int __wrap_vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock)
{
    (void)lock;
    return threads[schedule_owner].lwpid;
}

void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
    (void)lock;
    guard_take();
    ThreadId self = schedule_self();
    struct scheduled_thread *me = &threads[self];
    me->state = THREAD_WAITS;
    me->given_up = false;
    me->go = GO_WAIT;
    __atomic_add_fetch(&schedule_came, 1, __ATOMIC_SEQ_CST);
    bool elects = !schedule_owner && !schedule_elector;
    if (elects)
        schedule_elector = self;
    guard_leave();
    while (elects || thread_wait(me) == GO_ELECT) {
        elects = false;
        me->go = GO_WAIT;
        schedule_elect(self);
        if (schedule_owner == self)
            return;
    }
}

void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
    (void)lock;
    guard_take();
    struct scheduled_thread *me = &threads[schedule_owner];
    if (me->state == THREAD_RUNS)
        me->state = THREAD_BLOCKS;
    schedule_owner = 0;
    ThreadId elector = schedule_elector = schedule_next();
    guard_leave();
    if (elector)
        thread_wake(&threads[elector], GO_ELECT);
}

/* A new thread takes the lock for the first time: here its number is known. */
void __wrap_vgPlain_acquire_BigLock(ThreadId thread, const HChar *who)
{
    if (thread < THREADS_MAX)
        threads[thread].lwpid = VG_(gettid)();
    __real_vgPlain_acquire_BigLock(thread, who);
}

void lwp_schedule_created(ThreadId thread)
{
    guard_take();
    threads[thread] = (struct scheduled_thread){.state = THREAD_STARTS};
    schedule_last = thread > schedule_last ? thread : schedule_last;
    guard_leave();
}

void lwp_schedule_ends(ThreadId thread)
{
    threads[thread].state = thread == schedule_owner ? THREAD_ENDS : THREAD_NONE;
    schedule_woke = true;
}

/* One of several threads will go on at a time that depends on the clock or on another process. */
static bool call_ends_from_outside(UInt number, const UWord *arguments)
{
    enum { FUTEX_OPERATION = 127, FUTEX_WAIT = 0, FUTEX_WAIT_BITSET = 9 };
    UWord operation = arguments[1] & FUTEX_OPERATION;
    bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
    return schedule_last > 1 && (number == __NR_futex ? waits && arguments[3] : lwp_call_waits(number));
}

bool lwp_schedule_call(UInt number, const UWord *arguments)
{
    threads[schedule_owner].call = number;
    switch (number) {
    case __NR_futex:
    case __NR_kill:
    case __NR_tkill:
    case __NR_tgkill:
        schedule_woke = true;
    }
    return call_ends_from_outside(number, arguments);
}
