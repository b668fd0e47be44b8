/* Short threads one after the other, and at their end a long one beside further short ones. Prints the CPU time of each kind. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 1 << 12 };
static unsigned long table_short[WORDS], table_long[WORDS];
static double cpu_short, cpu_long;
static volatile int over;

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static __attribute__((noinline)) unsigned long work_short(unsigned long sum, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        sum += table_short[(i * 2654435761u + sum) % WORDS] += i;
    return sum;
}

static __attribute__((noinline)) unsigned long work_long(unsigned long sum, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        sum += table_long[(i * 2654435761u + sum) % WORDS] += i;
    return sum;
}

static void *run_short(void *given)
{
    double began = thread_seconds();
    void *result = (void *)work_short((unsigned long)given, 40000);
    cpu_short += thread_seconds() - began; /* one at a time */
    return result;
}

static void *run_long(void *given)
{
    unsigned long sum = (unsigned long)given;
    while (!over)
        sum = work_long(sum, 100000);
    cpu_long = thread_seconds();
    return (void *)sum;
}

static void run(int count)
{
    while (count--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_short, NULL))
            exit(1);
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10000;
    pthread_t thread;
    run(count);
    if (pthread_create(&thread, NULL, run_long, NULL))
        return 1;
    run(count / 2);
    over = 1;
    pthread_join(thread, NULL);
    printf("%.3f %.3f\n", cpu_short, cpu_long);
    return 0;
}
