#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS_MAX = 256 };

struct parallel {
    atomic_size_t next;
    size_t count, step;
    void (*work)(void *of, size_t first, size_t last);
    void *of;
};

unsigned lwp_parallel_cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

static void *parallel_work(void *of)
{
    struct parallel *parallel = of;
    size_t first;
    while ((first = atomic_fetch_add(&parallel->next, parallel->step)) < parallel->count) {
        size_t left = parallel->count - first;
        parallel->work(parallel->of, first, first + (left < parallel->step ? left : parallel->step));
    }
    return NULL;
}

void lwp_parallel(unsigned jobs, size_t count, size_t step, void (*work)(void *of, size_t first, size_t last), void *of)
{
    struct parallel parallel = {.count = count, .step = step, .work = work, .of = of};
    pthread_t threads[THREADS_MAX];
    size_t made = 0, wanted = jobs ? jobs : lwp_parallel_cores();
    if (wanted > count / step + 1)
        wanted = count / step + 1;
    while (made + 1 < wanted && made < THREADS_MAX && pthread_create(&threads[made], NULL, parallel_work, &parallel) == 0)
        made++;
    parallel_work(&parallel);
    while (made)
        pthread_join(threads[--made], NULL);
}
