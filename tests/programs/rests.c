/* Leaves the processor thousands of times a second, so that lwp's timer rests between samples; half way closes all files that are
 * not its own, as daemons do. Prints the seconds in user mode of both halves.
 *
 *     rests SECONDS */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined __GNUC__ && !defined __clang__
#define LOOP __attribute__((noipa))
#else
#define LOOP __attribute__((noinline))
#endif

static double user_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

static volatile double sum;

#define WORK                            \
    do {                                \
        for (int i = 0; i < 50000; i++) \
            sum += i;                   \
        usleep(1);                      \
    } while (0)

static LOOP double before(double seconds)
{
    double start = user_seconds();
    while (user_seconds() - start < seconds)
        WORK;
    return user_seconds() - start;
}

static LOOP double after(double seconds)
{
    double start = user_seconds();
    while (user_seconds() - start < seconds)
        WORK;
    return user_seconds() - start;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1, open = before(seconds / 2);
    closefrom(3);
    printf("%f %f\n", open, after(seconds / 2));
    return 0;
}
