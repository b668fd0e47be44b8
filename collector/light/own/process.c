/* The record of the process and the way to its files. */
#include "collector/light/own/process.h"

#include "collector/env.h"
#include "collector/light/own/hot.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/own_spool.h"
#include "collector/light/own/settings.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct lwp_process lwp_process;

bool lwp_process_try_lock(void)
{
    return !__atomic_exchange_n(&lwp_process.lock, 1, __ATOMIC_ACQUIRE);
}

bool lwp_process_lock_soon(void)
{
    enum { SPINS = 1000, YIELDS = 50 };
    for (int spin = 0; spin < SPINS; spin++) {
        if (!__atomic_load_n(&lwp_process.lock, __ATOMIC_RELAXED) && lwp_process_try_lock())
            return true;
        __builtin_ia32_pause();
    }
    for (int yield = 0; yield < YIELDS; yield++) {
        if (lwp_process_try_lock())
            return true;
        sched_yield();
    }
    return false;
}

void lwp_process_unlock(void)
{
    __atomic_store_n(&lwp_process.lock, 0, __ATOMIC_RELEASE);
}

static pid_t *process_mark; /* whose memory it is; the kernel empties it in a child that gets a copy, however it was made */

static void process_set_mark(void)
{
    static bool tried;
    pid_t *mark = process_mark;
    if (!mark && !__atomic_exchange_n(&tried, true, __ATOMIC_RELAXED)) {
        mark = lwp_own_memory(sizeof *mark);
        mark = mark && madvise(mark, sizeof *mark, MADV_WIPEONFORK) ? NULL : mark; /* before Linux 4.14 */
    }
    if (!mark)
        return;
    *mark = lwp_process.pid;
    __atomic_store_n(&process_mark, mark, __ATOMIC_RELEASE);
}

bool lwp_process_has_memory(void)
{
    const pid_t *mark = __atomic_load_n(&process_mark, __ATOMIC_ACQUIRE);
    if (mark && *mark == lwp_process.pid)
        return lwp_process.active;
    if (!lwp_process_is_ours())
        return false;
    process_set_mark();
    return true;
}

bool lwp_process_records(void)
{
    return !__atomic_load_n(&lwp_process.outside_region, __ATOMIC_RELAXED) && !lwp_own_spool_is_paused();
}

void lwp_process_debug(const char *what)
{
    const char *debug = lwp_setting(LWP_ENV_DEBUG);
    if (!debug || strcmp(debug, "1"))
        return;
    char line[512];
    int length = snprintf(line, sizeof line, "lwp: %d: %s\n", getpid(), what);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

/* Thread ids are used again: of those whose place here is taken the files get numbers. */
static uint32_t process_again(uint32_t tid)
{
    enum { PLACES = 1 << 16 };
    static LWP_LARGE uint8_t taken[PLACES / 8];
    static uint32_t again;
    uint8_t bit = (uint8_t)(1 << tid % 8);
    if (!tid || !(__atomic_fetch_or(&taken[tid % PLACES / 8], bit, __ATOMIC_RELAXED) & bit))
        return 0;
    return __atomic_add_fetch(&again, 1, __ATOMIC_RELAXED);
}

bool lwp_process_open(struct lwps_writer *file, uint32_t tid)
{
    struct lwps_file head = {.engine = lwp_process.unit == LWPS_WEIGHT_NS ? LWPS_ENGINE_TIMER : LWPS_ENGINE_PMU,
                             .weight_unit = (uint8_t)lwp_process.unit, .pid = (uint32_t)getpid(),
                             .tid = tid, .start_ns = lwp_clock(CLOCK_MONOTONIC),
                             .start_wall_ns = lwp_clock(CLOCK_REALTIME)};
    return lwps_writer_open_memory(file, lwp_own_spool_memory(), process_again(tid), &head) == 0;
}

bool lwp_process_begin(const char *directory)
{
    int status = lwp_own_spool_begin(directory, lwp_setting(LWP_ENV_KEEPER));
    const char *why = status ? strerrordesc_np(-status) : NULL; /* strerror() may allocate, and the program's malloc() be locked */
    if (why)
        lwp_process_debug(why);
    return !status && lwp_process_open(&lwp_process.file, 0);
}
