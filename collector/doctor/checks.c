#include "collector/doctor/checks.h"

#include "base/path.h"
#include "collector/launch/engine.h"
#include "collector/launch/exact.h"
#include "collector/launch/preload.h"
#include "collector/perf/probe.h"
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what the kernel lets this process do ---- */

struct permission {
    int paranoid;         /* -100: unknown */
    bool perfmon;         /* CAP_PERFMON or CAP_SYS_ADMIN */
    bool seccomp, known;  /* a system call filter is in place; /proc/self/status could be read */
};

static struct permission permission_read(void)
{
    enum { CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38, SECCOMP_FILTER = 2 };
    struct permission permission = {.paranoid = -100};
    char line[256];
    FILE *from = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (from && fscanf(from, "%d", &permission.paranoid) != 1)
        permission.paranoid = -100;
    if (from)
        fclose(from);
    from = fopen("/proc/self/status", "re");
    while (from && fgets(line, sizeof line, from)) {
        unsigned long long able;
        int mode;
        if (sscanf(line, "CapEff: %llx", &able) == 1)
            permission.perfmon = able >> CAP_PERFMON_BIT & 1 || able >> CAP_SYS_ADMIN_BIT & 1;
        if (sscanf(line, "Seccomp: %d", &mode) == 1)
            permission.seccomp = mode == SECCOMP_FILTER;
        permission.known = true;
    }
    if (from)
        fclose(from);
    return permission;
}

static const char remedy_paranoid[] = "sudo sysctl kernel.perf_event_paranoid=2";
static const char remedy_seccomp[] = "docker run --security-opt seccomp=unconfined (or a profile that allows perf_event_open)";
static const char remedy_perfmon[] = "docker run --cap-add PERFMON, or sudo sysctl kernel.perf_event_paranoid=1";
static const char remedy_hypervisor[] =
    "run on bare metal, or give the virtual machine a PMU (qemu -cpu host,pmu=on); lwp works without";

/* The remedy for a refused perf_event_open; `otherwise` for errors that are not about permission. */
static const char *permission_remedy(const struct permission *permission, int why, const char *otherwise)
{
    if (why != EACCES && why != EPERM)
        return otherwise;
    if (permission->paranoid > 2 && !permission->perfmon)
        return remedy_paranoid;
    return permission->seccomp ? remedy_seccomp : remedy_perfmon;
}

/* `remedy`: NULL: the check is good. */
__attribute__((format(printf, 4, 5))) static void check_put(struct lwp_check *check, const char *name, const char *remedy,
                                                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check->found, sizeof check->found, format, args);
    va_end(args);
    check->name = name;
    check->good = !remedy;
    check->remedy = remedy;
}

static void check_paranoid(struct lwp_check *check, const struct permission *permission)
{
    static const char name[] = "perf_event_paranoid";
    int level = permission->paranoid;
    if (level == -100)
        check_put(check, name, remedy_paranoid, "unknown: /proc/sys/kernel/perf_event_paranoid cannot be read");
    else
        check_put(check, name, level <= 2 || permission->perfmon ? NULL : remedy_paranoid, "%d; %s", level,
                  level <= 1            ? "programs of one's own may be sampled, and seen in the kernel"
                  : permission->perfmon ? "overruled by CAP_PERFMON"
                  : level == 2          ? "programs of one's own may be sampled; lwp needs no more"
                                        : "the kernel refuses perf_event_open to all but root; lwp needs 2 or less");
}

static void check_capability(struct lwp_check *check, const struct permission *permission)
{
    bool good = permission->perfmon || (permission->paranoid > -100 && permission->paranoid <= 1);
    check_put(check, "CAP_PERFMON", good ? NULL : remedy_perfmon, "%s",
              permission->perfmon ? "there: events may look into the kernel"
              : good              ? "not there, but perf_event_paranoid does without"
                                  : "not there (containers drop it): accesses of the kernel to memory with a watchpoint are not seen");
}

static void check_seccomp(struct lwp_check *check, const struct permission *permission, int refused)
{
    bool blamed = permission->seccomp && (refused == EACCES || refused == EPERM || refused == ENOSYS);
    check_put(check, "system call filter", blamed ? remedy_seccomp : NULL, "%s",
              blamed                ? "a container's seccomp filter refuses perf_event_open"
              : permission->seccomp ? "there is one (seccomp), but it lets perf_event_open through"
              : permission->known   ? "none"
                                    : "unknown: /proc/self/status cannot be read");
}

/* ---- probes ---- */

