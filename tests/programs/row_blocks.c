/* row_blocks ROUNDS: adds up the numbers of short rows, each a block of its own; with ONE all rows are in one block. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 400000, LENGTH = 12 };

int main(int count, char **arguments)
{
    const long rounds = count < 2 ? 1 : atol(arguments[1]);
    double **rows = malloc(ROWS * sizeof *rows), sum = 0;
#ifdef ONE
    double *all = malloc(sizeof *all * ROWS * LENGTH);
#endif
    for (long i = 0; i < ROWS; i++) {
        const long at = i * 7919 % ROWS; /* prime to their number: allocated in another order than they are used in */
#ifdef ONE
        rows[at] = all + at * LENGTH;
#else
        rows[at] = malloc(LENGTH * sizeof *rows[at]);
#endif
        for (int k = 0; k < LENGTH; k++)
            rows[at][k] = k;
    }
    for (long r = 0; r < rounds; r++)
        for (long i = 0; i < ROWS; i++)
            for (int k = 0; k < LENGTH; k++)
                sum += rows[i][k];
    return printf("%g\n", sum) < 0;
}
