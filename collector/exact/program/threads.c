#include "collector/exact/program/calls.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/valgrind/scheduling_order.h"

enum { THREADS_MAX = 8192 };

static struct lwp_exact_thread *threads[THREADS_MAX];
static struct lwp_exact_thread threads_other; /* of those beyond: nothing of it is written */
static void (*threads_leave)(void), (*threads_enter)(void), (*threads_runs)(ThreadId);

static struct lwp_exact_thread *threads_of(ThreadId id)
{
    if (id >= THREADS_MAX) {
        threads_other.failed = true;
        if (!threads_other.calls.now)
            lwp_call_stacks_init(&threads_other.calls);
        return &threads_other;
    }
    if (!threads[id]) {
        threads[id] = VG_(calloc)("lwp.thread", 1, sizeof *threads[id]);
        lwp_call_stacks_init(&threads[id]->calls);
    }
    return threads[id];
}

static void threads_make(ThreadId parent, ThreadId child)
{
    (void)parent;
    lwp_schedule_created(child);
    LWP_DETECTORS(thread_made, threads_of(child));
}

static void threads_run(ThreadId id, ULong blocks)
{
    (void)blocks;
    struct lwp_exact_thread *thread = threads_of(id);
    threads_runs(id);
    if (thread == lwp_thread_now)
        return;
    threads_leave();
    if (lwp_thread_now)
        lwp_thread_now->context = lwp_context_now;
    if (!thread->tid) {
        thread->tid = (uint32_t)VG_(gettid)();
        thread->stack_high = VG_(thread_get_stack_max)(id) + 1;
        thread->stack_low = thread->stack_high - VG_(thread_get_stack_size)(id);
    }
    LWP_DETECTORS(thread_runs, id, lwp_thread_now, thread);
    lwp_thread_now = thread;
    lwp_calls_now = &thread->calls;
    lwp_context_now = thread->context;
    threads_enter();
}

static void thread_close(struct lwp_exact_thread *thread)
{
    if (thread->opened) {
        lwps_put_thread_end(&thread->file, &(struct lwps_thread_end){.time = lwp_trace_time()});
        lwps_writer_close(&thread->file);
    }
    lwp_context_map_clear(&thread->contexts);
    thread->opened = false;
}

static void threads_exit(ThreadId id)
{
    struct lwp_exact_thread *thread = threads_of(id);
    lwp_schedule_ends(id);
    if (thread == &threads_other)
        return;
    if (thread == lwp_thread_now)
        threads_leave();
    LWP_DETECTORS(thread_ends, thread);
    if (thread == lwp_thread_now) {
        lwp_thread_now = NULL;
        lwp_calls_now = NULL;
        lwp_context_now = 0;
    }
    thread_close(thread);
    lwp_call_stacks_free(&thread->calls);
    VG_(free)(thread);
    threads[id] = NULL;
}

void lwp_threads_finish(void)
{
    threads_leave();
    for (int i = 0; i < THREADS_MAX; i++)
        if (threads[i])
            thread_close(threads[i]);
}

void lwp_threads_abandon(void)
{
    for (int i = 0; i < THREADS_MAX; i++) {
        struct lwp_exact_thread *thread = threads[i];
        if (!thread)
            continue;
        if (thread->opened)
            lwps_writer_abandon(&thread->file);
        lwp_context_map_clear(&thread->contexts);
        thread->opened = thread->failed = false;
        thread->tid = thread == lwp_thread_now ? (uint32_t)VG_(gettid)() : thread->tid;
    }
}

/* Handlers on the thread's own stack are called there as functions are, from the instruction that was interrupted. */
static void threads_before_handler(ThreadId id, Int signal, Bool own_stack)
{
    (void)signal;
    if (own_stack)
        lwp_calls_handler(&threads_of(id)->calls, VG_(get_SP)(id));
    else
        lwp_calls_interrupted(&threads_of(id)->calls, VG_(get_IP)(id), VG_(get_SP)(id));
}

static void threads_after_handler(ThreadId id, Int signal)
{
    (void)signal;
    lwp_calls_handled(&threads_of(id)->calls, VG_(get_SP)(id));
}

void lwp_threads_start(void (*leave)(void), void (*enter)(void), void (*runs)(ThreadId))
{
    threads_leave = leave;
    threads_enter = enter;
    threads_runs = runs;
    VG_(track_pre_deliver_signal)(threads_before_handler);
    VG_(track_post_deliver_signal)(threads_after_handler);
    VG_(track_pre_thread_ll_create)(threads_make);
    VG_(track_start_client_code)(threads_run);
    VG_(track_pre_thread_ll_exit)(threads_exit);
}
