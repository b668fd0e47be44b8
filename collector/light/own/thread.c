#include "collector/light/own/thread.h"

#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct lwp_thread *_Atomic lwp_threads;
struct lwp_threads_whole lwp_threads_whole;
static __thread struct lwp_thread *thread_self;
static __thread bool thread_ended; /* what still runs in it is not sampled */
static __thread bool thread_waits;

pid_t lwp_thread_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

struct lwp_thread_events lwp_thread_events(void)
{
    struct rusage usage;
    if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage))
        return (struct lwp_thread_events){0};
    return (struct lwp_thread_events){.switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw,
                                      .faults = (uint64_t)usage.ru_minflt};
}

uint64_t lwp_thread_switches(void)
{
    return lwp_thread_events().switches;
}

struct lwp_thread *lwp_thread_self(void)
{
    if (!thread_self && lwp_process.active && !thread_ended && !thread_waits) {
        /* a thread that was there before us, or was made behind pthread_create's back */
        pid_t tid = lwp_thread_tid();
        for (struct lwp_thread *thread = lwp_threads; thread; thread = thread->next)
            if (thread->tid == tid && thread->attached)
                thread_self = thread;
    }
    return thread_self;
}

struct lwp_thread *lwp_thread_enter(void)
{
    struct lwp_thread *self = lwp_process_is_ours() ? lwp_thread_self() : NULL;
    if (self)
        __atomic_fetch_add(&self->busy, 1, __ATOMIC_SEQ_CST);
    return self;
}

void lwp_thread_leave(struct lwp_thread *self)
{
    if (self)
        __atomic_fetch_sub(&self->busy, 1, __ATOMIC_RELEASE);
}

void lwp_thread_note(const char *text)
{
    struct lwp_thread *self = lwp_thread_enter();
    if (lwp_process_lock_soon()) {
        lwp_process_note(text);
        lwp_process_unlock();
    }
    lwp_thread_leave(self);
}

void lwp_thread_waits(bool waits)
{
    thread_waits = waits;
}

void lwp_thread_begins(struct lwp_thread *thread)
{
    thread_self = thread;
}

void lwp_thread_ends(struct lwp_thread *thread)
{
    thread_self = NULL;
    thread_ended = true;
    lwp_thread_give_back(thread);
}

struct lwp_thread *lwp_thread_take(void)
{
    for (struct lwp_thread *thread = lwp_threads; thread; thread = thread->next)
        if (!__atomic_exchange_n(&thread->used, 1, __ATOMIC_ACQUIRE)) {
            struct lwp_thread *next = thread->next;
            memset(thread, 0, offsetof(struct lwp_thread, next));
            thread->next = next;
            return thread;
        }
    struct lwp_thread *thread = lwp_own_memory(sizeof *thread);
    if (!thread)
        return NULL;
    thread->used = 1;
    thread->busy = 1;
    thread->next = lwp_threads;
    while (!atomic_compare_exchange_weak(&lwp_threads, &thread->next, thread)) {
    }
    return thread;
}

void lwp_thread_give_back(struct lwp_thread *thread)
{
    __atomic_store_n(&thread->used, 0, __ATOMIC_RELEASE);
}

void lwp_thread_forget_all(void)
{
    lwp_threads = NULL; /* the structs are a small loss */
    thread_self = NULL;
}
