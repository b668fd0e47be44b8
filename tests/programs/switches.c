/* Leaves the processor all the time: a byte to another process and back after each few stores that nobody looks at. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long data[64];
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
__attribute__((noinline)) static void store(long value)
{
    for (int i = 0; i < 2000; i++)
        *(volatile long *)&data[i & 63] = value + i;
}
int main(int count, char **arguments)
{
    int there[2], back[2];
    char byte = 0;
    long turns = 0;
    double end = atof(arguments[1]);
    if (count < 2 || pipe(there) || pipe(back))
        return 1;
    if (fork() == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {
        }
        _exit(0);
    }
    close(there[0]);
    while (now() < end) {
        store(turns++);
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            return 1;
    }
    close(there[1]);
    wait(NULL);
    printf("%ld\n", turns);
    return 0;
}
