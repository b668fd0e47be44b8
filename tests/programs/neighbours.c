/* Arrays whose elements equal their neighbours (Wen's thesis, 3.3 and 3.7), each beside a version without it:
 *
 *     neighbours bad|fixed|asked|blocked
 *
 * "asked" looks at them by itself, with LWP_ARRAY; "blocked" goes over a large grid in blocks, as Rodinia's hotspot does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lwp.h"

enum { N = 20000, SIDE = 100 };

#define OWN __attribute__((noinline)) static

OWN int foo(int x)
{
    return x * 7 + 1;
}

/* Listing 3.3: two and two are the same. */
OWN int *pairs(int *b, int fixed)
{
    if (fixed)
        for (int i = 0; i < N / 2; i++)
            b[i] = foo(i + 1);
    else
        for (int i = 0; i < N; i++)
            b[i] = foo(i / 2 + 1);
    return b;
}

/* Listing 3.7 (hotspot): neighbouring cells are about as warm. */
static double temperature[SIDE * SIDE], power[SIDE * SIDE], result[SIDE * SIDE], blocks[SIDE];
OWN void hotspot(int fixed)
{
    if (fixed) { /* one value for each block of cells */
        for (int i = 0; i < SIDE; i++)
            blocks[i] = temperature[i * SIDE] * (1 + power[i] + i);
        return;
    }
    for (int r = 1; r < SIDE - 1; r++)
        for (int c = 1; c < SIDE - 1; c++) {
            const double *t = &temperature[r * SIDE + c];
            result[r * SIDE + c] = t[0] + 0.01 * (power[r * SIDE + c] + t[1] + t[-1] + t[SIDE] + t[-SIDE] - 4 * t[0]);
        }
}

/* Every second cell of a row is as warm as the one before, to 0.1 %; the others are 5 % apart. */
enum { LARGE = 512, BLOCK = 16 };
static float grid[LARGE * LARGE], next[LARGE * LARGE];
OWN void blocked(void)
{
    for (int block = 0; block < LARGE / BLOCK * (LARGE / BLOCK); block++) {
        const int top = block / (LARGE / BLOCK) * BLOCK, left = block % (LARGE / BLOCK) * BLOCK;
        for (int r = top; r < top + BLOCK; r++)
            for (int c = left; c < left + BLOCK; c++)
                next[r * LARGE + c] = grid[r * LARGE + c] * 1.5f;
    }
}

/* Listing 3.9 (particlefilter): the index seldom changes. */
struct particle {
    double x, y;
    long steps;
};
static double xs[N];
OWN int find_index(const double *cdf, int count, double value)
{
    int i = 0;
    while (i < count - 1 && cdf[i] < value)
        i++;
    return i;
}
OWN int particlefilter(struct particle *particles, const double *cdf, int fixed)
{
    int used = 0, last = -1;
    for (int j = 0; j < N; j++) {
        int i = find_index(cdf, 40, (double)j / N);
        if (fixed && i == last)
            continue;
        last = i;
        particles[used].x = xs[i];
        particles[used++].steps = j;
    }
    return used;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int fixed = strcmp(what, "fixed") == 0, asked = strcmp(what, "asked") == 0, sum = 0;
    double cdf[40];
    for (int i = 0; i < SIDE * SIDE; i++) {
        temperature[i] = 300 + (i * 7919 % 100) * 0.01;
        power[i] = (i * 104729 % 100) * 0.01;
    }
    for (int i = 0; i < N; i++)
        xs[i] = (double)(i * 7919 % 1009);
    for (int i = 0; i < 40; i++)
        cdf[i] = i * 0.025;
    for (int i = 0; i < LARGE * LARGE && strcmp(what, "blocked") == 0; i++)
        grid[i] = (i / 2 % 2 ? 105 : 100) + (i % 2 ? 0.1f : 0);
    for (int round = 0; round < 5 && strcmp(what, "blocked") == 0; round++)
        blocked();
    int *b = malloc(N * sizeof *b);
    struct particle *particles = calloc(N, sizeof *particles);
    for (int round = 0; round < 5; round++) {
        pairs(b, fixed);
        hotspot(fixed);
        sum += particlefilter(particles, cdf, fixed);
    }
    if (asked) {
        LWP_ARRAY(b, N, sizeof *b);
        LWP_ARRAY_FLOAT(result + SIDE + 1, SIDE - 2, sizeof *result);
    }
    sum += b[17] + (int)next[3];
    free(b);
    free(particles);
    return sum == 12345;
}
