/* Threads that hand numbers to each other in a known pattern: patterns PATTERN THREADS. In each of ROUNDS rounds threads
 * fill WORDS numbers each (the master of master/worker: WORDS for each worker), wait for all, and those that are to have
 * them read them TIMES times. So from each such writer to each such reader there are ROUNDS * WORDS true communications and
 * TIMES - 1 times as many reuses, at a distance of WORDS - 1. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, WORDS = 2000, TIMES = 4, THREADS_MAX = 300 };

static long *words[THREADS_MAX], *tasks[THREADS_MAX];
static long sums[THREADS_MAX][8];
static int threads;
static const char *pattern;
static pthread_barrier_t all;

static __attribute__((noinline)) void fill(volatile long *to, long value)
{
    for (int i = 0; i < WORDS; i++)
        to[i] = value + i;
}

static __attribute__((noinline)) long take(const volatile long *from)
{
    long sum = 0;
    for (int k = 0; k < TIMES; k++)
        for (int i = 0; i < WORDS; i++)
            sum += from[i];
    return sum;
}

/* Whether `reader` takes what `writer` has filled in this round. */
static int takes(int writer, int reader)
{
    if (strcmp(pattern, "ring") == 0)
        return reader == (writer + 1) % threads;
    if (strcmp(pattern, "pipeline") == 0)
        return reader == writer + 1;
    if (strcmp(pattern, "neighbours") == 0)
        return reader == writer + 1 || writer == reader + 1;
    if (strcmp(pattern, "reduction") == 0)
        return reader == 0 && writer != 0;
    return reader != writer; /* all */
}

static void *work(void *given)
{
    int self = (int)(long)given;
    int master = strcmp(pattern, "master") == 0;
    for (long round = 0; round < ROUNDS; round++) {
        if (!master)
            fill(words[self], round * self);
        else if (self == 0)
            for (int i = 1; i < threads; i++)
                fill(tasks[i], round + i);
        pthread_barrier_wait(&all);
        if (master && self) {
            sums[self][0] += take(tasks[self]);
            fill(words[self], sums[self][0]);
        }
        for (int i = 0; i < threads && !master; i++)
            if (takes(i, self))
                sums[self][0] += take(words[i]);
        pthread_barrier_wait(&all);
        for (int i = 1; i < threads && master && self == 0; i++)
            sums[0][0] += take(words[i]);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ids[THREADS_MAX];
    if (argc != 3 || (threads = atoi(argv[2])) < 2 || threads > THREADS_MAX)
        return 2;
    pattern = argv[1];
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        words[i] = malloc(WORDS * sizeof(long));
        tasks[i] = malloc(WORDS * sizeof(long));
    }
    for (long i = 1; i < threads; i++)
        pthread_create(&ids[i], NULL, work, (void *)i);
    work((void *)0L);
    long sum = sums[0][0];
    for (int i = 1; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += sums[i][0];
    }
    printf("%ld\n", sum);
    return 0;
}
