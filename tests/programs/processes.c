/* Makes children in every way, each of which works a little; prints how each ended. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile unsigned long sink;

/* WORK_TIMES as long. */
static void spin(double seconds)
{
    const char *times = getenv("WORK_TIMES");
    seconds *= times ? atof(times) : 1;
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    for (double until = (double)at.tv_sec + (double)at.tv_nsec / 1e9 + seconds;
         (double)at.tv_sec + (double)at.tv_nsec / 1e9 < until; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at))
        for (int i = 0; i < 10000; i++) {
            void *volatile memory = malloc(40);
            sink += (unsigned long)memory;
            free(memory);
        }
}

static void ended(const char *how, pid_t pid)
{
    int status = -1;
    if (pid > 0)
        waitpid(pid, &status, 0);
    printf("%s: %s %d\n", how, WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "work")) {
        spin(0.2);
        return 5;
    }
    if (argc > 1 && !strcmp(argv[1], "again")) {
        spin(0.2);
        execl("/proc/self/exe", argv[0], "work", NULL);
        return 1;
    }
    pid_t pid = fork();
    if (!pid) {
        spin(0.2);
        exit(3);
    }
    ended("fork, exit", pid);
    if (!(pid = fork())) {
        spin(0.2);
        _exit(4);
    }
    ended("fork, _exit", pid);
    if (!(pid = fork())) {
        spin(0.2);
        kill(getpid(), SIGKILL);
    }
    ended("fork, killed", pid);
    if (!(pid = fork())) {
        spin(0.2);
        abort();
    }
    ended("fork, abort", pid);
    if (!(pid = fork())) { /* as daemons do */
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        close_range(3, ~0u, 0);
        spin(0.2);
        int fd = open("/dev/null", O_RDWR);
        exit(fd == 3 ? 6 : 1);
    }
    ended("fork, all closed", pid);
    if (!(pid = fork())) {
        if (!(pid = fork())) {
            spin(0.2);
            exit(8);
        }
        ended("grandchild", pid);
        exit(7);
    }
    ended("fork, fork", pid);
    if (!(pid = vfork()))
        _exit(9);
    ended("vfork, _exit", pid);
    if (!(pid = vfork())) {
        execl("/proc/self/exe", argv[0], "work", NULL);
        _exit(1);
    }
    ended("vfork, exec", pid);
    if (!(pid = vfork())) {
        execl("/proc/nonexistent", "x", NULL);
        _exit(127);
    }
    ended("vfork, no exec", pid);
    char *const arguments[] = {argv[0], (char *)"again", NULL};
    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ))
        pid = 0;
    ended("posix_spawn, exec again", pid);
    printf("system: %d\n", WEXITSTATUS(system("exit 11")));
    fflush(stdout);
    if (!(pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))) { /* nobody is told of this child */
        spin(0.2);
        syscall(SYS_exit_group, 12);
    }
    ended("clone", pid);
    if (!(pid = _Fork())) {
        spin(0.1);
        _exit(13);
    }
    ended("_Fork", pid);
    spin(0.2);
    int fd = open("/dev/null", O_RDWR);
    printf("the next free file is %d\n", fd);
    return 10;
}
