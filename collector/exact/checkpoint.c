#include "collector/exact/checkpoint.h"

#include "collector/exact/detect/communication/communication.h"
#include "collector/exact/detect/redundancy/redundancy.h"
#include "collector/exact/detect/registers/register_counts.h"
#include "collector/exact/detect/registers/spatial_counts.h"
#include "collector/exact/detect/values/values.h"
#include "collector/exact/program/pools.h"
#include "collector/exact/program/process.h"
#include "collector/exact/valgrind/tool.h"
#include "collector/exact/valgrind/waiting_calls.h"

enum { TIMES = 200, TIMES_WAITING = 20 }; /* as long as writing took, until it is done again */

static uint64_t keep_began, keep_ended;
static uint64_t keep_totals; /* when process.lwps is next to get its counts */

static uint64_t keep_now(void)
{
    struct vki_timespec now;
    VG_(clock_gettime)(&now, VKI_CLOCK_MONOTONIC);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void keep_write(uint64_t now)
{
    static uint64_t start;
    start = start ? start : now;
    keep_began = now;
    lwp_redundancy_keep();
    lwp_values_keep();
    lwp_register_counts_keep();
    lwp_spatial_keep();
    lwp_communication_keep();
    if (now >= keep_totals) {
        lwp_pools_write();
        lwp_exact_process_totals();
        keep_totals = now + (now - start);
    }
    keep_ended = keep_now();
}

static void keep_look(uint64_t times)
{
    uint64_t now = keep_now();
    if (lwp_exact_process.active && now - keep_ended >= times * (keep_ended - keep_began))
        keep_write(now);
}

void lwp_keep_look(void)
{
    keep_look(TIMES);
}

void lwp_keep_before_call(uint32_t number)
{
    if (lwp_call_waits(number))
        keep_look(TIMES_WAITING);
}
