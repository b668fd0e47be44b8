/* The redundancies of Wen's thesis in programs of a few lines whose bytes are known in closed form, each beside a
 * version without it.
 *
 *     redundancies CASE...
 *
 * runs the cases one after the other ("all", "fixed": all of a sort) and prints what an exact count has to find:
 * "KIND BYTES FIRST SECOND", the lines of the pair; and of a fixed version "at_most KIND BYTES FROM TO", what pairs of
 * these lines may have. Accesses to elements are volatile: each in the source is one in the program; loops' own variables
 * are in registers. The variables are not: what is asked for is no finding (volatiles.c). */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { N = 20000, ROUNDS = 10 };

static long array[N], other[N];
static double work1[N], work2[N], bottom[N], top[N];
static float weights[N], old_weights[N];
static long scratch;
static long sum;
#define array       ((volatile long *)array)
#define other       ((volatile long *)other)
#define work1       ((volatile double *)work1)
#define work2       ((volatile double *)work2)
#define bottom      ((volatile double *)bottom)
#define top         ((volatile double *)top)
#define weights     ((volatile float *)weights)
#define old_weights ((volatile float *)old_weights)
#define scratch     (*(volatile long *)&scratch)

#define EACH for (long i = 0; i < N; i++)
#define ROUND for (long round = 0; round < ROUNDS; round++)
#define CASE(name) __attribute__((noinline)) static void name(void)

static void pair(const char *kind, long bytes, int first, int second)
{
    printf("%s %ld %d %d\n", kind, bytes, first, second);
}

static void at_most(const char *kind, long bytes, int from, int to)
{
    printf("at_most %s %ld %d %d\n", kind, bytes, from, to);
}

/* Listing 4.1 (gcc): a large table is cleared after each block of code, which uses two of its entries. */
CASE(last_set)
{
    enum { ALLOCATED = __LINE__ + 1, CLEARED = ALLOCATED + 6 };
    EACH array[i] = 0;
    ROUND {
        for (long i = 2 * round; i < 2 * round + 2; i++) {
            array[i] = round + 1;
            sum += array[i];
        }
        EACH array[i] = 0;
    }
    pair("dead_store", (N - 2) * 8L, ALLOCATED, CLEARED);
    pair("dead_store", (ROUNDS - 1) * (N - 2) * 8L, CLEARED, CLEARED);
    pair("silent_store", (N - 2) * 8L, ALLOCATED, CLEARED);
    pair("silent_store", (ROUNDS - 1) * (N - 2) * 8L, CLEARED, CLEARED);
}

/* It clears what it has used. */
CASE(last_set_fixed)
{
    enum { FROM = __LINE__ };
    EACH array[i] = 0;
    ROUND {
        for (long i = 2 * round; i < 2 * round + 2; i++) {
            array[i] = round + 1;
            sum += array[i];
            array[i] = 0;
        }
    }
    at_most("dead_store", ROUNDS * 2 * 8L, FROM, __LINE__);
    at_most("silent_store", 0, FROM, __LINE__);
}

/* Listing 4.2: initialised, and written again before anything reads it. */
CASE(twice)
{
    enum { ZEROED = __LINE__ + 1, FILLED };
    EACH other[i] = 0;
    EACH other[i] = i + 1;
    EACH sum += other[i];
    pair("dead_store", N * 8L, ZEROED, FILLED);
}

CASE(twice_fixed)
{
    enum { FROM = __LINE__ };
    EACH other[i] = -i - 1;
    EACH sum += other[i];
    at_most("dead_store", 0, FROM, __LINE__);
    at_most("silent_store", 0, FROM, __LINE__);
}

/* Listing 4.3: dead at once through two names of one place, and dead after a long time. */
CASE(mixed)
{
    enum { I = __LINE__ + 4, P, Q, J };
    volatile long *p = &scratch, *q = &scratch;
    __asm__("" : "+r"(p), "+r"(q));
    ROUND {
        EACH array[i] = 0;
        EACH { *p = 0;
        *q = 0; }
        EACH array[i] = 0;
    }
    pair("dead_store", ROUNDS * N * 8L, I, J);
    pair("dead_store", (ROUNDS - 1) * N * 8L, J, I);
    pair("dead_store", ROUNDS * N * 8L, P, Q);
    pair("dead_store", (ROUNDS * N - 1) * 8L, Q, P);
    pair("silent_store", ROUNDS * N * 8L, I, J);
    pair("silent_store", (ROUNDS * N - 1) * 8L, Q, P);
}

