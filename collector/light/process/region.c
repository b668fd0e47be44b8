#define _GNU_SOURCE
#include "collector/light/process/region.h"

#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"

LWP_EXPORT void lwp_mark(unsigned long begins)
{
    __atomic_store_n(&lwp_process.outside_region, !begins, __ATOMIC_RELAXED);
}
