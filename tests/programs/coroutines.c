/* Coroutines on stacks beside each other, in stacks that are used again, left by jmp and by ret; handlers in handlers, on
 * their own stack and off it; recursion a million frames deep. Each calls mark(k) from a function of its own. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define APART __attribute__((noinline))
#define END __asm__ volatile("") /* no tail call */
enum { MANY = 20, SIZE = 1 << 14, ROUNDS = 5, MUCH = 1000 };

static volatile long cell[16];
APART static void mark(int k) { for (int i = 0; i < 1000; i++) cell[k] = i; END; }

/* void jump(void **from, void *to): as Boost's, the return by a jump. */
void jump(void **from, void *to);
__asm__(".text\n.globl jump\n.type jump, @function\njump:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  pop %r8\n  jmp *%r8\n.size jump, .-jump\n");

static char area[MANY][SIZE] __attribute__((aligned(64)));
static void *mine[MANY], *scheduler;
static int running;

APART static void yield(void) { jump(&mine[running], scheduler); END; }
APART static void inner(void) { yield(); mark(1); END; }
APART static void outer(void) { inner(); END; }
static void coroutine(void)
{
    for (;;) {
        outer();
        yield();
    }
}

static void start(int i, void (*function)(void))
{
    void **top = (void **)(area[i] + SIZE);
    *--top = NULL;
    *--top = (void *)function;
    mine[i] = top - 6;
}

APART static void schedule(void)
{
    for (int i = 0; i < MANY; i++)
        start(i, coroutine);
    for (int round = 0; round < 2 * ROUNDS; round++)
        for (running = 0; running < MANY; running++)
            jump(&scheduler, mine[running]);
    mark(2);
    END;
}

/* Another one begins where the last one was given up. */
APART static void used_again(void) { mark(3); yield(); END; }
static void short_lived(void) { used_again(); }
APART static void reuse(void)
{
    running = 0;
    for (int i = 0; i < MANY; i++) {
        start(0, short_lived);
        jump(&scheduler, mine[0]);
    }
    mark(4);
    END;
}

static ucontext_t home, contexts[3];
APART static void pass_on(int from, int to) { swapcontext(&contexts[from], &contexts[to]); END; }
APART static void in_ring(int i) { pass_on(i, (i + 1) % 3); mark(5); END; }
static void ring(int i)
{
    for (int round = 0; round < ROUNDS; round++)
        in_ring(i);
    swapcontext(&contexts[i], i < 2 ? &contexts[i + 1] : &home);
}
APART static void context_ring(void)
{
    for (int i = 0; i < 3; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack = (stack_t){.ss_sp = area[i], .ss_size = SIZE};
        makecontext(&contexts[i], (void (*)(void))ring, 1, i);
    }
    swapcontext(&home, &contexts[0]);
    mark(6);
    END;
}

static sigjmp_buf out;
APART static void innermost(void) { mark(7); END; }
static void second(int signal) { (void)signal; innermost(); }
static void first(int signal) { (void)signal; raise(SIGUSR2); mark(8); END; }
static void leaves(int signal) { (void)signal; raise(SIGUSR2); siglongjmp(out, 1); }
APART static void handlers(int flags, void (*handler)(int))
{
    struct sigaction one = {.sa_handler = handler, .sa_flags = flags}, two = {.sa_handler = second, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &one, NULL);
    sigaction(SIGUSR2, &two, NULL);
    if (!sigsetjmp(out, 1))
        raise(SIGUSR1);
    mark(9);
    END;
}

APART static long deep(long n)
{
    volatile long x = n;
    for (int i = 0; !n && i < MUCH; i++)
        mark(10);
    return n ? deep(n - 1) + x : 0;
}
APART static void after_deep(void)
{
    for (int i = 0; i < MUCH; i++)
        mark(11);
    END;
}

int main(int count, char **arguments)
{
    if (count > 1) {
        printf("%ld\n", deep(atol(arguments[1])));
        after_deep();
        return 0;
    }
    schedule();
    reuse();
    context_ring();
    sigaltstack(&(stack_t){.ss_sp = area[MANY - 1], .ss_size = SIZE}, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        handlers(0, first);
        handlers(SA_ONSTACK, first);
        handlers(SA_ONSTACK, leaves);
    }
    return 0;
}