CASE(mixed_fixed)
{
    enum { FROM = __LINE__ };
    ROUND EACH {
        array[i] = round * N + i + 1;
        sum += array[i];
        scratch = round * N + i + 1;
        sum += scratch;
    }
    at_most("dead_store", 0, FROM, __LINE__);
    at_most("silent_store", 0, FROM, __LINE__);
}

static void pooling_begin(void)
{
    EACH top[i] = i % 4 ? 0 : 4;
    EACH bottom[i] = 1;
}

/* Listing 4.4 (Caffe): most of what is added is zero. */
CASE(pooling)
{
    enum { ADDED = __LINE__ + 2 };
    pooling_begin();
    ROUND EACH bottom[i] += top[i] / 4;
    pair("silent_store", (ROUNDS - 1) * (N / 4 * 3) * 8L, ADDED, ADDED);
    pair("silent_load", (ROUNDS - 1) * N * 8L + (ROUNDS - 1) * (N / 4 * 3) * 8L, ADDED, ADDED);
}

CASE(pooling_fixed)
{
    enum { FROM = __LINE__ };
    pooling_begin();
    ROUND EACH {
        double more = top[i];
        if (more != 0)
            bottom[i] += more / 4;
    }
    at_most("silent_store", 0, FROM, __LINE__);
}

/* Section 4.8.2 (Caffe, relaxed): the result hardly changes any more. */
CASE(converged)
{
    enum { MADE = __LINE__ + 1, MOVED = MADE + 1 };
    EACH bottom[i] = 1;
    ROUND EACH bottom[i] = bottom[i] * 1.001;
    pair("silent_store", N * 8L, MADE, MOVED);
    pair("silent_store", (ROUNDS - 1) * N * 8L, MOVED, MOVED);
}

CASE(converged_fixed)
{
    enum { FROM = __LINE__ };
    EACH bottom[i] = 1;
    ROUND EACH bottom[i] = bottom[i] * 1.02;
    at_most("silent_store", 0, FROM, __LINE__);
}

__attribute__((noinline)) static long func(long i)
{
    return i * 3 + 1;
}

/* Listing 3.1: the second store brings the value of the first by another way; both are used. */
CASE(same_value)
{
    enum { FIRST = __LINE__ + 2, SECOND = FIRST + 2 };
    ROUND EACH {
        array[i] = 2 * func(i + round);
        sum += array[i];
        array[i] = func(i + round) + func(i + round);
        sum += array[i];
    }
    pair("silent_store", ROUNDS * N * 8L, FIRST, SECOND);
    pair("silent_load", ROUNDS * N * 8L, FIRST + 1, SECOND + 1);
}

CASE(same_value_fixed)
{
    enum { FROM = __LINE__ };
    ROUND EACH {
        array[i] = 2 * func(i + round);
        sum += array[i];
    }
    at_most("silent_store", 0, FROM, __LINE__);
    at_most("silent_load", 0, FROM, __LINE__);
}

/* Listing 3.2: (a - b)(a + b) is aa - bb. */
CASE(identity)
{
    enum { FIRST = __LINE__ + 2, SECOND = FIRST + 1 };
    EACH {
        scratch = i * i - (i + 3) * (i + 3);
        scratch = (i - (i + 3)) * (i + (i + 3));
        sum += scratch;
    }
    pair("dead_store", N * 8L, FIRST, SECOND);
    pair("silent_store", N * 8L, FIRST, SECOND);
}

CASE(identity_fixed)
{
    enum { FROM = __LINE__ };
    EACH {
        scratch = (i - (i + 3)) * (i + (i + 3));
        sum += scratch;
    }
    at_most("dead_store", 0, FROM, __LINE__);
    at_most("silent_store", 0, FROM, __LINE__);
}

enum { ALIAS_FIRST = __LINE__ + 3, ALIAS_SECOND };
__attribute__((noinline)) static int alias(volatile int *a, volatile int *b, volatile int *c, volatile int *d)
{
    int v1 = *a + *b;
    int v2 = *c + *d;
    return v1 + v2;
}

/* Listing 2.1: the same two numbers are loaded and added by other names. */
CASE(aliases)
{
    static int x, y;
    EACH {
        *(volatile int *)&x = (int)i;
        *(volatile int *)&y = (int)-i - 1;
        sum += alias(&x, &y, &x, &y);
    }
    pair("silent_load", N * 8L, ALIAS_FIRST, ALIAS_SECOND);
}

__attribute__((noinline)) static int no_alias(volatile int *a, volatile int *b)
{
    int v1 = *a + *b;
    return 2 * v1;
}

