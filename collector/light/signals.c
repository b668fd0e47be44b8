/* The program may install a handler for our signal, ignore or block it: it is told that it did, its handler gets what is
 * not ours, and the signal stays ours and open. A signal that is not ours and has no handler does what it would have. */
#define _GNU_SOURCE
#include "collector/light/signals.h"

#include "collector/light/sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int signals_ours;                /* 0: none */
static struct sigaction signals_theirs; /* what the program believes is installed */

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static int (*next_sigprocmask)(int, const sigset_t *, sigset_t *);
static int (*next_pthread_sigmask)(int, const sigset_t *, sigset_t *);

static void signals_resolve(void)
{
    if (next_sigaction)
        return;
    next_sigprocmask = dlsym(RTLD_NEXT, "sigprocmask");
    next_pthread_sigmask = dlsym(RTLD_NEXT, "pthread_sigmask");
    next_sigaction = dlsym(RTLD_NEXT, "sigaction");
}

static void signals_pass_on(int signal, siginfo_t *info, void *context)
{
    struct sigaction theirs = signals_theirs;
    if (theirs.sa_flags & SA_SIGINFO) {
        theirs.sa_sigaction(signal, info, context);
    } else if (theirs.sa_handler == SIG_DFL) {
        /* Fatal, as it would have been: the signal is held back until this handler returns. */
        struct sigaction fatal = {.sa_handler = SIG_DFL};
        next_sigaction(signal, &fatal, NULL);
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    } else if (theirs.sa_handler != SIG_IGN) {
        theirs.sa_handler(signal);
    } else if (info->si_code == SI_KERNEL && signal == SIGTRAP) {
        struct sigaction fatal = {.sa_handler = SIG_DFL}; /* a trap cannot be ignored */
        next_sigaction(signal, &fatal, NULL);
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    }
}

static void signals_handle(int signal, siginfo_t *info, void *context)
{
    if (lwp_sampler_owns(signal, info))
        lwp_sampler_handler(signal, info, context);
    else
        signals_pass_on(signal, info, context);
}

bool lwp_signals_start(void)
{
    signals_resolve();
    signals_ours = lwp_sampler_signals()[0];
    struct sigaction ours = {.sa_sigaction = signals_handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&ours.sa_mask);
    struct sigaction before;
    if (!signals_ours || next_sigaction(signals_ours, &ours, &before)) {
        signals_ours = 0;
        return false;
    }
    if (before.sa_sigaction != signals_handle)
        signals_theirs = before;
    sigset_t open;
    sigemptyset(&open);
    sigaddset(&open, signals_ours);
    next_pthread_sigmask(SIG_UNBLOCK, &open, NULL);
    return true;
}

void lwp_signals_finish(void)
{
    if (!signals_ours)
        return;
    /* One of our own may still be on its way: SIG_DFL would be deadly. */
    if (signals_theirs.sa_handler != SIG_DFL && signals_theirs.sa_handler != SIG_IGN)
        next_sigaction(signals_ours, &signals_theirs, NULL);
}

EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
    signals_resolve();
    if (!signals_ours || signal != signals_ours) {
        /* ours stays open while their handler runs: a blocked synchronous trap kills on some kernels */
        struct sigaction open;
        if (signals_ours && action) {
            open = *action;
            sigdelset(&open.sa_mask, signals_ours);
            action = &open;
        }
        return next_sigaction(signal, action, before);
    }
    struct sigaction old = signals_theirs;
    if (action)
        signals_theirs = *action;
    if (before)
        *before = old;
    return 0;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return sigaction(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

static const sigset_t *signals_open(int how, const sigset_t *set, sigset_t *copy)
{
    if (!set || !signals_ours || how == SIG_UNBLOCK)
        return set;
    *copy = *set;
    sigdelset(copy, signals_ours);
    return copy;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    signals_resolve();
    sigset_t copy;
    return next_sigprocmask(how, signals_open(how, set, &copy), before);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    signals_resolve();
    sigset_t copy;
    return next_pthread_sigmask(how, signals_open(how, set, &copy), before);
}
