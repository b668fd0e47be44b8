/* Open -> wait -> read the kernel's records (records.c) every some milliseconds -> review what it costs.
 *
 * The program is not stopped while its threads are listed: they are listed again until no new one is found. A thread that was started
 * meanwhile by one that had its event already has inherited that, and the one opened for it by name is dropped when its first sample
 * shows so. */
#include "collector/outside/outside.h"

#include "base/arena.h"
#include "base/clock.h"
#include "collector/code/insn.h"
#include "collector/outside/events.h"
#include "collector/outside/process/tasks.h"
#include "collector/outside/processes.h"
#include "collector/outside/records.h"
#include "collector/outside/sample_cost.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int outside_passed[] = {SIGQUIT, SIGUSR1, SIGUSR2}; /* and those that end the sampling of others */

enum { FREQUENCY_FIRST = 1000, FIRST_PERIOD_NS = 1000003, PASSES_MOST = 100 };

static const uint64_t look_ns = 10000; /* that lwp needs to look at a sample, at first */
static const uint64_t refresh_every_ns = 1000000000, review_least_ns = 200000000;
static const int wait_most_ms = 200;

struct lwp_outside {
    struct lwp_outside_wish wish;
    struct lwp_events events;
    struct lwp_processes processes;
    struct lwp_outside_records records;
    struct lwp_phases *phases;
    bool on;              /* samples are wanted */
    int signals, process; /* descriptors: of signals to lwp, and of the process's end */
    int wait_ms;          /* between looks into the rings */
    struct {
        uint64_t own_ns, samples, cpu_ns, time;
    } review; /* what it was when the period was last reviewed */
};

/* ---- open ---- */

/* Opens events on all threads that have none. Returns how many were new, or an error below 0. */
static int open_threads(struct lwp_outside *outside, pid_t pid, struct lwp_error *err)
{
    struct lwp_tasks threads = {0};
    int status = LWP_OK, added = 0;
    lwp_tasks_of_process(&threads, pid);
    for (size_t i = 0; i < threads.count && (!status || status == LWP_ERR_MISSING); i++) {
        if (lwp_events_holds(&outside->events, threads.items[i]))
            continue;
        status = lwp_events_add(&outside->events, pid, threads.items[i], err);
        added += status == LWP_OK;
    }
    lwp_tasks_free(&threads);
    return status && status != LWP_ERR_MISSING ? status : added;
}

static int open_all(struct lwp_outside *outside, struct lwp_error *err)
{
    int added = 1;
    for (unsigned pass = 0; added > 0 && pass < PASSES_MOST; pass++) {
        struct lwp_tasks processes = {0};
        added = 0;
        lwp_tasks_processes(&processes, outside->wish.pid, outside->wish.children);
        for (size_t i = 0; i < processes.count && added >= 0; i++) {
            int more = open_threads(outside, processes.items[i], err);
            added = more < 0 ? more : added + more;
        }
        lwp_tasks_free(&processes);
    }
    if (added < 0)
        return added;
    if (!outside->events.thread_count)
        return lwp_error_set(err, LWP_ERR_MISSING, "collect: process %d has ended", (int)outside->wish.pid);
    return LWP_OK;
}

static uint64_t outside_period(const struct lwp_outside_wish *wish, uint64_t cost_ns)
{
    double most = wish->max_overhead / 100 * 1e9 / (double)(cost_ns + look_ns),
           frequency = wish->frequency > 0 ? wish->frequency : FREQUENCY_FIRST;
    frequency = frequency < most ? frequency : most;
    return (uint64_t)(1e9 / frequency) | 3; /* not round: programs have rhythms, too */
}

struct lwp_outside *lwp_outside_new(const struct lwp_outside_wish *wish, struct lwp_error *err)
{
    struct lwp_outside *outside = lwp_zeroed(1, sizeof *outside);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    for (size_t i = 0; wish->begin && i < sizeof outside_passed / sizeof *outside_passed; i++)
        sigaddset(&set, outside_passed[i]);
    outside->wish = *wish;
    outside->processes = (struct lwp_processes){.wish = &outside->wish, .events = &outside->events};
    outside->signals = outside->process = -1;
    int status = lwp_tasks_check(&outside->wish.pid, err);
    if (!status && !lwp_insn_init())
        status = lwp_error_set(err, LWP_ERR_MISSING, "collect: libZydis cannot be loaded; 'lwp doctor' says more");
    if (!status)
        status = lwp_events_init(&outside->events, FIRST_PERIOD_NS, wish->children, err);
    if (!status) {
        outside->processes.sample_ns = lwp_sample_cost(&outside->events.attr);
        lwp_events_set_period(&outside->events, outside_period(wish, outside->processes.sample_ns), lwp_clock(CLOCK_MONOTONIC));
        outside->process = (int)syscall(SYS_pidfd_open, outside->wish.pid, 0);
        sigprocmask(SIG_BLOCK, &set, NULL);
        outside->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        status = open_all(outside, err);
    }
    if (!status)
        return outside;
    lwp_outside_free(outside);
    return NULL;
}

