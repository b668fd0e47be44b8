/* What any program does: blocks of all sizes made and grown in some threads and freed in others, a child, a library, an atexit
 * function. Prints what has to be the same each time. */
#define _GNU_SOURCE
#include "work.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>

enum { THREADS = 4, BLOCKS = 2000 };

static unsigned char *blocks[THREADS][BLOCKS];

static size_t block_bytes(size_t i)
{
    return i % 100 == 0 ? 100000 + i * 16 : 1 + i * 7919 % 700;
}

static void *make(void *given)
{
    unsigned char **own = given;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t bytes = block_bytes(i);
        void *aligned = NULL;
        own[i] = i % 7 == 0 ? calloc(bytes, 1) : i % 11 == 0 ? aligned_alloc(64, (bytes + 63) & ~(size_t)63) : malloc(bytes);
        if (i % 13 == 0 && posix_memalign(&aligned, 256, bytes) == 0) {
            free(own[i]);
            own[i] = aligned;
        }
        if (i % 3 == 0)
            own[i] = realloc(own[i], bytes);
        memset(own[i], (int)(i & 255), bytes);
    }
    work(20);
    return NULL;
}

static void *check(void *given)
{
    unsigned char **others = given;
    uintptr_t wrong = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t bytes = block_bytes(i);
        wrong += malloc_usable_size(others[i]) < bytes;
        for (size_t k = 0; k < bytes; k += 97)
            wrong += others[i][k] != (i & 255);
        free(others[i]);
    }
    return (void *)wrong;
}

static void last(void)
{
    work(20);
    fprintf(stderr, "at exit\n");
}

static int plain(void)
{
    pthread_t threads[THREADS];
    uintptr_t wrong = 0;
    atexit(last);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, make, blocks[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, check, blocks[(i + 1) % THREADS]);
        for (int i = 0; i < THREADS; i++) {
            void *found = NULL;
            pthread_join(threads[i], &found);
            wrong += (uintptr_t)found;
        }
    }
    void *library = dlopen("libm.so.6", RTLD_NOW);
    double (*root)(double) = library ? (double (*)(double))dlsym(library, "sqrt") : NULL;
    printf("%lu wrong, %.1f\n", (unsigned long)wrong, root ? root(2.25) : 0);
    if (library)
        dlclose(library);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        make(blocks[0]);
        wrong = (uintptr_t)check(blocks[0]);
        printf("child: %lu wrong\n", (unsigned long)wrong);
        fflush(stdout);
        _exit(6);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    static const struct situation situations[] = {{"plain", plain}};
    return situation_run(situations, 1, argc > 1 ? argv[1] : NULL);
}