CASE(aliases_fixed)
{
    static int x, y;
    EACH {
        *(volatile int *)&x = (int)i;
        *(volatile int *)&y = (int)-i - 1;
        sum += no_alias(&x, &y);
    }
    at_most("silent_load", 0, __LINE__ - 16, __LINE__);
}

static struct picture {
    int abs_x, height, width;
} picture = {3, 100, 200};
#define picture (*(volatile struct picture *)&picture)

enum { PEL = __LINE__ + 3 };
__attribute__((noinline)) static long fast_line(long y)
{
    return y * picture.width + picture.height + picture.abs_x;
}

/* Listing 3.4 (h264ref): what is called by a pointer loads what does not change in the loop. */
CASE(by_pointer)
{
    long (*line)(long) = fast_line;
    __asm__("" : "+r"(line));
    EACH sum += line(i);
    pair("silent_load", (N - 1) * 12L, PEL, PEL);
}

CASE(by_pointer_fixed)
{
    enum { FROM = __LINE__ };
    long width = picture.width, height = picture.height, abs_x = picture.abs_x;
    EACH sum += i * width + height + abs_x;
    at_most("silent_load", 0, FROM, __LINE__);
}

/* Listing 3.8 (backprop): what is added is zero from the second pass on. */
CASE(adjust)
{
    enum { ADDED = __LINE__ + 4, KEPT };
    ROUND {
        float delta = round ? 0 : 1;
        EACH {
            weights[i] += delta;
            old_weights[i] = delta;
        }
    }
    pair("silent_store", (ROUNDS - 1) * N * 4L, ADDED, ADDED);
    pair("silent_store", (ROUNDS - 2) * N * 4L, KEPT, KEPT);
    pair("dead_store", (ROUNDS - 1) * N * 4L, KEPT, KEPT);
}

CASE(adjust_fixed)
{
    enum { FROM = __LINE__ };
    ROUND {
        float delta = round ? 0 : 2;
        EACH if (delta != 0) {
            weights[i] += delta;
            old_weights[i] = delta;
        }
    }
    at_most("silent_store", 0, FROM, __LINE__);
    at_most("dead_store", 0, FROM, __LINE__);
}

enum { DFILL = __LINE__ + 3 };
__attribute__((noinline)) static void dfill(volatile double *to, double value)
{
    EACH to[i] = value;
}

/* Listing 3.5 (NWChem): work arrays are zeroed each time, though a tenth of them is used. */
CASE(zeroed)
{
    enum { USED = N / 10, WRITTEN = __LINE__ + 5 };
    ROUND {
        dfill(work1, 0);
        dfill(work2, 0);
        for (long i = 0; i < USED; i++) {
            work1[i] = round + i + 1; work2[i] = round + i + 1;
            sum += (long)(work1[i] + work2[i]);
        }
    }
    pair("dead_store", (ROUNDS - 1) * 2 * (N - USED) * 8L, DFILL, DFILL);
    pair("dead_store", ROUNDS * 2 * USED * 8L, DFILL, WRITTEN);
    pair("silent_store", (ROUNDS - 1) * 2 * (N - USED) * 8L, DFILL, DFILL);
}

CASE(zeroed_fixed)
{
    enum { USED = N / 10, FROM = __LINE__ };
    ROUND for (long i = 0; i < USED; i++) {
        work1[i] = 100 * round + i + 1; work2[i] = 100 * round + i + 1;
        sum += (long)(work1[i] + work2[i]);
    }
    at_most("dead_store", 0, FROM, __LINE__);
    at_most("silent_store", 0, FROM, __LINE__);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*bad)(void), (*fixed)(void);
    } cases[] = {
        {"last_set", last_set, last_set_fixed},       {"twice", twice, twice_fixed},
        {"mixed", mixed, mixed_fixed},                {"pooling", pooling, pooling_fixed},
        {"converged", converged, converged_fixed},    {"same_value", same_value, same_value_fixed},
        {"identity", identity, identity_fixed},       {"aliases", aliases, aliases_fixed},
        {"by_pointer", by_pointer, by_pointer_fixed}, {"adjust", adjust, adjust_fixed},
        {"zeroed", zeroed, zeroed_fixed},
    };
    bool known = argc > 1;
    for (int k = 1; k < argc; k++) {
        bool met = false;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            bool fixed = strcmp(argv[k], "fixed") == 0;
            if (!fixed && strcmp(argv[k], "all") && strcmp(argv[k], cases[i].name))
                continue;
            (fixed ? cases[i].fixed : cases[i].bad)();
            met = true;
        }
        known = known && met;
    }
    return known && sum != 12345 ? 0 : 2;
}
