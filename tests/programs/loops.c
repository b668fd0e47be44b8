/* Loops known by construction, for tests/unit/test_loops.c: "loop NAME" marks the first line of a loop, "end NAME" its
 * last. None is of a length the compiler could know. */
#include <stdlib.h>

struct particle {
    double x, y, z, w;
    long id;
};

struct node {
    struct node *next;
    long value, weight;
};

double triad(double *restrict to, const double *restrict from, int n);
double triad(double *restrict to, const double *restrict from, int n)
{
    for (int i = 0; i < n; i++)      /* loop triad */
        to[i] = to[i] + 3 * from[i]; /* end triad */
    return to[0];
}

double nest(struct particle *p, int n, int m);
double nest(struct particle *p, int n, int m)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {     /* loop nest */
        for (int j = 0; j < m; j++) { /* loop first */
            sum += p[j].x;
            sum *= p[j].y; /* end first */
        }
        for (int j = 0; j < m; j++) /* loop second */
            sum += p[j].w;          /* end second */
        while (sum > 100)           /* loop third */
            sum *= 0.37;            /* end third end nest */
    }
    return sum;
}

int interpret(const unsigned char *code, int n);
int interpret(const unsigned char *code, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) /* loop interpret */
        switch (code[i]) {
        case 0:
            value += 5;
            break;
        case 1:
            value *= 3;
            break;
        case 2:
            value ^= 77;
            break;
        case 3:
            value -= i;
            break;
        case 4:
            value <<= 1;
            break;
        case 5:
            if (value > 4000)
                abort();
            value = 1;
            break;
        case 6:
            value = -value;
            break;
        case 7:
            value |= n;
            break; /* end interpret */
        }
    return value;
}

static inline long list_sum(const struct node *node)
{
    long sum = 0;
    for (; node; node = node->next)        /* loop list in list_sum */
        sum += node->value * node->weight; /* end list */
    return sum;
}

long both(struct node *a, struct node *b);
long both(struct node *a, struct node *b)
{
    return list_sum(a) * 3 + list_sum(b);
}

long no_loop(long a, long b);
long no_loop(long a, long b)
{
    if (a > b)
        return a * 7;
    return b - a;
}

int main(int argc, char **argv)
{
    double a[64] = {argc}, b[64] = {argc};
    struct particle p[4] = {{.x = argc}};
    struct node second = {NULL, argc, 2}, first = {&second, argc, 3};
    double sum = triad(a, b, argc) + nest(p, argc, argc) + interpret((unsigned char *)argv[0], argc);
    return (int)sum + (int)both(&first, &second) + (int)no_loop(argc, 3);
}
