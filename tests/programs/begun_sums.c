/* begun_sums ROUNDS: adds up columns into an array of sums; with TWO also into another one. Row by row each is one sum, which is still in a
 * register when the loop stores nowhere else. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 2000, COLUMNS = 2000 };

__attribute__((noinline)) static void add(const double *numbers, double *sums, double *others)
{
    for (int k = 0; k < COLUMNS; k++)
        for (int j = 0; j < ROWS; j++) {
            sums[j] += numbers[j * COLUMNS + k];
#ifdef TWO
            others[j] += 1;
#endif
        }
    (void)others;
}

int main(int count, char **arguments)
{
    const long rounds = count < 2 ? 10 : atol(arguments[1]);
    double *numbers = malloc(sizeof *numbers * ROWS * COLUMNS), *sums = calloc(ROWS, sizeof *sums), *others = calloc(ROWS, sizeof *others);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = i % 7;
    for (long r = 0; r < rounds; r++)
        add(numbers, sums, others);
    return printf("%g %g\n", sums[ROWS / 2], others[ROWS / 2]) < 0;
}
