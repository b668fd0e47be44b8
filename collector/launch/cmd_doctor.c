/* lwp doctor: what this machine can measure, and for each thing it cannot the one command that would mend it.
 * Every line is a probe that was really made, in a child process where it takes signals. */
#include "base/command.h"
#include "base/log.h"
#include "collector/launch/preload.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct lwp_option doctor_options[] = {
    {"json", 0, LWP_OPT_FLAG, NULL, 0, 0, NULL, NULL, "print the checks as JSON"},
    {0},
};

struct check {
    const char *name;
    bool good;
    bool needed;       /* lwp cannot sample without */
    char found[LWP_ERROR_TEXT]; /* one sentence */
    const char *remedy; /* a command or a sentence; NULL: nothing to mend */
};

enum { DOCTOR_BUSY_MS = 100 };

static volatile sig_atomic_t doctor_signals;

static void doctor_count(int signal)
{
    (void)signal;
    doctor_signals++;
}

static int doctor_perf_open(const struct perf_event_attr *attr)
{
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void doctor_burn(void)
{
    struct timespec now;
    volatile unsigned work = 0;
    do {
        for (int i = 0; i < 10000; i++)
            work += (unsigned)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < DOCTOR_BUSY_MS * 1000000L);
}

static int probe_sigtrap(void)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = 1000003, .exclude_kernel = 1, .sigtrap = 1, .remove_on_exec = 1};
    signal(SIGTRAP, doctor_count);
    if (doctor_perf_open(&attr) < 0)
        return errno;
    doctor_burn();
    return doctor_signals > 10 ? 0 : ENODATA;
}

static int probe_async(void)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = 1000003, .exclude_kernel = 1, .wakeup_events = 1};
    signal(SIGUSR1, doctor_count);
    int fd = doctor_perf_open(&attr);
    if (fd < 0 || fcntl(fd, F_SETSIG, SIGUSR1) || fcntl(fd, F_SETOWN, getpid()) || fcntl(fd, F_SETFL, O_ASYNC))
        return errno;
    doctor_burn();
    return doctor_signals > 10 ? 0 : ENODATA;
}

static int probe_posix(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    signal(SIGUSR1, doctor_count);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) || timer_settime(timer, 0, &every, NULL))
        return errno;
    doctor_burn();
    return doctor_signals > 5 ? 0 : ENODATA;
}

static int probe_breakpoint(void)
{
    static volatile int watched;
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W,
                                   .bp_addr = (uint64_t)(uintptr_t)&watched, .bp_len = HW_BREAKPOINT_LEN_4,
                                   .sample_period = 1, .exclude_kernel = 1, .sigtrap = 1, .remove_on_exec = 1};
    signal(SIGTRAP, doctor_count);
    if (doctor_perf_open(&attr) < 0)
        return errno;
    for (int i = 0; i < 10; i++)
        watched = i;
    return doctor_signals == 10 ? 0 : ENODATA;
}

static int probe_kernel_breakpoint(void)
{
    static volatile uint64_t watched;
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_RW,
                                   .bp_addr = (uint64_t)(uintptr_t)&watched, .bp_len = HW_BREAKPOINT_LEN_8,
                                   .sample_period = 1, .sigtrap = 1, .remove_on_exec = 1};
    signal(SIGTRAP, doctor_count);
    if (doctor_perf_open(&attr) < 0)
        return errno;
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (zero < 0 || read(zero, (void *)&watched, sizeof watched) != sizeof watched)
        return EIO;
    return doctor_signals ? 0 : ENODATA;
}

static int probe_pmu(void)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .exclude_kernel = 1};
    return doctor_perf_open(&attr) < 0 ? errno : 0;
}

static int probe_unwind(void)
{
    return dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL) ? 0 : ENOENT;
}

static int probe_zydis(void)
{
    return dlopen("libZydis.so.4.0", RTLD_NOW) || dlopen("libZydis.so.4", RTLD_NOW) ? 0 : ENOENT;
}

/* 0, an errno, or EINTR when the probe's process died of a signal. */
static int doctor_probe(int (*probe)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0)
        _exit(probe());
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static void check_probe(struct check *check, const char *name, int (*probe)(void), const char *yes, const char *remedy)
{
    int why = doctor_probe(probe);
    check->name = name;
    check->good = why == 0;
    if (why == 0)
        snprintf(check->found, sizeof check->found, "%s", yes);
    else if (why == ENODATA)
        snprintf(check->found, sizeof check->found, "it can be opened here but takes no samples");
    else if (why == EINTR)
        snprintf(check->found, sizeof check->found, "the probe was killed by a signal");
    else
        snprintf(check->found, sizeof check->found, "not available: %s", strerror(why));
    check->remedy = why ? remedy : NULL;
}

static int doctor_number(const char *path, int otherwise)
{
    FILE *from = fopen(path, "re");
    int number = otherwise;
    if (from) {
        if (fscanf(from, "%d", &number) != 1)
            number = otherwise;
        fclose(from);
    }
    return number;
}

