#include "collector/machine/costs.h"

#include "base/order.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double costs_seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

double lwp_cpu_user_s(const struct rusage *usage)
{
    return costs_seconds(&usage->ru_utime);
}

double lwp_cpu_s(const struct rusage *usage)
{
    return lwp_cpu_user_s(usage) + costs_seconds(&usage->ru_stime);
}

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

/* CPU time of this process, ns. */
static double costs_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double costs_page_fault(void)
{
    enum { PAGES = 64 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return -1;
    madvise(pages, PAGES * page, MADV_NOHUGEPAGE);
    const double begin = costs_now();
    for (size_t i = 0; i < PAGES; i++)
        *(volatile char *)(pages + i * page) = 1;
    munmap(pages, PAGES * page); /* as every program has its pages released, at its end at the latest */
    return (costs_now() - begin) / PAGES;
}

/* By a chain of products, which take three cycles each. */
static double costs_cycle(void)
{
    enum { PRODUCTS = 4, PRODUCT_CYCLES = 3, ROUNDS = 20000 };
    unsigned long value = 1;
    const double begin = costs_now();
    for (int i = 0; i < ROUNDS; i++)
        __asm__ volatile("imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0" : "+r"(value));
    return (costs_now() - begin) / ((double)ROUNDS * PRODUCTS * PRODUCT_CYCLES);
}

void lwp_costs_measure(struct lwp_machine *machine)
{
    enum { TIMES = 9 };
    double start[TIMES], fault[TIMES], cycle[TIMES];
    char *nothing[] = {NULL};
    for (int i = 0; i < TIMES; i++) {
        long faults = 0;
        fault[i] = costs_page_fault();
        cycle[i] = costs_cycle();
        start[i] = lwp_costs_start(nothing, &faults) - (double)faults * fault[i];
    }
    LWP_SORT(start, TIMES, lwp_compare_double);
    LWP_SORT(fault, TIMES, lwp_compare_double);
    LWP_SORT(cycle, TIMES, lwp_compare_double);
    machine->start_ns = start[TIMES / 2] > 0 ? (unsigned)start[TIMES / 2] : 0;
    machine->page_fault_ns = fault[TIMES / 2] > 0 ? (unsigned)fault[TIMES / 2] : 0;
    machine->cycle_ps = (unsigned)(cycle[0] * 1e3); /* nothing makes it shorter */
}
