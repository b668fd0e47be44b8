/* Coroutines on 4 KiB stacks between guard pages, with an 8 KiB sigaltstack, or on 16 KiB stacks without one, in threads:
 * a sampler that used the interrupted stack for more than the signal's frame would kill it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, TURNS = 3000 };

static __thread ucontext_t caller, coroutine;
static __thread unsigned long state;

static void run_coroutine(void)
{
    for (;;) {
        for (unsigned i = 0; i < 100000; i++)
            state = state * 3 + i;
        swapcontext(&coroutine, &caller);
    }
}

static char *guarded(size_t bytes)
{
    char *memory = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + PAGE, bytes, PROT_READ | PROT_WRITE))
        return NULL;
    return memory + PAGE;
}

static void *run_thread(void *small)
{
    size_t bytes = small ? PAGE : 4 * PAGE;
    stack_t stack = {.ss_sp = guarded(2 * PAGE), .ss_size = 2 * PAGE};
    if (!stack.ss_sp || (small && sigaltstack(&stack, NULL)))
        return "cannot set up";
    getcontext(&coroutine);
    coroutine.uc_stack = (stack_t){.ss_sp = guarded(bytes), .ss_size = bytes};
    if (!coroutine.uc_stack.ss_sp)
        return "cannot set up";
    makecontext(&coroutine, run_coroutine, 0);
    for (int turn = 0; turn < TURNS; turn++)
        swapcontext(&caller, &coroutine);
    return NULL;
}

int main(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int bad = 0;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, i % 2 ? &threads : NULL);
    for (int i = 0; i < THREADS; i++) {
        void *fault;
        pthread_join(threads[i], &fault);
        bad |= fault != NULL;
    }
    puts(bad ? "not fine" : "fine");
    return bad;
}
