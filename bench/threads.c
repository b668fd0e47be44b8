/* Threads that live for some 15 us, one after the other. Usage: threads COUNT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 4000 };

static void *work(void *argument)
{
    uint64_t *state = argument;
    for (unsigned i = 0; i < STEPS; i++)
        *state = *state * 6364136223846793005u + 1442695040888963407u;
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 1;
    pthread_t thread;
    for (long left = argc > 1 ? atol(argv[1]) : 0; left > 0; left--)
        if (pthread_create(&thread, NULL, work, &state) || pthread_join(thread, NULL))
            return 1;
    printf("%llu\n", (unsigned long long)state);
    return 0;
}
