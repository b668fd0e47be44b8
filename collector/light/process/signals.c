/* The program may install a handler for our signal, ignore or block it: its calls succeed, its handler gets what is
 * not ours, and the signal stays ours and open. A signal that is not ours and has no handler does what it would have.
 * What is sent while blocked waits here, for sigwait, too, or for an unblocking.
 * Not covered: signalfd for our signal, masks set by bare system calls, masks inherited through exec. */
#include "collector/light/process/signals.h"

#include "collector/light/own/own_memory.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/process/alternate_stack.h"
#include "collector/light/process/dormant.h"
#include "collector/light/process/late_threads.h"
#include "collector/light/sampling/debugger.h"
#include "collector/light/sampling/rate.h"
#include "collector/light/sampling/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { WAITERS_MOST = 64, SIGNALS_NUDGE = 0x6c77706b };

static struct {
    int ours;                /* 0: none */
    struct sigaction theirs; /* what the program believes is installed */
    bool in_mask[NSIG];      /* handlers during which the program wanted ours blocked */
    void *on_stack[NSIG];    /* handlers of the program's that want its alternate stack */
    struct {
        int pending; /* 1: `info` is it; 2: being written */
        siginfo_t info;
    } sent; /* to the process while the thread that got it blocked it: for the first thread that waits for it or unblocks it */
    pid_t waiters[WAITERS_MOST]; /* threads in sigwait for our signal */
} signals;
static __thread bool signals_blocked; /* what the program believes of its mask */
static __thread bool signals_pending; /* one of theirs came while so */
static __thread pid_t signals_vforked; /* who called vfork last; 0: nobody that has not been seen to go on */

static int signals_real_action(int signal, const struct sigaction *action, struct sigaction *before)
{
    return LWP_REAL(sigaction)(signal, action, before);
}

static int signals_real_mask(int how, const sigset_t *set, sigset_t *before)
{
    return LWP_REAL(pthread_sigmask)(how, set, before);
}

/* Of all signals whose handlers want the program's alternate stack. */
static void signals_on_stack(int signal, siginfo_t *info, void *context)
{
    const struct lwp_handler handler = {__atomic_load_n(&signals.on_stack[signal], __ATOMIC_RELAXED), true};
    lwp_alternate_deliver(&handler, signal, context);
    ((void (*)(int, siginfo_t *, void *))handler.function)(signal, info, context);
}

/* An action as the kernel gets it. */
static void signals_take_stack(int signal, struct sigaction *action)
{
    if (!(action->sa_flags & SA_ONSTACK) || action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)
        return;
    __atomic_store_n(&signals.on_stack[signal], (void *)action->sa_sigaction, __ATOMIC_RELAXED);
    action->sa_sigaction = signals_on_stack;
}

/* The signal alone. */
static sigset_t signals_only_ours(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signals.ours);
    return set;
}

