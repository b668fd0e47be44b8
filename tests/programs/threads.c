/* Threads of all kinds and libraries that come and go. argv[1], argv[2]: two libraries with a function `work` each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <threads.h>

typedef unsigned long work_fn(unsigned rounds);

static unsigned long run_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    work_fn *work = library ? (work_fn *)dlsym(library, "work") : NULL;
    if (!work) {
        printf("%s\n", dlerror());
        exit(1);
    }
    unsigned long sum = work(60);
    dlclose(library);
    return sum;
}

static void *in_thread(void *path)
{
    return (void *)run_library(path);
}

static int in_c11_thread(void *path)
{
    return run_library(path) != 0;
}

static void *short_lived(void *given)
{
    for (int i = 0; i < 50; i++) {
        void *volatile memory = malloc(100 + (size_t)i);
        free(memory);
    }
    return given;
}

static void *leaves(void *given)
{
    pthread_exit(given);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    unsigned long sum = run_library(argv[1]);
    sum += run_library(argv[2]);
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, in_thread, argv[1]);
    pthread_join(thread, &result);
    sum += (unsigned long)result;
    thrd_t other;
    thrd_create(&other, in_c11_thread, argv[2]);
    int status;
    thrd_join(other, &status);
    pthread_create(&thread, NULL, leaves, argv[0]);
    pthread_join(thread, &result);
    printf("left with %d\n", result == argv[0]);
    for (int i = 0; i < 600; i++) {
        pthread_create(&thread, NULL, short_lived, NULL);
        pthread_join(thread, NULL);
    }
    printf("%d %d\n", sum == 0, status);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "KiB %ld\n", usage.ru_maxrss);
    return 0;
}
