/* Each step computes for a while and does then what others would notice if it were done twice. Exits with 0 if nothing was. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 8, ROUNDS = 4000000 };

static volatile sig_atomic_t children;

static void child_ended(int signal)
{
    (void)signal;
    children++;
}

__attribute__((noinline)) static unsigned long compute(unsigned long state)
{
    for (int i = 0; i < ROUNDS; i++)
        state = (state ^ state >> 7) * 5;
    return state;
}

int main(void)
{
    volatile long *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned long state = (unsigned long)getpid();
    int pipes[2];
    char byte = 0;
    if (shared == MAP_FAILED || pipe(pipes) != 0 || signal(SIGCHLD, child_ended) == SIG_ERR)
        return 2;
    const int next = dup(pipes[0]);
    close(next);
    for (int i = 0; i < STEPS; i++) {
        state = compute(state);
        if (write(pipes[1], &byte, 1) != 1)
            return 3;
        state = compute(state);
        ++*shared; /* no copy comes to the system call behind it */
        state = compute(state);
        errno = 0;
        if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
            return 4;
        if (dup(pipes[0]) != next || close(next) != 0)
            return 5;
    }
    close(pipes[1]);
    int written = 0;
    for (; read(pipes[0], &byte, 1) == 1; written++)
        ;
    printf("%d %ld %d %s\n", written, *shared, (int)children, state ? "done" : "");
    return written == STEPS && *shared == STEPS && children == 0 ? 0 : 6;
}
