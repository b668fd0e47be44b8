#include "collector/light/process/start.h"

#include "collector/light/code/own_program.h"
#include "collector/light/heap/sites.h"
#include "collector/light/heap/thinning.h"
#include "collector/light/own/confinement.h"
#include "collector/light/own/floats.h"
#include "collector/light/own/own_files.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/run.h"
#include "collector/light/own/watched_memory.h"
#include "collector/light/process/dormant.h"
#include "collector/light/process/late_threads.h"
#include "collector/light/process/signals.h"
#include "collector/light/sampling/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

static struct {
    pthread_key_t key; /* its destructor runs when a thread ends */
    bool key_made;
    struct lwp_thread_totals gone; /* of threads that ended; added without a lock: approximate */
    uint64_t own_ns;               /* what beginning and ending them has cost, but for the first */
} threads;

static void threads_stack(struct lwp_thread *thread, bool own)
{
    enum { MAIN_MOST = 1 << 30 };
    if (!own)
        return;
    struct rlimit limit;
    if (thread->tid == getpid() && lwp_main_stack_high && getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < MAIN_MOST) {
        thread->stack_high = lwp_main_stack_high;
        thread->stack_low = lwp_main_stack_high - limit.rlim_cur;
        return;
    }
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (!pthread_attr_getstack(&attributes, &low, &size)) {
        thread->stack_low = (uint64_t)low;
        thread->stack_high = (uint64_t)low + size;
    }
    pthread_attr_destroy(&attributes);
}

static void threads_name(pid_t tid, bool own, char *name, size_t room)
{
    char path[64];
    if (own && prctl(PR_GET_NAME, name) == 0)
        return;
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
    lwp_own_files_read(path, name, room);
    name[strcspn(name, "\n")] = '\0';
}

static struct lwp_thread *threads_new(pid_t tid, bool own, double stands_for)
{
    if (lwp_confinement_came())
        return NULL;
    /* made by a bare clone: its signals would be handled on whatever stack it is on */
    if (own ? !lwp_own_stack_begin() : !lwp_own_stack_has(tid)) {
        lwp_sampler_refuse();
        return NULL;
    }
    struct lwp_thread *thread = lwp_thread_take();
    if (!thread)
        return NULL;
    thread->tid = tid;
    thread->begun_ns = lwp_clock(CLOCK_MONOTONIC);
    thread->stands_for = stands_for;
    thread->busy = 1;
    char name[64];
    if (!lwp_process_open(&thread->file, (uint32_t)tid)) {
        lwp_sampler_refuse();
        lwp_thread_give_back(thread);
        return NULL;
    }
    thread->contexts.file = &thread->file;
    thread->contexts.function = lwp_function_start;
    threads_stack(thread, own);
    threads_name(tid, own, name, sizeof name);
    lwps_put_thread(&thread->file, &(struct lwps_thread){.tid = (uint32_t)tid,
                                                         .time = thread->begun_ns,
                                                         .stack_low = thread->stack_low,
                                                         .stack_high = thread->stack_high,
                                                         .name = name,
                                                         .pointer = own ? (uint64_t)__builtin_thread_pointer() : 0});
    thread->hooks_left = 1 + (uint32_t)(thread->begun_ns % LWP_HOOKS_TIMED); /* short threads are charged on average, too */
    thread->heap_left_out = 0;
    thread->heap_thinning = lwp_run_affords() ? 0 : LWP_RUN_GET(lwp_run, thinning);
    thread->heap_larger = LWP_LARGER_MOST;
    if (own) {
        lwp_thread_begins(thread);
        lwp_sites_begin(thread);
    }
    if (lwp_sampler_attach(thread)) /* last, as its first tick may come soon */
        return thread;
    lwps_put_thread_end(&thread->file, &(struct lwps_thread_end){.time = lwp_clock(CLOCK_MONOTONIC)});
    lwps_writer_close(&thread->file);
    if (own) {
        lwp_sites_end();
        lwp_thread_ends(thread);
    } else {
        lwp_thread_give_back(thread);
    }
    return NULL;
}

static void threads_start_here(void *stands_for)
{
    struct lwp_thread *thread = threads_new(lwp_thread_tid(), true, *(double *)stands_for);
    if (!thread)
        return;
    thread->busy = 0;
    if (threads.key_made)
        pthread_setspecific(threads.key, thread);
}

