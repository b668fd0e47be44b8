/* A master makes tasks of TASK words, one after the other, for three workers, and each worker answers with as many
 * words as its number: TASK, TASK / 2 and TASK / 4. Worker 1 gets 4 of 7 rounds, worker 2 gets 2, worker 3 gets 1. So
 * of all words read from another thread (in units of TASK in 7 rounds, 7 + 4 + 1 + 1/4 = 12.25): master -> worker 1: 4,
 * worker 2: 2, worker 3: 1;  worker 1 -> master: 4, worker 2: 1, worker 3: 1/4. master_worker [SECONDS] prints the
 * words read, master -> workers and workers -> master. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORKERS = 3, TASK = 4096 };
enum { IDLE, ASKED, ANSWERED, ENDED };

struct desk {
    _Alignas(128) atomic_int state;
    _Alignas(128) unsigned long task[TASK];
    _Alignas(128) unsigned long answer[TASK];
    _Alignas(128) unsigned long read;
};

static struct desk desks[WORKERS];
static unsigned long answers_read[WORKERS], sums;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline unsigned long mixed(unsigned long x)
{
    for (int i = 0; i < 8; i++)
        x = (x ^ x >> 31) * 0x7fb5d329728ea185ul;
    return x;
}

static __attribute__((noinline)) void make(unsigned long *words, int count, unsigned long round)
{
    for (int i = 0; i < count; i++)
        words[i] = mixed(round ^ (unsigned long)i);
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) unsigned long add(const unsigned long *words, int count)
{
    unsigned long sum = 0;
    for (int i = 0; i < count; i++)
        sum += words[i] * 31;
    __asm__ volatile("" : "+r"(sum) : : "memory");
    return sum;
}

static int wait_for(atomic_int *state, int value)
{
    for (;;) {
        int seen = atomic_load_explicit(state, memory_order_acquire);
        if (seen == value || seen == ENDED)
            return seen == value;
        sched_yield();
    }
}

static void *work(void *given)
{
    int self = (int)(long)given;
    struct desk *desk = &desks[self];
    for (unsigned long round = 1; wait_for(&desk->state, ASKED); round++) {
        desk->read += TASK;
        unsigned long sum = add(desk->task, TASK);
        make(desk->answer, TASK >> self, round ^ sum);
        atomic_store_explicit(&desk->state, ANSWERED, memory_order_release);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static const int order[] = {0, 1, 0, 2, 0, 1, 0};
    double end = now() + (argc > 1 ? atof(argv[1]) : 2);
    pthread_t threads[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (unsigned long round = 0; now() < end; round++)
        for (int i = 0; i < 7; i++) {
            struct desk *desk = &desks[order[i]];
            make(desk->task, TASK, round + (unsigned long)i);
            atomic_store_explicit(&desk->state, ASKED, memory_order_release);
            wait_for(&desk->state, ANSWERED);
            sums += add(desk->answer, TASK >> order[i]);
            answers_read[order[i]] += (unsigned long)(TASK >> order[i]);
        }
    for (int i = 0; i < WORKERS; i++)
        atomic_store(&desks[i].state, ENDED);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WORKERS; i++)
        printf("%lu %lu\n", desks[i].read, answers_read[i]);
    return sums == 1;
}
