/* Columns of numbers drawn at random, of which those are counted that are greater than another one: by a jump that no processor guesses,
 * or (STRAIGHT) without one. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1500 };

static int a[ROWS][ROWS], b[ROWS][ROWS], c[ROWS][ROWS];

__attribute__((noinline)) static void count(void)
{
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < ROWS; i++)
#ifdef STRAIGHT
            c[i][j] += a[i][j] > b[i][j];
#else
            if (a[i][j] > b[i][j])
                c[i][j]++;
#endif
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    unsigned x = 1;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            a[i][j] = (int)((x = x * 1103515245 + 12345) >> 16);
            b[i][j] = (int)((x = x * 1103515245 + 12345) >> 16);
        }
    for (int i = 0; i < rounds; i++)
        count();
    printf("%d\n", c[3][4]);
    return 0;
}
