/* The server is a process in a process group of its own: a Ctrl-C meant for the program does not reach it. It runs at low
 * priority, and ends when lwp does, however lwp ends. */
#include "collector/launch/serving.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVING_NICE = 10 };

static _Noreturn void serving_child(const char *dir, const char *port, int to, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    setpriority(PRIO_PROCESS, 0, SERVING_NICE);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(nothing, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0 && dup2(to, STDERR_FILENO) >= 0)
        execv("/proc/self/exe", (char *[]){(char *)"lwp", (char *)"serve", (char *)"-p", (char *)(uintptr_t)port, (char *)"--",
                                           (char *)(uintptr_t)dir, NULL});
    _exit(125);
}

int lwp_serving_start(struct lwp_serving *serving, const char *dir, int port, struct lwp_error *err)
{
    char number[16];
    int ends[2];
    *serving = (struct lwp_serving){0};
    snprintf(number, sizeof number, "%d", port);
    if (pipe2(ends, O_CLOEXEC))
        return lwp_error_errno(err, "cannot make a pipe");
    pid_t parent = getpid();
    serving->pid = fork();
    if (serving->pid == 0)
        serving_child(dir, number, ends[1], parent);
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    bool said = from && fgets(serving->url, sizeof serving->url, from);
    if (from)
        fclose(from); /* what else it has to say has no place in the program's output */
    else
        close(ends[0]);
    serving->url[strcspn(serving->url, "\n;")] = '\0';
    if (said && strncmp(serving->url, "http", 4) == 0)
        return LWP_OK;
    lwp_error_set(err, LWP_ERR_SYSTEM, "collect: --serve=%d cannot be: %s; --serve alone takes a free port", port,
                  !said ? "'lwp serve' did not start" : strncmp(serving->url, "lwp: ", 5) ? serving->url : serving->url + 5);
    lwp_serving_end(serving);
    return err->status;
}

void lwp_serving_wait(const struct lwp_serving *serving)
{
    sigset_t stop;
    int number;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGHUP);
    sigaddset(&stop, SIGQUIT);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* who reads the program's output gets its end now */
    lwp_log(LWP_LOG_NOTE, "the report is at %s; Ctrl-C ends lwp", serving->url);
    sigwait(&stop, &number);
}

void lwp_serving_end(struct lwp_serving *serving)
{
    if (serving->pid <= 0)
        return;
    kill(serving->pid, SIGTERM);
    while (waitpid(serving->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    serving->pid = 0;
}
