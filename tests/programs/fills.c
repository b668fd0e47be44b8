/* Threads that each fill a large block of their own again and again, by the C library's memset: `fills THREADS PASSES`
 * prints the CPU seconds of all. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 64, BYTES = 8 << 20 };

static int passes;

static void *fill(void *block)
{
    for (int pass = 0; pass < passes; pass++) {
        memset(block, pass & 1, BYTES);
        __asm__ volatile("" : : "r"(block) : "memory");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    passes = atoi(argv[2]);
    pthread_t thread[THREADS_MAX];
    for (int t = 0; t < threads; t++) {
        void *block = malloc(BYTES);
        if (!block || pthread_create(&thread[t], NULL, fill, block))
            return 1;
    }
    for (int t = 0; t < threads; t++)
        pthread_join(thread[t], NULL);
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    printf("%.3f\n", (double)used.tv_sec + 1e-9 * (double)used.tv_nsec);
    return 0;
}
