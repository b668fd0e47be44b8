/* The redundant computations of Wen's thesis (listings 2.1 to 2.5) in programs of a few lines whose number is known in
 * closed form, each beside a version without it.
 *
 *     recomputed CASE...
 *
 * runs the cases one after the other ("all", "fixed": all of a sort) and prints what an exact count has to find:
 * "COUNT FIRST SECOND", the lines of the pair; and of a fixed version "at_most COUNT FROM TO". "counted:N" runs a loop
 * of N times two computations, of which all but the first two are redundant. What is volatile is computed of as it
 * is written; loops' own variables are in registers. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000, ROUNDS = 3, ROWS = 300, COLUMNS = 40, WIDTH = COLUMNS + 2 };

static volatile long a, b, c, d;
static volatile int first[N], second[N];
static volatile long grid[ROWS + 2][WIDTH];
static long sum;

#define EACH for (long i = 0; i < N; i++)
#define CASE(name) __attribute__((noinline)) static void name(void)
#define FUNCTION(type) __attribute__((noipa)) static type

static void pair(long count, int from, int to)
{
    printf("%ld %d %d\n", count, from, to);
}

static void at_most(long count, int from, int to)
{
    printf("at_most %ld %d %d\n", count, from, to);
}

/* Listing 2.1: two names of the same numbers. */
enum { ALIAS = __LINE__ + 3 };
FUNCTION(long) alias(volatile long *p, volatile long *q, volatile long *r, volatile long *s)
{
    long v1 = *p * *q;
    long v2 = *r * *s;
    return v1 ^ ~v2;
}

CASE(aliases)
{
    EACH {
        a = i;
        b = ~i;
        sum += alias(&a, &b, &a, &b);
    }
    pair(N, ALIAS, ALIAS + 1);
}

enum { NO_ALIAS = __LINE__ };
FUNCTION(long) no_alias(volatile long *p, volatile long *q)
{
    long v1 = *p * *q;
    return v1 ^ ~v1;
}

CASE(aliases_fixed)
{
    EACH {
        a = i;
        b = ~i;
        sum += no_alias(&a, &b);
    }
    at_most(0, NO_ALIAS, __LINE__);
}

/* Listing 2.2: redundant on one path, not on the other. */
CASE(path)
{
    enum { V1 = __LINE__ + 6, V2 = V1 + 5 };
    EACH {
        a = i;
        b = ~i;
        c = i + 7;
        d = i - 9;
        long v1 = a * b;
        if (i & 1) {
            c = a;
            d = b;
        }
        long v2 = c * d;
        sum += v1 ^ ~v2;
    }
    pair(N / 2, V1, V2);
}

CASE(path_fixed)
{
    enum { FROM = __LINE__ };
    EACH {
        a = i;
        b = ~i;
        c = i + 7;
        d = i - 9;
        long v1 = a * b, v2 = i & 1 ? v1 : c * d;
        sum += v1 ^ ~v2;
    }
    at_most(0, FROM, __LINE__);
}

/* Listing 2.3: the caller asks what the callee has asked. */
enum { CALLEE = __LINE__ + 3 };
FUNCTION(unsigned long) callee(unsigned long x, unsigned long y)
{
    return x % y == 0;
}

CASE(modules)
{
    enum { CALLER = __LINE__ + 6 };
    EACH {
        a = i + 1000;
        b = i + 1;
        unsigned long x = (unsigned long)a, y = (unsigned long)b;
        sum += (long)callee(x, y);
        if (x % y == 0)
            sum++;
    }
    pair(N, CALLEE, CALLER);
}

enum { CALLEE_FIXED = __LINE__ };
FUNCTION(unsigned long) callee_fixed(unsigned long x, unsigned long y)
{
    return x % y;
}

CASE(modules_fixed)
{
    EACH {
        a = i + 1000;
        b = i + 1;
        if (callee_fixed((unsigned long)a, (unsigned long)b) == 0)
            sum += 2;
    }
    at_most(0, CALLEE_FIXED, __LINE__);
}

/* Listing 2.4: two arrays that hold the same, as one is a copy. */
enum { SCALED = __LINE__ + 5 };
FUNCTION(void) scale(volatile int *x, volatile int *y, int factor)
{
    for (int round = 0; round < ROUNDS; round++)
        EACH {
            x[i] = x[i] * factor;
            y[i] = y[i] * factor;
        }
}

