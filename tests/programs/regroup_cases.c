/* Two large arrays that look like one group, and one reason each why they must not become one.
 *
 *     regroup_cases together|order|shuffled|range|time|scheme|lifetime|location|affinity [rounds]
 *
 * All walk with a stride of a page and some lines, so that joining `together`'s arrays pays, and nothing else differs. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __GNUC__ && !defined __clang__
#define LOOP __attribute__((noipa)) /* runs each time it is called */
#else
#define LOOP __attribute__((noinline))
#endif

enum { COUNT = 1 << 22, STEP = 521 * 8 + 1 }; /* odd: a walk visits all of them */

static double fixed_partner[COUNT]; /* static: cannot be one array with a heap block */

static double *take(size_t count)
{
    double *memory = malloc(count * sizeof *memory);
    if (!memory)
        exit(1);
    for (size_t i = 0; i < count; i++)
        memory[i] = (double)(i % 7);
    return memory;
}

static LOOP double walk_together(const double *left, const double *right)
{
    double sum = 0;
    for (size_t n = 0, i = 0; n < COUNT; n++, i = (i + STEP) & (COUNT - 1))
        sum += left[i] * right[i];
    return sum;
}

static LOOP double walk_opposite(const double *left, const double *right)
{
    double sum = 0;
    for (size_t n = 0, i = 0; n < COUNT; n++, i = (i + STEP) & (COUNT - 1))
        sum += left[i] * right[COUNT - 1 - i];
    return sum;
}

static LOOP double walk_shuffled(const double *left, const double *right)
{
    double sum = 0;
    unsigned random = 1;
    for (size_t n = 0, i = 0; n < COUNT; n++, i = (i + STEP) & (COUNT - 1)) {
        random = random * 1664525 + 1013904223;
        sum += left[i] * right[random >> 10];
    }
    return sum;
}

/* The lower half of one with the upper half of the other. */
static LOOP double walk_halves(const double *left, const double *right)
{
    double sum = 0;
    for (size_t n = 0, i = 0; n < COUNT; n++, i = (i + STEP) & (COUNT / 2 - 1))
        sum += left[i] * right[COUNT / 2 + i];
    return sum;
}

/* One loop, but each array has its own half of the run. */
static LOOP double walk_either(const double *left, const double *right, size_t rounds)
{
    double sum = 0;
    for (size_t round = 0; round < rounds; round++)
        for (size_t n = 0, i = 0; n < COUNT; n++, i = (i + STEP) & (COUNT - 1)) {
            if (round < rounds / 2)
                sum += left[i];
            else
                sum += right[i];
        }
    return sum;
}

/* Twice as many elements as the other. */
static LOOP double walk_longer(const double *left, const double *right)
{
    double sum = 0;
    for (size_t n = 0, i = 0; n < COUNT; n++, i = (i + STEP) & (COUNT - 1))
        sum += left[i] * right[2 * i];
    return sum;
}

static LOOP double walk_left(const double *left)
{
    double sum = 0;
    for (size_t n = 0, i = 0; n < COUNT; n++, i = (i + STEP) & (COUNT - 1))
        sum += left[i];
    return sum;
}

static LOOP double walk_right(const double *right)
{
    double sum = 0;
    for (size_t n = 0, i = 0; n < COUNT; n++, i = (i + STEP) & (COUNT - 1))
        sum += right[i];
    return sum;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "together";
    size_t rounds = argc > 2 ? (size_t)atol(argv[2]) : 20;
    double sum = 0;
    if (strcmp(what, "lifetime") == 0) { /* the one is gone before the other is there */
        double *left = take(COUNT);
        for (size_t r = 0; r < rounds; r++)
            sum += walk_left(left);
        free(left);
        double *right = take(COUNT);
        for (size_t r = 0; r < rounds; r++)
            sum += walk_left(right); /* the same loop */
        free(right);
        printf("%s %.0f\n", what, sum);
        return 0;
    }
    bool beside_static = strcmp(what, "location") == 0; /* a block that is only filled would be a pair of its own */
    double *left = take(COUNT);
    double *right = beside_static ? fixed_partner : take(strcmp(what, "scheme") ? COUNT : 2 * COUNT);
    if (strcmp(what, "time") == 0) {
        sum = walk_either(left, right, 2 * rounds);
    } else {
        for (size_t r = 0; r < rounds; r++) {
            if (strcmp(what, "together") == 0 || beside_static)
                sum += walk_together(left, right);
            else if (strcmp(what, "order") == 0)
                sum += walk_opposite(left, right);
            else if (strcmp(what, "shuffled") == 0)
                sum += walk_shuffled(left, right);
            else if (strcmp(what, "range") == 0)
                sum += walk_halves(left, right);
            else if (strcmp(what, "scheme") == 0)
                sum += walk_longer(left, right);
            else if (strcmp(what, "affinity") == 0) /* hardly ever together */
                sum += (r % 20 == 0 ? walk_together(left, right) : 0) + walk_left(left) + walk_right(right);
            else
                return 2;
        }
    }
    free(left);
    if (!beside_static)
        free(right);
    printf("%s %.0f\n", what, sum);
    return 0;
}
