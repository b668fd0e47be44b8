/* What the examples share: arguments, threads, and the truth about their loops.
 *
 *     ./neuron [threads] [rounds] [--time]
 *
 * All work is cut into `threads` slices and done `rounds` times; sums are exact (small integers), so that an example
 * and its fixed version print the same checksum when called alike. --time adds one line for each loop: its function,
 * its CPU seconds over all threads, the data object and the fields it uses. That is what the tests compare lwp with. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A loop is to stay in its own function, and to run each time it is called. */
#if defined __GNUC__ && !defined __clang__
#define EXAMPLE_LOOP __attribute__((noipa))
#else
#define EXAMPLE_LOOP __attribute__((noinline))
#endif

#define EXAMPLE_MAX_THREADS 64
#define EXAMPLE_MAX_LOOPS   16

struct example_loop {
    const char *function, *object, *fields;
};

struct example_thread {
    size_t first, end; /* its slice of the elements */
    unsigned number, rounds;
    double seconds[EXAMPLE_MAX_LOOPS]; /* CPU time in each loop */
    double checksum;
};

struct example {
    unsigned threads, rounds;
    bool time;
    struct example_thread thread[EXAMPLE_MAX_THREADS];
};

static inline double example_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Runs `call` and adds its CPU time to the loop with this number. */
#define EXAMPLE_TIME(thread, loop, call)                                                                               \
    do {                                                                                                               \
        double example_start = example_cpu_seconds();                                                                  \
        call;                                                                                                          \
        (thread)->seconds[loop] += example_cpu_seconds() - example_start;                                              \
    } while (0)

static inline unsigned example_number(const char *text, unsigned low, unsigned high)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high) {
        fprintf(stderr, "'%s' is no number from %u to %u; usage: [threads] [rounds] [--time]\n", text, low, high);
        exit(2);
    }
    return (unsigned)value;
}

static inline void example_arguments(struct example *example, int argc, char **argv, unsigned rounds)
{
    unsigned given = 0;
    memset(example, 0, sizeof *example);
    example->threads = 1;
    example->rounds = rounds;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--time"))
            example->time = true;
        else if (given++ == 0)
            example->threads = example_number(argv[i], 1, EXAMPLE_MAX_THREADS);
        else
            example->rounds = example_number(argv[i], 1, 1000000);
    }
}

static inline void *example_allocate(size_t count, size_t bytes)
{
    void *memory = malloc(count * bytes);
    if (!memory) {
        fprintf(stderr, "no memory for %zu times %zu bytes\n", count, bytes);
        exit(1);
    }
    return memory;
}

/* Calls work() for each slice of `elements`, the first one in the calling thread. */
static inline void example_run(struct example *example, size_t elements, void *(*work)(void *thread))
{
    pthread_t id[EXAMPLE_MAX_THREADS];
    for (unsigned i = 0; i < example->threads; i++) {
        struct example_thread *thread = &example->thread[i];
        thread->first = elements * i / example->threads;
        thread->end = elements * (i + 1) / example->threads;
        thread->number = i;
        thread->rounds = example->rounds;
        if (i > 0 && pthread_create(&id[i], NULL, work, thread) != 0) {
            fprintf(stderr, "cannot start thread %u\n", i);
            exit(1);
        }
    }
    work(&example->thread[0]);
    for (unsigned i = 1; i < example->threads; i++)
        pthread_join(id[i], NULL);
}

static inline void example_report(const struct example *example, const struct example_loop *loops, unsigned count)
{
    double checksum = 0;
    for (unsigned i = 0; i < example->threads; i++)
        checksum += example->thread[i].checksum;
    printf("checksum %.0f\n", checksum);
    for (unsigned loop = 0; example->time && loop < count; loop++) {
        double seconds = 0;
        for (unsigned i = 0; i < example->threads; i++)
            seconds += example->thread[i].seconds[loop];
        printf("loop %-16s %8.4f %s %s\n", loops[loop].function, seconds, loops[loop].object, loops[loop].fields);
    }
}

#endif
