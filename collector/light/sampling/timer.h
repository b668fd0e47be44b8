/* A timer on one thread's CPU time that signals that thread. The flavours, best first: perf's task-clock as a
 * synchronous SIGTRAP; the same with O_ASYNC; a POSIX thread CPU timer (250 Hz at most on most kernels). */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_TIMER_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_TIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum lwp_timer_kind { LWP_TIMER_NONE, LWP_TIMER_SIGTRAP, LWP_TIMER_ASYNC, LWP_TIMER_POSIX };

/* The word that events which sample send with their signal. */
enum { LWP_TIMER_DATA = 0x6c777074 };

struct lwp_timer; /* mmap'ed, one a thread */

/* The best flavour that works here and now, tried on the calling thread; `forced` is LWP_ENV_TIMER's value or NULL. */
enum lwp_timer_kind lwp_timer_probe(const char *forced);

int lwp_timer_signal(enum lwp_timer_kind kind);
bool lwp_timer_owns(int signal, const siginfo_t *info);

/* Whether a tick that falls into the kernel waits for the thread to return; perf's are dropped there. */
bool lwp_timer_waits(const struct lwp_timer *timer);

struct lwp_timer *lwp_timer_start(enum lwp_timer_kind kind, pid_t tid, uint64_t period_ns);
/* The same in two steps: perf's sends nothing before it is begun. */
struct lwp_timer *lwp_timer_make(enum lwp_timer_kind kind, pid_t tid, uint64_t period_ns);
void lwp_timer_begin(struct lwp_timer *timer);
/* The same, but suspended (below), and nothing is opened meanwhile. */
struct lwp_timer *lwp_timer_start_suspended(enum lwp_timer_kind kind, pid_t tid, uint64_t suspended_ns);
/* These two, on the calling thread, open a new event for a timer whose file the program has closed. */
void lwp_timer_set_period(struct lwp_timer *timer, uint64_t period_ns);
void lwp_timer_run(struct lwp_timer *timer); /* after it was suspended */
/* No signals for `suspended_ns` of the thread's CPU time; then one, lwp_timer_suspension_ended(), and after lwp_timer_run() again one each
 * `period_ns`. False: not possible, everything is as it was. Of perf's clocks only, on the calling thread. */
bool lwp_timer_suspend(struct lwp_timer *timer, uint64_t suspended_ns, uint64_t period_ns);
bool lwp_timer_suspend_on(struct lwp_timer *timer, uint64_t suspended_ns); /* it is: for so long from now */
bool lwp_timer_suspension_ended(const struct lwp_timer *timer, const siginfo_t *info);
void lwp_timer_close(struct lwp_timer *timer); /* while suspended: perf's event goes until lwp_timer_run(), which costs 15 us more */
/* For how long perf's clock has run, ns: not while the thread had left the processor, nor on its way there and back. 0: not known,
 * as its file was closed. */
uint64_t lwp_timer_ran(const struct lwp_timer *timer);
int lwp_timer_file(const struct lwp_timer *timer); /* of perf's clocks */
void lwp_timer_stop(struct lwp_timer *timer);      /* in the process that started it */
void lwp_timer_forget(struct lwp_timer *timer);    /* in the child of a fork */

#endif
