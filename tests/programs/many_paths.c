/* Nine hundred functions allocate once each, so that no call path can be afforded any more; then a function that others wrap allocates two
 * large blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE  __attribute__((noinline, noclone))
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n)                                                                                                                      \
    TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define THOUSAND(X)                                                                                                                        \
    HUNDRED(X, 1) HUNDRED(X, 2) HUNDRED(X, 3) HUNDRED(X, 4) HUNDRED(X, 5) HUNDRED(X, 6) HUNDRED(X, 7) HUNDRED(X, 8) HUNDRED(X, 9)

static void *kept[2000];

#define MAKES(n)                                                                                                                           \
    static NOINLINE void make_##n(int deep)                                                                                                \
    {                                                                                                                                      \
        char place[16 + n % 64];                                                                                                           \
        memset(place, deep, sizeof place);                                                                                                 \
        kept[n] = malloc(24 + (size_t)place[n % 16]);                                                                                      \
    }
THOUSAND(MAKES)

static NOINLINE double *checked(size_t bytes)
{
    double *block = malloc(bytes);
    if (!block)
        abort();
    return block;
}

enum { MANY = 1 << 21 };

static NOINLINE double *first_made(void)
{
    double *block = checked(MANY * sizeof *block);
    memset(block, 0, MANY * sizeof *block);
    return block;
}

static NOINLINE double *second_made(void)
{
    double *block = checked(MANY * sizeof *block);
    memset(block, 1, MANY * sizeof *block);
    return block;
}

int main(void)
{
    double sum = 0;
#define CALLS(n) make_##n(n & 7);
    THOUSAND(CALLS)
    double *one = first_made(), *two = second_made();
    for (unsigned i = 0, at = 1; i < 20000000; i++, at = at * 1664525 + 1013904223)
        sum += one[at >> 11] + two[at >> 12];
    printf("%g %p\n", sum, kept[5]);
    return 0;
}
