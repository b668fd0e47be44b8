/* Programs that store, in loops of unequal cost, a known part of what they store without changing anything.
 *
 *     known_counts CASE SECONDS THREADS
 *
 * Prints "SHARE": of all bytes stored, those that leave the value as it was. A case is two loops, each with its own array: how it goes
 * over it, the type stored, and whether the value is the same in each pass: always, never, or in half of the stores. SECONDS 0: some
 * 300 MB. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NEAR = 512, FAR = 1 << 21, THREADS_MAX = 64, BYTES_COUNTED = 300000000 };

typedef uint8_t u1;
typedef uint32_t u4;
typedef uint64_t u8;
typedef double f8;

struct state {
    void *array[2];
    uint32_t *order; /* a permutation of FAR */
};

#define SAME 7
#define OTHER (pass + i)
#define HALF  OTHER

__attribute__((noinline)) static void put_u8(volatile u8 *at, u8 value) { *at = value; }
__attribute__((noinline)) static void put_pair(volatile u8 *at, u8 value)
{
    at[0] = SAME, at[1] = value;
}

/* How a loop goes over its array: n elements of type T, VALUE to each. */
#define NEAR_LOOP(T, VALUE) for (u8 i = 0; i < NEAR; i++) { ((volatile T *)array)[i] = (T)(VALUE); }
#define WORK_LOOP(T, VALUE) u8 w = 3; for (u8 i = 0; i < NEAR; i++) { for (int k = 0; k < 8; k++) __asm__ volatile("imul %0, %0" : "+r"(w)); ((volatile T *)array)[i] = (T)(VALUE); }
#define DIVIDE_LOOP(T, VALUE) double d = 1e30; for (u8 i = 0; i < NEAR; i++) { d = d / 1.0000001; __asm__ volatile("" : "+x"(d)); ((volatile T *)array)[i] = (T)(VALUE); }
#define CALL_LOOP(T, VALUE) for (u8 i = 0; i < NEAR; i++) put_u8((volatile u8 *)array + i, VALUE);
#define FAR_LOOP(T, VALUE) for (u8 i = 0; i < FAR; i++) { ((volatile T *)array)[i] = (T)(VALUE); }
#define RANDOM_LOOP(T, VALUE) for (u8 i = 0; i < FAR / 8; i++) { ((volatile T *)array)[s->order[i]] = (T)(VALUE); }
#define PAIR_LOOP(T, VALUE)                                                                                                                \
    for (u8 i = 0; i < NEAR; i++)                                                                                                          \
        put_pair((volatile u8 *)array + 2 * i, VALUE);
#define SUM_LOOP(T, VALUE)                                                                                                                 \
    for (u8 i = 0; i < FAR; i++) {                                                                                                         \
        ((volatile T *)array)[i] += (T)(1000 + (VALUE)) * (T)1e-4;                                                                         \
    }

#define NEAR_COUNT NEAR
#define WORK_COUNT NEAR
#define DIVIDE_COUNT NEAR
#define CALL_COUNT NEAR
#define FAR_COUNT FAR
#define RANDOM_COUNT (FAR / 8)
#define PAIR_COUNT   (2 * NEAR)
#define SUM_COUNT    FAR

/* The near loops are repeated so that they take as many stores as a far one would, or TIMES of that. */
#define CASE(name, WAY_A, T_A, VALUE_A, TIMES_A, WAY_B, T_B, VALUE_B, TIMES_B)                                                       \
    __attribute__((noinline)) static void name##_a(struct state *s, u8 pass, void *array)                                            \
    {                                                                                                                                \
        (void)s, (void)pass;                                                                                                         \
        WAY_A##_LOOP(T_A, VALUE_A)                                                                                                   \
    }                                                                                                                                \
    __attribute__((noinline)) static void name##_b(struct state *s, u8 pass, void *array)                                            \
    {                                                                                                                                \
        (void)s, (void)pass;                                                                                                         \
        WAY_B##_LOOP(T_B, VALUE_B)                                                                                                   \
    }                                                                                                                                \
    static void name(struct state *s, u8 pass)                                                                                       \
    {                                                                                                                                \
        for (int k = 0; k < TIMES_A; k++)                                                                                            \
            name##_a(s, pass * TIMES_A + (u8)k, s->array[0]);                                                                        \
        for (int k = 0; k < TIMES_B; k++)                                                                                            \
            name##_b(s, pass * TIMES_B + (u8)k, s->array[1]);                                                                        \
    }