/* Takes what was kept for any thread. */
static bool signals_take_sent(siginfo_t *info)
{
    int kept = 1;
    if (!__atomic_compare_exchange_n(&signals.sent.pending, &kept, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    *info = signals.sent.info;
    __atomic_store_n(&signals.sent.pending, 0, __ATOMIC_RELEASE);
    return true;
}

/* Takes what was kept for the calling thread. */
static bool signals_take(siginfo_t *info)
{
    if (!signals_pending)
        return signals_take_sent(info);
    signals_pending = false;
    *info = (siginfo_t){.si_signo = signals.ours, .si_code = SI_TKILL};
    info->si_pid = getpid();
    info->si_uid = getuid();
    return true;
}

static bool signals_is_nudge(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_int == SIGNALS_NUDGE && info->si_pid == getpid();
}

/* Has a thread that waits look at what was kept. The signal itself is not sent there: of two that are pending for a thread the kernel
 * keeps one, and the other may be a sample. */
static void signals_nudge(void)
{
    for (int i = 0; i < WAITERS_MOST && __atomic_load_n(&signals.sent.pending, __ATOMIC_SEQ_CST) == 1; i++) {
        pid_t tid = __atomic_load_n(&signals.waiters[i], __ATOMIC_SEQ_CST);
        siginfo_t info = {.si_signo = signals.ours, .si_code = SI_QUEUE};
        info.si_pid = getpid();
        info.si_uid = getuid();
        info.si_value.sival_int = SIGNALS_NUDGE;
        if (tid && syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, signals.ours, &info) == 0)
            return;
    }
}

/* A signal that the calling thread blocks was sent. */
static void signals_keep(const siginfo_t *info)
{
    if (info->si_code == SI_TKILL) {
        signals_pending = true;
        return;
    }
    int none = 0;
    if (__atomic_compare_exchange_n(&signals.sent.pending, &none, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        signals.sent.info = *info;
        __atomic_store_n(&signals.sent.pending, 1, __ATOMIC_SEQ_CST);
    }
    signals_nudge();
}

/* What was kept comes again, to the calling thread, which can take it now. */
static void signals_send_kept(void)
{
    siginfo_t kept;
    if (signals_take(&kept))
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signals.ours, &kept);
}

/* The mask that the program's own handler would have run with: it may jump out of it. */
static void signals_mask_as_theirs(const struct sigaction *theirs, const ucontext_t *context)
{
    sigset_t mask;
    sigorset(&mask, &context->uc_sigmask, &theirs->sa_mask);
    sigdelset(&mask, signals.ours);
    signals_real_mask(SIG_SETMASK, &mask, NULL);
}

/* Debug registers stop a thread by an exception whose cause stands in a register of its own. Where that was lost (in virtual
 * machines) the kernel does not see that it was our event, and sends a plain SIGTRAP. Nobody but lwp has it stop there:
 * debuggers take theirs before. The program's own int1 is the instruction before (as any whose last byte is 0xf1 seems to be), or in
 * virtual machines on AMD's processors the one it stopped at; and its single steps show in the flags, but for that after a popf. */
static bool signals_is_stray(int signal, const siginfo_t *info, const ucontext_t *context)
{
    enum { INT1 = 0xf1, POPF = 0x9d, FLAG_TRAP = 0x100 };
    const greg_t *machine = context->uc_mcontext.gregs;
    unsigned char code[2] = {0};
    if (signal != SIGTRAP)
        return false;
    const bool steps = machine[REG_EFL] & FLAG_TRAP, fatal = signals.theirs.sa_handler == SIG_DFL;
    if (info->si_code == TRAP_BRKPT)
        return !steps && lwp_own_copy(code, (const void *)(machine[REG_RIP] - 1), sizeof code) && code[0] != INT1 && code[1] != INT1 &&
               (code[0] != POPF || fatal);
    if (info->si_code == TRAP_TRACE)
        return fatal && !steps;
    return info->si_code == TRAP_HWBKPT;
}

/* Fatal, as it would have been: the signal is held back until this handler returns. */
static void signals_die(int signal)
{
    const struct sigaction fatal = {.sa_handler = SIG_DFL};
    signals_real_action(signal, &fatal, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

static void signals_pass_on(int signal, siginfo_t *info, void *context)
{
    struct sigaction theirs = signals.theirs;
    if (signal == SIGTRAP && info->si_code > 0 && theirs.sa_handler == SIG_DFL && lwp_debugger_is_here())
        return; /* a debugger's own, passed on with ours */
    if (signals_blocked && info->si_code <= 0) { /* sent, not trapped: waits */
        signals_keep(info);
        return;
    }
    if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
        if (theirs.sa_flags & SA_RESETHAND)
            signals.theirs.sa_handler = SIG_DFL;
        signals_mask_as_theirs(&theirs, context);
    }
    if (theirs.sa_handler == SIG_DFL) {
        signals_die(signal);
    } else if (theirs.sa_handler != SIG_IGN) {
        const struct lwp_handler handler = {(void *)theirs.sa_sigaction, theirs.sa_flags & SA_ONSTACK};
        lwp_alternate_deliver(&handler, signal, context);
        theirs.sa_sigaction(signal, info, context);
    } else if (info->si_code == SI_KERNEL && signal == SIGTRAP) {
        signals_die(signal); /* a trap cannot be ignored */
    }
}

/* While the program has another thread pointer nothing can be looked at; what is the program's goes its way. */
static void signals_pass_without_variables(int signal, ucontext_t *context)
{
    struct sigaction theirs = signals.theirs;
    const struct lwp_handler handler = {(void *)theirs.sa_sigaction, theirs.sa_flags & SA_ONSTACK};
    if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN)
        lwp_alternate_deliver(&handler, signal, context);
    else if (theirs.sa_handler == SIG_DFL)
        signals_die(signal);
}

/* Before LWP_DELAY nothing is sampled; after LWP_DURATION the thread's timer goes. */
static bool signals_in_window(void)
{
    if (!lwp_process.sample_from_ns && lwp_process.sample_until_ns == UINT64_MAX)
        return true;
    uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    if (now >= lwp_process.sample_from_ns && now < lwp_process.sample_until_ns)
        return true;
    struct lwp_thread *self = lwp_thread_self();
    if (!self || self->busy)
        return false;
    __atomic_fetch_add(&self->busy, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&self->attached, __ATOMIC_SEQ_CST)) {
        self->last_cpu_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
        if (now < lwp_process.sample_from_ns)
            lwp_rate_pause(self, lwp_process.sample_from_ns - now);
        else
            lwp_sampler_detach(self);
    }
    __atomic_fetch_sub(&self->busy, 1, __ATOMIC_RELEASE);
    return false;
}

