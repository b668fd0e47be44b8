/* Structures whose right advice is not simply a split.
 *
 *     layouts holes|tight|system|turns|slices [rounds]
 *
 * holes   all fields used by one loop, half of the bytes are holes: another order
 * tight   the same without holes: nothing
 * system  the C library's struct stat, one field used: not ours to split
 * turns   four threads own the elements in turn and write one field: splitting would make them share lines
 * slices  the same, each thread with a slice of its own: split */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined __GNUC__ && !defined __clang__
#define LOOP __attribute__((noipa))
#else
#define LOOP __attribute__((noinline))
#endif

enum { COUNT = 1000000, THREADS = 4 };

struct gappy {
    char kind;
    double weight;
    char colour;
    double height;
    char state;
    double width;
};

struct tight {
    double weight, height, width;
    char kind, colour, state, more[5];
};

struct task {
    double done;
    double history[7];
};

static struct task *tasks;
static size_t rounds = 40;
static int in_turns;

static void *take(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        exit(1);
    return memset(memory, 1, bytes); /* real pages, not one empty page for all */
}

static LOOP double sum_gappy(const struct gappy *all)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i].weight + all[i].height * all[i].width + (all[i].kind ^ all[i].colour ^ all[i].state);
    return sum;
}

static LOOP double sum_tight(const struct tight *all)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i].weight + all[i].height * all[i].width + (all[i].kind ^ all[i].colour ^ all[i].state ^ all[i].more[3]);
    return sum;
}

static LOOP long sum_sizes(const struct stat *all)
{
    long sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i].st_size;
    return sum;
}

static LOOP void work_in_turns(size_t first)
{
    for (size_t i = first; i < COUNT; i += THREADS)
        tasks[i].done += 1;
}

static LOOP void work_in_slices(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        tasks[i].done += 1;
}

static LOOP void remember(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        for (int h = 0; h < 7; h++)
            tasks[i].history[h] += h;
}

static void *run(void *argument)
{
    size_t number = (size_t)(uintptr_t)argument;
    remember(number * COUNT / THREADS, (number + 1) * COUNT / THREADS);
    for (size_t r = 0; r < rounds; r++)
        if (in_turns)
            work_in_turns(number);
        else
            work_in_slices(number * COUNT / THREADS, (number + 1) * COUNT / THREADS);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "holes";
    double sum = 0;
    if (argc > 2)
        rounds = (size_t)atol(argv[2]);
    if (strcmp(what, "holes") == 0) {
        struct gappy *all = take(COUNT * sizeof *all);
        for (size_t r = 0; r < rounds; r++)
            sum += sum_gappy(all);
    } else if (strcmp(what, "tight") == 0) {
        struct tight *all = take(COUNT * sizeof *all);
        for (size_t r = 0; r < rounds; r++)
            sum += sum_tight(all);
    } else if (strcmp(what, "system") == 0) {
        struct stat *all = take(COUNT * sizeof *all);
        for (size_t r = 0; r < rounds; r++)
            sum += (double)sum_sizes(all);
    } else if (strcmp(what, "turns") == 0 || strcmp(what, "slices") == 0) {
        pthread_t threads[THREADS];
        in_turns = what[0] == 't';
        tasks = take(COUNT * sizeof *tasks);
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        sum = tasks[COUNT - 1].done;
    } else {
        return 2;
    }
    printf("%s %.0f\n", what, sum);
    return 0;
}
