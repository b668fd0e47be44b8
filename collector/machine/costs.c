#include "collector/machine/costs.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/order.h"

#include <sys/wait.h>
#include <unistd.h>

double lwp_costs_start(char *const *environment, long *faults)
{
    struct rusage usage;
    int status;
    char *program[] = {(char *)"/bin/true", NULL};
    pid_t child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): lwp's own pages would cost, too
    if (child == 0) {
        execve(program[0], program, environment);
        _exit(1);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status))
        return -1;
    if (faults)
        *faults = usage.ru_minflt;
    return lwp_cpu_s(&usage) * 1e9;
}

/* By a chain of products, which take three cycles each. */
static double costs_cycle(void)
{
    enum { PRODUCTS = 4, PRODUCT_CYCLES = 3, ROUNDS = 20000 };
    unsigned long value = 1;
    const uint64_t begin = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < ROUNDS; i++)
        __asm__ volatile("imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0" : "+r"(value));
    return (double)(lwp_clock(CLOCK_THREAD_CPUTIME_ID) - begin) / ((double)ROUNDS * PRODUCTS * PRODUCT_CYCLES);
}

void lwp_costs_measure(struct lwp_machine *machine)
{
    enum { TIMES = 9 };
    const double fault = lwp_cpu_page_fault_ns(0); /* of programs whose pages are few */
    double start[TIMES], cycle[TIMES];
    char *nothing[] = {NULL};
    for (int i = 0; i < TIMES; i++) {
        long faults = 0;
        cycle[i] = costs_cycle();
        start[i] = lwp_costs_start(nothing, &faults) - (double)faults * fault;
    }
    LWP_SORT(start, TIMES, lwp_compare_double);
    LWP_SORT(cycle, TIMES, lwp_compare_double);
    machine->start_ns = start[TIMES / 2] > 0 ? (unsigned)start[TIMES / 2] : 0;
    machine->page_fault_ns = (unsigned)fault;
    machine->cycle_ps = (unsigned)(cycle[0] * 1e3); /* nothing makes it shorter */
}
