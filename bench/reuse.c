/* How fast reuse distances are found (analysis/caches/reuse_distance.c), on one core, in traces of 100 million accesses; and whether each is
 * right: the sum and a hash of all distances are compared with those of the textbook's way, a Fenwick tree with a place
 * for each access (Bennett and Kruskal, 1975; Olken, 1981).
 *
 *     reuse [MILLIONS]     a row for each trace; exit status 0: all as fast as the bar and right, 1: not */
#include "analysis/caches/reuse_distance.h"
#include "base/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double bar = 10; /* million accesses a second */

enum { LINES = 1 << 20 };

/* Like pages of a file that are popular by Zipf's law: each half as often as the one with half its number. */
static uint32_t skewed(uint32_t *random)
{
    uint32_t octave = lwp_random_below(random, 20), least = 1u << octave;
    return least + lwp_random_below(random, least);
}

static uint32_t line_random(uint32_t *random, uint64_t at)
{
    (void)at;
    return lwp_random_below(random, LINES);
}

static uint32_t line_skewed(uint32_t *random, uint64_t at)
{
    (void)at;
    return skewed(random);
}

static uint32_t line_sweep(uint32_t *random, uint64_t at)
{
    (void)random;
    return (uint32_t)(at / 8 % LINES); /* eight numbers a line */
}

/* Three arrays in step, and a table that they are looked up in. */
static uint32_t line_mixed(uint32_t *random, uint64_t at)
{
    return at % 4 == 3 ? 3 * LINES + lwp_random_below(random, LINES / 4) : (uint32_t)(at % 4 * LINES + at / 32 % LINES);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct sum {
    uint64_t distances, hash;
};

static void sum_add(struct sum *sum, uint32_t distance)
{
    sum->distances += distance == LWP_REUSE_FIRST ? 0 : distance;
    sum->hash = (sum->hash ^ distance) * 0x9e3779b97f4a7c15u;
}

static struct sum by_lwp(const uint32_t *trace, uint64_t count)
{
    struct lwp_reuse reuse;
    struct lwp_reuse_line *known;
    struct sum sum = {0};
    lwp_reuse_init(&reuse);
    for (uint64_t i = 0; i < count; i++) {
        if (i + LWP_REUSE_AHEAD < count)
            lwp_reuse_expect(&reuse, trace[i + LWP_REUSE_AHEAD], trace[i + LWP_REUSE_AHEAD / 2]);
        sum_add(&sum, lwp_reuse_access(&reuse, trace[i], &known));
    }
    lwp_reuse_free(&reuse);
    return sum;
}

static void tree_add(uint32_t *tree, uint64_t count, uint64_t at, uint32_t more)
{
    for (; at <= count; at += at & -at)
        tree[at] += more;
}

static uint32_t tree_sum(const uint32_t *tree, uint64_t at)
{
    uint32_t sum = 0;
    for (; at; at &= at - 1)
        sum += tree[at];
    return sum;
}

static struct sum by_textbook(const uint32_t *trace, uint64_t count)
{
    uint32_t *tree = calloc(count + 1, sizeof *tree), *last = calloc(4 * (size_t)LINES, sizeof *last), live = 0;
    struct sum sum = {0};
    if (!tree || !last)
        abort();
    for (uint64_t i = 0; i < count; i++) {
        uint32_t *time = &last[trace[i]];
        sum_add(&sum, *time ? live - tree_sum(tree, *time) : LWP_REUSE_FIRST);
        if (*time)
            tree_add(tree, count, *time, -1u);
        live += !*time;
        *time = (uint32_t)i + 1;
        tree_add(tree, count, i + 1, 1);
    }
    free(tree);
    free(last);
    return sum;
}

static const struct row {
    const char *name;
    uint32_t (*line)(uint32_t *random, uint64_t at);
} rows[] = {{"random, 64 MiB", line_random}, {"skewed, 64 MiB", line_skewed}, {"sweep, 64 MiB", line_sweep}, {"three arrays and a table", line_mixed}};

int main(int argc, char **argv)
{
    uint64_t count = (uint64_t)(argc > 1 ? atoi(argv[1]) : 100) * 1000000;
    uint32_t *trace = malloc(count * sizeof *trace);
    bool over = false;
    if (!count || !trace)
        return 2;
    printf("%-26s %12s   (bar %.0f; %llu million accesses)\n", "reuse distances", "million a s", bar, (unsigned long long)count / 1000000);
    for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        uint32_t random = 1;
        for (uint64_t i = 0; i < count; i++)
            trace[i] = row->line(&random, i);
        double start = seconds();
        struct sum found = by_lwp(trace, count);
        double speed = (double)count / 1e6 / (seconds() - start);
        struct sum right = by_textbook(trace, count);
        bool same = found.distances == right.distances && found.hash == right.hash;
        printf("  %-24s %12.1f   %s, %s\n", row->name, speed, speed >= bar ? "ok" : "slow", same ? "all distances right" : "WRONG");
        over |= !same || speed < bar;
    }
    free(trace);
    return over;
}
