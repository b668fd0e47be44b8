/* Starts the program and waits for its end. */
#ifndef LWP_LAUNCH_LAUNCH_H
#define LWP_LAUNCH_LAUNCH_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct lwp_launch {
    const char *path;         /* file to execute */
    bool by_shell;            /* run it with /bin/sh */
    char *const *argv;        /* NULL-ended */
    char *const *environment; /* NULL-ended */
};

struct lwp_ended {
    pid_t pid;
    int wait_status;     /* as of waitpid */
    struct rusage usage; /* of the program and the children it waited for */
    double wall_s;
    int ended_by; /* SIGTERM or SIGHUP that was sent to lwp meanwhile, or 0 */
    long huge_pages_kib; /* most of its memory seen on huge pages; -1: it was not looked at */
    long looked_at_kib;  /* most of its memory seen on pages of any size then */
    int exec_errno; /* not 0: it could not be executed, the rest is not valid */
};

/* Gives lwp itself a stack that suffices, as far as the hard limit allows. */
void lwp_launch_raise_stack(void);

/* Bytes of stack (RLIMIT_STACK) that lwp was given before that, and the program gets; RLIM_INFINITY: unlimited, or not known. */
rlim_t lwp_launch_stack(void);

/* Runs it to its end. Signals that a terminal sends reach the program by themselves; SIGINT, SIGQUIT, SIGTERM, SIGHUP,
 * SIGUSR1 and SIGUSR2 that another process sends to lwp are passed on. After the return they stay blocked, so
 * that lwp can finish its work. */
int lwp_launch_run(const struct lwp_launch *launch, struct lwp_ended *ended, struct lwp_error *err);

/* A program that has been started, but for its exec. */
struct lwp_waiting {
    pid_t pid;
    int gate, report; /* gate -1: it was let go on, and both are closed */
};

/* Signals are taken as by lwp_launch_run. */
int lwp_launch_hold(const struct lwp_launch *launch, struct lwp_waiting *waiting, struct lwp_error *err);

/* Lets it go on. Returns 0, or the errno of its exec. */
int lwp_launch_release(struct lwp_waiting *waiting);

/* Waits for its end (ended->pid), and passes signals on meanwhile. wall_s is from now on. */
void lwp_launch_wait(struct lwp_ended *ended);

/* Runs lwp itself (/proc/self/exe) with `argv`, stdout going to stderr and signals as lwp found them. Returns its exit
 * status, 128+n for a signal. */
int lwp_launch_self(char *const *argv);

/* The exit status that stands for a wait status: the program's own, or 128+n. */
int lwp_launch_exit_status(int wait_status);

#endif
