/* What a program may do with its alternate signal stacks, and what it sees of them; and stacks with no room for a signal's frame.
 * Prints the same with and without a sampler. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { BIG = 64 * 1024, SMALL = 2048, FILL = 0x5a };

static double data[65536];
static volatile double sum;

static void work(int rounds)
{
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < 65536; k++)
            sum += data[k];
}

/* ---- what the program sees ---- */

static char first[BIG], second[BIG];
static volatile int depth;
static sigjmp_buf back;

static int on(const void *address, const char *stack)
{
    return (const char *)address >= stack && (const char *)address < stack + BIG;
}

static void show(const char *what, const ucontext_t *context)
{
    char here;
    stack_t now = {0};
    int status = sigaltstack(NULL, &now);
    printf("%s: on first %d second %d; %d sp %d %d size %zu flags %x; context %d %zu %x; aligned %d\n", what, on(&here, first),
           on(&here, second), status, now.ss_sp == first, now.ss_sp == second, now.ss_size, (unsigned)now.ss_flags,
           context ? context->uc_stack.ss_sp == first : -1, context ? context->uc_stack.ss_size : 0,
           context ? (unsigned)context->uc_stack.ss_flags : 0, (int)((uintptr_t)__builtin_frame_address(0) & 15));
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    char what[64];
    snprintf(what, sizeof what, "signal %d code %d depth %d", number, info->si_code, depth);
    show(what, number == SIGHUP ? NULL : context);
    if (number == SIGUSR1 && depth++ == 0) {
        stack_t other = {.ss_sp = second, .ss_size = BIG};
        int status = sigaltstack(&other, NULL);
        printf("change inside: %d %d\n", status, status ? errno : 0);
        work(150);
        raise(SIGUSR2); /* nested, on the same stack */
        work(150);
    }
    if (number == SIGALRM)
        siglongjmp(back, 1);
}

static int found_main;

__attribute__((noinline)) static void on_trace(int number)
{
    void *frames[64];
    char **names = NULL;
    (void)number;
    int count = backtrace(frames, 64);
    names = backtrace_symbols(frames, count);
    for (int i = 0; names && i < count; i++)
        found_main |= strstr(names[i], "called_from") != NULL;
    free(names);
}

__attribute__((noinline)) void called_from(void)
{
    raise(SIGWINCH);
    work(1);
}

static void handle(int number, int flags)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags}, was;
    sigaction(number, &action, NULL);
    sigaction(number, NULL, &was);
    printf("action %d: %d flags %x\n", number, was.sa_sigaction == on_signal, (unsigned)was.sa_flags & ~0x04000000u);
}

static void seen(void)
{
    stack_t stack = {.ss_sp = first, .ss_size = BIG}, was, tiny = {.ss_sp = first, .ss_size = 1000}, odd = {.ss_flags = 77};
    handle(SIGUSR1, SA_ONSTACK);
    handle(SIGUSR2, SA_ONSTACK);
    handle(SIGTRAP, SA_ONSTACK);
    handle(SIGHUP, 0);
    handle(SIGALRM, SA_ONSTACK);
    depth = 1;
    raise(SIGUSR1); /* no alternate stack */
    printf("set: %d\n", sigaltstack(&stack, &was));
    printf("was: %p %zu %x\n", was.ss_sp, was.ss_size, (unsigned)was.ss_flags);
    printf("tiny: %d %d\n", sigaltstack(&tiny, NULL), errno);
    printf("odd: %d %d\n", sigaltstack(&odd, NULL), errno);
    show("outside", NULL);
    depth = 0;
    raise(SIGUSR1);
    raise(SIGHUP); /* not on it */
    raise(SIGTRAP);
    __asm__ volatile("int3");
    for (int i = 0; i < 3; i++)
        if (!sigsetjmp(back, 1))
            raise(SIGALRM);
    work(150);
    stack.ss_flags = (int)(1u << 31); /* SS_AUTODISARM */
    printf("disarming: %d\n", sigaltstack(&stack, NULL));
    raise(SIGUSR2);
    show("armed again", NULL);
    stack.ss_flags = SS_DISABLE;
    printf("off: %d\n", sigaltstack(&stack, NULL));
    raise(SIGUSR2);
    show("off", NULL);
    stack.ss_flags = 0;
    printf("bare: %ld\n", syscall(SYS_sigaltstack, &stack, NULL));
    raise(SIGUSR2);
    struct sigaction trace = {.sa_handler = on_trace, .sa_flags = SA_ONSTACK};
    sigaction(SIGWINCH, &trace, NULL);
    called_from();
    printf("backtrace: %d\n", found_main);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        raise(SIGUSR2);
        show("child", NULL);
        fflush(stdout);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
}

