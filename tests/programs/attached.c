/* attached SECONDS ROUNDS|FILE: a daemon's stand-in. In each of ROUNDS rounds, or until there is a FILE, threads walk a list of small heap
 * blocks in random order and pass over a large array, for SECONDS; whether each answer was right is printed at the end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 100000, CELLS = 1 << 20, THREADS = 2 };

struct node {
    struct node *next;
    long key, value, spare;
};

struct cell {
    int a, b, c, d;
    double w;
};

static struct node *list;
static struct cell *cells;
static double seconds;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static __attribute__((noinline)) long walk(const struct node *node)
{
    long sum = 0;
    for (; node; node = node->next)
        sum += node->value;
    return sum;
}

static __attribute__((noinline)) long count(const struct cell *cell)
{
    long sum = 0;
    for (int i = 0; i < CELLS; i++)
        sum += cell[i].c;
    return sum;
}

static void *run(void *unused)
{
    long wrong = 0;
    for (double end = now() + seconds; now() < end;) {
        wrong += walk(list) != (long)NODES * (NODES - 1) / 2;
        wrong += count(cells) != CELLS;
    }
    return (char *)unused + wrong;
}

static void make(void)
{
    struct node **all = malloc(NODES * sizeof *all);
    for (int i = 0; i < NODES; i++) {
        all[i] = malloc(sizeof **all);
        *all[i] = (struct node){.value = i, .key = i};
    }
    for (int i = NODES - 1; i > 0; i--) {
        int other = rand() % (i + 1);
        struct node *kept = all[i];
        all[i] = all[other];
        all[other] = kept;
    }
    for (int i = 0; i + 1 < NODES; i++)
        all[i]->next = all[i + 1];
    list = all[0];
    free(all);
    cells = calloc(CELLS, sizeof *cells);
    for (int i = 0; i < CELLS; i++)
        cells[i].c = 1;
}

int main(int argc, char **argv)
{
    long wrong = 0;
    seconds = argc > 1 ? atof(argv[1]) : 1;
    make();
    const char *end = argc > 2 ? argv[2] : "1";
    long rounds = strtol(end, NULL, 10); /* 0: END is a file's name */
    for (long round = 0; rounds ? round < rounds : access(end, F_OK) != 0; round++) {
        pthread_t threads[THREADS];
        void *value;
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, run, NULL);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], &value);
            wrong += (char *)value - (char *)0;
        }
    }
    printf("wrong answers: %ld\n", wrong);
    return wrong != 0;
}
