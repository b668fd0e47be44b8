#include "patch/trial/commands.h"

#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDINGS = sizeof ending / sizeof *ending };
static struct sigaction old_actions[ENDINGS];
static volatile sig_atomic_t got;

static void note_signal(int number)
{
    got = number;
}

void lwp_trial_signals_begin(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    got = 0;
    for (int i = 0; i < ENDINGS; i++) {
        sigaction(ending[i], NULL, &old_actions[i]);
        if (old_actions[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

void lwp_trial_signals_end(void)
{
    for (int i = 0; i < ENDINGS; i++)
        sigaction(ending[i], &old_actions[i], NULL);
    if (got)
        raise(got);
}

bool lwp_trial_interrupted(void)
{
    return got;
}

static void become(const struct lwp_trial_command *command)
{
    enum { STEP = 509, MOST = 4096 }; /* bytes by which the stack moves */
    int out = open(command->output, O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open("/dev/null", O_RDONLY);
    char *filler = lwp_zeroed(command->variant * STEP % MOST + 1, 1);
    memset(filler, 'x', command->variant * STEP % MOST);
    if (out < 0 || in < 0 || chdir(command->folder))
        _exit(127);
    dup2(in, 0);
    dup2(out, 1);
    if (command->path)
        dup2(out, 2);
    setenv("LWP_TRY_ENVIRONMENT", filler, 1);
    setenv("LWP_TRY_ALIGN", command->variant % 3 == 0 ? "16" : command->variant % 3 == 1 ? "32" : "64", 1);
    setenv("LWP_TRY_TURN", command->variant % 2 ? "1" : "0", 1);
    if (command->path)
        setenv("PATH", command->path, 1);
    for (int i = 0; i < ENDINGS; i++)
        sigaction(ending[i], &old_actions[i], NULL);
    setpgid(0, 0);
    /* A make that lwp runs under has a jobserver, whose descriptors are something else here. */
    unsetenv("MAKEFLAGS");
    unsetenv("MFLAGS");
    execl("/bin/sh", "sh", "-c", command->text, (char *)NULL);
    _exit(127);
}

int lwp_trial_command(const struct lwp_trial_command *command, double *cpu)
{
    struct rusage usage;
    int status;
    fflush(NULL);
    pid_t pid = got ? -1 : fork();
    if (pid < 0)
        return -1;
    if (pid == 0)
        become(command);
    setpgid(pid, pid);
    for (double end = lwp_clock_s(CLOCK_MONOTONIC) + command->seconds;;) {
        pid_t ended = wait4(pid, &status, WNOHANG, &usage);
        if (ended == pid)
            break;
        if ((ended < 0 && errno != EINTR) || got || lwp_clock_s(CLOCK_MONOTONIC) > end) {
            kill(-pid, SIGKILL);
            wait4(pid, &status, 0, &usage);
            return -1;
        }
        usleep(2000);
    }
    *cpu = lwp_cpu_s(&usage);
    return status;
}
