#include "collector/exact/program/checkpoint.h"

#include "collector/exact/program/detector.h"
#include "collector/exact/program/pools.h"
#include "collector/exact/program/process.h"
#include "collector/exact/valgrind/tool.h"
#include "collector/exact/valgrind/waiting_calls.h"

enum { TIMES = 200, TIMES_WAITING = 20 }; /* the time that writing took, until the next one */

static uint64_t write_began, write_ended;
static uint64_t totals_due; /* when process.lwps gets its counts next */

static uint64_t checkpoint_now(void)
{
    struct vki_timespec now;
    VG_(clock_gettime)(&now, VKI_CLOCK_MONOTONIC);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void checkpoint_write(uint64_t now)
{
    static uint64_t start;
    start = start ? start : now;
    write_began = now;
    LWP_DETECTORS(write);
    if (now >= totals_due) {
        lwp_pools_write();
        lwp_exact_process_totals();
        totals_due = now + (now - start);
    }
    write_ended = checkpoint_now();
}

static void checkpoint_after(uint64_t times)
{
    uint64_t now = checkpoint_now();
    if (lwp_exact_process.active && now - write_ended >= times * (write_ended - write_began))
        checkpoint_write(now);
}

void lwp_checkpoint(void)
{
    checkpoint_after(TIMES);
}

void lwp_checkpoint_before_call(uint32_t number)
{
    if (lwp_call_waits(number))
        checkpoint_after(TIMES_WAITING);
}
