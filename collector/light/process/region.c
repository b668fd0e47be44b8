/* What the program says of itself by LWP_BEGIN() and LWP_END() of lwp.h, which find this by its name: for all threads, until it
 * says otherwise. */
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"

void lwp_mark(unsigned long begins);

LWP_EXPORT void lwp_mark(unsigned long begins)
{
    __atomic_store_n(&lwp_process.outside_region, !begins, __ATOMIC_RELAXED);
}
