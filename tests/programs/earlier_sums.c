/* earlier_sums ROUNDS: counts the ways to put brackets around parts of a row, each from those of shorter parts; with APART from another
 * table. Both go down columns of what they add up; only the former adds what it has added up before, in the same row. */
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1500 };

typedef double table[LENGTH][LENGTH];

__attribute__((noinline)) static void add(table ways, table given)
{
    for (int i = LENGTH - 1; i >= 0; i--)
        for (int j = i + 1; j < LENGTH; j++) {
            ways[i][j] = j == i + 1;
            for (int k = i + 1; k < j; k++)
                ways[i][j] += given[i][k] * given[k][j];
        }
}

int main(int count, char **arguments)
{
    const long rounds = count < 2 ? 1 : atol(arguments[1]);
    double(*ways)[LENGTH] = calloc(1, sizeof(table)), (*given)[LENGTH] = calloc(1, sizeof(table));
    for (int i = 0; i < LENGTH * LENGTH; i++)
        given[0][i] = i % 3;
    for (long r = 0; r < rounds; r++)
#ifdef APART
        add(ways, given);
#else
        add(ways, ways);
#endif
    return printf("%g %g\n", ways[LENGTH - 20][LENGTH - 1], given[0][1]) < 0;
}
