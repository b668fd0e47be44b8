/* Threads of one function that end at once, and later ones of it that do more, on small stacks. Prints how many of the first have an
 * alternate stack, what became of the children that others make, and of a signal; the last one ends the process with status 5. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum work { NOTHING, FORK, SIGNAL, NEST, EXIT };
enum { SHORT = 20000, EACH = 40, STACK_BYTES = 1 << 14, STATUS = 7 };
static volatile int with, children, signals, nested;

static void handler(int signal)
{
    (void)signal;
    signals++;
}

/* What the kernel says: lwp answers for the C library's functions. */
static int has_alternate_stack(void)
{
    stack_t stack = {.ss_flags = SS_DISABLE};
    long status = SYS_sigaltstack;
    __asm__ volatile("syscall" : "+a"(status) : "D"(NULL), "S"(&stack) : "rcx", "r11", "memory");
    return status == 0 && !(stack.ss_flags & SS_DISABLE);
}

static void *run(void *argument);

static void make(enum work work)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (pthread_create(&thread, &attributes, run, (void *)(intptr_t)work) || pthread_join(thread, NULL))
        exit(1);
    pthread_attr_destroy(&attributes);
}

static void *run(void *argument)
{
    int status = 0;
    pid_t child;
    switch ((enum work)(intptr_t)argument) {
    case NOTHING:
        with += has_alternate_stack();
        break;
    case FORK:
        child = fork();
        if (child == 0)
            exit(STATUS);
        children += waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == STATUS;
        break;
    case SIGNAL:
        pthread_kill(pthread_self(), SIGTRAP);
        free(malloc(100));
        break;
    case NEST:
        make(NOTHING);
        nested++;
        pthread_exit(NULL);
    case EXIT:
        exit(5);
    }
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < SHORT; i++)
        make(NOTHING);
    const int had = with;
    for (enum work work = FORK; work < EXIT; work++)
        for (int i = 0; i < EACH; i++)
            make(work);
    printf("%d %d %d %d\n", had, children, signals, nested);
    fflush(stdout);
    make(EXIT);
    return 1;
}