/* The program may have accesses that are not aligned trapped (EFLAGS.AC), which the kernel leaves on in a handler. */
static void signals_end_alignment_checks(void)
{
    enum { ALIGNMENT_CHECK = 1 << 18 };
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)ALIGNMENT_CHECK);
}

static void signals_handle(int signal, siginfo_t *info, void *context)
{
    signals_end_alignment_checks();
    bool owned = lwp_sampler_owns(signal, info), nudge = !owned && signals_is_nudge(info);
    if (!lwp_own_stack_has_variables(lwp_own_stack_at(__builtin_frame_address(0)))) {
        if (!owned && !nudge)
            signals_pass_without_variables(signal, context);
        return;
    }
    if (signals_is_stray(signal, info, context))
        return;
    if (nudge)
        signals_nudge(); /* it no longer waits */
    else if (!owned)
        signals_pass_on(signal, info, context);
    else if (!lwp_dormant_tick(context) && !lwp_late_threads_tick(context) && signals_in_window()) {
        lwp_sampler_handler(signal, info, context);
        if (lwp_process.active)
            lwp_late_threads_look();
    }
}

static bool signals_take_over(struct sigaction *before)
{
    struct sigaction ours = {.sa_sigaction = signals_handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    memset(&ours.sa_mask, 0xff, sizeof ours.sa_mask); /* cancellation's own signal, too, which sigfillset leaves out */
    return signals_real_action(signals.ours, &ours, before) == 0;
}

bool lwp_signals_start(void)
{
    signals.ours = lwp_sampler_signal();
    struct sigaction before = {0};
    if (!signals.ours || !signals_take_over(&before)) {
        signals.ours = 0;
        return false;
    }
    if (before.sa_sigaction != signals_handle)
        signals.theirs = before;
    const sigset_t open = signals_only_ours();
    signals_real_mask(SIG_UNBLOCK, &open, NULL);
    return true;
}

void lwp_signals_finish(void)
{
    if (!signals.ours)
        return;
    /* One of our own may still be on its way: SIG_DFL would be deadly. */
    if (signals.theirs.sa_handler == SIG_DFL || signals.theirs.sa_handler == SIG_IGN)
        return;
    struct sigaction theirs = signals.theirs;
    signals_take_stack(signals.ours, &theirs);
    signals_real_action(signals.ours, &theirs, NULL);
}

/* ---- children of vfork ---- */

/* Whether it is one that asks: its actions and mask are its own, but what is noted here is its parent's. */
static bool signals_of_parent(void)
{
    if (signals_vforked && signals_vforked == getpid())
        signals_vforked = 0;
    return signals_vforked != 0;
}

void lwp_signals_vfork(void)
{
    if (!signals_of_parent())
        signals_vforked = getpid();
}

/* ---- actions ---- */

static int signals_action(int signal, const struct sigaction *action, struct sigaction *before)
{
    if (signal <= 0 || signal >= NSIG)
        return signals_real_action(signal, action, before);
    if (signals_of_parent()) {
        const struct sigaction theirs = signals.theirs;
        const int failed = signals_real_action(signal, action, before);
        if (!failed && before && before->sa_sigaction == signals_handle)
            *before = theirs;
        return failed;
    }
    if (signal == signals.ours) {
        struct sigaction old = signals.theirs, now;
        /* it may be another one, set by a bare system call or another C library (dlmopen), and unloaded next */
        const bool foreign = signals_real_action(signal, NULL, &now) == 0 && now.sa_sigaction != signals_handle;
        if (foreign)
            old = now;
        if (action)
            signals.theirs = *action;
        if (action && foreign)
            signals_take_over(&now);
        if (before)
            *before = old;
        return 0;
    }
    bool was = signals.in_mask[signal];
    void *on_stack = signals.on_stack[signal];
    struct sigaction open;
    if (action) {
        open = *action;
        signals_take_stack(signal, &open);
        signals.in_mask[signal] = signals.ours && sigismember(&open.sa_mask, signals.ours) == 1;
        if (signals.ours)
            sigdelset(&open.sa_mask, signals.ours);
    }
    int status = signals_real_action(signal, action ? &open : NULL, before);
    if (status) {
        signals.in_mask[signal] = was;
        signals.on_stack[signal] = on_stack;
    } else if (before && was) {
        sigaddset(&before->sa_mask, signals.ours);
    }
    if (!status && before && before->sa_sigaction == signals_on_stack)
        before->sa_sigaction = (void (*)(int, siginfo_t *, void *))on_stack;
    return status;
}

LWP_EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
    return signals_action(signal, action, before);
}