/* ---- stacks with no room ---- */

static void *share(void *memory)
{
    stack_t stack = {.ss_sp = memory, .ss_size = SMALL};
    sigaltstack(&stack, NULL);
    work(300);
    return NULL;
}

static void spoiled(const char *what, const unsigned char *bytes, size_t count)
{
    size_t bad = 0;
    for (size_t i = 0; i < count; i++)
        bad += bytes[i] != FILL;
    printf("%s: %zu bytes changed\n", what, bad);
}

static void no_room(void)
{
    unsigned char *memory = malloc(BIG);
    stack_t stack = {.ss_sp = memory, .ss_size = BIG};
    memset(memory, FILL, BIG);
    sigaltstack(&stack, NULL); /* which nothing of the program's uses */
    work(300);
    spoiled("unused", memory, BIG);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, share, memory + 4096);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    spoiled("shared", memory, BIG);
    void *mapped = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack = (stack_t){.ss_sp = mapped, .ss_size = BIG};
    sigaltstack(&stack, NULL);
    munmap(mapped, BIG);
    work(300);
    puts("unmapped");
}

static uint64_t *coroutine, *caller;
void change(uint64_t **from, uint64_t *to);
__asm__(".text\n.globl change\nchange:\n push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        " mov %rsp,(%rdi)\n mov %rsi,%rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n");

static void body(void)
{
    for (unsigned turn = 0;; turn++) {
        for (int k = 0; k < 65536; k++)
            sum += data[k];
        if (turn % 16 == 0)
            free(malloc(100 + turn));
        change(&coroutine, caller);
    }
}

static void small_coroutine(void)
{
    enum { ROOM = 2560, GUARD = 16384 };
    unsigned char *memory = aligned_alloc(64, GUARD + ROOM);
    memset(memory, FILL, GUARD + ROOM);
    uint64_t *top = (uint64_t *)(memory + GUARD + ROOM) - 3;
    *--top = (uint64_t)body;
    top -= 6;
    memset(top, 0, 48);
    coroutine = top;
    for (int i = 0; i < 400; i++)
        change(&caller, coroutine);
    spoiled("below a coroutine", memory, GUARD);
}

static void no_stack(void)
{
    long rounds = 400000000, sum_of;
    __asm__ volatile("mov %%rsp, %%r15\n xor %%esp, %%esp\n1: add $3, %%rsp\n dec %1\n jnz 1b\n mov %%rsp, %0\n mov %%r15, %%rsp\n"
                     : "=&r"(sum_of), "+r"(rounds) : : "r15", "cc");
    printf("rsp %ld\n", sum_of);
}

static long bare(long number, long a, long b)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
    return result;
}

__attribute__((optimize("no-stack-protector"))) static void no_thread_pointer(void)
{
    unsigned long fs;
    bare(SYS_arch_prctl, ARCH_GET_FS, (long)&fs);
    bare(SYS_arch_prctl, ARCH_SET_FS, 0);
    work(300);
    bare(SYS_arch_prctl, ARCH_SET_FS, (long)fs);
    puts("fs");
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    backtrace((void *[1]){0}, 1);
    seen();
    no_room();
    small_coroutine();
    no_stack();
    no_thread_pointer();
    return 0;
}
