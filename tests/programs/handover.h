/* What programs that hand words from thread to thread have in common: making and reading them, and waiting for their turn.
 * A word is handed over once each time it is written and then read: what the programs print at the end is so many for each
 * pair, "WRITER READER WORDS" with the numbers of the threads. The flags they wait for (a few for thousands of words) are not
 * counted. With -DSLEEP those who wait sleep; else they let others run and look again. */
#ifndef HANDOVER_H
#define HANDOVER_H

#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* CPU time of the process: a run shows a sampler the same amount of work however busy the machine is. */
static inline double seconds_spent(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The number-th of the processors that the process may use, again from the first. A sampler of time sees a word for as long as
 * it takes to make, which is twice as long where its line is fetched from another processor: threads that are to be equal have
 * to be equally far from each other. */
static inline void stay_on(int number)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < 2)
        return;
    number %= CPU_COUNT(&all);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && number-- == 0)
            CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/* Words take a while to make: stores are then a large part of what a sampler sees. */
static inline unsigned long mixed(unsigned long x)
{
    for (int i = 0; i < 8; i++)
        x = (x ^ x >> 31) * 0x7fb5d329728ea185ul;
    return x;
}

static __attribute__((noinline, unused)) void make_words(unsigned long *words, int count, unsigned long round)
{
    for (int i = 0; i < count; i++)
        words[i] = mixed(round ^ (unsigned long)i);
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline, unused)) unsigned long add_words(const unsigned long *words, int count)
{
    unsigned long sum = 0;
    for (int i = 0; i < count; i++)
        sum += words[i] * 31;
    __asm__ volatile("" : "+r"(sum) : : "memory");
    return sum;
}

static inline void tell(atomic_int *flag, int value)
{
    atomic_store_explicit(flag, value, memory_order_release);
#ifdef SLEEP
    syscall(SYS_futex, flag, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#endif
}

/* False: it became `end` instead. */
static inline int wait_for(atomic_int *flag, int value, int end)
{
    for (;;) {
        int seen = atomic_load_explicit(flag, memory_order_acquire);
        if (seen == value || seen == end)
            return seen == value;
#ifdef SLEEP
        syscall(SYS_futex, flag, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
#else
        sched_yield();
#endif
    }
}

#endif
