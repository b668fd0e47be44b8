/* Runs a program and writes its wall seconds, CPU seconds (user and system) and largest resident size in KiB to a file.
 * It runs below `lwp collect` as well as without, so that lwp's own work after the run is not counted as the program's.
 * Usage: timed FILE program args... */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    struct timespec start, end;
    struct rusage usage;
    int status;
    if (argc < 3)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    FILE *file = fopen(argv[1], "w");
    if (!file)
        return 1;
    fprintf(file, "%.6f %.6f %ld\n", (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9,
            seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss);
    if (fclose(file))
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
