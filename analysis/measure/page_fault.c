#include "analysis/measure/page_fault.h"

#include "base/order.h"

#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

enum { TIMES = 9, PAGE = 4096, PAGES = 64 };

static double fault_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double lwp_measure_page_fault(void)
{
    double took[TIMES];
    for (size_t i = 0; i < TIMES; i++) {
        char *pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            return 0;
        const double begin = fault_now();
        for (size_t k = 0; k < PAGES; k++)
            *(volatile char *)(pages + k * PAGE) = 1;
        munmap(pages, (size_t)PAGES * PAGE); /* as every program has its pages released, at its end at the latest */
        took[i] = (fault_now() - begin) / PAGES;
    }
    LWP_SORT(took, TIMES, lwp_compare_double);
    return took[TIMES / 2];
}
