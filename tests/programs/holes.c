/* holes KIND ROUNDS: sums up all of an array of structures, from the first to the last. "pairs": each has a hole, whatever the order of its
 * members. "whole": none has. "apart": random ones, of which each is one line today. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    int column;
    double value;
};

struct whole {
    long column;
    double value;
};

enum { COUNT = 6000000 };

static double pairs(long rounds)
{
    struct pair *all = malloc(COUNT * sizeof *all);
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        all[i] = (struct pair){i % 100, i};
    for (long r = 0; r < rounds; r++) {
        double values = 0;
        long columns = 0;
        for (int i = 0; i < COUNT; i++)
            values += all[i].value, columns += all[i].column;
        sum += values + (double)columns;
    }
    free(all);
    return sum;
}

static double whole(long rounds)
{
    struct whole *all = malloc(COUNT * sizeof *all);
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        all[i] = (struct whole){i % 100, i};
    for (long r = 0; r < rounds; r++) {
        double values = 0;
        long columns = 0;
        for (int i = 0; i < COUNT; i++)
            values += all[i].value, columns += all[i].column;
        sum += values + (double)columns;
    }
    free(all);
    return sum;
}

static double apart(long rounds)
{
    struct pair *all = malloc(COUNT * sizeof *all);
    unsigned long state = 1;
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        all[i] = (struct pair){i % 100, i};
    for (long i = 0; i < rounds * COUNT / 4; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const struct pair *one = &all[(state >> 33) % COUNT];
        sum += one->value * one->column;
    }
    free(all);
    return sum;
}

int main(int count, char **arguments)
{
    const char *kind = count < 2 ? "pairs" : arguments[1];
    const long rounds = count < 3 ? 10 : atol(arguments[2]);
    const double sum = strcmp(kind, "whole") == 0 ? whole(rounds) : strcmp(kind, "apart") == 0 ? apart(rounds) : pairs(rounds);
    return printf("%g\n", sum) < 0;
}
