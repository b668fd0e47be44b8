/* Four threads in a ring: thread i fills a mailbox of WORDS words for thread i + 1, which reads each word once and then
 * gives the mailbox back. Each thread writes for its successor, so that a quarter of all communication is in each cell
 * (i, i + 1) of the matrix and nothing but flags anywhere else. With -DWEIGHTS the mailbox of thread i is filled with
 * (i + 1) * WORDS words: shares of 1, 2, 3 and 4 tenths.
 * ring [SECONDS] prints the words each thread read. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, WORDS = 2048, SIZE = THREADS * WORDS };

struct mailbox {
    _Alignas(128) atomic_int full;
    _Alignas(128) unsigned long words[SIZE];
};

static struct mailbox mailboxes[THREADS];
static atomic_int ended;
static unsigned long received[THREADS], sums[THREADS];
static double seconds = 2;

static int words_of(int thread)
{
#ifdef WEIGHTS
    return (thread + 1) * WORDS;
#else
    (void)thread;
    return SIZE;
#endif
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Words take a while to make: stores are then a large part of what a sampler sees. */
static inline unsigned long mixed(unsigned long x)
{
    for (int i = 0; i < 8; i++)
        x = (x ^ x >> 31) * 0x7fb5d329728ea185ul;
    return x;
}

static __attribute__((noinline)) void fill(unsigned long *words, int count, unsigned long round)
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

static int wait_for(atomic_int *flag, int value)
{
    while (atomic_load_explicit(flag, memory_order_acquire) != value) {
        if (atomic_load_explicit(&ended, memory_order_relaxed))
            return 0;
        sched_yield();
    }
    return 1;
}

static void *work(void *given)
{
    int self = (int)(long)given, before = (self + THREADS - 1) % THREADS;
    struct mailbox *out = &mailboxes[self], *in = &mailboxes[before];
    double end = now() + seconds;
    for (unsigned long round = 1;; round++) {
        if (!wait_for(&out->full, 0))
            break;
        fill(out->words, words_of(self), round);
        atomic_store_explicit(&out->full, 1, memory_order_release);
        if (!wait_for(&in->full, 1))
            break;
        sums[self] += add(in->words, words_of(before));
        received[self] += (unsigned long)words_of(before);
        atomic_store_explicit(&in->full, 0, memory_order_release);
        if (round % 64 == 0 && now() > end)
            atomic_store(&ended, 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc > 1)
        seconds = atof(argv[1]);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        printf("%lu\n", received[i]);
    return 0;
}
