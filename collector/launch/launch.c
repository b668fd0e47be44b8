/* fork, exec, wait. The program keeps lwp's stdin, stdout, stderr, process group, signal mask and dispositions exactly
 * as lwp was given them, and its limit of the stack. lwp itself takes its signals with sigwaitinfo: one sent by the terminal (SI_KERNEL)
 * has reached the program too, one sent by a process is passed on. */
#include "collector/launch/launch.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* When the program's huge pages are looked at, from its start: after 0.2, 0.6, 1.8 s and so on. */
static const double launch_look_s = 0.2, launch_look_grows = 3, launch_look_last_s = 1000;
static const double launch_look_part = 0.003; /* of the time, at most */

static const int launch_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};

enum { LAUNCH_NOT_RUN = 127 };

static bool launch_prepared;
static sigset_t launch_set, launch_old_mask;
static struct sigaction launch_old_child;

static void launch_take_signals(void)
{
    if (launch_prepared)
        return;
    launch_prepared = true;
    sigemptyset(&launch_set);
    for (size_t i = 0; i < sizeof launch_signals / sizeof *launch_signals; i++)
        sigaddset(&launch_set, launch_signals[i]);
    sigprocmask(SIG_BLOCK, &launch_set, &launch_old_mask);
    struct sigaction plain = {.sa_handler = SIG_DFL}; /* ignored, it would swallow exit statuses */
    sigaction(SIGCHLD, &plain, &launch_old_child);
}

static void launch_restore_signals(void)
{
    sigaction(SIGCHLD, &launch_old_child, NULL);
    sigprocmask(SIG_SETMASK, &launch_old_mask, NULL);
}

static struct rlimit launch_old_stack = {RLIM_INFINITY, RLIM_INFINITY};

/* A stack grows by the limit of that moment. */
void lwp_launch_raise_stack(void)
{
    const rlim_t enough = 8 << 20; /* what systems give */
    struct rlimit more;
    if (getrlimit(RLIMIT_STACK, &more))
        return;
    launch_old_stack = more;
    more.rlim_cur = more.rlim_max < enough ? more.rlim_max : enough;
    if (more.rlim_cur > launch_old_stack.rlim_cur)
        setrlimit(RLIMIT_STACK, &more);
}

rlim_t lwp_launch_stack(void)
{
    return launch_old_stack.rlim_cur;
}

static void launch_restore_stack(void)
{
    if (launch_old_stack.rlim_cur != RLIM_INFINITY)
        setrlimit(RLIMIT_STACK, &launch_old_stack);
}

int lwp_launch_exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static _Noreturn void launch_child(const struct lwp_launch *launch, int report)
{
    launch_restore_signals();
    launch_restore_stack();
    if (launch->by_shell) {
        size_t count = 0;
        while (launch->argv[count])
            count++;
        char *shell[count + 3];
        shell[0] = (char *)"/bin/sh";
        shell[1] = (char *)launch->path;
        for (size_t i = 1; i <= count; i++)
            shell[i + 1] = launch->argv[i];
        execve(shell[0], shell, launch->environment);
    } else {
        execve(launch->path, launch->argv, launch->environment);
    }
    int why = errno;
    ssize_t ignored = write(report, &why, sizeof why);
    (void)ignored;
    _exit(LAUNCH_NOT_RUN);
}

/* A copy of lwp's memory would cost both processes a millisecond. */
static pid_t launch_start(const struct lwp_launch *launch, int report)
{
    pid_t child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (child == 0)
        launch_child(launch, report);
    return child;
}

/* The Ctrl-C that ended the program may be pending for lwp too. */
static void launch_drop_keys(void)
{
    sigset_t keys;
    sigemptyset(&keys);
    sigaddset(&keys, SIGINT);
    sigaddset(&keys, SIGQUIT);
    while (sigtimedwait(&keys, NULL, &(struct timespec){0}) > 0)
        ;
}

/* A job of a shell on its terminal: the shell knows of lwp and not of the program. */
static bool launch_is_job(void)
{
    int terminal = getpid() == getpgrp() ? open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;
    bool foreground = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();
    if (terminal >= 0)
        close(terminal);
    return foreground;
}

/* The program has stopped itself, as editors do: the shell gets its terminal back when lwp stops, too, and continues both.
 * Not when both were stopped by a key and are being continued right now. */
static void launch_stop_too(pid_t child)
{
    static const struct timespec moment = {.tv_nsec = 20000000};
    siginfo_t info = {0};
    nanosleep(&moment, NULL);
    if (waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG) || info.si_pid != child || !launch_is_job())
        return;
    raise(info.si_status);
    kill(child, SIGCONT);
}

/* Memory of the process on huge pages, and resident on pages of any size; -1: not known. The kernel goes through its page tables: some
 * milliseconds a GiB. */
static long launch_huge_kib(pid_t child, long *resident)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)child);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    static const char *const kinds[] = {"AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:", "Private_Hugetlb:", "Shared_Hugetlb:"};
    const char *rss = strstr(text, "Rss:");
    *resident = rss ? strtol(rss + 4, NULL, 10) : -1;
    long sum = -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *at = strstr(text, kinds[i]);
        if (at)
            sum = (sum < 0 ? 0 : sum) + strtol(at + strlen(kinds[i]), NULL, 10);
    }
    return sum;
}

