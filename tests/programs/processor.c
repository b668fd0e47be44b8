/* Asks again and again which processor it runs on: glibc loads that from where the kernel keeps it, on each way back to the program.
 * `own`: registers such an area itself, by a bare system call, and looks there. */
#define _GNU_SOURCE
#include <linux/rseq.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

static volatile struct rseq area;

static long own_register(void)
{
    register uint64_t signature __asm__("r10") = 0x53053053;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_rseq), "D"(&area), "S"(sizeof area), "d"(0), "r"(signature)
                     : "rcx", "r11", "memory");
    return result;
}

int main(int argc, char **argv)
{
    (void)argv;
    const int own = argc > 1;
    long sum = 0;
    if (own && own_register())
        return puts("not possible"), 77;
    while (clock() < CLOCKS_PER_SEC)
        for (int i = 0; i < 100000; i++)
            sum += own ? (int)area.cpu_id : sched_getcpu();
    puts(sum >= 0 ? "done" : "no processor");
    return 0;
}
