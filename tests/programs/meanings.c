/* Programs whose redundant accesses have a known reason.
 *
 *     meanings CASE SECONDS
 *
 * does CASE again and again for so long, and prints "KIND CAUSE FIRST SECOND": the verdict, its reason as analysis.json
 * calls it, and the source lines of the pair that has it (0: any). Stores and loads that are to stay what they are written as are
 * volatile; WORK lets each cost about the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MANY = 4096, FEW = 64 };

/* Longer fills may be one string instruction, which is not watched; and not known to the compiler. */
static volatile size_t fill_bytes = 1792;

#define WORK(w)                                                                                                        \
    do {                                                                                                               \
        for (int work = 0; work < 8; work++)                                                                           \
            __asm__ volatile("imul %0, %0" : "+r"(w));                                                                 \
    } while (0)
#define CASE(name) __attribute__((noinline)) static long name(long w)

typedef long wide __attribute__((vector_size(16)));

static long array[MANY], table[MANY], other[MANY], one; /* not volatile themselves: what is asked for is no finding (volatiles.c) */
#define array ((volatile long *)array)
#define table ((volatile long *)table)
#define other ((volatile long *)other)
#define one   (*(volatile long *)&one)
static long *plain;

struct found {
    const char *kind, *cause;
    int first, second;
};
static struct found found;

#define TELL(kind_, cause_, first_, second_) found = (struct found){kind_, cause_, __LINE__ + first_, __LINE__ + second_}

/* All elements are initialised by a loop and then stored without being read. */
CASE(initialised)
{
    TELL("dead_store", "useless_initialisation", 3, 6);
    for (long i = 0; i < MANY; i++) {
        WORK(w);
        array[i] = 0;
    }
    for (long i = 0; i < MANY; i++) {
        array[i] = w += table[i];
        w += array[i];
    }
    return w;
}

/* The same with the C library's fill. */
CASE(filled)
{
    TELL("dead_store", "useless_initialisation", 1, 3);
    memset(plain, 0, fill_bytes);
    for (size_t i = 0; i < fill_bytes / sizeof(wide); i++)
        ((volatile wide *)plain)[i] = (wide){table[i], w};
    return w + plain[0];
}

/* A large table is cleared for few entries. */
CASE(cleared)
{
    TELL("dead_store", "repeated_fill", 1, 1);
    memset(plain, 0, fill_bytes);
    for (long i = 0; i < 4; i++)
        w += ((volatile long *)plain)[i];
    return w;
}

/* Each pass computes the whole array, and only the last one is read. */
CASE(overwritten)
{
    TELL("dead_store", "overwritten_whole", 4, 4);
    for (int pass = 0; pass < 50; pass++)
        for (long i = 0; i < MANY; i++) {
            WORK(w);
            array[i] = w + table[i];
        }
    for (long i = 0; i < MANY; i++)
        w += array[i];
    return w;
}

/* A result goes to memory in each pass, since the compiler must not keep it in a register. */
CASE(kept)
{
    TELL("dead_store", "kept_in_memory", 3, 3);
    for (long i = 0; i < MANY; i++) {
        WORK(w);
        one = w + table[i];
    }
    return w + one;
}

/* One pass stores twice to the same element. */
CASE(twice)
{
    TELL("dead_store", "stored_twice", 3, 5);
    for (long i = 0; i < MANY; i++) {
        WORK(w);
        array[i] = w;
        WORK(w);
        array[i] = w;
        w += array[i];
    }
    return w;
}

/* The keys are compared one after the other; the one looked for is the last. */
CASE(searched)
{
    static volatile long last = MANY - 1;
    const long key = last;
    TELL("silent_load", "linear_search", 3, 3);
    for (int times = 0; times < 20; times++)
        for (long i = 0; i < MANY; i++)
            if (table[i] == key) {
                w += i;
                break;
            }
    return w;
}

/* All elements are added up again though none has changed. */
CASE(walked)
{
    TELL("silent_load", "repeated_walk", 3, 3);
    for (long i = 0; i < MANY; i++) {
        WORK(w);
        w += table[i];
    }
    return w;
}

/* A number that does not change is loaded in each pass. */
CASE(reloaded)
{
    TELL("silent_load", "kept_in_memory", 3, 3);
    for (long i = 0; i < MANY; i++) {
        WORK(w);
        w += one;
        other[i] = w;
    }
    return w;
}

/* A small function that is not inlined loads the same field in each call. */
struct scale {
    volatile long factor;
};
static struct scale scale = {3};

__attribute__((noinline, noipa)) static long scaled(struct scale *s, long value)
{
    return value * s->factor;
}

