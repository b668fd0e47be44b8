#include "collector/light/sampling/timer.h"

#include "collector/light/own/own_files.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/perf_signal.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PERF_PAGE_BYTES = 4096 };

struct lwp_timer {
    enum lwp_timer_kind kind;
    int fd;
    uint64_t event;     /* lwp_own_files_event() of it */
    uint64_t period_ns; /* as it was wanted last */
    void *page;         /* of the event: keeps it alive when the program closes all files it does not know */
    int signal;
    timer_t posix;
    bool has_posix; /* for the suspension of perf's clock */
    bool closed;    /* while suspended */
};

_Static_assert(sizeof(struct lwp_timer) <= LWP_OWN_SMALL, "");

int lwp_timer_signal(enum lwp_timer_kind kind)
{
    return kind == LWP_TIMER_SIGTRAP ? SIGTRAP : SIGRTMAX - 5;
}

static bool timer_is_posix(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_int == LWP_TIMER_DATA;
}

bool lwp_timer_owns(int signal, const siginfo_t *info)
{
    if (signal == SIGTRAP)
        return lwp_perf_signal_data(info) == LWP_TIMER_DATA || timer_is_posix(info);
    return signal == SIGRTMAX - 5 && (info->si_code == POLL_IN || info->si_code == POLL_HUP || timer_is_posix(info));
}

bool lwp_timer_waits(const struct lwp_timer *timer)
{
    return timer->kind == LWP_TIMER_POSIX;
}

static struct timespec timer_span(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static int timer_open(enum lwp_timer_kind kind, pid_t tid, uint64_t period_ns)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = period_ns,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .disabled = 1};
    if (kind == LWP_TIMER_SIGTRAP) {
        attr.sigtrap = 1;
        attr.remove_on_exec = 1;
        attr.sig_data = LWP_TIMER_DATA;
    } else {
        attr.wakeup_events = 1;
    }
    int low = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (low < 0)
        return -1;
    int fd = lwp_own_files_raise(low);
    if (fd < 0)
        close(low); /* the low numbers are the program's */
    return fd;
}

static bool timer_make_perf(struct lwp_timer *timer, pid_t tid)
{
    timer->fd = timer_open(timer->kind, tid, timer->period_ns);
    if (timer->fd < 0)
        return false;
    if (timer->kind == LWP_TIMER_ASYNC) {
        struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};
        if (fcntl(timer->fd, F_SETSIG, lwp_timer_signal(timer->kind)) || fcntl(timer->fd, F_SETOWN_EX, &owner) ||
            fcntl(timer->fd, F_SETFL, fcntl(timer->fd, F_GETFL) | O_ASYNC)) {
            close(timer->fd);
            return false;
        }
    }
    timer->event = lwp_own_files_event(timer->fd);
    timer->page = lwp_own_map(NULL, PERF_PAGE_BYTES, PROT_READ, MAP_SHARED, timer->fd, 0); /* refused: does without */
    return true;
}

static bool timer_start_perf(struct lwp_timer *timer, pid_t tid)
{
    return timer_make_perf(timer, tid) && ioctl(timer->fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

static bool timer_create_posix(struct lwp_timer *timer, pid_t tid)
{
    enum { THREAD_CPU_CLOCK = 6 }; /* the kernel's encoding of another thread's CPU clock */
    clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | THREAD_CPU_CLOCK);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = timer->signal};
    event.sigev_value.sival_int = LWP_TIMER_DATA;
    event._sigev_un._tid = tid;
    return timer_create(clock, &event, &timer->posix) == 0;
}

static bool timer_start_posix(struct lwp_timer *timer, pid_t tid)
{
    if (!timer_create_posix(timer, tid))
        return false;
    lwp_timer_set_period(timer, timer->period_ns);
    return true;
}

struct lwp_timer *lwp_timer_make(enum lwp_timer_kind kind, pid_t tid, uint64_t period_ns)
{
    struct lwp_timer *timer = lwp_own_small();
    if (!timer)
        return NULL;
    *timer = (struct lwp_timer){.kind = kind, .fd = -1, .period_ns = period_ns, .signal = lwp_timer_signal(kind)};
    if (kind != LWP_TIMER_POSIX && !lwp_own_files_room())
        timer->kind = LWP_TIMER_POSIX; /* which needs no file, and sends the same signal */
    bool made = timer->kind == LWP_TIMER_POSIX ? timer_start_posix(timer, tid) : timer_make_perf(timer, tid);
    if (made)
        return timer;
    lwp_own_small_free(timer);
    return NULL;
}

void lwp_timer_begin(struct lwp_timer *timer)
{
    if (timer->kind != LWP_TIMER_POSIX)
        ioctl(timer->fd, PERF_EVENT_IOC_ENABLE, 0);
}

struct lwp_timer *lwp_timer_start(enum lwp_timer_kind kind, pid_t tid, uint64_t period_ns)
{
    struct lwp_timer *timer = lwp_timer_make(kind, tid, period_ns);
    if (timer)
        lwp_timer_begin(timer);
    return timer;
}

struct lwp_timer *lwp_timer_start_suspended(enum lwp_timer_kind kind, pid_t tid, uint64_t suspended_ns)
{
    struct lwp_timer *timer = kind == LWP_TIMER_POSIX ? NULL : lwp_own_small();
    if (!timer)
        return NULL;
    *timer = (struct lwp_timer){.kind = kind, .fd = -1, .signal = lwp_timer_signal(kind), .closed = true};
    timer->has_posix = timer_create_posix(timer, tid);
    if (timer->has_posix && lwp_timer_suspend_on(timer, suspended_ns))
        return timer;
    lwp_timer_stop(timer);
    return NULL;
}

