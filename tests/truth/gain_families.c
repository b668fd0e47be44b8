/* Loops whose layout costs time, in two layouts: what lwp predicts is held against what comes (gain_cases.py).
 *
 *     cc -DFAMILY=GATHER -DARRAYS=4 -DKIB=8192 -DTYPE=double [-DCOMPUTED] [-DCHANGED] gain_families.c
 *
 * GATHER: ARRAYS arrays of KIB each at one random index, from a list or COMPUTED. CHANGED: one array of structures.
 * SETS: ARRAYS arrays of KIB each, which begin at one place of the first cache, gone over in order. CHANGED: each a line further on.
 * CHAINS: nodes of SIZE bytes, KIB in all, in hash chains of LENGTH. CHANGED: without what a search does not use. ORDERED: copied into the
 * order of their chains.
 * NEST: rows of ROW numbers, in the order ORDER. CHANGED: in the order of memory.
 *
 *     families ROUNDS
 *
 * prints a checksum, equal for both layouts, and the seconds of its loops. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define GATHER 1
#define SETS   2
#define CHAINS 3
#define NEST   4

#define LOOP __attribute__((noipa)) /* and run each time it is called */

static inline uint64_t next_random(uint64_t x)
{
    return x * 6364136223846793005u + 1442695040888963407u;
}

#if FAMILY == GATHER
#define ELEMENTS ((uint32_t)(KIB * 1024ull / sizeof(TYPE)))
#define EACH(X)  X(0) X(1) WHEN3(X) WHEN4(X) WHEN5(X)
#if ARRAYS > 2
#define WHEN3(X) X(2)
#else
#define WHEN3(X)
#endif
#if ARRAYS > 3
#define WHEN4(X) X(3)
#else
#define WHEN4(X)
#endif
#if ARRAYS > 4
#define WHEN5(X) X(4)
#else
#define WHEN5(X)
#endif

#ifdef CHANGED
#define MEMBER(n) TYPE v##n;
static struct all {
    EACH(MEMBER)
} * all;
#define AT(n, i) all[i].v##n
#else
#define MEMBER(n) static TYPE *v##n;
EACH(MEMBER)
#define AT(n, i)  v##n[i]
#endif
static uint32_t *list;

#define ADD(n) sum += AT(n, at);
LOOP static TYPE gather(void)
{
    TYPE sum = 0;
#ifdef COMPUTED
    uint64_t x = 1;
#endif
    for (uint32_t i = 0; i < ELEMENTS; i++) {
#ifdef COMPUTED
        x = next_random(x);
        uint32_t at = (uint32_t)(((x >> 32) * ELEMENTS) >> 32);
#else
        uint32_t at = list[i];
#endif
        EACH(ADD)
    }
    return sum;
}

static void set_up(void)
{
    uint64_t x = 7;
#ifdef CHANGED
    all = malloc(ELEMENTS * sizeof *all);
#else
#define ALLOCATE(n) v##n = malloc(ELEMENTS * sizeof *v##n);
    EACH(ALLOCATE)
#endif
#ifndef COMPUTED
    list = malloc(ELEMENTS * sizeof *list);
#endif
    for (uint32_t i = 0; i < ELEMENTS; i++) {
#ifndef COMPUTED
        x = next_random(x);
        list[i] = (uint32_t)(((x >> 32) * ELEMENTS) >> 32);
#endif
#define FILL(n) AT(n, i) = (TYPE)(i % 7 + n);
        EACH(FILL)
    }
    (void)x;
}

static double round_of(void)
{
    return (double)gather();
}

#elif FAMILY == SETS
enum { WAY = 65536 };
#define ELEMENTS (KIB * 1024 / sizeof(TYPE))
static TYPE *arrays[ARRAYS];

LOOP static TYPE sets(TYPE *const *from)
{
    TYPE total = 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        TYPE sum = 0;
#pragma GCC unroll 32
        for (int k = 1; k < ARRAYS; k++)
            sum += from[k][i];
        from[0][i] = sum * (TYPE)0.5;
        total += sum;
    }
    return total;
}

static void set_up(void)
{
    for (int k = 0; k < ARRAYS; k++) {
        void *memory;
        size_t further = 0;
#ifdef CHANGED
        further = (size_t)k * 64;
#endif
        if (posix_memalign(&memory, WAY, KIB * 1024 + further))
            exit(1);
        arrays[k] = (TYPE *)((char *)memory + further);
        for (size_t i = 0; i < ELEMENTS; i++)
            arrays[k][i] = (TYPE)(i % 5 + (size_t)k);
    }
}

static double round_of(void)
{
    return (double)sets(arrays);
}