/* The next signal. Meanwhile, ever more rarely (*look_s after the start, which grows), the program's huge pages are looked at. */
static int launch_wait(struct lwp_ended *ended, double start_s, double *look_s, siginfo_t *info)
{
    const double now_s = lwp_clock_s(CLOCK_MONOTONIC) - start_s, left_s = fmax(0, *look_s - now_s);
    const struct timespec left = {.tv_sec = (time_t)left_s, .tv_nsec = (long)((left_s - floor(left_s)) * 1e9)};
    int number = *look_s < launch_look_last_s ? sigtimedwait(&launch_set, info, &left) : sigwaitinfo(&launch_set, info);
    if (number < 0 && errno == EAGAIN) {
        long resident, huge = launch_huge_kib(ended->pid, &resident);
        ended->huge_pages_kib = huge > ended->huge_pages_kib ? huge : ended->huge_pages_kib;
        ended->looked_at_kib = resident > ended->looked_at_kib ? resident : ended->looked_at_kib;
        const double began_s = now_s + left_s, ended_s = lwp_clock_s(CLOCK_MONOTONIC) - start_s;
        *look_s = fmax(*look_s * launch_look_grows, ended_s + (ended_s - began_s) / launch_look_part);
    }
    return number;
}

/* What the child says when its exec fails; the pipe ends when it succeeds, and the program's children never hold it. */
static int launch_failure(int report)
{
    int why = 0;
    ssize_t got;
    do
        got = read(report, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    close(report);
    return got == sizeof why ? why : 0;
}

static void launch_wait_since(double start_s, struct lwp_ended *ended)
{
    double look_s = launch_look_s;
    while (wait4(ended->pid, &ended->wait_status, WNOHANG, &ended->usage) == 0) {
        siginfo_t info;
        int number = launch_wait(ended, start_s, &look_s, &info);
        if (number == SIGCHLD && info.si_code == CLD_STOPPED)
            launch_stop_too(ended->pid);
        if (number == SIGTERM || number == SIGHUP)
            ended->ended_by = number;
        if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL && info.si_pid != ended->pid)
            kill(ended->pid, number);
    }
    ended->wall_s = lwp_clock_s(CLOCK_MONOTONIC) - start_s;
    launch_drop_keys();
}

void lwp_launch_wait(struct lwp_ended *ended)
{
    launch_wait_since(lwp_clock_s(CLOCK_MONOTONIC), ended);
}

int lwp_launch_hold(const struct lwp_launch *launch, struct lwp_waiting *waiting, struct lwp_error *err)
{
    int report[2], gate[2];
    char byte;
    if (pipe2(report, O_CLOEXEC))
        return lwp_error_errno(err, "cannot make a pipe");
    if (pipe2(gate, O_CLOEXEC)) {
        close(report[0]);
        close(report[1]);
        return lwp_error_errno(err, "cannot make a pipe");
    }
    launch_take_signals();
    pid_t child = fork();
    if (child == 0) {
        close(gate[1]); /* should lwp end, so does this */
        if (read(gate[0], &byte, 1) == 1)
            launch_child(launch, report[1]);
        _exit(LAUNCH_NOT_RUN);
    }
    close(gate[0]);
    close(report[1]);
    *waiting = (struct lwp_waiting){.pid = child, .gate = gate[1], .report = report[0]};
    if (child > 0)
        return LWP_OK;
    lwp_error_errno(err, "cannot start a process");
    close(waiting->gate);
    close(waiting->report);
    return err->status;
}

int lwp_launch_release(struct lwp_waiting *waiting)
{
    ssize_t ignored = write(waiting->gate, "", 1);
    (void)ignored;
    close(waiting->gate);
    waiting->gate = -1;
    return launch_failure(waiting->report);
}

int lwp_launch_run(const struct lwp_launch *launch, struct lwp_ended *ended, struct lwp_error *err)
{
    *ended = (struct lwp_ended){.huge_pages_kib = -1, .looked_at_kib = -1};
    int report[2];
    if (pipe2(report, O_CLOEXEC))
        return lwp_error_errno(err, "cannot make a pipe");
    launch_take_signals();
    const double start_s = lwp_clock_s(CLOCK_MONOTONIC);
    pid_t child = launch_start(launch, report[1]);
    close(report[1]);
    ended->pid = child;
    if (child < 0) {
        close(report[0]);
        return lwp_error_errno(err, "cannot start a process");
    }
    ended->exec_errno = launch_failure(report[0]);
    launch_wait_since(start_s, ended);
    return LWP_OK;
}

int lwp_launch_self(char *const *argv)
{
    launch_take_signals();
    pid_t child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (child == 0) {
        launch_restore_signals();
        if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
            execv("/proc/self/exe", argv);
        _exit(125);
    }
    int status;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 125;
    return child > 0 ? lwp_launch_exit_status(status) : 125;
}
