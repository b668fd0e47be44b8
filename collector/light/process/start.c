/* Start and end of collecting in one process image: constructor, destructor, fork, _exit. */
#include "collector/light/process/start.h"

#include "base/pattern.h"
#include "collector/env.h"
#include "collector/light/code/modules.h"
#include "collector/light/code/own_program.h"
#include "collector/light/code/unwind.h"
#include "collector/light/heap/heap.h"
#include "collector/light/own/confinement.h"
#include "collector/light/own/floats.h"
#include "collector/light/own/imports.h"
#include "collector/light/own/own_allocations.h"
#include "collector/light/own/own_files.h"
#include "collector/light/own/own_spool.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/run.h"
#include "collector/light/own/settings.h"
#include "collector/light/own/watched_memory.h"
#include "collector/light/process/dormant.h"
#include "collector/light/process/late_threads.h"
#include "collector/light/process/signals.h"
#include "collector/light/sampling/pmu.h"
#include "collector/light/sampling/sampler.h"
#include "collector/light/sampling/sampling.h"
#include "collector/record/value.h"
#include "format/detect.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

static void start_describe(void)
{
    char command[8193];
    size_t length = lwp_own_files_read("/proc/self/cmdline", command, sizeof command);
    lwps_put_process(&lwp_process.file,
                     &(struct lwps_process){.pid = (uint32_t)getpid(), .parent_pid = (uint32_t)getppid(),
                                            .time = lwp_clock(CLOCK_MONOTONIC), .command = command,
                                            .command_bytes = (uint32_t)length});
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void start_note_left_out(void)
{
    char text[160];
    unsigned count = lwp_late_threads_left_out();
    snprintf(text, sizeof text, "%u threads were not sampled, as to begin that costs more than they ran for: others stand for them", count);
    if (count)
        lwp_process_note(text);
}

static void start_end(void *unused)
{
    (void)unused;
    uint64_t start = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    lwp_thread_enter(); /* for good */
    lwp_process.active = false;
    if (lwp_confinement_came())
        return; /* its end may kill the program, too; what was written is there */
    lwp_threads_finish();
    lwp_modules_update();
    for (int wait = 0; !lwp_process_try_lock() && wait < 100; wait++)
        usleep(100);
    /* kept: other threads run on, but nothing more is written */
    struct lwps_totals totals = {.time = lwp_clock(CLOCK_MONOTONIC)};
    totals.allocations = lwp_heap_finish(&totals.allocations_unrecorded);
    struct lwp_thread_totals counts;
    lwp_threads_totals(&counts);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    totals.user_ns = nanoseconds(usage.ru_utime);
    totals.system_ns = nanoseconds(usage.ru_stime);
    totals.resident_bytes = (uint64_t)usage.ru_maxrss * 1024;
    lwp_process.start_own_ns += lwp_clock(CLOCK_THREAD_CPUTIME_ID) - start;
    lwp_run_joined(lwp_process.start_own_ns);
    totals.own_ns = counts.own_ns + lwp_process.start_own_ns;
    totals.samples = counts.samples;
    totals.samples_with_address = counts.samples_with_address;
    start_note_left_out();
    totals.samples_lost = counts.samples_lost + lwp_sampler_finish();
    lwps_put_totals(&lwp_process.file, &totals);
    lwps_writer_close(&lwp_process.file);
    lwp_own_spool_flush();
    lwp_signals_finish();
}

static void start_finish(void)
{
    lwp_dormant_end(true);
    if (lwp_process_is_ours())
        lwp_own_stack_run(start_end, NULL);
}

void lwp_process_leave(const char *note)
{
    bool dormant = lwp_dormant_end(false);
    if (!dormant && !lwp_process_is_ours())
        return;
    int saved = errno;
    lwp_thread_note(note);
    start_finish();
    lwp_settings_forget();
    unsetenv(LWP_ENV_DIR);
    errno = saved;
}

static uint8_t start_verdicts(void)
{
    const char *text = lwp_setting(LWP_ENV_DETECT);
    unsigned long detect = text ? strtoul(text, NULL, 10) : -1ul;
    uint8_t verdicts = 0;
    if (detect & LWP_DETECT_REDUNDANCY)
        verdicts |= LWPS_VERDICT_DEAD_STORE | LWPS_VERDICT_SILENT_STORE | LWPS_VERDICT_SILENT_LOAD;
    if (detect & (LWP_DETECT_SHARING | LWP_DETECT_COMMUNICATION))
        verdicts |= LWPS_VERDICT_SHARING;
    return verdicts;
}

static bool start_sampler(void)
{
    char note[256];
    struct lwp_sampler_options options = {.frequency = lwp_setting_number(LWP_ENV_FREQUENCY, 0),
                                          .max_overhead = lwp_run_share(),
                                          .timer = lwp_setting(LWP_ENV_TIMER),
                                          .hardware = lwp_process.unit != LWPS_WEIGHT_NS,
                                          .all = lwp_setting_number(LWP_ENV_PERIOD, 0) > 0,
                                          .verdicts = start_verdicts()};
    lwp_shared_start();
    bool good = lwp_sampler_init(&options, note, sizeof note);
    if (note[0])
        lwp_process_note(note);
    return good && lwp_signals_start();
}

/* The child may use what the parent has stored, unseen. */
static void start_before_fork(void)
{
    lwp_watched_forget(NULL, UINT64_MAX, LWPS_WATCH_FOREIGN);
    lwp_dormant_before_fork();
    lwp_modules_before_fork();
}

static void start_child(void *unused)
{
    const char *directory = lwp_setting(LWP_ENV_DIR);
    (void)unused;
    uint64_t start = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    lwp_run_join();
    lwp_own_stack_guard();
    if (lwp_confinement_came() || !lwp_process_begin(directory))
        return;
    start_describe();
    lwps_paths_again(&lwp_process.contexts);
    lwp_modules_again();
    lwp_heap_again();
    lwp_heap_add_early();
    lwp_process.pid = getpid();
    lwp_process.active = true;
    lwp_threads_start();
    lwp_process.start_own_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void start_in_child(void *unused)
{
    (void)unused;
    if (lwp_confinement_came()) {
        lwp_process.active = false;
        return;
    }
    lwp_process_unlock();
    lwp_own_files_alone(true);
    lwp_process.active = false;
    lwps_writer_abandon(&lwp_process.file);
    lwp_watched_reset();
    lwp_threads_after_fork();
    lwp_heap_after_fork();
    lwp_run_forked();
    const char *directory = lwp_setting(LWP_ENV_DIR), *follow = lwp_setting(LWP_ENV_FOLLOW_FORK);
    if (!directory || (follow && !strcmp(follow, "0")))
        return;
    if (!lwp_sampler_can_wait() || !lwp_dormant_begin(start_child))
        start_child(NULL);
}

static void start_fork_child(void)
{
    const uint64_t start = lwp_confinement_came() ? 0 : lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    if (!lwp_dormant_in_child() && lwp_process.active)
        lwp_own_stack_run(start_in_child, NULL);
    if (start)
        lwp_run_fork_cost(lwp_clock(CLOCK_THREAD_CPUTIME_ID) - start);
}

/* Children are not to be followed: the first image of the process says which one it is. */
static bool start_follow(void)
{
    const char *follow = lwp_setting(LWP_ENV_FOLLOW_FORK), *first = getenv(LWP_ENV_FIRST);
    char self[16];
    if (!follow || strcmp(follow, "0"))
        return true;
    snprintf(self, sizeof self, "%d", getpid());
    if (first)
        return !strcmp(first, self);
    setenv(LWP_ENV_FIRST, self, 1);
    return true;
}

/* Whether the program is one of those that were asked for: by its file, or, as scripts are, by the thread's name. */
static bool start_is_wanted(void)
{
    char path[1024], name[16] = "";
    const char *only = lwp_setting(LWP_ENV_ONLY), *file = path;
    if (!only)
        return true;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    for (const char *at = path; *at; at++)
        file = *at == '/' ? at + 1 : file;
    return lwp_pattern_lists(only, file) || (prctl(PR_GET_NAME, name) == 0 && lwp_pattern_lists(only, name));
}

static void start_window(void)
{
    lwp_process.outside_region = lwp_setting(LWP_ENV_REGION) != NULL;
    double delay = lwp_setting_number(LWP_ENV_DELAY, 0), duration = lwp_setting_number(LWP_ENV_DURATION, 0);
    uint64_t now = delay > 0 || duration > 0 ? lwp_clock(CLOCK_MONOTONIC) : 0;
    lwp_process.sample_from_ns = delay > 0 ? now + (uint64_t)(delay * 1e9) : 0;
    lwp_process.sample_until_ns = duration > 0 ? now + (uint64_t)((delay > 0 ? delay + duration : duration) * 1e9) : UINT64_MAX;
}

static void start_set_up(void)
{
    const char *directory = lwp_setting(LWP_ENV_DIR);
    uint64_t start = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    lwp_run_join();
    lwp_own_stack_guard();
    lwp_real_calls_start();
    lwp_own_files_alone(lwp_threads_alone());
    lwp_process.unit = lwp_pmu_init(lwp_setting(LWP_ENV_PMU), (uint64_t)lwp_setting_number(LWP_ENV_PERIOD, 0));
    if (!lwp_process_begin(directory)) {
        lwp_process_debug("cannot write to the result directory: this process is not sampled");
        return;
    }
    lwp_process.contexts.file = &lwp_process.file;
    lwp_process.contexts.function = lwp_function_start;
    lwp_value_close = lwp_setting_number(LWP_ENV_APPROX, lwp_value_close);
    start_describe();
    if (!lwp_unwind_init())
        lwp_process_note("libunwind could not be loaded: there are no call paths");
    lwp_modules_update();
    bool heap = lwp_heap_start();
    if (!heap)
        lwp_process_note("the heap could not be followed (address space limit?)");
    lwp_heap_add_early();
    if (start_sampler()) {
        lwp_process.pid = getpid();
        lwp_process.active = true;
        lwp_threads_start();
    } else {
        lwp_process_note("nothing could be sampled in this process");
        lwps_writer_close(&lwp_process.file);
    }
    lwp_process.start_own_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void start_here(void *unused)
{
    void *before = lwp_own_allocations_begin();
    (void)unused;
    start_set_up();
    lwp_own_allocations_end(before);
}

static bool start_later(void (*start)(void *))
{
    lwp_sampling.kind = LWP_TIMER_SIGTRAP;
    return lwp_signals_start() && lwp_dormant_begin(start);
}

/* Valgrind's client request, which does nothing on a processor: whether the program runs on Valgrind's. */
static bool start_is_translated(void)
{
    enum { RUNNING_ON_VALGRIND = 0x1001 };
    volatile uint64_t request[6] = {RUNNING_ON_VALGRIND};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                     : "=d"(answer)
                     : "a"(request), "0"(answer)
                     : "cc", "memory");
    return answer != 0;
}

/* The program's stack may be small (RLIMIT_STACK). */
static __attribute__((noinline)) void start_process(void)
{
    lwp_imports_bind((const void *)start_process);
    lwp_settings_take();
    const char *directory = lwp_setting(LWP_ENV_DIR);
    int saved = errno;
    if (!directory || directory[0] != '/' || !start_follow() || !start_is_wanted()) {
        errno = saved;
        return;
    }
    if (start_is_translated() || !lwp_confinement_start(lwp_setting(LWP_ENV_FILTERS))) {
        errno = saved;
        return;
    }
    lwp_process.heap_threshold = (uint64_t)lwp_setting_number(LWP_ENV_HEAP_THRESHOLD, 65536);
    if (lwp_process.heap_threshold > 65536)
        lwp_process.heap_threshold = 65536; /* shadow.h's largest block */
    start_window();
    lwp_run_begin();
    lwp_own_files_alone(__libc_single_threaded); /* to count threads takes longer */
    lwp_own_stack_begin();
    if (lwp_dormant_is_possible() && start_later(start_here))
        lwp_run_loaded();
    else
        lwp_own_stack_run(start_here, NULL);
    pthread_atfork(start_before_fork, lwp_dormant_in_parent, start_fork_child);
    errno = saved;
}

__attribute__((constructor)) static void start_construct(void)
{
    void *before = lwp_own_allocations_begin();
    const uint32_t floats = lwp_floats_begin();
    start_process();
    lwp_floats_end(floats);
    lwp_own_allocations_end(before);
    lwp_dormant_begun();
}

__attribute__((destructor)) static void start_destruct(void)
{
    start_finish();
}

LWP_EXPORT _Noreturn void _exit(int status)
{
    start_finish();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

LWP_EXPORT _Noreturn void _Exit(int status) __attribute__((alias("_exit")));