static int check_probe(struct lwp_check *check, const char *name, int (*probe)(const void *), const char *yes,
                       const struct permission *permission, const char *remedy)
{
    int why = lwp_probe(probe, NULL);
    check_put(check, name, why ? permission_remedy(permission, why, remedy) : NULL, "%s%s",
              why == 0         ? yes
              : why == ENODATA ? "it can be opened here but takes no samples"
              : why == EINTR   ? "the probe was killed by a signal"
                               : "not available: ",
              why == 0 || why == ENODATA || why == EINTR ? "" : strerror(why));
    return why;
}

static void check_pmu(struct lwp_check *check, const struct permission *permission)
{
    struct lwp_pmu_events events;
    struct lwp_error found = {0};
    int why = lwp_engine_pmu(&events, &found);
    check->engine = "pmu";
    check_put(check, "PEBS or IBS", why ? permission_remedy(permission, why, remedy_hypervisor) : NULL, "%s", found.text);
}

static void check_faults(struct lwp_check *check, const struct permission *permission)
{
    struct lwp_pmu_events events;
    lwp_pmu_events_of_faults(&events);
    int why = lwp_pmu_probe(&events);
    check_put(check, "page faults", why ? permission_remedy(permission, why, "use a kernel from 5.13 on") : NULL, "%s%s",
              lwp_pmu_probe_text(why), why ? "" : " (lwp collect --event page-faults: which data is touched first where)");
}

static void check_preload(struct lwp_check *check)
{
    struct lwp_error err;
    char *path = lwp_preload_find(&err);
    check->needed = true;
    check_put(check, "preload library", path ? NULL : "build lwp again: make", "%s", path ? path : err.text);
    free(path);
}

static void check_exact(struct lwp_check *check)
{
    struct lwp_error err;
    char *folder = lwp_exact_find(&err);
    check_put(check, "Valgrind", folder ? NULL : "apt install valgrind, and build lwp again: ./configure && make", "%s",
              folder ? "lwp collect -e exact works" : err.text);
    free(folder);
}

/* Only to share the analysis out between processes. */
static void check_mpi(struct lwp_check *check)
{
    struct lwp_error err;
    char *path = lwp_path_installed("liblwp-mpi.so", R_OK, &err);
    check_put(check, "MPI", path ? NULL : "apt install libopenmpi-dev or libmpich-dev, and build lwp again: ./configure && make", "%s",
              path ? "mpirun lwp analyze works" : "lwp was built without: mpirun lwp analyze cannot share its work out");
    free(path);
}

void lwp_checks_make(struct lwp_check *checks)
{
    struct permission permission = permission_read();
    size_t n = 0;
    checks[1].engine = checks[2].engine = checks[3].engine = "timer";
    check_pmu(&checks[n++], &permission);
    int refused = check_probe(&checks[n++], "task-clock, synchronous", lwp_probe_sigtrap,
                              "samples are taken (the best flavour of the timer engine)", &permission,
                              "use a kernel from 5.13 on");
    check_probe(&checks[n++], "task-clock, asynchronous", lwp_probe_async, "samples are taken (the first fall-back)",
                &permission, "use a kernel with perf events");
    check_probe(&checks[n++], "thread CPU timers", lwp_probe_posix,
                "samples are taken (the last fall-back, 250 a second at most)", &permission,
                "allow timer_create in the sandbox");
    check_faults(&checks[n++], &permission);
    check_paranoid(&checks[n++], &permission);
    check_capability(&checks[n++], &permission);
    check_seccomp(&checks[n++], &permission, refused);
    check_probe(&checks[n++], "hardware breakpoints", lwp_probe_breakpoint, "they work: redundant stores and loads can be detected",
                &permission, "enable debug registers in the hypervisor");
    check_probe(&checks[n++], "breakpoints in the kernel", lwp_probe_kernel_breakpoint, "they see accesses of system calls", &permission,
                "enable debug registers in the hypervisor; without, watchpoints end at system calls");
    check_probe(&checks[n++], "cycle counter", lwp_probe_pmu, "there is a PMU", &permission, remedy_hypervisor);
    checks[n].needed = true;
    check_probe(&checks[n++], "libunwind", lwp_probe_unwind, "call paths are recorded", &permission,
                "apt install libunwind8");
    checks[n].needed = true;
    check_probe(&checks[n++], "Zydis", lwp_probe_zydis, "addresses are recovered from the code", &permission,
                "install the library this lwp was built with, " LWP_ZYDIS);
    check_exact(&checks[n++]);
    check_preload(&checks[n++]);
    check_mpi(&checks[n++]);
}

const struct lwp_check *lwp_checks_chosen(const struct lwp_check *checks)
{
    const struct lwp_check *chosen = NULL;
    for (size_t i = 0; i < LWP_CHECKS; i++) {
        if (checks[i].needed && !checks[i].good)
            return NULL;
        if (!chosen && checks[i].engine && checks[i].good)
            chosen = &checks[i];
    }
    return chosen;
}
