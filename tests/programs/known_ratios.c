/* Programs whose redundant stores and loads are known in closed form.
 *
 *     known_ratios CASE SECONDS THREADS
 *
 * works for so many seconds of CPU time on each core that it uses (0: four passes), and prints what is true of the case:
 * "KIND SHARE FIRST SECOND" a line, KIND the verdict (with _close: of values that are about the same, and not equal), SHARE of all
 * bytes stored or loaded, and the source lines of the pair of which there is most ("- -": no pair, the share is of all pairs together).
 *
 * Samples come by time, so a store's share is that of the time spent around it: WORK makes every store cost the same,
 * whether its line is in a cache or not. Elements are volatile: each access in the source is one in the program. Each
 * thread has its own arrays. Loads of a loop's own variables do not exist: they are in registers. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef SMALL
#define SMALL 512
#define LARGE (1 << 20)
#endif
enum { THREADS_MAX = 64 };

struct arrays {
    volatile long a[SMALL], b[SMALL], c[SMALL], d[SMALL];
    volatile double e[SMALL];
    volatile long next[SMALL];
    volatile long x;
    volatile long *large;
    volatile long *large_b;
};

/* Some 6 ns that depend on each other: longer than a store takes to leave the core. */
#define WORK(w)                                                                                    \
    do {                                                                                           \
        for (int work = 0; work < 6; work++)                                                       \
            __asm__ volatile("imul %0, %0" : "+r"(w));                                             \
    } while (0)

#define EACH for (long i = 0; i < SMALL; i++)


/* A case does one pass over its arrays; `pass` counts from 1. */
#define CASE(name) __attribute__((noinline)) static long name(struct arrays *s, long pass, long w)

CASE(dead0)
{
    EACH { WORK(w); s->a[i] = w; w += s->a[i]; }
    return w + pass;
}

enum { DEAD33_FIRST = __LINE__ + 4, DEAD33_SECOND = __LINE__ + 6 };
CASE(dead33)
{
    EACH {
        WORK(w); s->a[i] = w;
        WORK(w); s->b[i] = w;
        WORK(w); s->a[i] = w;
        w += s->a[i] + s->b[i];
    }
    return w + pass;
}

enum { DEAD50_FIRST = __LINE__ + 4, DEAD50_SECOND = __LINE__ + 5 };
CASE(dead50)
{
    EACH {
        WORK(w); s->a[i] = w;
        WORK(w); s->a[i] = w;
        w += s->a[i];
    }
    return w + pass;
}

enum { DEAD100_FIRST = __LINE__ + 3, DEAD100_SECOND = __LINE__ + 3 };
CASE(dead100)
{
    EACH { WORK(w); s->a[i] = w; }
    return w + pass;
}

CASE(silent0)
{
    EACH { WORK(w); s->a[i] = pass; w += s->a[i]; }
    return w;
}

enum { SILENT75_LINE = __LINE__ + 4 };
CASE(silent75)
{
    EACH {
        WORK(w); s->a[i] = 3; WORK(w); s->b[i] = 4; WORK(w); s->c[i] = 5; WORK(w); s->d[i] = pass;
        w += s->a[i] + s->d[i];
    }
    return w;
}

enum { SILENT100_LINE = __LINE__ + 3 };
CASE(silent100)
{
    EACH { WORK(w); s->a[i] = 7; w += s->a[i]; }
    return w + pass;
}

/* Within 1 % of the value before, every second one. */
enum { CLOSE50_LINE = __LINE__ + 4 };
CASE(close50)
{
    EACH {
        WORK(w); s->e[i] = 1.0 + 0.001 * (double)(pass & 3);
        WORK(w); s->a[i] = pass;
    }
    return w + (long)s->e[1] + s->a[1];
}

/* The value loaded is another one each time. */
CASE(load0)
{
    EACH { WORK(w); w += s->a[i]; s->a[i] = pass; }
    return w;
}

enum { LOAD75_LINE = __LINE__ + 4 };
CASE(load75)
{
    EACH {
        WORK(w); w += s->a[i]; WORK(w); w += s->b[i]; WORK(w); w += s->c[i]; WORK(w); w += s->d[i];
        s->d[i] = pass;
    }
    return w;
}

enum { LOAD100_LINE = __LINE__ + 3 };
CASE(load100)
{
    EACH { WORK(w); w += s->a[i]; }
    return w + pass;
}