static void threads_start_self(double stands_for)
{
    lwp_own_stack_begin(); /* the thread's may be small */
    lwp_own_stack_run(threads_start_here, &stands_for);
}

static void threads_add(struct lwp_thread_totals *totals, const struct lwp_thread *thread)
{
    totals->samples += thread->samples;
    totals->samples_with_address += thread->samples_with_address;
    totals->samples_lost += thread->samples_lost;
    totals->own_ns += lwp_budget_spent(&thread->budget);
}

static void threads_close(struct lwp_thread *thread, bool own)
{
    thread->attached = false;
    lwp_sampler_detach(thread);
    const uint64_t ran_ns = own ? lwp_clock(CLOCK_THREAD_CPUTIME_ID) : thread->last_cpu_ns;
    lwps_put_thread_end(&thread->file, &(struct lwps_thread_end){.time = lwp_clock(CLOCK_MONOTONIC), .cpu_ns = ran_ns});
    lwp_late_threads_ended(ran_ns);
    lwps_writer_close(&thread->file);
    lwps_paths_free(&thread->contexts);
    lwp_run_tell(thread);
    threads_add(&threads.gone, thread);
    thread->samples = thread->samples_with_address = thread->samples_lost = 0;
    thread->budget = (struct lwp_time_budget){0};
}

static void threads_end_here(void *of)
{
    struct lwp_thread *thread = of;
    lwp_sites_end();
    if (__atomic_load_n(&thread->attached, __ATOMIC_SEQ_CST)) /* another thread ends the process */
        threads_close(thread, true);
    lwp_thread_ends(thread);
}

static void threads_charge(uint64_t since_ns, bool set_up)
{
    uint64_t ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID) - since_ns;
    __atomic_fetch_add(&threads.own_ns, ns, __ATOMIC_RELAXED);
    lwp_run_spend(ns);
    lwp_late_threads_charge(ns, set_up);
}

static void threads_set_up_as(double stands_for)
{
    uint64_t began = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    threads_start_self(stands_for);
    threads_charge(began, true);
}

static void threads_set_up(void)
{
    threads_set_up_as(1);
}

/* What is done for threads that are not set up. To ask for CPU time would cost as much: one in TIMED times is timed, and stands for all. */
enum { TIMED = 61 /* a prime: the look at all that wait is at every 64th */, TIMED_LONGEST_NS = 20000 /* longer: it had to wait for a processor */ };

static uint64_t threads_timed_from(uint32_t *calls)
{
    if (!lwp_process.active) /* the clock may be forbidden (confined.c) */
        return 0;
    return __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED) % TIMED == TIMED - 1 ? lwp_clock(CLOCK_MONOTONIC) : 0;
}

static void threads_timed(uint64_t from_ns)
{
    uint64_t ns = from_ns ? lwp_clock(CLOCK_MONOTONIC) - from_ns : TIMED_LONGEST_NS;
    if (ns >= TIMED_LONGEST_NS)
        return;
    __atomic_fetch_add(&threads.own_ns, ns * TIMED, __ATOMIC_RELAXED);
    lwp_run_spend(ns * TIMED);
}

static void threads_end_self(void *value)
{
    static uint32_t ended;
    struct lwp_thread *thread = value;
    uint64_t from_ns = value == &threads ? threads_timed_from(&ended) : 0;
    if (lwp_late_threads_end()) {
        threads_timed(from_ns);
        return;
    }
    if (value == &threads || !thread->attached || thread != lwp_thread_self() || !lwp_process.active)
        return;
    uint64_t start = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    __atomic_fetch_add(&thread->busy, 1, __ATOMIC_SEQ_CST);
    lwp_own_stack_run(threads_end_here, thread);
    lwp_own_stack_end();
    threads_charge(start, false);
}

bool lwp_threads_alone(void)
{
    enum { LINKS = 2 }; /* of a folder, and one for each folder in it */
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink == LINKS + 1;
}

void lwp_threads_start(void)
{
    if (!threads.key_made)
        threads.key_made = pthread_key_create(&threads.key, threads_end_self) == 0;
    threads_start_self(1);
    lwp_late_threads_start(threads_set_up);
    if (lwp_threads_alone()) /* as after a fork, where the program's malloc() may be locked: opendir() allocates */
        return;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return;
    for (struct dirent *entry; (entry = readdir(tasks));) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0 || tid == lwp_thread_tid())
            continue;
        struct lwp_thread *thread = threads_new(tid, false, 1);
        if (thread)
            thread->busy = 0;
    }
    closedir(tasks);
}

