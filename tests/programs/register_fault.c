/* Faults in the middle of superblocks: ROUNDS times a loop writes a register twice with what it has, and faults where the
 * memory that it reads ends, after GOOD times. stdout: the lines of the two writes, and how often each ran before. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, GOOD = 11, ROUNDS = 100 };

static sigjmp_buf back;

static void handler(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

__attribute__((noinline)) static void write_and_fault(const int *from, const int *to)
{
    do {
        __asm__ volatile("movl $8, %%ecx" ::: "ecx");
        __asm__ volatile("movl $8, %%ecx" ::: "ecx");
        __asm__ volatile("movl (%0), %%edx" ::"r"(from) : "edx", "memory");
    } while (++from != to);
}
enum { WRITES = __LINE__ - 5 };

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int *end = (const int *)(pages + PAGE);
    if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE) || sigaction(SIGSEGV, &action, NULL))
        return 1;
    for (volatile int round = 0; round < ROUNDS; round++)
        if (!sigsetjmp(back, 1))
            write_and_fault(end - GOOD, end + GOOD);
    printf("%d %d %d %d\n", WRITES, WRITES + 1, GOOD, ROUNDS);
    return 0;
}