/* What one line stores is read every second time. */
enum { HALF_LINE = __LINE__ + 5 };
CASE(half)
{
    long sum = pass;
    for (long i = 0; i < 2 * SMALL; i++) {
        WORK(w); s->a[i % SMALL] = w;
        if (i >= SMALL)
            sum += s->a[i % SMALL];
    }
    return w + sum;
}

/* Words overwritten in halves, one of which is read before the other is written; vectors overwritten in words. */
typedef long vector __attribute__((vector_size(16)));
enum { WIDTHS_FIRST = __LINE__ + 5, WIDTHS_SECOND = __LINE__ + 7 };
CASE(widths)
{
    EACH {
        volatile int *half = (volatile int *)&s->a[i];
        WORK(w); s->a[i] = w;
        WORK(w); half[0] = (int)w; w += half[0];
        WORK(w); half[1] = (int)w; w += half[1];
        volatile long *word = &s->b[i & ~1L];
        WORK(w); *(volatile vector *)word = (vector){w, w};
        WORK(w); word[0] = w;
        WORK(w); word[1] = w; w += word[0] + word[1];
    }
    return w + pass;
}

/* Where the way ahead leads through memory: what is stored on it must not hide it. */
enum { CHASE_LINE = __LINE__ + 5 };
CASE(chase)
{
    long at = 0;
    do {
        WORK(w); s->a[at] = w;
        WORK(w); s->b[at] += w;
        at = s->next[at];
    } while (at);
    return w + pass;
}

/* Thesis, listing 4.2: what the first loop stores is overwritten by the second much later. */
enum { LONG_FIRST = __LINE__ + 4, LONG_SECOND = __LINE__ + 6 };
CASE(long_distance)
{
    for (long i = 0; i < LARGE; i++) {
        WORK(w); s->large[i] = 0;
    }
    for (long i = 0; i < LARGE; i++) { WORK(w); s->large[i] = i; }
    return w + pass;
}

/* Thesis, listing 4.3: sparse and dense dead stores, a quarter each for four lines. */
enum { SPARSE_FIRST = __LINE__ + 4, DENSE_FIRST = __LINE__ + 6, DENSE_SECOND, SPARSE_SECOND = __LINE__ + 9 };
CASE(mixed_density)
{
    volatile long *p = &s->x, *q = &s->x;
    for (long i = 0; i < LARGE / 4; i++) { WORK(w); s->large[i] = 0; }
    for (long i = 0; i < LARGE / 4; i++) {
        WORK(w); *p = 0;
        WORK(w); *q = 0;
    }
    for (long i = 0; i < LARGE / 4; i++) { WORK(w); s->large[i] = i; }
    return w + pass;
}

/* Thesis, figure 4.2: a, b and x are dead in 3:2:1. */
enum { THREE_LINE = __LINE__ + 3 };
CASE(three_pairs)
{
    for (long i = 0; i < LARGE / 2; i++) { WORK(w); s->large[i] = pass; }
    for (long i = 0; i < LARGE / 3; i++) { WORK(w); s->large_b[i] = pass; }
    for (long i = 0; i < LARGE / 6; i++) { WORK(w); s->x = i; }
    return w;
}

/* The same line of one function is dead below one caller and of use below the other. */
enum { CALLERS_LINE = __LINE__ + 3 };
__attribute__((noinline)) static long put(volatile long *to, long w)
{
    WORK(w); *to = w;
    return w;
}

CASE(callers)
{
    long sum = pass;
    EACH {
        w = put(&s->a[i], w);
        w = put(&s->b[i], w);
    }
    EACH { sum += s->b[i]; } /* between two stores it would take time from the second one's work */
    return w + sum;
}

/* A table is cleared of which little was used. */
CASE(fills)
{
    memset((void *)s->large, (int)(pass & 1), LARGE * sizeof(long));
    __asm__ volatile("" ::: "memory");
    return w;
}

struct truth {
    const char *kind;
    double share;
    int first, second;
};

