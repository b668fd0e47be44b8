/* conflicts WHAT ROUNDS [STEP]: one loop over many streams, in a second-level cache.
 * arrays: 24 arrays, each begins STEP bytes further into a page than the one before; rows: 24 rows of one array, of a page and STEP bytes
 * each; column: a matrix of so long rows, read by column; few: 6 arrays at one place of a page; random: 24 arrays at one place of a page, at random indices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 24, PAGE = 4096, ELEMENTS = 2 * PAGE / (int)sizeof(double), FEW = 6, SIDE = ELEMENTS };

static double grid[STREAMS * 2 * PAGE] __attribute__((aligned(4096)));
static double out[ELEMENTS] __attribute__((aligned(4096)));
static double *in[STREAMS];
static unsigned at[ELEMENTS];
static char matrix[SIDE * (2 * PAGE + 64)] __attribute__((aligned(4096))), turned[SIDE * (2 * PAGE + 64)] __attribute__((aligned(4096)));

#define SUM6(p, i) (p[0][i] + p[1][i] + p[2][i]) + (p[3][i] + p[4][i] + p[5][i])

__attribute__((noinline)) static void add(double **p)
{
    double *a = p[0], *b = p[1], *c = p[2], *d = p[3], *e = p[4], *f = p[5], *g = p[6], *h = p[7], *k = p[8], *l = p[9], *m = p[10],
           *n = p[11], *o = p[12], *q = p[13], *r = p[14], *s = p[15], *t = p[16], *u = p[17], *v = p[18], *w = p[19], *x = p[20],
           *y = p[21], *z = p[22], *j = p[23];
    for (int i = 0; i < ELEMENTS; i++)
        out[i] = ((a[i] + b[i] + c[i]) + (d[i] + e[i] + f[i])) + ((g[i] + h[i] + k[i]) + (l[i] + m[i] + n[i])) +
                 ((o[i] + q[i] + r[i]) + (s[i] + t[i] + u[i])) + ((v[i] + w[i] + x[i]) + (y[i] + z[i] + j[i]));
}

__attribute__((noinline)) static void add_few(double **p)
{
    for (int i = 0; i < ELEMENTS; i++)
        out[i] = SUM6(p, i);
}

__attribute__((noinline)) static void add_random(double **p)
{
    for (int i = 0; i < ELEMENTS; i++) {
        unsigned r = at[i];
        out[i] = SUM6(p, r) + SUM6((p + 6), r) + SUM6((p + 12), r) + SUM6((p + 18), r);
    }
}

__attribute__((noinline)) static void turn(size_t row)
{
    double *from = (double *)matrix, *to = (double *)turned;
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++)
            to[i * row + j] = from[j * row + i] + 1;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    const char *what = arguments[1];
    size_t step = count > 3 ? strtoul(arguments[3], NULL, 0) : 0;
    if (strcmp(what, "column") == 0) {
        memset(matrix, 0, sizeof matrix);
        for (long round = atol(arguments[2]); round > 0; round--)
            turn((2 * PAGE + step) / sizeof(double));
        printf("%g\n", ((double *)turned)[SIDE]);
        return 0;
    }
    for (int k = 0; k < STREAMS; k++) {
        char *block = aligned_alloc(PAGE, 4 * PAGE);
        if (!block)
            return 1;
        in[k] = strcmp(what, "rows") == 0 ? grid + k * (2 * PAGE + step) / sizeof *grid : (double *)(block + k * step);
        for (int i = 0; i < ELEMENTS; i++)
            in[k][i] = i + k;
    }
    for (unsigned i = 0, x = 1; i < ELEMENTS; i++, x = x * 1664525u + 1013904223u)
        at[i] = (x >> 8) % ELEMENTS;
    void (*run)(double **) = strcmp(what, "few") == 0 ? add_few : strcmp(what, "random") == 0 ? add_random : add;
    for (long round = atol(arguments[2]); round > 0; round--) {
        run(in);
        in[round % FEW][round % ELEMENTS] = out[round % ELEMENTS];
    }
    printf("%g\n", out[ELEMENTS / 2]);
    return 0;
}