#define CASES(X)                                                                                                                           \
    X(near_near, NEAR, u8, SAME, 1, NEAR, u8, OTHER, 1)                                                                                    \
    X(near_work, NEAR, u8, SAME, 1, WORK, u8, OTHER, 1)                                                                                    \
    X(work_near, WORK, u8, SAME, 1, NEAR, u8, OTHER, 1)                                                                                    \
    X(work_near_many, WORK, u8, SAME, 1, NEAR, u8, OTHER, 8)                                                                               \
    X(near_many_work, NEAR, u8, SAME, 8, WORK, u8, OTHER, 1)                                                                               \
    X(divide_near, DIVIDE, u8, SAME, 1, NEAR, u8, OTHER, 2)                                                                                \
    X(near_divide, NEAR, u8, SAME, 2, DIVIDE, u8, OTHER, 1)                                                                                \
    X(divide_work, DIVIDE, u8, SAME, 1, WORK, u8, OTHER, 1)                                                                                \
    X(call_near, CALL, u8, SAME, 1, NEAR, u8, OTHER, 1)                                                                                    \
    X(near_call, NEAR, u8, SAME, 1, CALL, u8, OTHER, 1)                                                                                    \
    X(call_work, CALL, u8, SAME, 4, WORK, u8, OTHER, 1)                                                                                    \
    X(bytes_words, NEAR, u1, SAME, 1, NEAR, u8, OTHER, 1)                                                                                  \
    X(words_bytes, NEAR, u8, SAME, 1, NEAR, u1, OTHER, 1)                                                                                  \
    X(ints_doubles, WORK, u4, SAME, 1, WORK, f8, OTHER, 1)                                                                                 \
    X(all_same, NEAR, u8, SAME, 1, WORK, u8, SAME, 1)                                                                                      \
    X(none_same, NEAR, u8, OTHER, 1, WORK, u8, OTHER, 1)                                                                                   \
    X(far_far, FAR, u8, SAME, 1, FAR, u8, OTHER, 1)                                                                                        \
    X(far_near, FAR, u8, SAME, 1, NEAR, u8, OTHER, 4096)                                                                                   \
    X(near_far, NEAR, u8, SAME, 4096, FAR, u8, OTHER, 1)                                                                                   \
    X(far_near_more, FAR, u8, SAME, 1, NEAR, u8, OTHER, 16384)                                                                             \
    X(random_near, RANDOM, u8, SAME, 1, NEAR, u8, OTHER, 2048)                                                                             \
    X(near_random, NEAR, u8, SAME, 2048, RANDOM, u8, OTHER, 1)                                                                             \
    X(random_far, RANDOM, u8, SAME, 1, FAR, u8, OTHER, 1)                                                                                  \
    X(far_random, FAR, u8, SAME, 1, RANDOM, u8, OTHER, 1)                                                                                  \
    X(pairs, PAIR, u8, HALF, 1, PAIR, u8, HALF, 1)                                                                                         \
    X(pairs_near, PAIR, u8, HALF, 1, NEAR, u8, OTHER, 1)                                                                                   \
    X(sums, SUM, f8, OTHER, 1, SUM, f8, OTHER, 1)                                                                                          \
    X(sums_near, SUM, f8, OTHER, 1, NEAR, u8, SAME, 4096)
CASES(CASE)

/* Alike loops, one of them entered from six places: an iteration is no more than one for that. */
static void near_callers(struct state *s, u8 pass)
{
    void *same = s->array[0];
    near_near_a(s, pass, same), near_near_a(s, pass, same), near_near_a(s, pass, same);
    near_near_a(s, pass, same), near_near_a(s, pass, same), near_near_a(s, pass, same);
    for (u8 k = 0; k < 24; k++)
        near_near_b(s, pass * 24 + k, s->array[1]);
}

struct example {
    const char *name;
    void (*pass)(struct state *s, u8 pass);
    double same, all; /* bytes of a pass */
};

#define ROW(name, WAY_A, T_A, VALUE_A, TIMES_A, WAY_B, T_B, VALUE_B, TIMES_B)                                                        \
    {#name, name,                                                                                                                    \
     (double)(WAY_A##_COUNT) * TIMES_A * sizeof(T_A) * ROW_SAME(#VALUE_A) + (double)(WAY_B##_COUNT) * TIMES_B * sizeof(T_B) * ROW_SAME(#VALUE_B), \
     (double)(WAY_A##_COUNT) * TIMES_A * sizeof(T_A) + (double)(WAY_B##_COUNT) * TIMES_B * sizeof(T_B)},
#define ROW_SAME(text) ((text)[0] == 'S' ? 1 : (text)[0] == 'H' ? 0.5 : 0)
static const struct example examples[] = {CASES(ROW){"near_callers", near_callers, 6 * NEAR * 8.0, 30 * NEAR * 8.0}};

static const struct example *chosen;
static double seconds;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *work(void *unused)
{
    struct state s = {0};
    (void)unused;
    for (int i = 0; i < 2; i++)
        s.array[i] = calloc(FAR, sizeof(u8));
    s.order = strstr(chosen->name, "random") ? malloc(FAR * sizeof *s.order) : NULL;
    for (uint32_t i = 0; s.order && i < FAR; i++)
        s.order[i] = i;
    uint64_t random = 1;
    for (uint32_t i = FAR - 1; s.order && i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t k = (uint32_t)((random >> 33) % (i + 1)), before = s.order[i];
        s.order[i] = s.order[k];
        s.order[k] = before;
    }
    u8 pass = 1, passes = 1 + (u8)(BYTES_COUNTED / chosen->all);
    for (double end = cpu_seconds() + seconds; seconds > 0 ? cpu_seconds() < end : pass <= passes; pass++)
        chosen->pass(&s, pass);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    int count = argc > 3 ? atoi(argv[3]) : 1;
    seconds = argc > 2 ? atof(argv[2]) : 0;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (argc > 1 && strcmp(argv[1], examples[i].name) == 0)
            chosen = &examples[i];
        else if (argc == 1)
            puts(examples[i].name);
    if (!chosen)
        return argc > 1;
    printf("%.6f\n", chosen->same / chosen->all);
    fflush(stdout);
    for (int i = 1; i < count && i < THREADS_MAX; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < count && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
}
