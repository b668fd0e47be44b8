/* In place of Valgrind's lock for its scheduler (the linker's --wrap). Who gives the lock away wakes one of those that
 * wait for it, the elector, who waits until all others have settled and then says who runs: it has nothing else to do,
 * while who leaves is on its way into the kernel. */
#include "collector/exact/valgrind/scheduling_order.h"

#include "collector/exact/program/process.h"
#include "collector/exact/valgrind/waiting_calls.h"

#include <asm/unistd.h>
#include <stdbool.h>

/* Of Valgrind's core, not in the headers for tools. */
extern SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord, UWord, UWord, UWord);

enum {
    THREADS_MAX = 8192,
    FUTEX_WAIT_PRIVATE = 128, FUTEX_WAKE_PRIVATE = 129,
    LOOKS_AT_ONCE = 64,            /* how often a thread is looked at before there is a rest */
    REST_LEAST_NS = 20000, REST_MOST_NS = 1000000,
    PATIENCE_NS = 200000000,       /* for a system call that neither sleeps nor ends */
    PATIENCE_STARTS_NS = 2000000000, /* for a thread's first step */
};

enum turn { TURN_NONE, TURN_STARTS, TURN_WAITS, TURN_RUNS, TURN_AWAY, TURN_ENDS };
enum go { GO_WAIT, GO_ELECT, GO_RUN };

static struct turn_thread {
    Int lwpid;      /* 0: it has not run yet */
    UInt call;      /* the system call that it is in, if TURN_AWAY */
    enum turn turn;
    bool given_up;  /* it took too long: not waited for until it comes */
    Int go;         /* enum go; a futex */
} threads[THREADS_MAX];

static ThreadId turns_last;      /* the last that was made */
static ThreadId turns_owner;     /* who runs; 0: nobody */
static ThreadId turns_before;    /* who ran last */
static ThreadId turns_elector;   /* who is to say who runs; 0: nobody */
static UInt turns_came;          /* how often anybody came to wait */
static bool turns_woke;          /* sleepers in futexes may have been woken since it was last said who runs */
static Int turns_guard;          /* of all of these: a spin lock, held for a few instructions */

