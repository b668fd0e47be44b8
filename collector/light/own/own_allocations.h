/* What is allocated for lwp itself within the program: by the loader for libraries that lwp opens, by dlsym for what it does not find. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_OWN_ALLOCATIONS_H
#define LWP_COLLECTOR_LIGHT_OWN_OWN_ALLOCATIONS_H

#include <stdbool.h>

/* Between these, what the calling thread allocates is not taken from the program's heap: that one would ask the kernel for memory earlier,
 * which a confined program is killed for later, and give other addresses than without lwp. */
void *lwp_own_allocations_begin(void); /* what to give to the end */
void lwp_own_allocations_end(void *before);

/* The thread that is between them, NULL: none. heap.c serves its allocations. */
extern void *lwp_own_allocations_thread;

static inline bool lwp_own_allocations_here(void)
{
    void *thread = __atomic_load_n(&lwp_own_allocations_thread, __ATOMIC_RELAXED);
    return __builtin_expect(thread != (void *)0, 0) && thread == __builtin_thread_pointer();
}

#endif