void lwp_outside_free(struct lwp_outside *outside)
{
    if (!outside)
        return;
    lwp_events_close(&outside->events);
    if (outside->signals >= 0)
        close(outside->signals);
    if (outside->process >= 0)
        close(outside->process);
    lwp_outside_records_free(&outside->records);
    lwp_processes_free(&outside->processes);
    free(outside);
}

/* ---- run ---- */

/* lwp start and lwp stop; between them the threads have no event that counts. */
static void outside_change(void *of, bool on)
{
    struct lwp_outside *outside = of;
    if (outside->on == on)
        return;
    if (on) /* much may have changed */
        lwp_processes_refresh(&outside->processes, lwp_clock(CLOCK_MONOTONIC), true);
    lwp_events_switch(&outside->events, on);
    outside->on = on;
    outside->processes.phase += on;
}

/* The process has ended, or a signal says so. */
static bool outside_is_over(const struct lwp_outside_end *end)
{
    return end->ended_by || end->process_ended;
}

/* Waits, at most until `until`, and not long. */
static void outside_wait(struct lwp_outside *outside, uint64_t until, struct lwp_outside_end *end)
{
    uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    struct pollfd polled[3] = {{.fd = outside->signals, .events = POLLIN},
                               {.fd = outside->process, .events = POLLIN},
                               {.fd = outside->phases ? lwp_phases_fd(outside->phases) : -1, .events = POLLIN}};
    int wait_ms = outside->wait_ms;
    if (until && until < now + (uint64_t)wait_ms * 1000000)
        wait_ms = until > now ? (int)((until - now) / 1000000) + 1 : 0;
    int ready = poll(polled, 3, wait_ms);
    struct signalfd_siginfo info;
    if (ready > 0 && polled[2].revents & POLLIN)
        lwp_phases_serve(outside->phases, outside_change, outside);
    if (ready > 0 && polled[0].revents & POLLIN && read(outside->signals, &info, sizeof info) == sizeof info) {
        if (!outside->wish.begin)
            end->ended_by = (int)info.ssi_signo;
        else if (info.ssi_code != SI_KERNEL && info.ssi_pid != (uint32_t)outside->wish.pid) /* a terminal's have reached it */
            kill(outside->wish.pid, (int)info.ssi_signo);
    }
    end->process_ended = ready > 0 && polled[1].revents;
    if (outside->process < 0)
        end->process_ended = kill(outside->wish.pid, 0) && errno == ESRCH;
}

/* Samples less often where that costs more than it may. */
static void outside_review(struct lwp_outside *outside, uint64_t now)
{
    uint64_t own_ns = lwp_clock(CLOCK_PROCESS_CPUTIME_ID), samples, cpu_ns;
    if (now < outside->review.time + refresh_every_ns)
        return;
    lwp_processes_sum(&outside->processes, &cpu_ns, &samples);
    double spent =
        (double)(own_ns - outside->review.own_ns) + (double)(samples - outside->review.samples) * (double)outside->processes.sample_ns;
    double most = (double)(cpu_ns - outside->review.cpu_ns) * outside->wish.max_overhead / 100;
    bool judged = outside->review.time && cpu_ns > outside->review.cpu_ns + review_least_ns;
    if (judged && spent > most) {
        double times = spent / most < 4 ? spent / most : 4;
        lwp_events_set_period(&outside->events, (uint64_t)((double)outside->events.attr.sample_period * times) | 3, now);
    }
    outside->review.own_ns = own_ns;
    outside->review.samples = samples;
    outside->review.cpu_ns = cpu_ns;
    outside->review.time = now;
}

