/* Functions that get one variable from all who call them, and several. */
#include <stdio.h>
#include <stdlib.h>

struct point {
    double x, y;
};

/* Compilers copy it for `count`, and may leave no trace of `of`. */
static __attribute__((noinline)) double of_several(const struct point *of, long count)
{
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += of[i * 4099 % count].x;
    return sum;
}

static __attribute__((noinline)) double of_one(const struct point *of, long count)
{
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += of[i * 4099 % count].y;
    return sum;
}

int main(void)
{
    struct point *first = calloc(1000, sizeof *first);
    struct point *second = calloc(1000, sizeof *second);
    if (!first || !second)
        return 1;
    printf("%g\n", of_several(first, 1000) + of_several(second, 1000) + of_one(first, 1000) + of_one(first, 1000));
    return 0;
}
