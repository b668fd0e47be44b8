/* Stores for SECONDS, to be looked at by a debugger. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

volatile long x[1000];

int main(int argc, char **argv)
{
    struct timespec now, start;
    long n = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 0; i < 1000; i++) {
            x[i] = n;
            n += 1 + (x[i] & 1);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < (argc > 1 ? atol(argv[1]) : 1));
    puts("done");
    return 7;
}
