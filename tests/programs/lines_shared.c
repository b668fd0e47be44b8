/* What threads do to one cache line, in ways that are false sharing and in ways that are not.
 * lines_shared CASE [CPU-SECONDS]; see cases[]. */
#include "handover.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { THREADS = 2, LINE = 64, STEPS = 1000000 };

struct counters {
    _Alignas(LINE) long other[2];
    volatile long hits;
    volatile long misses;
};

struct counters_apart {
    _Alignas(LINE) long other[2];
    _Alignas(LINE) volatile long hits;
    _Alignas(LINE) volatile long misses;
};

/* `limit` is read by all and hardly ever written, `done` is written by one. */
struct work {
    _Alignas(LINE) volatile long limit;
    volatile long done;
};

struct work_apart {
    _Alignas(LINE) volatile long limit;
    _Alignas(LINE) volatile long done;
};

static struct counters counters;
static struct counters_apart counters_apart;
static struct work work;
static struct work_apart work_apart;
static _Alignas(LINE) volatile long counts[THREADS];
static _Alignas(LINE) volatile long counts_apart[THREADS][LINE / sizeof(long)];
static _Alignas(LINE) atomic_long total;
static _Alignas(LINE) volatile long table[LINE / sizeof(long)];
static double seconds = 2;

static __attribute__((noinline)) void count(volatile long *counter)
{
    while (seconds_spent() < seconds)
        for (int i = 0; i < STEPS; i++)
            (*counter)++;
}

static __attribute__((noinline)) void count_together(void)
{
    while (seconds_spent() < seconds)
        for (int i = 0; i < STEPS; i++)
            atomic_fetch_add_explicit(&total, 1, memory_order_relaxed);
}

static __attribute__((noinline)) long look(const volatile long *value)
{
    long sum = 0;
    while (seconds_spent() < seconds)
        for (int i = 0; i < STEPS; i++)
            sum += *value;
    return sum;
}

static void *count_one(void *counter)
{
    count(counter);
    return NULL;
}

static void *count_shared(void *unused)
{
    count_together();
    return unused;
}

static void *look_one(void *value)
{
    return look(value) == 1 ? value : NULL;
}

static void run(void *(*one)(void *), volatile void *given, void *(*rest)(void *), volatile void *rest_given, size_t step)
{
    pthread_t started[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&started[i], NULL, i ? rest : one, i ? (char *)rest_given + (size_t)i * step : (void *)given);
    for (int i = 0; i < THREADS; i++)
        pthread_join(started[i], NULL);
}

static void fields(void)
{
    run(count_one, &counters.hits, count_one, &counters.misses, 0);
}

static void fields_apart(void)
{
    run(count_one, &counters_apart.hits, count_one, &counters_apart.misses, 0);
}

static void read_mostly(void)
{
    run(count_one, &work.done, look_one, &work.limit, 0);
}

static void read_mostly_apart(void)
{
    run(count_one, &work_apart.done, look_one, &work_apart.limit, 0);
}

static void array(void)
{
    run(count_one, counts, count_one, counts, sizeof *counts);
}

static void array_apart(void)
{
    run(count_one, counts_apart, count_one, counts_apart, sizeof *counts_apart);
}

static void heap(void)
{
    volatile long *mine = aligned_alloc(LINE, THREADS * LINE);
    memset((void *)mine, 0, THREADS * LINE);
    run(count_one, mine, count_one, mine, sizeof *mine);
}

static void heap_apart(void)
{
    volatile long *mine = aligned_alloc(LINE, THREADS * LINE);
    memset((void *)mine, 0, THREADS * LINE);
    run(count_one, mine, count_one, mine, LINE);
}

static __attribute__((noinline)) void stack(void)
{
    _Alignas(LINE) volatile long mine[THREADS] = {0};
    run(count_one, mine, count_one, mine, sizeof *mine);
}

static void same(void)
{
    run(count_shared, NULL, count_shared, NULL, 0);
}

static void read_only(void)
{
    run(look_one, table, look_one, table, sizeof *table);
}

static void processes(void)
{
    volatile long *mine = mmap(NULL, LINE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    count(child ? &mine[0] : &mine[1]);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"fields", fields},                       /* false: two counters of one struct */
    {"fields_apart", fields_apart},           /* not shared */
    {"read_mostly", read_mostly},             /* false: one reads what lies beside what the other one writes */
    {"read_mostly_apart", read_mostly_apart}, /* not shared */
    {"array", array},                         /* false: a counter for each thread in an array */
    {"array_apart", array_apart},             /* not shared */
    {"heap", heap},                           /* false: the same in a block of its own */
    {"heap_apart", heap_apart},               /* not shared */
    {"stack", stack},                         /* false: the same on the stack of the thread that waits for them */
    {"same", same},                           /* true sharing: all count in one place */
    {"read_only", read_only},                 /* not shared: nobody writes */
    {"processes", processes},                 /* false, but between processes */
};

int main(int argc, char **argv)
{
    if (argc > 2)
        seconds = atof(argv[2]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "usage: lines_shared CASE [CPU-SECONDS]\n");
    return 2;
}