static void input_begin(void)
{
    EACH first[i] = (int)i;
    memcpy((void *)second, (const void *)first, sizeof first);
}

CASE(input)
{
    input_begin();
    scale(first, second, 77);
    pair(ROUNDS * N, SCALED, SCALED + 1);
}

enum { SCALED_FIXED = __LINE__ };
FUNCTION(void) scale_fixed(volatile int *x, volatile int *y, int factor)
{
    for (int round = 0; round < ROUNDS; round++)
        EACH x[i] = x[i] * factor;
    memcpy((void *)y, (const void *)x, sizeof first);
}

CASE(input_fixed)
{
    input_begin();
    scale_fixed(first, second, 77);
    at_most(0, SCALED_FIXED, __LINE__);
}

static void grid_begin(void)
{
    static unsigned long some = 1;
    for (long i = 0; i < ROWS + 2; i++)
        for (long j = 0; j < WIDTH; j++)
            grid[i][j] = (long)(some = some * 6364136223846793005u + 1442695040888963407u);
}

/* Listing 2.5: what one point adds up of its neighbours, one of the next row adds up again. */
CASE(stencil)
{
    enum { BEFORE = __LINE__ + 5, BEHIND };
    grid_begin();
    for (long i = 1; i <= ROWS; i++) {
        volatile long *at = &grid[i][1];
        for (long j = 1; j <= COLUMNS; j++, at++) {
            long before = at[-WIDTH] + at[-1];
            long behind = at[WIDTH] + at[1];
            a = before ^ behind;
        }
    }
    pair((ROWS - 1) * (COLUMNS - 1), BEHIND, BEFORE);
}

CASE(stencil_fixed)
{
    enum { FROM = __LINE__ };
    static volatile long row[WIDTH]; /* of what the row before had behind */
    volatile long *up = &grid[0][2], *left = &grid[1][1];
    grid_begin();
    for (long j = 2; j < WIDTH; j++, up++, left++)
        row[j] = *up + *left;
    for (long i = 1; i <= ROWS; i++) {
        volatile long *at = &grid[i][1], *kept = row + 2;
        long before = at[-WIDTH] + at[-1];
        for (long j = 1; j <= COLUMNS; j++, at++, kept++) {
            long behind = at[WIDTH] + at[1];
            a = before ^ behind;
            before = *kept;
            *kept = behind;
        }
    }
    at_most(0, FROM, __LINE__);
}

enum { THREAD = __LINE__ + 8 };
static void *thread(void *unused)
{
    volatile long x, y;
    EACH {
        x = (long)&x ^ i; /* of no other thread */
        y = (long)&y ^ i;
        long v1 = x * y, v2 = 0;
        v2 = x * y;
        *(volatile long *)&sum = v1 ^ ~v2;
    }
    return unused;
}

CASE(threads)
{
    pthread_t both[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&both[i], NULL, thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(both[i], NULL);
    pair(2 * N, THREAD - 1, THREAD);
}

static void counted(long times)
{
    long x = 3, y = 5, z = 7, made, kept; /* kept: a result that is overwritten unread is no computation */
    for (long i = 0; i < times; i++)
        __asm__ volatile("mov %2, %0\n\timul %3, %0\n\txor %4, %0\n\tmov %0, %1"
                         : "=&r"(made), "=m"(kept)
                         : "r"(x), "r"(y), "r"(z));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*bad)(void), (*fixed)(void);
    } cases[] = {
        {"aliases", aliases, aliases_fixed}, {"path", path, path_fixed},          {"modules", modules, modules_fixed},
        {"input", input, input_fixed},       {"stencil", stencil, stencil_fixed}, {"threads", threads, NULL},
    };
    bool known = argc > 1;
    for (int k = 1; k < argc; k++) {
        bool met = strncmp(argv[k], "counted:", 8) == 0, fixed = strcmp(argv[k], "fixed") == 0;
        if (met)
            counted(atol(argv[k] + 8));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if ((!fixed && strcmp(argv[k], "all") && strcmp(argv[k], cases[i].name)) || (fixed && !cases[i].fixed))
                continue;
            (fixed ? cases[i].fixed : cases[i].bad)();
            met = true;
        }
        known = known && met;
    }
    return known && sum != 12345 ? 0 : 2;
}