static void check_paranoid(struct check *check)
{
    int level = doctor_number("/proc/sys/kernel/perf_event_paranoid", -100);
    check->name = "perf_event_paranoid";
    check->good = level <= 2 && level > -100;
    if (level == -100)
        snprintf(check->found, sizeof check->found, "unknown: /proc/sys/kernel/perf_event_paranoid cannot be read");
    else
        snprintf(check->found, sizeof check->found, "%d; lwp needs 2 or less for programs of your own", level);
    check->remedy = check->good ? NULL : "sudo sysctl kernel.perf_event_paranoid=2";
}

static void check_preload(struct check *check)
{
    struct lwp_error err;
    char *path = lwp_preload_find(&err);
    check->name = "preload library";
    check->needed = true;
    check->good = path != NULL;
    snprintf(check->found, sizeof check->found, "%s", check->good ? path : err.text);
    check->remedy = check->good ? NULL : "build lwp again: make";
    free(path);
}

static void check_precise(struct check *check)
{
    bool intel = access("/sys/bus/event_source/devices/cpu/events/mem-loads", F_OK) == 0;
    bool amd = access("/sys/bus/event_source/devices/ibs_op", F_OK) == 0;
    check->name = "PEBS or IBS";
    check->good = intel || amd;
    snprintf(check->found, sizeof check->found, "%s",
             intel ? "load latency sampling is offered; this version does not use it yet"
             : amd ? "IBS op sampling is offered; this version does not use it yet"
                   : "the kernel offers neither; the timer engine needs neither");
}

enum { CHECKS = 11 };

static size_t doctor_check(struct check *checks)
{
    size_t n = 0;
    check_probe(&checks[n++], "task-clock, synchronous", probe_sigtrap, "samples are taken (the best flavour of the timer engine)",
                "use a kernel from 5.13 on, outside of a seccomp sandbox (docker run --security-opt seccomp=unconfined)");
    check_probe(&checks[n++], "task-clock, asynchronous", probe_async, "samples are taken (the first fall-back)",
                "allow perf_event_open (docker run --security-opt seccomp=unconfined)");
    check_probe(&checks[n++], "thread CPU timers", probe_posix, "samples are taken (the last fall-back, 250 a second at most)",
                "allow timer_create in the sandbox");
    check_paranoid(&checks[n++]);
    check_probe(&checks[n++], "hardware breakpoints", probe_breakpoint, "they work: redundant stores and loads can be watched for",
                "allow perf_event_open, and enable debug registers in the hypervisor");
    check_probe(&checks[n++], "breakpoints in the kernel", probe_kernel_breakpoint,
                "they see system calls use watched memory",
                "sudo sysctl kernel.perf_event_paranoid=1 (or give lwp CAP_PERFMON); without, watches end at system calls");
    check_probe(&checks[n++], "cycle counter", probe_pmu, "there is a PMU",
                "run on bare metal, or give the virtual machine a PMU (qemu -cpu host,pmu=on); lwp works without");
    check_precise(&checks[n++]);
    check_probe(&checks[n], "libunwind", probe_unwind, "call paths are recorded", "apt install libunwind8");
    checks[n++].needed = true;
    check_probe(&checks[n], "Zydis", probe_zydis, "addresses are recovered from the code", "apt install libzydis4.0");
    checks[n++].needed = true;
    check_preload(&checks[n++]);
    return n;
}

static bool doctor_can_sample(const struct check *checks, size_t count)
{
    bool able = checks[0].good || checks[1].good || checks[2].good;
    for (size_t i = 0; i < count; i++)
        able &= checks[i].good || !checks[i].needed;
    return able;
}

static void doctor_print_json(const struct check *checks, size_t count, bool able)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:b, s:s, s:s?}", "name", checks[i].name, "good", checks[i].good,
                                              "found", checks[i].found, "remedy", checks[i].remedy));
    json_t *whole = json_pack("{s:s, s:b, s:o}", "schema", "lwp-doctor", "able", able, "checks", list);
    json_dumpf(whole, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(whole);
}

static void doctor_print(const struct check *checks, size_t count, bool able)
{
    for (size_t i = 0; i < count; i++) {
        printf("%-4s %-26s %s\n", checks[i].good ? "yes" : "no", checks[i].name, checks[i].found);
        if (checks[i].remedy)
            printf("     %-26s -> %s\n", "", checks[i].remedy);
    }
    puts(able ? "\nlwp collect works here." : "\nlwp collect cannot sample here; mend one of the lines above.");
}

static int doctor_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, 125, &status))
        return status;
    if (options.operands != argc) {
        lwp_log(LWP_LOG_ERROR, "doctor: takes no arguments, but got '%s'", argv[options.operands]);
        return 125;
    }
    struct check checks[CHECKS] = {0};
    size_t count = doctor_check(checks);
    bool able = doctor_can_sample(checks, count);
    if (lwp_options_flag(&options, "json"))
        doctor_print_json(checks, count, able);
    else
        doctor_print(checks, count, able);
    return able ? 0 : 1;
}

const struct lwp_command lwp_cmd_doctor = {
    .name = "doctor",
    .usage = "[--json]",
    .summary = "say what this machine can measure, and how to mend what it cannot",
    .details = "Exit status: 0 when lwp collect works here, 1 when not, 125 wrong use.",
    .options = doctor_options,
    .run = doctor_run,
};