#elif FAMILY == CHAINS
struct node {
    struct node *next;
    uint64_t key;
#if !defined CHANGED && SIZE > 16
    char cold[SIZE - 16];
#endif
};
#define NODES   ((uint32_t)(KIB * 1024ull / SIZE))
#define BUCKETS (NODES / LENGTH)
static struct node **buckets;
#ifdef CHANGED
static char (*cold)[SIZE - 16 + !(SIZE - 16)];
#endif

LOOP static uint64_t find(uint64_t key)
{
    for (const struct node *node = buckets[key % BUCKETS]; node; node = node->next)
        if (node->key == key)
            return node->key;
    return 0;
}

static void set_up(void)
{
    struct node *nodes = calloc(NODES, sizeof *nodes);
    uint32_t *order = malloc(NODES * sizeof *order);
    uint64_t x = 3;
    buckets = calloc(BUCKETS, sizeof *buckets);
#ifdef CHANGED
    cold = calloc(NODES, sizeof *cold);
#endif
    for (uint32_t i = 0; i < NODES; i++)
        order[i] = i;
    for (uint32_t i = NODES - 1; i > 0; i--) {
        x = next_random(x);
        uint32_t other = (uint32_t)((x >> 33) % i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; i < NODES; i++) {
        struct node *node = &nodes[order[i]];
        node->key = i;
#ifdef CHANGED
        cold[order[i]][0] = 0; /* who has such data fills it, in either layout */
#elif SIZE > 16
        node->cold[0] = 0;
#endif
        node->next = buckets[i % BUCKETS];
        buckets[i % BUCKETS] = node;
    }
    free(order);
#ifdef ORDERED
    struct node *copy = malloc(NODES * sizeof *copy);
    for (uint32_t b = 0; b < BUCKETS; b++)
        for (struct node **at = &buckets[b]; *at; at = &(*at)->next, copy++) {
            *copy = **at;
            *at = copy;
        }
#endif
}

static double round_of(void)
{
    static uint64_t x = 5;
    uint64_t sum = 0;
    for (int i = 0; i < 100000; i++) {
        x = next_random(x);
        sum += find((x >> 33) % NODES);
    }
    return (double)sum;
}

#else
static TYPE (*a)[ROW], (*b)[ROW], (*c)[ROW];

LOOP static void nest(void)
{
#if ORDER == 1 && !defined CHANGED
    for (int j = 0; j < ROW; j++)
        for (int i = 0; i < ROW; i++)
            a[i][j] = a[i][j] * (TYPE)0.5 + b[i][j];
#elif ORDER == 1
    for (int i = 0; i < ROW; i++)
        for (int j = 0; j < ROW; j++)
            a[i][j] = a[i][j] * (TYPE)0.5 + b[i][j];
#elif ORDER == 2 && !defined CHANGED
    for (int i = 0; i < ROW / 16; i++)
        for (int j = 0; j < ROW; j++)
            for (int k = 0; k < ROW; k++)
                c[i][j] += a[i][k] * b[k][j];
#elif ORDER == 2
    for (int i = 0; i < ROW / 16; i++)
        for (int k = 0; k < ROW; k++)
            for (int j = 0; j < ROW; j++)
                c[i][j] += a[i][k] * b[k][j];
#elif ORDER == 3 && !defined CHANGED
    for (int j = 1; j < ROW - 1; j++)
        for (int i = 1; i < ROW - 1; i++)
            c[i][j] = a[i][j] + a[i - 1][j] + a[i + 1][j] + b[i][j];
#else
    for (int i = 1; i < ROW - 1; i++)
        for (int j = 1; j < ROW - 1; j++)
            c[i][j] = a[i][j] + a[i - 1][j] + a[i + 1][j] + b[i][j];
#endif
}

static void set_up(void)
{
    a = calloc(ROW, sizeof *a);
    b = calloc(ROW, sizeof *b);
    c = calloc(ROW, sizeof *c);
    for (int i = 0; i < ROW; i++)
        for (int j = 0; j < ROW; j++) {
            a[i][j] = (TYPE)(i % 3);
            b[i][j] = (TYPE)(j % 5 + 1); /* halves of 0 would come to be numbers that processors take a hundred cycles for */
            c[i][j] = 1;
        }
}

static double round_of(void)
{
    nest();
    return (double)a[3][4] + (double)c[5][6];
}
#endif

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    double sum = 0;
    set_up();
    double start = seconds();
    for (int i = 0; i < rounds; i++)
        sum += round_of();
    printf("checksum %.17g\n", sum);
    fprintf(stderr, "%.4f\n", seconds() - start);
    return 0;
}
