/* Loops of inlined functions, beside code that leaves its lines behind: sqrt()'s slow path stands far from the loop, and what
 * the compiler adds there seems to belong to the loop before it. Two nests that differ in their order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct city {
    double x, y;
    struct city *next;
};

static double distance(const struct city *a, const struct city *b)
{
    return sqrt((a->x - b->x) * (a->x - b->x) + (a->y - b->y) * (a->y - b->y));
}

static inline __attribute__((always_inline)) struct city *nearest(struct city *ring, const struct city *to)
{
    struct city *best = ring;
    double least = distance(ring, to);
    for (struct city *at = ring->next; at != ring; at = at->next) { /* loop near */
        double is = distance(at, to);
        if (is < least) {
            least = is;
            best = at;
        }
    } /* end near */
    return best;
}

static inline __attribute__((always_inline)) double around(struct city *ring)
{
    double all = 0;
    struct city *at = ring;
    do {                                                            /* loop round */
        all += distance(at, at->next);
        at = at->next;
    } while (at != ring); /* end round */
    return all;
}

__attribute__((noinline)) double tour(struct city *first, struct city *second, struct city *to)
{
    double all = around(first);
    struct city *a = nearest(first, to);
    struct city *b = nearest(second, to);
    return all + around(second) + distance(a, b);
}

enum { ROWS = 1200 };
static double left[ROWS][ROWS], right[ROWS][ROWS], down[ROWS][ROWS];

__attribute__((noinline)) void nests(int times)
{
    for (int t = 0; t < times; t++)
        printf("%g\n", left[t][t]);
    for (int i = 1; i < ROWS; i++)     /* loop across */
        for (int j = 1; j < ROWS; j++)
            left[i][j] = right[i][j] * 2 + right[i - 1][j]; /* end across */
    for (int i = 1; i < ROWS; i++)     /* loop down */
        for (int j = 1; j < ROWS; j++)
            down[j][i] = left[j][i] * 3 + left[j - 1][i]; /* end down */
}

static inline __attribute__((always_inline)) void scale(double (*grid)[ROWS], int n)
{
    for (int i = 0; i < n; i++)     /* loop columns */
        for (int j = 0; j < n; j++)
            grid[j][i] = grid[j][i] * 0.5 + left[j][i]; /* end columns */
}

/* What sets a counter of the loops in scale() to zero has the line of a loop here. */
__attribute__((noinline)) void passes(double (*grid)[ROWS], int times)
{
    for (int i = 0; i < ROWS; i++) for (int j = 0; j < ROWS; j++) grid[i][j] = left[i][j] = i ^ j;
    for (int t = 0; t < times; t++) scale(grid, ROWS);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 200000, rounds = argc > 2 ? atoi(argv[2]) : 20;
    struct city *cities = calloc((size_t)count, sizeof *cities), to = {.x = 0.5, .y = 0.5};
    double all = 0;
    for (int i = 0; i < count; i++)
        cities[i] = (struct city){rand() % 1000, rand() % 1000, &cities[i + 2 < count ? i + 2 : i % 2]};
    for (int r = 0; r < rounds; r++)
        all += tour(&cities[0], &cities[1], &to);
    nests(2);
    printf("%.0f %g\n", all, down[5][7]);
    free(cities);
    return 0;
}