void lwp_threads_finish(void)
{
    lwp_own_memory_keep();
    for (struct lwp_thread *thread = lwp_threads; thread; thread = thread->next) {
        if (!thread->attached)
            continue;
        bool own = thread == lwp_thread_self();
        if (own)
            thread->busy++;
        else
            __atomic_store_n(&thread->attached, false, __ATOMIC_SEQ_CST); /* its handler now turns back at the door */
        for (int wait = 0; !own && __atomic_load_n(&thread->busy, __ATOMIC_SEQ_CST) && wait < 100; wait++)
            usleep(100);
        if (own || !__atomic_load_n(&thread->busy, __ATOMIC_SEQ_CST))
            threads_close(thread, own);
    }
}

void lwp_threads_after_fork(void)
{
    for (struct lwp_thread *thread = lwp_threads; thread; thread = thread->next) {
        lwp_sampler_forget(thread);
        lwps_writer_abandon(&thread->file);
        lwps_paths_free(&thread->contexts);
        thread->attached = false;
    }
    lwp_thread_forget_all();
    lwp_own_stack_after_fork();
    lwp_late_threads_after_fork();
    threads.gone = (struct lwp_thread_totals){0};
    threads.own_ns = 0;
}

void lwp_threads_totals(struct lwp_thread_totals *totals)
{
    *totals = threads.gone;
    totals->own_ns += threads.own_ns;
    for (struct lwp_thread *thread = lwp_threads; thread; thread = thread->next)
        if (thread->attached)
            threads_add(totals, thread);
}

/* ---- new threads: by pthread_create, and C11's, which do not come through it ---- */

struct thread_start {
    void *run; /* the program's function */
    void *argument;
    bool blocked; /* whether its maker believes that our signal is */
    double stands_for; /* late_threads.h */
};
_Static_assert(sizeof(struct thread_start) <= LWP_OWN_SMALL, "");

static double threads_draw(void)
{
    const uint32_t floats = lwp_floats_begin();
    const double stands_for = lwp_late_threads_draw();
    lwp_floats_end(floats);
    return stands_for;
}

/* NULL: the thread is made without us. */
static struct thread_start *threads_prepare(void *run, void *argument)
{
    static uint32_t prepared;
    const int saved = errno; /* which pthread_create leaves as it is */
    lwp_dormant_wake(); /* alone still, and says so */
    uint64_t from_ns = threads_timed_from(&prepared);
    lwp_own_files_alone(false);
    struct thread_start *start = lwp_process_has_memory() ? lwp_own_small() : NULL; /* or in the child of a bare clone */
    if (start)
        *start = (struct thread_start){run, argument, lwp_signals_blocked(), threads_draw()};
    threads_timed(from_ns);
    errno = saved;
    return start;
}

/* What a new thread does first. */
static struct thread_start threads_begin(void *given)
{
    static uint32_t begun;
    uint64_t from_ns = threads_timed_from(&begun);
    const struct thread_start start = *(struct thread_start *)given;
    lwp_own_small_free(given);
    lwp_signals_inherit(start.blocked);
    if (!lwp_process.active) /* its maker has looked whether it is ours */
        return start;
    if (start.stands_for > 0 || !threads.key_made || !lwp_late_threads_wait())
        threads_set_up_as(start.stands_for);
    else {
        pthread_setspecific(threads.key, &threads); /* any value: so that its end is seen */
        threads_timed(from_ns);
    }
    return start;
}

static void *threads_run(void *given)
{
    const struct thread_start start = threads_begin(given);
    return ((void *(*)(void *))start.run)(start.argument);
}

static int threads_run_c11(void *given)
{
    const struct thread_start start = threads_begin(given);
    return ((thrd_start_t)start.run)(start.argument);
}

LWP_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    struct thread_start *start = threads_prepare((void *)run, argument);
    int status = LWP_REAL(pthread_create)(thread, attributes, start ? threads_run : run, start ? start : argument);
    if (status && start)
        lwp_own_small_free(start);
    return status;
}

LWP_EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    struct thread_start *start = threads_prepare((void *)run, argument);
    int status = LWP_REAL(thrd_create)(thread, start ? threads_run_c11 : run, start ? start : argument);
    if (status != thrd_success && start)
        lwp_own_small_free(start);
    return status;
}
