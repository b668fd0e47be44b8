#!/usr/bin/env bash
# A pool links its large blocks by their first word. They are no arrays of such links, but hold what the pointers into them are to, or
# records of the size that the accesses show.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > pool.c << 'END'
#include <stdio.h>
#include <stdlib.h>
enum { WORDS = 12, ITEMS = 8188, POINTS = 500000 };
struct pool { void **first, **now; char *next; long left; };
static double *points[POINTS];
__attribute__((noinline)) static void *pool_take(struct pool *pool)
{
    if (!pool->left) {
        void **block = (void **)malloc(ITEMS * WORDS * sizeof(double) + 2 * sizeof(void *));
        if (!block)
            exit(1);
        *block = NULL;
        if (pool->now)
            *pool->now = block;
        else
            pool->first = block;
        pool->now = block;
        unsigned long at = (unsigned long)(pool->now + 1);
        pool->next = (char *)(at + 16 - at % 16);
        pool->left = ITEMS;
    }
    void *taken = pool->next;
    pool->next += WORDS * sizeof(double);
    pool->left--;
    return taken;
}
__attribute__((noinline)) static double sum_of(double **all, unsigned from)
{
    double sum = 0;
    for (int i = 0; i < POINTS; i++) {
        from = from * 1664525 + 1013904223;
        const double *point = all[(unsigned long)from * POINTS >> 32];
        sum += point[0] + point[2] * point[7] + *(const long *)(point + 9);
    }
    return sum;
}
int main(int c, char **v)
{
    static struct pool pool;
    double sum = 0;
    for (int i = 0; i < POINTS; i++) {
        points[i] = (double *)pool_take(&pool);
        for (int k = 0; k < WORDS; k++)
            points[i][k] = i;
    }
    for (int r = 0; r < atoi(v[c - 1]); r++)
        sum += sum_of(points, (unsigned)r);
    printf("%g\n", sum);
    return 0;
}
END
$CC -O2 -g -o pool pool.c
collect_samples 300 result 40 -F 2000 --max-overhead 25 -- ./pool @
"$LWP" analyze -q --no-measure result
cat > check.py << 'END'
import json
objects = [o for o in json.load(open("result/analysis.json"))["objects"] if o["kind"] == "heap" and o["bytes"] > 1 << 25]
if len(objects) != 1 or (objects[0]["type"], objects[0]["element_bytes"]) not in ((None, 96), ("double", 8)):
    raise SystemExit([(o["name"], o["type"], o["element_bytes"]) for o in objects])
END
python3 check.py
