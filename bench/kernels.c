/* Small programs that stress memory each in one way: kernels NAME ROUNDS. For comparing engines that see every access. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct particle {
    double x, y, z, mass, vx, vy, vz, age;
};

struct node {
    struct node *next;
    long value, rest[6];
};

static double structs(long rounds)
{
    enum { N = 200000 };
    struct particle *all = calloc(N, sizeof *all);
    double sum = 0;
    for (long r = 0; r < rounds; r++)
        for (long i = 0; i < N; i++) {
            all[i].x += all[i].vx * 0.5 + (double)r;
            sum += all[i].x;
        }
    free(all);
    return sum;
}

/* A list through 300,000 nodes in no order. */
static double list(long rounds)
{
    enum { N = 300000 };
    struct node *all = malloc(N * sizeof *all);
    uint32_t *order = malloc(N * sizeof *order), seed = 1;
    double sum = 0;
    for (uint32_t i = 0; i < N; i++)
        order[i] = i;
    for (uint32_t i = N - 1; i > 0; i--) {
        seed = seed * 1664525 + 1013904223;
        uint32_t k = (seed >> 8) % (i + 1), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    for (uint32_t i = 0; i < N; i++) {
        all[order[i]].next = &all[order[(i + 1) % N]];
        all[order[i]].value = i;
    }
    const struct node *at = all;
    for (long i = 0; i < rounds * N; i++, at = at->next)
        sum += (double)at->value;
    free(order);
    free(all);
    return sum;
}

static double hash(long rounds)
{
    enum { N = 1 << 20 };
    uint64_t *table = calloc(N, sizeof *table), x = 88172645463325252;
    for (long i = 0; i < rounds * N; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        table[x % N] += x >> 40;
    }
    double sum = (double)table[5];
    free(table);
    return sum;
}

static double text(long rounds)
{
    enum { N = 1 << 20 };
    char *letters = malloc(N);
    unsigned sum = 0;
    memset(letters, 'a', N);
    for (long r = 0; r < rounds; r++)
        for (long i = 0; i < N; i++) {
            sum = sum * 31 + (unsigned char)letters[i];
            letters[i] = (char)sum;
        }
    free(letters);
    return sum;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(long);
    } kernels[] = {{"structs", structs}, {"list", list}, {"hash", hash}, {"text", text}};
    for (size_t i = 0; argc == 3 && i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(argv[1], kernels[i].name) == 0)
            return printf("%g\n", kernels[i].run(atol(argv[2]))) < 0;
    fprintf(stderr, "usage: kernels structs|list|hash|text ROUNDS\n");
    return 2;
}
