#include "collector/launch/load_cost.h"

#include "base/arena.h"
#include "base/order.h"
#include "collector/env.h"
#include "collector/launch/launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Its CPU time, ns, and its page faults unless NULL; below 0: it could not be run. */
static double run_once(char *const *environment, long *faults)
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
    return lwp_launch_cpu_s(&usage) * 1e9;
}

double lwp_load_cost(char *const *environment, unsigned pairs)
{
    double with[pairs + 1], without[pairs + 1];
    char *nothing[] = {NULL};
    size_t count = 0;
    unsigned done = 0;
    while (environment[count])
        count++;
    char **later = lwp_zeroed(count + 2, sizeof *later);
    memcpy(later, environment, count * sizeof *later);
    later[count] = (char *)LWP_ENV_COSTS "=" LWP_NO_COSTS; /* as if another process had been first */
    for (; done < pairs; done++) {
        without[done] = run_once(nothing, NULL);
        with[done] = run_once(later, NULL);
        if (without[done] < 0 || with[done] < 0)
            break;
    }
    free(later);
    LWP_SORT(with, done, lwp_compare_double);
    LWP_SORT(without, done, lwp_compare_double);
    double more = done ? with[done / 2] - without[done / 2] : 0;
    return more > 0 ? more : 0;
}

/* CPU time of this process, ns. */
static double cost_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double page_fault_once(void)
{
    enum { PAGES = 64 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return -1;
    madvise(pages, PAGES * page, MADV_NOHUGEPAGE);
    const double begin = cost_now();
    for (size_t i = 0; i < PAGES; i++)
        *(volatile char *)(pages + i * page) = 1;
    const double took = cost_now() - begin;
    munmap(pages, PAGES * page);
    return took / PAGES;
}

/* By a chain of products, which take three cycles each. */
static double cycle_once(void)
{
    enum { PRODUCTS = 4, PRODUCT_CYCLES = 3, ROUNDS = 20000 };
    unsigned long value = 1;
    const double begin = cost_now();
    for (int i = 0; i < ROUNDS; i++)
        __asm__ volatile("imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0" : "+r"(value));
    return (cost_now() - begin) / ((double)ROUNDS * PRODUCTS * PRODUCT_CYCLES);
}

void lwp_start_cost(struct lwp_machine *machine)
{
    enum { TIMES = 9 };
    double start[TIMES], fault[TIMES], cycle[TIMES];
    char *nothing[] = {NULL};
    for (int i = 0; i < TIMES; i++) {
        long faults = 0;
        fault[i] = page_fault_once();
        cycle[i] = cycle_once();
        start[i] = run_once(nothing, &faults) - (double)faults * fault[i];
    }
    LWP_SORT(start, TIMES, lwp_compare_double);
    LWP_SORT(fault, TIMES, lwp_compare_double);
    LWP_SORT(cycle, TIMES, lwp_compare_double);
    machine->start_ns = start[TIMES / 2] > 0 ? (unsigned)start[TIMES / 2] : 0;
    machine->page_fault_ns = fault[TIMES / 2] > 0 ? (unsigned)fault[TIMES / 2] : 0;
    machine->cycle_ps = (unsigned)(cycle[0] * 1e3); /* nothing makes it shorter */
}
