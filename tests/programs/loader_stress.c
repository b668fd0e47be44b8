/* One thread loads and unloads libraries while others allocate: the loader holds its lock while it waits for the
 * allocator's, and a sampled thread holds the allocator's. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ALLOCATIONS = 3000000 };

static volatile int stop;
static int failed;

static void *load(void *unused)
{
    while (!stop) {
        void *library = dlopen("libzstd.so.1", RTLD_NOW);
        failed |= !library;
        if (library)
            dlclose(library);
    }
    return unused;
}

static void *allocate(void *given)
{
    unsigned seed = (unsigned)(size_t)given;
    void *blocks[64] = {0};
    for (int i = 0; i < ALLOCATIONS; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned slot = seed >> 26;
        free(blocks[slot]);
        blocks[slot] = malloc((seed >> 16) % 5000);
    }
    for (int slot = 0; slot < 64; slot++)
        free(blocks[slot]);
    return NULL;
}

int main(void)
{
    pthread_t loader, threads[THREADS];
    pthread_create(&loader, NULL, load, NULL);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    stop = 1;
    pthread_join(loader, NULL);
    puts(failed ? "a library could not be loaded" : "done");
    return failed;
}
