/* Touches the pages of an array and of a heap block one by one, with some work between, in two threads, and has a child do
 * the same. Prints how many pages it has touched first in each process: what sampling page faults has to find. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TABLE = 600, HEAP = 400, CHILD = 300 };

struct item {
    char name[4096];
    long count; /* at the start of a page, if the item is */
    char rest[4088];
};
static struct item table[TABLE] __attribute__((aligned(4096)));
static struct item later[CHILD] __attribute__((aligned(4096)));
static long work_ns = 800000;

static void work(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    long start = now.tv_nsec + now.tv_sec * 1000000000L;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_nsec + now.tv_sec * 1000000000L < start + work_ns);
}

static void touch(struct item *items, int count)
{
    for (int i = 0; i < count; i++) {
        items[i].count += i;
        work();
    }
}

static void *touch_heap(void *items)
{
    touch(items, HEAP);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        work_ns = atol(argv[1]);
    struct item *heap = aligned_alloc(4096, HEAP * sizeof *heap);
    pthread_t thread;
    if (!heap || pthread_create(&thread, NULL, touch_heap, heap))
        return 1;
    touch(table, TABLE);
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) {
        touch(later, CHILD);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("table %d heap %d later %d sum %ld\n", TABLE, HEAP, CHILD, table[TABLE - 1].count + heap[HEAP - 1].count);
    return 0;
}
