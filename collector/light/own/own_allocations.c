#include "collector/light/own/own_allocations.h"

#include "collector/light/own/hot.h"

LWP_HOT void *lwp_own_allocations_thread;

void *lwp_own_allocations_begin(void)
{
    return __atomic_exchange_n(&lwp_own_allocations_thread, __builtin_thread_pointer(), __ATOMIC_RELAXED);
}

void lwp_own_allocations_end(void *before)
{
    __atomic_store_n(&lwp_own_allocations_thread, before, __ATOMIC_RELAXED);
}
