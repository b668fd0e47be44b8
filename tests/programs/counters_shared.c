/* Two threads, each counting in a counter of its own. Next to each other the counters are in one cache line, which the
 * threads take from each other all the time; with -DPADDED each has a line of its own.
 * counters_shared [SECONDS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef PADDED
#define APART _Alignas(64)
#else
#define APART
#endif

struct counters {
    _Alignas(64) long other[2]; /* of the main thread, before the others start */
    APART volatile long hits;
    APART volatile long misses;
    APART long end;
};

static struct counters counters;
static double seconds = 2;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *count_hits(void *unused)
{
    for (double end = now() + seconds; now() < end;)
        for (int i = 0; i < 1000000; i++)
            counters.hits++;
    return unused;
}

static void *count_misses(void *unused)
{
    for (double end = now() + seconds; now() < end;)
        for (int i = 0; i < 1000000; i++)
            counters.misses++;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    if (argc > 1)
        seconds = atof(argv[1]);
    counters.other[0] = argc;
    pthread_create(&a, NULL, count_hits, NULL);
    pthread_create(&b, NULL, count_misses, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counters.hits + counters.misses < 1;
}