CASE(called)
{
    TELL("silent_load", "missed_inlining", -5, -5);
    for (long i = 0; i < MANY; i++) {
        w += scaled(&scale, i);
        other[i] = w;
    }
    return w;
}

/* More arguments than there are registers: the last ones go over the stack. */
__attribute__((noinline, noipa)) static long summed(long a, long b, long c, long d, long e, long f, long g)
{
    return a + b + c + d + e + f + g;
}

CASE(arguments)
{
    TELL("silent_load", "missed_inlining", -5, -__LINE__); /* then where it is taken off the stack again */
    for (long i = 0; i < MANY; i++) {
        WORK(w);
        w += summed(i, w, 1, 2, 3, 4, 5);
        other[i] = w;
    }
    return w;
}

/* More values are alive than there are registers: what does not fit is loaded from the stack in each pass. */
CASE(spilled)
{
    TELL("silent_load", "spill", 7, 7);
    long a = w + 1, b = w + 2, c = w * 3, d = w + 4, e = w * 5, f = w + 6, g = w * 7, h = w + 8;
    long j = w * 9, k = w + 10, l = w * 11, m = w + 12, n = w * 13, o = w + 14, p = w * 15, q = w + 16;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    __asm__ volatile("" : "+r"(j), "+r"(k), "+r"(l), "+r"(m), "+r"(n), "+r"(o), "+r"(p), "+r"(q));
    do {
#define MIX(x) w = (w ^ (x)) * 3
        MIX(a), MIX(b), MIX(c), MIX(d), MIX(e), MIX(f), MIX(g), MIX(h), MIX(j), MIX(k), MIX(l), MIX(m), MIX(n), MIX(o), MIX(p), MIX(q);
    } while (w & (MANY - 1) << 8);
    return w;
}

/* Adding what is nearly always zero. */
CASE(zeroes)
{
    TELL("silent_store", "redundant_computation", 3, 3);
    for (long i = 0; i < MANY; i++) {
        WORK(w);
        array[i] += other[i];
    }
    return w;
}

__attribute__((noinline)) static void look(const long *at)
{
    __asm__ volatile("" : : "r"(at) : "memory");
}

/* A local variable is stored in each pass, since a function gets its address now and then. */
CASE(shown)
{
    long mine;
    TELL("dead_store", "kept_in_memory", 3, 3);
    for (long i = 0; i < MANY; i++) {
        WORK(w);
        mine = w + table[i];
        if (table[i] == 1)
            look(&mine);
        if (table[i] == 2)
            look(&mine);
    }
    return w;
}

/* A text's length is counted for each of its characters. */
CASE(counted)
{
    static char text[MANY];
    memset(text, 'a', MANY - 1);
    TELL("silent_load", "counted_length", 1, 1);
    for (size_t i = 0; i < strlen(text); i += 16) {
        __asm__ volatile("" : : "r"(text) : "memory"); /* it may have changed */
        w += text[i];
    }
    return w;
}

/* The second store comes some time later and from elsewhere: nothing tells why. */
__attribute__((noinline)) static void store_here(long w)
{
    for (long i = 0; i < MANY / 8; i++)
        array[w + i * 7919 & MANY - 1] = table[w + i & MANY - 1];
}

__attribute__((noinline)) static void store_there(long w)
{
    for (long i = 0; i < MANY / 8; i++)
        array[w + i * 7919 & MANY - 1] = table[w + i & MANY - 1] + 1;
}

CASE(elsewhere)
{
    TELL("dead_store", "unknown", -11, -5);
    store_here(w);
    store_there(w);
    return w + array[w & MANY - 1];
}

static const struct {
    const char *name;
    long (*run)(long w);
} cases[] = {{"initialised", initialised},
             {"filled", filled},
             {"cleared", cleared},
             {"overwritten", overwritten},
             {"kept", kept},
             {"twice", twice},
             {"searched", searched},
             {"walked", walked},
             {"reloaded", reloaded},
             {"called", called},
             {"arguments", arguments},
             {"spilled", spilled},
             {"zeroes", zeroes},
             {"elsewhere", elsewhere},
             {"counted", counted},
             {"shown", shown}};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* so that as much runs where others run, too */
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments_)
{
    if (count < 3)
        return 2;
    plain = malloc(fill_bytes);
    for (long i = 0; i < MANY; i++)
        table[i] = i;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, arguments_[1]))
            continue;
        double end = now() + atof(arguments_[2]);
        long w = 1;
        while (now() < end)
            w = cases[i].run(w | 1);
        printf("%s %s %d %d\n", found.kind, found.cause, found.first, found.second);
        return w == 0x5eed;
    }
    return 2;
}
