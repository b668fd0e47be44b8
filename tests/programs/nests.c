/* Loops over two- and three-dimensional arrays in several orders, for what their code shows. */
#include <stdio.h>
#include <stdlib.h>

#define LOOPS __attribute__((noinline, noclone))
enum { PLANES = 6, ROWS = 7, COLUMNS = 9 };
double cube[PLANES][ROWS][COLUMNS];

/* down one column after the other: the loop around moves by 8 bytes */
LOOPS double columns(const double *a, long n, long m)
{
    double sum = 0;
    for (long j = 0; j < m; j++)
        for (long i = 0; i < n; i++)
            sum += a[i * m + j];
    return sum;
}

/* every one once, in an order that a product has modulo their number: there is no next column */
LOOPS double remainders(const double *a, unsigned long n, unsigned long step)
{
    double sum = 0;
    for (unsigned long i = 0; i < n; i++)
        sum += a[i * step % n];
    return sum;
}

LOOPS double masked(const double *a, unsigned long n, unsigned long step)
{
    double sum = 0;
    for (unsigned long i = 0; i < n; i++)
        sum += a[i * step & 0xfff];
    return sum;
}

/* the outermost of three loops goes from column to column */
LOOPS void deep(void)
{
    for (long k = 0; k < COLUMNS; k++)
        for (long i = 0; i < PLANES; i++)
            for (long j = 0; j < ROWS; j++)
                cube[i][j][k] *= 1.5;
}

/* ... and the one between the two stays in the rows */
LOOPS void deepest(double *a, long n)
{
    for (long k = 0; k < COLUMNS; k++)
        for (long j = 0; j < ROWS; j++)
            for (long i = 0; i < n; i++)
                a[(i * ROWS + j) * COLUMNS + k] *= 1.5;
}

/* columns of a triangle, each of which begins a row further on */
LOOPS double triangle(const double *a, long n)
{
    double sum = 0;
    for (long i = n - 1; i >= 0; i--)
        for (long j = i + 1; j < n; j++)
            for (long k = i + 1; k < j; k++)
                sum += a[k * COLUMNS + j];
    return sum;
}

/* ... of planes */
LOOPS double planes(const double *a, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < COLUMNS; j++)
            for (long k = 0; k < ROWS; k++)
                sum += a[(i * ROWS + k) * COLUMNS + j];
    return sum;
}

/* leaves out elements on purpose: the loop around goes to another row */
LOOPS double sparse(const double *a, long n, long m)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j += 16)
            sum += a[i * m + j];
    return sum;
}

/* rows that were allocated one by one */
LOOPS double pointers(double *const *rows, long n, long m)
{
    double sum = 0;
    for (long j = 0; j < m; j++)
        for (long i = 0; i < n; i++)
            sum += rows[i][j];
    return sum;
}

/* a sum of each column */
double totals[COLUMNS];
LOOPS void means(const double *a, long n)
{
    for (long j = 0; j < COLUMNS; j++) {
        double sum = 0;
        for (long i = 0; i < n; i++)
            sum += a[i * COLUMNS + j];
        totals[j] = sum / (double)n;
    }
}

/* a check sum down the columns: each step needs the one before, over both loops */
unsigned grid[ROWS][COLUMNS];
LOOPS unsigned check(void)
{
    unsigned h = 1;
    for (long j = 0; j < COLUMNS; j++)
        for (long i = 0; i < ROWS; i++)
            h = h * 31 + grid[i][j];
    return h;
}

/* a filter down each column, which begins anew at its top */
float levels[ROWS][COLUMNS], smooth[ROWS][COLUMNS];
LOOPS void filter(void)
{
    for (long j = 0; j < COLUMNS; j++) {
        float before = 0, last = 0, two = 0;
        for (long i = 0; i < ROWS; i++) {
            smooth[i][j] = levels[i][j] * .25f + before * .25f + last * .3f + two * .2f;
            before = levels[i][j];
            two = last;
            last = smooth[i][j];
        }
    }
}

/* columns that stay for the loop around, and others that it goes through */
double left[ROWS][COLUMNS], right[ROWS][COLUMNS];
LOOPS void reduce(void)
{
    for (long k = 0; k < COLUMNS; k++)
        for (long j = k + 1; j < COLUMNS; j++)
            for (long i = 0; i < ROWS; i++)
                left[i][j] -= right[i][k] * .5;
}

/* ... and that begin a row further on each time */
LOOPS void pivots(void)
{
    for (long k = 0; k < COLUMNS; k++)
        for (long j = k + 1; j < COLUMNS; j++)
            for (long i = k + 1; i < ROWS; i++)
                left[i][j] -= left[i][k] * .5;
}

/* a triangle by columns, each of which begins a row further on, of a length that is known only while it runs */
LOOPS void reduce_rows(double *a, int n)
{
    for (int k = 0; k < n; k++)
        for (int j = k + 1; j < n; j++)
            for (int i = j; i < n; i++)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
}

/* rows of two matrices that were allocated one by one: compilers add the column to what they loaded */
LOOPS void adjust(const float *delta, long columns, const float *in, long n, float **weights, float **before)
{
    for (long j = 1; j <= columns; j++)
        for (long k = 0; k <= n; k++) {
            const float change = .3f * delta[j] * in[k] + .3f * before[k][j];
            weights[k][j] += change;
            before[k][j] = change;
        }
}

/* From row to row by the address of the next one, and one to the right of it where there is one, as compilers make that. */
__attribute__((noinline, noclone)) void edges(const char *grid, long width, long rows)
{
    const char *next = grid + 72;
    __asm__ volatile("1: cmpq %3, %2\n\t"
                     "movq %0, %%rax\n\t"
                     "adcq $0, %%rax\n\t"
                     "movb (%%rax), %%cl\n\t"
                     "movq %1, %0\n\t"
                     "addq $72, %1\n\t"
                     "decq %2\n\t"
                     "jnz 1b"
                     : "+r"(grid), "+r"(next), "+r"(rows)
                     : "r"(width)
                     : "rax", "rcx", "memory", "cc");
}

int main(void)
{
    static double a[64 * 64];
    double *rows[64];
    for (int i = 0; i < 64; i++)
        rows[i] = a + 64 * i;
    deep();
    filter();
    means(a, 64);
    reduce();
    pivots();
    reduce_rows(a, 9);
    float *weights[1] = {levels[0]}, *before[1] = {smooth[0]};
    deepest(&cube[0][0][0], PLANES);
    adjust(levels[0], COLUMNS - 1, levels[1], 0, weights, before);
    edges((const char *)a, 1, 9);
    a[1] += remainders(a, 4093, 7) + masked(a, 64, 7);
    return printf("%g\n", columns(a, 64, 64) + sparse(a, 64, 64) + pointers(rows, 64, 64) + triangle(a, 9) + planes(a, 1) + check()) < 0;
}
