/* A program that may soon do little more than compute: who makes it do anything else gets it killed. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 512 };
static volatile long words[WORDS];

static void spin(double seconds)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do {
        for (int i = 0; i < WORDS; i++) {
            words[i] = i;
            words[i] = i + 1;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < seconds);
}

static int allow(const int *calls, int count, unsigned otherwise)
{
    struct sock_filter filter[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short length = 1;
    for (int i = 0; i < count; i++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(
            BPF_RET | BPF_K, otherwise == SECCOMP_RET_ALLOW ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    struct sock_fprog program = {.len = length, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return otherwise == SECCOMP_RET_ALLOW ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
                                          : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static void in_child(const char *what, void (*run)(const char *), const char *path)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run(path);
        _exit(99);
    }
    waitpid(child, &status, 0);
    printf("%s: status %d signal %d\n", what, WEXITSTATUS(status), WTERMSIG(status));
}

static void strictly(const char *path)
{
    (void)path;
    spin(0.2);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
        _exit(98);
    for (int k = 0; k < 200000; k++) /* not even the time may be asked for */
        for (int i = 0; i < WORDS; i++)
            words[i] = k;
    if (write(1, "strict\n", 7) == 7)
        syscall(SYS_exit, 3);
}

static long bare(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static void *in_thread(void *unused)
{
    spin(0.1);
    return unused;
}

static void spin_little(const char *path)
{
    (void)path;
    spin(0.05);
    _exit(4);
}

/* Without the C library. */
static void barely(const char *path)
{
    struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    pthread_t thread;
    spin(0.2);
    if (bare(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) || bare(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program))
        _exit(97);
    for (int i = 0; i < 20; i++) {
        spin(0.01);
        free(malloc(100 + 7000 * (size_t)i));
    }
    if (pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL))
        _exit(96);
    in_child("below", spin_little, path);
    char *const arguments[] = {(char *)path, (char *)"again", NULL};
    execv(path, arguments);
}

static void executing(const char *path)
{
    const int never[] = {SYS_perf_event_open, SYS_process_vm_readv};
    char *const arguments[] = {(char *)path, (char *)"again", NULL};
    if (allow(never, 2, SECCOMP_RET_ALLOW))
        _exit(97);
    execv(path, arguments);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        spin(0.2);
        return 5;
    }
    in_child("strict", strictly, argv[0]);
    in_child("executed", executing, argv[0]);
    in_child("barely", barely, argv[0]);
    spin(0.4);
    const int calls[] = {SYS_write, SYS_exit_group, SYS_exit, SYS_clock_gettime, SYS_rt_sigreturn, SYS_brk, SYS_munmap, SYS_mmap};
    fflush(stdout);
    int failed = allow(calls, sizeof calls / sizeof *calls, SECCOMP_RET_KILL_PROCESS);
    spin(0.4);
    printf("filter: %d %s\n", failed, failed ? strerror(errno) : "");
    return 6;
}