static const struct known {
    const char *name;
    long (*pass)(struct arrays *, long, long);
    struct truth truth[5];
} cases[] = {
    {"dead0", dead0, {{"dead_store", 0, 0, 0}}},
    {"dead33", dead33, {{"dead_store", 1 / 3.0, DEAD33_FIRST, DEAD33_SECOND}}},
    {"dead50", dead50, {{"dead_store", 0.5, DEAD50_FIRST, DEAD50_SECOND}}},
    {"dead100", dead100, {{"dead_store", 1, DEAD100_FIRST, DEAD100_SECOND}}},
    {"silent0", silent0, {{"silent_store", 0, 0, 0}}},
    {"silent75", silent75, {{"silent_store", 0.75, SILENT75_LINE, SILENT75_LINE}}},
    {"silent100", silent100, {{"silent_store", 1, SILENT100_LINE, SILENT100_LINE}}},
    {"close50", close50, {{"silent_store_close", 0.5, CLOSE50_LINE, CLOSE50_LINE}}},
    {"load0", load0, {{"silent_load", 0, 0, 0}}},
    {"load75", load75, {{"silent_load", 0.75, LOAD75_LINE, LOAD75_LINE}}},
    {"load100", load100, {{"silent_load", 1, LOAD100_LINE, LOAD100_LINE}}},
    {"half", half, {{"dead_store", 0.5, HALF_LINE, HALF_LINE}}},
    {"chase", chase, {{"dead_store", 0.5, CHASE_LINE, CHASE_LINE}}},
    {"widths", widths, {{"dead_store", 1 / 2.0, 0, 0}, {"pair", 1 / 6.0, WIDTHS_FIRST, WIDTHS_SECOND}}}, /* of 48 bytes a pass: 24, 8 */
    {"long_distance", long_distance, {{"dead_store", 1, 0, 0}, {"pair", 0.5, LONG_FIRST, LONG_SECOND}}},
    {"mixed_density",
     mixed_density,
     {{"dead_store", 1, 0, 0},
      {"pair", 0.25, SPARSE_FIRST, SPARSE_SECOND},
      {"pair", 0.25, SPARSE_SECOND, SPARSE_FIRST},
      {"pair", 0.25, DENSE_FIRST, DENSE_SECOND},
      {"pair", 0.25, DENSE_SECOND, DENSE_FIRST}}},
    {"three_pairs",
     three_pairs,
     {{"dead_store", 1, THREE_LINE, THREE_LINE},
      {"pair", 0.5, THREE_LINE, THREE_LINE},
      {"pair", 1 / 3.0, THREE_LINE + 1, THREE_LINE + 1},
      {"pair", 1 / 6.0, THREE_LINE + 2, THREE_LINE + 2}}},
    {"callers", callers, {{"dead_store", 0.5, CALLERS_LINE, CALLERS_LINE}}},
    {"fills", fills, {{"dead_store", 1, 0, 0}}},
};

static const struct known *chosen;
static double work; /* CPU seconds of all threads */
static long kept[THREADS_MAX];

static bool works_on(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec < work;
}

__attribute__((noinline)) static void *run(void *given)
{
    struct arrays *s = calloc(1, sizeof *s);
    s->large = malloc(LARGE * sizeof(long));
    s->large_b = malloc(LARGE * sizeof(long));
    if (!s->large || !s->large_b)
        exit(1);
    for (long i = 0; i < SMALL; i++)
        s->next[i] = (i + 1) % SMALL;
    memset((void *)s->large, 1, LARGE * sizeof(long));
    memset((void *)s->large_b, 1, LARGE * sizeof(long));
    long w = 3, pass = 0;
    do {
        for (int i = 0; i < 4; i++)
            w = chosen->pass(s, ++pass, w);
    } while (works_on());
    kept[(long)given] = w;
    return NULL;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 4 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, argv[1]) == 0)
            chosen = &cases[i];
    if (!chosen)
        return 2;
    long threads = strtol(argv[3], NULL, 10), cores = sysconf(_SC_NPROCESSORS_ONLN);
    work = strtod(argv[2], NULL) * (double)(threads < cores ? threads : cores);
    pthread_t thread[THREADS_MAX];
    for (long t = 1; t < threads && t < THREADS_MAX; t++)
        pthread_create(&thread[t], NULL, run, (void *)t);
    run((void *)0);
    for (long t = 1; t < threads && t < THREADS_MAX; t++)
        pthread_join(thread[t], NULL);
    for (int i = 0; i < 5 && chosen->truth[i].kind; i++)
        printf("%s %.4f %d %d\n", chosen->truth[i].kind, chosen->truth[i].share, chosen->truth[i].first,
               chosen->truth[i].second);
    return 0;
}
