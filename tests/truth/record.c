/* One loop over an array (or a list) of one structure, in two layouts, to hold what lwp promises against what comes.
 *
 *     cc -DSIZE=64 -DUSED=1 -DPATTERN=SEQUENTIAL -DKIB=65536 [-DWORK=n] [-DSPLIT | -DORDERED] record.c
 *
 * SIZE: bytes of the structure, 16 to 256. USED: how many of its fields f0 to f3 the loop uses (2 at most when it has
 * 16 bytes); they lie a quarter of it apart. KIB: how much memory the structures take, before. WORK: dependent
 * multiplications for each visit. SPLIT: the fields in use together in a structure of their own. ORDERED: copied into the order in
 * which they lead to each other.
 *
 *     record [threads] [percent of the usual rounds]
 *
 * prints a checksum, equal for both layouts, and the seconds of its loops. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SEQUENTIAL 1 /* one element after the other */
#define JUMPING 2    /* anywhere, independent of each other */
#define CHASING 3    /* anywhere, each says where the next one is */
#define LISTED 4     /* nodes from malloc, linked in the order of their allocation, shuffled among eight neighbours */

#if SIZE == 16
#define GAP(name)
#elif SIZE == 32
#define GAP(name)
#else
#define GAP(name) char name[SIZE / 4 - 8];
#endif

#if PATTERN == LISTED
#define FIRST struct record *next
#elif PATTERN == CHASING
#define FIRST uint64_t next
#else
#define FIRST uint64_t f0
#endif

#ifdef SPLIT
struct rest;
struct record {
    FIRST;
#if USED > 1
    uint64_t f1;
#endif
#if USED > 2
    uint64_t f2;
#endif
#if USED > 3
    uint64_t f3;
#endif
#if PATTERN == LISTED && SIZE > 16 /* else it takes as much room as what leaves: an index is advised */
    struct rest *rest;
#endif
};
struct rest {
#if USED < 2
    uint64_t f1;
#endif
#if SIZE > 16
#if USED < 3
    uint64_t f2;
#endif
#if USED < 4
    uint64_t f3;
#endif
    GAP(g0) GAP(g1) GAP(g2) GAP(g3)
#endif
#if SIZE == 16 && USED == 2 || SIZE == 32 && USED == 4
    char none;
#endif
};
#else
struct record {
    FIRST;
#if SIZE > 16
    GAP(g0)
#endif
    uint64_t f1;
#if SIZE > 16
    GAP(g1)
    uint64_t f2;
    GAP(g2)
    uint64_t f3;
    GAP(g3)
#endif
};
#endif

#ifndef WORK
#define WORK 0
#endif

/* The first of what the loop does not use, which is set up in both layouts: who has such data fills it. */
#if USED < 2
#define COLD f1
#elif USED < 3 && SIZE > 16
#define COLD f2
#elif USED < 4 && SIZE > 16
#define COLD f3
#elif SIZE > 32
#define COLD g0
#endif

/* Its own function, and run each time it is called. */
#if defined __GNUC__ && !defined __clang__
#define LOOP __attribute__((noipa))
#else
#define LOOP __attribute__((noinline))
#endif
#define ELEMENTS ((size_t)KIB * 1024 / SIZE)

#if PATTERN == LISTED
static struct record *heads[64];
#else
static struct record *records;
#endif
#if defined SPLIT && PATTERN != LISTED
static struct rest *rests;
#endif
static unsigned threads = 1, rounds;

static inline uint64_t use(const struct record *record, uint64_t sum)
{
#if PATTERN == SEQUENTIAL || PATTERN == JUMPING
    sum += record->f0;
#endif
#if USED > 1
    sum += record->f1;
#endif
#if USED > 2
    sum += record->f2;
#endif
#if USED > 3
    sum += record->f3;
#endif
    for (int i = 0; i < WORK; i++)
        sum *= 3;
    return sum;
}

#if PATTERN == SEQUENTIAL
LOOP static uint64_t walk(size_t first, size_t end)
{
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++)
        sum = use(&records[i], sum);
    return sum;
}
#elif PATTERN == JUMPING
LOOP static uint64_t walk(size_t first, size_t end)
{
    uint64_t sum = 0, at = first * 2654435761u;
    for (size_t i = first; i < end; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        sum = use(&records[((at >> 32) * ELEMENTS) >> 32], sum);
    }
    return sum;
}
#elif PATTERN == CHASING
LOOP static uint64_t walk(size_t first, size_t end)
{
    uint64_t sum = 0, at = first;
    for (size_t i = first; i < end; i++) {
        sum = use(&records[at], sum);
        at = records[at].next;
    }
    return sum + at;
}
#else
LOOP static uint64_t walk(size_t thread, size_t end)
{
    uint64_t sum = 0;
    (void)end;
    for (const struct record *record = heads[thread]; record; record = record->next)
        sum = use(record, sum) + 1;
    return sum;
}
#endif