/* Into the result of the first process that is still there; NULL: none is. */
static void outside_say(const struct lwp_outside *outside, struct lwp_followed *followed)
{
    char text[512];
    if (!followed)
        return;
    followed->lost += outside->records.lost;
    lwp_followed_note(followed,
                      "Sampled from outside, without lwp's library in the program: where heap blocks were allocated is not known, nor "
                      "are redundancy, sharing and communication.");
    if (followed->interpreter->remote.unreadable)
        lwp_followed_note(followed,
                          "The process's memory could not be read (ptrace is restricted, see kernel.yama.ptrace_scope): thread-local "
                          "variables are not known.");
    if (outside->records.lost) {
        snprintf(text, sizeof text, "The kernel lost %llu records, since lwp did not read them in time: lower -F.",
                 (unsigned long long)outside->records.lost);
        lwp_followed_note(followed, text);
    }
    if (outside->records.throttled) {
        snprintf(text, sizeof text, "The kernel throttled sampling %llu times: lower -F.", (unsigned long long)outside->records.throttled);
        lwp_followed_note(followed, text);
    }
}

/* Until sampling begins. A program that lwp holds is let go by then, or, with `held`, once its events count. */
static void outside_delay(struct lwp_outside *outside, bool held, struct lwp_outside_end *end)
{
    const struct lwp_outside_wish *wish = &outside->wish;
    const uint64_t from = lwp_clock(CLOCK_MONOTONIC) + (uint64_t)(wish->delay_s * 1e9);
    if (wish->begin && !held)
        wish->begin(wish->of);
    while (!outside_is_over(end) && wish->delay_s > 0 && lwp_clock(CLOCK_MONOTONIC) < from)
        outside_wait(outside, from, end);
}

/* Its events count from now on, and the processes that run already are looked at. */
static int outside_begin(struct lwp_outside *outside, bool held, struct lwp_error *err)
{
    int status = LWP_OK;
    if (!outside->phases || lwp_phases_now(outside->phases).on) /* first, so that an exec from now on leaves a record */
        outside_change(outside, true);
    if (held) /* it is only now becoming what it will be */
        outside->wish.begin(outside->wish.of);
    else if ((status = lwp_processes_begin(&outside->processes, err)) == LWP_OK)
        lwp_processes_begin_children(&outside->processes);
    if (!status && outside->on) /* what was mapped while they were looked at */
        lwp_processes_refresh(&outside->processes, lwp_clock(CLOCK_MONOTONIC), true);
    return status;
}

/* `own_before`: CPU time of lwp when it began. */
static uint64_t outside_finish(struct lwp_outside *outside, uint64_t own_before)
{
    lwp_events_switch(&outside->events, false);
    const uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    lwp_processes_refresh(&outside->processes, now, true);
    lwp_outside_drain(&outside->records, &outside->processes);
    const uint64_t own_ns = lwp_clock(CLOCK_PROCESS_CPUTIME_ID) - own_before;
    outside_say(outside, lwp_processes_first(&outside->processes));
    lwp_processes_end(&outside->processes, now, own_ns);
    return now;
}

int lwp_outside_run(struct lwp_outside *outside, const char *dir, struct lwp_phases *phases, struct lwp_outside_end *end,
                    struct lwp_error *err)
{
    const struct lwp_outside_wish *wish = &outside->wish;
    const bool held = wish->begin && wish->delay_s <= 0;
    const uint64_t own_before = lwp_clock(CLOCK_PROCESS_CPUTIME_ID);
    *end = (struct lwp_outside_end){0};
    outside->processes.dir = dir;
    outside->phases = phases;
    outside->wait_ms = lwp_events_interval_ms(&outside->events, wait_most_ms);
    outside_delay(outside, held, end);
    const int status = outside_begin(outside, held, err);
    if (status)
        return status;
    const uint64_t begun = lwp_clock(CLOCK_MONOTONIC), until = wish->duration_s > 0 ? begun + (uint64_t)(wish->duration_s * 1e9) : 0;
    for (bool over = outside_is_over(end); !over;) {
        outside_wait(outside, until, end);
        over = outside_is_over(end) || (until && lwp_clock(CLOCK_MONOTONIC) >= until);
        lwp_outside_drain(&outside->records, &outside->processes);
        if (!outside->on)
            continue;
        lwp_events_vary_period(&outside->events, lwp_clock(CLOCK_MONOTONIC));
        lwp_processes_refresh(&outside->processes, lwp_clock(CLOCK_MONOTONIC), false);
        outside_review(outside, lwp_clock(CLOCK_MONOTONIC));
    }
    end->wall_s = (double)(outside_finish(outside, own_before) - begun) * 1e-9;
    end->cpu_s = (double)outside->processes.cpu_ns * 1e-9;
    end->lost = outside->records.lost;
    end->throttled = outside->records.throttled;
    return LWP_OK;
}