/* Not where the program has closed the event's file: then nothing can be changed any more. */
static bool timer_is_ours(const struct lwp_timer *timer)
{
    return timer->fd >= 0 && lwp_own_files_event(timer->fd) == timer->event;
}

static void timer_unmap_page(struct lwp_timer *timer)
{
    if (timer->page && timer->page != MAP_FAILED)
        munmap(timer->page, PERF_PAGE_BYTES);
    timer->page = NULL;
}

/* One that is ours. */
static void timer_end_event(struct lwp_timer *timer)
{
    ioctl(timer->fd, PERF_EVENT_IOC_DISABLE, 0); /* it goes with its page only */
    close(timer->fd);
    timer->fd = -1;
    timer_unmap_page(timer);
}

static void timer_start_again(struct lwp_timer *timer)
{
    timer_unmap_page(timer); /* the event's end */
    timer_start_perf(timer, (pid_t)syscall(SYS_gettid));
}

void lwp_timer_set_period(struct lwp_timer *timer, uint64_t period_ns)
{
    timer->period_ns = period_ns;
    if (timer->closed)
        return;
    if (timer->kind == LWP_TIMER_POSIX) {
        struct itimerspec spec = {timer_span(period_ns), timer_span(period_ns)};
        timer_settime(timer->posix, 0, &spec, NULL);
    } else if (timer_is_ours(timer)) {
        ioctl(timer->fd, PERF_EVENT_IOC_PERIOD, &period_ns);
    } else {
        timer_start_again(timer);
    }
}

bool lwp_timer_suspend_on(struct lwp_timer *timer, uint64_t suspended_ns)
{
    struct itimerspec once = {.it_value = timer_span(suspended_ns)};
    return timer_settime(timer->posix, 0, &once, NULL) == 0;
}

bool lwp_timer_suspend(struct lwp_timer *timer, uint64_t suspended_ns, uint64_t period_ns)
{
    if (timer->kind == LWP_TIMER_POSIX)
        return false;
    if (!timer->has_posix)
        timer->has_posix = timer_create_posix(timer, (pid_t)syscall(SYS_gettid));
    if (!timer->has_posix)
        return false;
    if (timer->closed)
        return lwp_timer_suspend_on(timer, suspended_ns);
    if (!timer_is_ours(timer) || ioctl(timer->fd, PERF_EVENT_IOC_DISABLE, 0))
        return false;
    timer->period_ns = period_ns;
    if (ioctl(timer->fd, PERF_EVENT_IOC_PERIOD, &period_ns) == 0 && lwp_timer_suspend_on(timer, suspended_ns))
        return true;
    lwp_timer_run(timer);
    return false;
}

bool lwp_timer_suspension_ended(const struct lwp_timer *timer, const siginfo_t *info)
{
    return timer->kind != LWP_TIMER_POSIX && timer_is_posix(info);
}

int lwp_timer_file(const struct lwp_timer *timer)
{
    return timer->fd;
}

void lwp_timer_close(struct lwp_timer *timer)
{
    if (!timer_is_ours(timer))
        return;
    timer_end_event(timer);
    timer->closed = true;
}

/* Refused where the program has given up its privileges since, or has no room for a file: the other timer is there. */
static void timer_open_again(struct lwp_timer *timer)
{
    timer->closed = false;
    if (lwp_own_files_room() && timer_start_perf(timer, (pid_t)syscall(SYS_gettid)))
        return;
    timer->kind = LWP_TIMER_POSIX;
    lwp_timer_set_period(timer, timer->period_ns);
}

void lwp_timer_run(struct lwp_timer *timer)
{
    if (timer->closed)
        timer_open_again(timer);
    else if (timer_is_ours(timer))
        ioctl(timer->fd, PERF_EVENT_IOC_ENABLE, 0);
    else
        timer_start_again(timer);
}

uint64_t lwp_timer_ran(const struct lwp_timer *timer)
{
    uint64_t ns; /* of a file of the program's nothing must be read */
    if (!timer_is_ours(timer) || syscall(SYS_read, timer->fd, &ns, sizeof ns) != sizeof ns)
        return 0;
    return ns;
}

void lwp_timer_stop(struct lwp_timer *timer)
{
    if (timer->kind == LWP_TIMER_POSIX || timer->has_posix)
        timer_delete(timer->posix);
    if (timer->kind != LWP_TIMER_POSIX && timer_is_ours(timer))
        timer_end_event(timer);
    timer_unmap_page(timer);
    lwp_own_small_free(timer);
}

void lwp_timer_forget(struct lwp_timer *timer)
{
    if (timer->kind != LWP_TIMER_POSIX && timer_is_ours(timer))
        close(timer->fd);
    lwp_own_small_free(timer); /* the event's page is not copied to a child */
}

enum lwp_timer_kind lwp_timer_probe(const char *forced)
{
    static const char *const names[] = {"", "sigtrap", "async", "posix"};
    pid_t tid = (pid_t)syscall(SYS_gettid);
    for (enum lwp_timer_kind kind = LWP_TIMER_SIGTRAP; kind <= LWP_TIMER_POSIX; kind++) {
        if (forced && *forced && strcmp(forced, "auto") && strcmp(forced, names[kind]))
            continue;
        struct lwp_timer *timer = lwp_timer_start(kind, tid, 10000000000u); /* never fires while we look */
        if (timer) {
            lwp_timer_stop(timer);
            return kind;
        }
    }
    return LWP_TIMER_NONE;
}
