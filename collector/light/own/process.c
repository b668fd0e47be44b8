/* The record of the process and the way to its files. */
#define _GNU_SOURCE
#include "collector/light/own/process.h"

#include "collector/env.h"
#include "collector/light/own/own_files.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

void lwp_process_debug(const char *what)
{
    const char *debug = getenv(LWP_ENV_DEBUG);
    if (!debug || strcmp(debug, "1"))
        return;
    char line[512];
    int length = snprintf(line, sizeof line, "lwp: %d: %s\n", getpid(), what);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

bool lwp_process_open(struct lwps_writer *file, const char *name, uint32_t tid)
{
    struct lwps_file head = {.engine = lwp_process.unit == LWPS_WEIGHT_NS ? LWPS_ENGINE_TIMER : LWPS_ENGINE_PMU,
                             .weight_unit = (uint8_t)lwp_process.unit, .pid = (uint32_t)getpid(),
                             .tid = tid, .start_ns = lwp_clock(CLOCK_MONOTONIC),
                             .start_wall_ns = lwp_clock(CLOCK_REALTIME)};
    char path[512];
    int status = -EEXIST;
    for (int again = 0; status == -EEXIST && again < 1000; again++) { /* thread ids are used again */
        const char *dot = strrchr(name, '.');
        if (again)
            snprintf(path, sizeof path, "%s/%.*s.%d%s", lwp_process.folder, (int)(dot - name), name, again, dot);
        else
            snprintf(path, sizeof path, "%s/%s", lwp_process.folder, name);
        status = lwps_writer_open(file, path, &head);
    }
    if (status)
        lwp_process_debug(strerror(-status));
    int raised = status ? -1 : lwp_own_files_raise(file->fd);
    if (raised >= 0)
        file->fd = raised;
    return status == 0;
}

bool lwp_process_folder(const char *directory)
{
    for (int generation = 0; generation < 10000; generation++) {
        int length = generation ? snprintf(lwp_process.folder, sizeof lwp_process.folder, "%s/p%d.%d", directory,
                                           getpid(), generation)
                                : snprintf(lwp_process.folder, sizeof lwp_process.folder, "%s/p%d", directory, getpid());
        if (length < 0 || (size_t)length >= sizeof lwp_process.folder)
            return false;
        if (mkdir(lwp_process.folder, 0777) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}