LWP_EXPORT int __sigaction(int signal, const struct sigaction *action, struct sigaction *before)
    __THROW __attribute__((alias("sigaction")));

static sighandler_t signals_install(int number, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;
    sigemptyset(&action.sa_mask);
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return signals_action(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

LWP_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    if (number != signals.ours) /* glibc's own knows of siginterrupt */
        return LWP_REAL(signal)(number, handler);
    return signals_install(number, handler, SA_RESTART);
}

LWP_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) __THROW __attribute__((alias("signal")));
LWP_EXPORT sighandler_t ssignal(int number, sighandler_t handler) __THROW __attribute__((alias("signal")));

LWP_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return signals_install(number, handler, SA_RESETHAND | SA_NODEFER);
}

LWP_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) __attribute__((alias("sysv_signal")));

LWP_EXPORT int sigignore(int number)
{
    return signals_install(number, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

/* ---- masks ---- */

/* Carries out what the program asks for but for our signal, of which only a note is taken. */
static int signals_mask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *before)
{
    struct lwp_thread *self = signals.ours ? lwp_thread_self() : NULL;
    if (!signals.ours || (self && self->busy)) /* not the program but a library of ours, libunwind */
        return real(how, set, before);
    if (signals_of_parent()) {
        const int failed = real(how, set, before);
        if (!failed && before && signals_blocked)
            sigaddset(before, signals.ours);
        return failed;
    }
    sigset_t open;
    bool was = signals_blocked, named = set && sigismember(set, signals.ours) == 1;
    if (set) {
        open = *set;
        sigdelset(&open, signals.ours);
    }
    int status = real(how, set ? &open : NULL, before);
    if (status)
        return status;
    if (before && was)
        sigaddset(before, signals.ours);
    if (set)
        signals_blocked = how == SIG_SETMASK ? named : how == SIG_BLOCK ? was || named : was && !named;
    if (set && !signals_blocked)
        signals_send_kept();
    return 0;
}

LWP_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    return signals_mask(LWP_REAL(sigprocmask), how, set, before);
}

LWP_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    return signals_mask(signals_real_mask, how, set, before);
}

bool lwp_signals_blocked(void)
{
    return signals_blocked;
}

