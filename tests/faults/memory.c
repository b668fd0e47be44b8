/* What a program may take for granted of its own memory. */
#define _GNU_SOURCE
#include "work.h"

#include <pthread.h>
#include <sys/mman.h>

enum { HOLES = 5, ROUNDS = 60 };

static void *threads_work(void *given)
{
    work(1);
    return given;
}

/* Call paths that are new, so that tables grow. */
static __attribute__((noinline)) int deep(unsigned path)
{
    work(1);
    int below = path < 2 ? 0 : path & 1 ? deep(path >> 1) : deep(path >> 1) + 1;
    return below + (work_words[0] != 0);
}

/* Nobody else maps into a hole that a program made. A thread's stack may lie there: none is made meanwhile. */
static int holes(void)
{
    static const size_t bytes[HOLES] = {4096, 16384, 65536, 1 << 20, 64 << 20};
    char *places[HOLES];
    int taken = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, threads_work, NULL) == 0)
        pthread_join(thread, NULL);
    for (int i = 0; i < HOLES; i++)
        places[i] = mmap(NULL, bytes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < HOLES; i++)
            munmap(places[i], bytes[i]);
        deep(round * 2654435761u >> 24);
        for (int i = 0; i < HOLES; i++)
            taken += mmap(places[i], bytes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
                     places[i];
    }
    printf("%d holes were taken\n", taken);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct situation situations[] = {{"holes", holes}};
    (void)argc;
    return situation_run(situations, sizeof situations / sizeof *situations, argv[1]);
}