static void *work(void *argument)
{
    size_t thread = (size_t)argument, first = ELEMENTS * thread / threads, end = ELEMENTS * (thread + 1) / threads;
    uint64_t sum = 0;
#if PATTERN == LISTED
    first = thread;
#endif
    for (unsigned round = 0; round < rounds; round++)
        sum += walk(first, end);
    return (void *)(uintptr_t)sum;
}

static void set_up(void)
{
#if PATTERN == LISTED
    for (size_t t = 0; t < threads; t++) {
        struct record *near[8], *last = NULL;
        size_t count = ELEMENTS / threads / 8 * 8;
#ifdef SPLIT
        struct record *records = malloc(count * sizeof *records);
        struct rest *rests = calloc(count, sizeof *rests);
#endif
        for (size_t i = 0; i < count; i += 8) {
            for (size_t k = 0; k < 8; k++) {
#ifdef SPLIT
                near[k] = &records[i + k];
#if SIZE > 16
                near[k]->rest = &rests[i + k];
#endif
                *(char *)&rests[i + k] = 0; /* what one calloc() of all leaves to the first touch */
#else
                near[k] = calloc(1, sizeof *near[k]);
#endif
            }
            for (size_t k = 0; k < 8; k++) {
                struct record *record = near[(k * 5 + 3 + i / 8) % 8];
                if (last)
                    last->next = record;
                else
                    heads[t] = record;
                record->next = NULL;
                last = record;
            }
        }
#ifdef ORDERED
        struct record *copy = malloc(count * sizeof *copy);
        size_t copied = 0;
        for (const struct record *record = heads[t]; record; record = record->next, copied++) {
            copy[copied] = *record;
            copy[copied].next = record->next ? &copy[copied + 1] : NULL;
        }
        heads[t] = copy;
#endif
    }
#else
    records = calloc(ELEMENTS, sizeof *records);
#ifdef SPLIT
    rests = calloc(ELEMENTS, sizeof *rests);
#endif
    if (!records)
        exit(1);
    for (size_t i = 0; i < ELEMENTS; i++) {
#if PATTERN == CHASING
        records[i].next = i;
#else
        records[i].f0 = i;
#endif
#ifdef SPLIT
        *(char *)&rests[i] = 0;
#elif USED * 8 < SIZE
        *(char *)&records[i].COLD = 0;
#endif
    }
#if PATTERN == CHASING /* Sattolo's: one cycle through all */
    uint64_t random = 1;
    for (size_t i = ELEMENTS - 1; i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t other = (random >> 33) % i;
        uint64_t next = records[i].next;
        records[i].next = records[other].next;
        records[other].next = next;
    }
#ifdef ORDERED
    struct record *copy = malloc(ELEMENTS * sizeof *copy);
    for (size_t i = 0, at = 0; i < ELEMENTS; at = records[at].next, i++) {
        copy[i] = records[at];
        copy[i].next = (i + 1) % ELEMENTS;
    }
    records = copy;
#endif
#endif
#endif
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    static const double visits[] = {0, 2e8, 6e7, 1.2e7, 5e7};
    double share = argc > 2 ? atof(argv[2]) / 100 : 1;
    double usual = visits[PATTERN];
    if (PATTERN == SEQUENTIAL) /* as many bytes */
        usual = 8e9 / SIZE;
    if (argc > 1)
        threads = (unsigned)atoi(argv[1]);
    if (threads < 1 || threads > 64)
        return 2;
    rounds = (unsigned)(usual * share / ELEMENTS) + 1;
    set_up();
    pthread_t id[64];
    uint64_t sum = 0;
    void *result;
    double start = seconds();
    for (size_t i = 1; i < threads; i++)
        if (pthread_create(&id[i], NULL, work, (void *)i))
            return 1;
    sum += (uintptr_t)work(NULL);
    for (size_t i = 1; i < threads; i++) {
        pthread_join(id[i], &result);
        sum += (uintptr_t)result;
    }
    printf("checksum %llu\n", (unsigned long long)sum);
    fprintf(stderr, "%.4f\n", seconds() - start);
    return 0;
}
