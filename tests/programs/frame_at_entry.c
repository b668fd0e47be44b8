/* Functions that directly follow one that ends in a call that does not return.
 *
 * hot() is nearly always interrupted at its first instruction, which reads its own frame. quits() is before it: what it calls returns to
 * where hot() begins, and calls hot(), which calls leaf(). faulty()'s first instruction is one that the processor refuses; the
 * handler calls leaf(), too. never() is before it, and is never called. Argument: seconds, for each. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum { ITEMS = 1 << 18 };

struct item {
    struct item *next;
    long value[7];
};

extern void quits(void);
extern void hot(long rounds);
extern void faulty(void);

__asm__(".text\n\t.p2align 4\n\t.type quits, @function\nquits:\n\t.cfi_startproc\n\t"
        "sub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\tcall goes_on\n\t.cfi_endproc\n\t.size quits, .-quits\n\t"
        ".type hot, @function\nhot:\n\t.cfi_startproc\n\t"
        "rep lodsb\n\tlea -120(%rsp), %rsi\n\tmov $96, %ecx\n\tdec %rdi\n\tjg hot\n\t"
        "sub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\tcall leaf\n\tadd $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\tret\n\t"
        ".cfi_endproc\n\t.size hot, .-hot\n\t"
        ".p2align 4\n\t.type never, @function\nnever:\n\t.cfi_startproc\n\t"
        "sub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\tcall abort\n\t.cfi_endproc\n\t.size never, .-never\n\t"
        ".type faulty, @function\nfaulty:\n\t.cfi_startproc\n\tud2\n\tret\n\t.cfi_endproc\n\t.size faulty, .-faulty");

static struct item *items;
static jmp_buf back;
static double seconds;
static volatile long sum;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

__attribute__((noinline)) void leaf(void)
{
    for (struct item *at = items->next; at != items; at = at->next)
        sum += at->value[0];
}

__attribute__((noreturn, noinline)) void goes_on(void)
{
    double end = now() + seconds;
    do
        hot(100000);
    while (now() < end);
    longjmp(back, 1);
}

__attribute__((noinline)) static void handled(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    double end = now() + seconds;
    do
        leaf();
    while (now() < end);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* behind ud2 */
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = handled, .sa_flags = SA_SIGINFO};
    seconds = argc > 1 ? atof(argv[1]) : 1;
    items = calloc(ITEMS, sizeof *items);
    unsigned long place = 1;
    struct item *at = items;
    for (int i = 1; i < ITEMS / 2; i++) {
        place = place * 6364136223846793005u + 1442695040888963407u;
        struct item *to = &items[1 + (place >> 33) % (ITEMS - 1)];
        if (to->next)
            continue;
        at->next = to;
        to->next = items;
        at = to;
    }
    sigaction(SIGILL, &action, NULL);
    faulty();
    if (!setjmp(back))
        quits();
    return 0;
}