static void guard_take(void)
{
    while (__atomic_exchange_n(&turns_guard, 1, __ATOMIC_ACQUIRE))
        VG_(do_syscall)(__NR_sched_yield, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void guard_leave(void)
{
    __atomic_store_n(&turns_guard, 0, __ATOMIC_RELEASE);
}

static void thread_wake(struct turn_thread *thread, enum go go)
{
    __atomic_store_n(&thread->go, go, __ATOMIC_SEQ_CST);
    VG_(do_syscall)(__NR_futex, (UWord)&thread->go, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0, 0, 0);
}

static enum go thread_wait(struct turn_thread *thread)
{
    enum go go;
    while ((go = (enum go)__atomic_load_n(&thread->go, __ATOMIC_SEQ_CST)) == GO_WAIT)
        VG_(do_syscall)(__NR_futex, (UWord)&thread->go, FUTEX_WAIT_PRIVATE, GO_WAIT, 0, 0, 0, 0, 0);
    return go;
}

/* ---- what the others do ---- */

struct thread_look {
    HChar state; /* the kernel's letter for what it does; 0: it is gone */
    ULong ticks; /* of a processor that it has had */
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

/* It does not come for the lock unless another wakes it. */
static bool thread_settled(struct turn_thread *thread)
{
    HChar state = thread->lwpid ? thread_look(thread->lwpid).state : 'R';
    if (thread->turn == TURN_ENDS) {
        if (state && state != 'Z' && state != 'X')
            return false;
        thread->turn = TURN_NONE;
        return true;
    }
    return state != 'R' && state != 'D';
}

/* One that is on its way; 0: none. Who ran last comes first, as it may still wake others. */
static ThreadId turns_unsettled(void)
{
    for (ThreadId i = 0; i <= turns_last; i++) {
        ThreadId id = i ? i : turns_before;
        struct turn_thread *thread = &threads[id];
        if (thread->given_up || (i && i == turns_before))
            continue;
        bool away = thread->turn == TURN_AWAY && (id == turns_before || turns_woke || thread->call != __NR_futex);
        if ((away || thread->turn == TURN_STARTS || thread->turn == TURN_ENDS) && !thread_settled(thread))
            return id;
    }
    return 0;
}

static void turns_rest(ULong *rest)
{
    struct vki_timespec time = {.tv_nsec = (Long)*rest};
    VG_(do_syscall)(__NR_nanosleep, (UWord)&time, 0, 0, 0, 0, 0, 0, 0);
    *rest = 2 * *rest < REST_MOST_NS ? 2 * *rest : REST_MOST_NS;
}

/* It has used its patience: the time since `ticks`; or, where it waits for a processor that others have, what it had of one. */
static bool thread_is_late(const struct turn_thread *thread, ULong ticks)
{
    enum { NS_PER_TICK = 10000000 };
    struct thread_look look = thread_look(thread->lwpid);
    return look.state != 'R' || (look.ticks - ticks) * NS_PER_TICK >= PATIENCE_NS;
}

/* Returns when every thread waits or sleeps. */
static void turns_settle(void)
{
    ULong rest = REST_LEAST_NS, rested = 0, ticks = 0;
    UInt looks = 0, came;
    ThreadId unsettled, last = 0;
    for (;;) {
        came = __atomic_load_n(&turns_came, __ATOMIC_SEQ_CST);
        unsettled = turns_unsettled();
        if (!unsettled && came == __atomic_load_n(&turns_came, __ATOMIC_SEQ_CST))
            return;
        if (!unsettled || ++looks < LOOKS_AT_ONCE)
            continue;
        if (unsettled != last) {
            last = unsettled;
            rested = 0;
            ticks = thread_look(threads[last].lwpid).ticks;
        }
        rested += rest;
        turns_rest(&rest);
        if (rested >= (threads[last].lwpid ? PATIENCE_NS : PATIENCE_STARTS_NS)) {
            threads[last].given_up = thread_is_late(&threads[last], ticks);
            rested = 0;
        }
    }
}

/* ---- the lock ---- */

static ThreadId turns_next(void)
{
    for (ThreadId i = 1; i <= turns_last; i++) {
        ThreadId id = (turns_before + i - 1) % turns_last + 1;
        if (threads[id].turn == TURN_WAITS)
            return id;
    }
    return 0;
}

static void turns_give(ThreadId id)
{
    turns_owner = turns_before = id;
    turns_elector = 0;
    turns_woke = false;
    threads[id].turn = TURN_RUNS;
}

static void turns_elect(ThreadId me)
{
    turns_settle();
    guard_take();
    ThreadId next = turns_next();
    turns_give(next);
    guard_leave();
    if (next != me)
        thread_wake(&threads[next], GO_RUN);
}

/* Of the caller. Only the first thread is not told of before it runs. */
static ThreadId turns_self(void)
{
    Int lwpid = VG_(gettid)();
    for (ThreadId i = 1; i <= turns_last; i++)
        if (threads[i].lwpid == lwpid && threads[i].turn != TURN_NONE)
            return i;
    turns_last = turns_last ? turns_last : 1;
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
    ThreadId self = turns_owner;
    VG_(memset)(threads, 0, (turns_last + 1) * sizeof *threads);
    turns_last = turns_before = self;
    turns_owner = turns_elector = 0;
    turns_guard = 0;
    if (self)
        threads[self] = (struct turn_thread){.lwpid = VG_(gettid)(), .turn = TURN_RUNS};
    return (struct sched_lock *)threads;
}

void __wrap_vgModuleLocal_destroy_sched_lock(struct sched_lock *lock)
{
    (void)lock;
}

int __wrap_vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock)
{
    (void)lock;
    return threads[turns_owner].lwpid;
}

void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
    (void)lock;
    guard_take();
    ThreadId self = turns_self();
    struct turn_thread *me = &threads[self];
    me->turn = TURN_WAITS;
    me->given_up = false;
    me->go = GO_WAIT;
    __atomic_add_fetch(&turns_came, 1, __ATOMIC_SEQ_CST);
    bool elects = !turns_owner && !turns_elector;
    if (elects)
        turns_elector = self;
    guard_leave();
    while (elects || thread_wait(me) == GO_ELECT) {
        elects = false;
        me->go = GO_WAIT;
        turns_elect(self);
        if (turns_owner == self)
            return;
    }
}

void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
    (void)lock;
    guard_take();
    struct turn_thread *me = &threads[turns_owner];
    if (me->turn == TURN_RUNS)
        me->turn = TURN_AWAY;
    turns_owner = 0;
    ThreadId elector = turns_elector = turns_next();
    guard_leave();
    if (elector)
        thread_wake(&threads[elector], GO_ELECT);
}

/* A thread's first words: which of those that were made it is. */
void __wrap_vgPlain_acquire_BigLock(ThreadId thread, const HChar *who)
{
    if (thread < THREADS_MAX)
        threads[thread].lwpid = VG_(gettid)();
    __real_vgPlain_acquire_BigLock(thread, who);
}

void lwp_turns_made(ThreadId thread)
{
    guard_take();
    threads[thread] = (struct turn_thread){.turn = TURN_STARTS};
    turns_last = thread > turns_last ? thread : turns_last;
    guard_leave();
}

void lwp_turns_ends(ThreadId thread)
{
    threads[thread].turn = thread == turns_owner ? TURN_ENDS : TURN_NONE;
    turns_woke = true;
}

/* One of several threads will go on at a time that the clock or another process chooses. */
static bool call_ends_from_outside(UInt number, const UWord *arguments)
{
    enum { FUTEX_OPERATION = 127, FUTEX_WAIT = 0, FUTEX_WAIT_BITSET = 9 };
    UWord operation = arguments[1] & FUTEX_OPERATION;
    bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
    return turns_last > 1 && (number == __NR_futex ? waits && arguments[3] : lwp_call_waits(number));
}

void lwp_turns_call(UInt number, const UWord *arguments)
{
    static bool said;
    threads[turns_owner].call = number;
    if (!said && call_ends_from_outside(number, arguments)) {
        said = true;
        lwp_exact_process_note("Threads waited for a time, or for other processes: in another run their turns may come otherwise, "
                               "and shares differ a little.");
    }
    switch (number) {
    case __NR_futex:
    case __NR_kill:
    case __NR_tkill:
    case __NR_tgkill:
        turns_woke = true;
    }
}