void lwp_signals_inherit(bool blocked)
{
    signals_blocked = blocked;
    signals_pending = false;
}

/* ---- waiting: our signal is really blocked during it, so that what is sent stays for the one who waits ---- */

static pid_t *signals_wait_begin(const sigset_t *set)
{
    if (!signals.ours || !signals_blocked || !set || sigismember(set, signals.ours) != 1)
        return NULL;
    const sigset_t ours = signals_only_ours();
    signals_real_mask(SIG_BLOCK, &ours, NULL);
    pid_t tid = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < WAITERS_MOST; i++) {
        pid_t none = 0;
        if (__atomic_compare_exchange_n(&signals.waiters[i], &none, tid, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return &signals.waiters[i];
    }
    signals_real_mask(SIG_UNBLOCK, &ours, NULL);
    return NULL;
}

static void signals_wait_end(pid_t *waiter)
{
    int saved = errno;
    __atomic_store_n(waiter, 0, __ATOMIC_SEQ_CST);
    const sigset_t ours = signals_only_ours();
    signals_real_mask(SIG_UNBLOCK, &ours, NULL);
    signals_nudge(); /* it may have been this thread's turn, which took another signal */
    errno = saved;
}

/* What is left of `timeout` since `begun_ns`. */
static const struct timespec *signals_rest(const struct timespec *timeout, uint64_t begun_ns, struct timespec *rest)
{
    uint64_t passed_ns = lwp_clock(CLOCK_MONOTONIC) - begun_ns;
    *rest = *timeout;
    rest->tv_sec -= (time_t)(passed_ns / 1000000000);
    rest->tv_nsec -= (long)(passed_ns % 1000000000);
    if (rest->tv_nsec < 0)
        rest->tv_sec--, rest->tv_nsec += 1000000000;
    if (rest->tv_sec < 0)
        *rest = (struct timespec){0};
    return rest;
}

/* A sample that comes due while our signal is blocked is queued like theirs, but not what the program waits for. The next may be due at
 * once, until the handler has set the pace again: it must not be blocked all along. */
static int signals_wait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    const uint64_t begun_ns = timeout ? lwp_clock(CLOCK_MONOTONIC) : 0;
    struct timespec rest;
    const struct timespec *left = timeout;
    siginfo_t taken;
    for (;;) {
        pid_t *waiter = signals_wait_begin(set);
        if (!waiter)
            return LWP_REAL(sigtimedwait)(set, info, left);
        int number = signals_take(&taken) ? signals.ours : LWP_REAL(sigtimedwait)(set, &taken, left);
        signals_wait_end(waiter);
        bool own = number == signals.ours && (signals_is_nudge(&taken) || lwp_sampler_owns(number, &taken));
        if (!own || signals_take(&taken)) {
            if (number > 0 && info)
                *info = taken;
            return number;
        }
        if (timeout)
            left = signals_rest(timeout, begun_ns, &rest);
    }
}

LWP_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    return signals_wait(set, info, timeout);
}

LWP_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return signals_wait(set, info, NULL);
}

LWP_EXPORT int sigwait(const sigset_t *set, int *number)
{
    int taken;
    do
        taken = signals_wait(set, NULL, NULL);
    while (taken < 0 && errno == EINTR);
    if (taken < 0)
        return errno;
    *number = taken;
    return 0;
}

LWP_EXPORT int sigpending(sigset_t *set)
{
    int status = LWP_REAL(sigpending)(set);
    if (status == 0 && signals.ours && signals_blocked && (signals_pending || signals.sent.pending))
        sigaddset(set, signals.ours);
    return status;
}

/* The old way to block and unblock one signal. */
static int signals_mask_one(int how, int number)
{
    sigset_t set;
    sigemptyset(&set);
    return sigaddset(&set, number) ? -1 : signals_mask(LWP_REAL(sigprocmask), how, &set, NULL);
}

LWP_EXPORT int sighold(int number)
{
    return signals_mask_one(SIG_BLOCK, number);
}

LWP_EXPORT int sigrelse(int number)
{
    return signals_mask_one(SIG_UNBLOCK, number);
}
