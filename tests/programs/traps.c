/* Traps of the program's own, and what only looks like them:
 *
 *     traps KIND        one trap: int3, int1, step, raise, kill (fatal), lost, register (as if a debug register's cause was lost)
 *     traps exec HOW N  stores the arguments of an exec of itself just before it, N times over; HOW: e, l, s
 *     traps fail        the same for a program that is not there, then works on */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 100000 };

extern char **environ;
static volatile char text[LONG + 1];

/* Each byte once, so that what watches one still does when the text is used. */
static void store_slowly(void)
{
    for (int i = 0; i < LONG; i++) {
        unsigned n = (unsigned)i;
        for (int k = 0; k < 40; k++)
            n = n * 1664525 + 1013904223;
        text[i] = (char)('a' + n % 26);
    }
}

static int again(const char *self, const char *how, int left)
{
    clock_t from = clock();
    char number[16];
    snprintf(number, sizeof number, "%d", left - 1);
    do
        store_slowly();
    while (clock() - from < CLOCKS_PER_SEC / 8); /* what is shorter may not be sampled */
    if (!left)
        return 7;
    char *list[] = {(char *)self, "exec", (char *)how, number, (char *)text, NULL};
    if (*how == 'e')
        execve("/proc/self/exe", list, environ);
    else if (*how == 'l')
        execl("/proc/self/exe", self, "exec", how, number, (char *)text, (char *)NULL);
    else
        syscall(SYS_execve, "/proc/self/exe", list, environ);
    return 1;
}

static void send(int code)
{
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = code};
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), SIGTRAP, &info))
        perror("rt_tgsigqueueinfo");
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    if (!strcmp(kind, "exec"))
        return again(argv[0], argv[2], atoi(argv[3]));
    if (!strcmp(kind, "fail")) {
        store_slowly();
        execlp("/proc/nonexistent/program", "x", (char *)text, (char *)NULL);
        perror("execlp");
        for (int i = 0; i < 200; i++)
            store_slowly();
        return 7;
    }
    store_slowly();
    if (!strcmp(kind, "int3"))
        __asm__ volatile("int3");
    else if (!strcmp(kind, "int1"))
        __asm__ volatile(".byte 0xf1");
    else if (!strcmp(kind, "step"))
        __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n nop\n nop\n" ::: "memory", "cc");
    else if (!strcmp(kind, "raise"))
        raise(SIGTRAP);
    else if (!strcmp(kind, "kill"))
        kill(getpid(), SIGTRAP);
    else if (!strcmp(kind, "lost"))
        send(TRAP_BRKPT);
    else if (!strcmp(kind, "register"))
        send(TRAP_HWBKPT);
    return 7;
}
