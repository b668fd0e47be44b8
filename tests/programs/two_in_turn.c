/* Two threads that wait for each other all the time: they leave the processor some ten thousand times a second. Prints the CPU time outside
 * of the kernel. Of what both compute three fifths are work_two's. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STEPS = 3000 };
static unsigned long one = 1, two = 1;
static int there[2], back[2];

__attribute__((noinline)) static void work_one(int steps)
{
    for (int i = 0; i < steps; i++)
        one = one * 6364136223846793005u + 1442695040888963407u;
}

__attribute__((noinline)) static void work_two(int steps)
{
    for (int i = 0; i < steps; i++)
        two = two * 6364136223846793005u + 1442695040888963407u;
}

static void *answer(void *unused)
{
    char byte;
    while (read(there[0], &byte, 1) == 1) {
        work_two(STEPS / 2);
        if (write(back[1], &byte, 1) != 1)
            break;
    }
    return unused;
}

static double seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    double wanted = argc > 1 ? atof(argv[1]) : 1;
    char byte = 0;
    pthread_t thread;
    if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
        return 1;
    do {
        for (int turn = 0; turn < 100; turn++) {
            work_one(STEPS);
            if (write(there[1], &byte, 1) != 1)
                return 1;
            work_two(STEPS);
            if (read(back[0], &byte, 1) != 1)
                return 1;
        }
    } while (seconds() < wanted);
    close(there[1]);
    pthread_join(thread, NULL);
    printf("%.3f\n", seconds());
    return 0;
}
