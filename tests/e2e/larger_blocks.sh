#!/usr/bin/env bash
# Where so many small blocks are allocated that only some are recorded, larger ones are known all the same: they are few.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > mixed.c << 'END'
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
enum { LARGE = 400, DOUBLES = 4000, SMALL = 3000 };
static double *large[LARGE];
static void *volatile block;
__attribute__((noinline)) static double *large_new(void) { return calloc(DOUBLES, sizeof(double)); }
__attribute__((noinline)) static void small(int n)
{
    for (volatile int i = 0; i < n; i++)
        block = malloc(20 + i % 40), free(block);
}
static void *build(void *rest)
{
    for (int i = 0; i < LARGE; i++)
        large[i] = large_new();
    return rest;
}
int main(int c, char **v)
{
    pthread_t builder;
    bool in_thread = c > 2;
    int rounds = c > 1 ? atoi(v[1]) : 1;
    double sum = 0;
    small(20000000);
    for (int i = 0; i < LARGE && !in_thread; i++, small(SMALL))
        large[i] = large_new();
    if (in_thread && (pthread_create(&builder, NULL, build, NULL) || pthread_join(builder, NULL)))
        return 1;
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < LARGE; i++)
            for (int k = 0; k < DOUBLES; k++)
                large[i][k] += sum += 1;
    return printf("%g\n", sum) < 0;
}
END
$CC -O2 -g -o mixed mixed.c
collect_samples 120 mixed.r 600 --detect layout -- ./mixed @ && "$LWP" analyze -q --no-measure mixed.r
python3 - << 'P'
import json
result = json.load(open("mixed.r/analysis.json"))
left = result["run"].get("allocations_unrecorded") or 0
assert left > 10000000, f"{left} allocations were left out: the test needs more"
made = sum(o["allocations"] for o in result["objects"] if o["name"] == "large" and o["kind"] == "heap")  # the variable itself is seen, too, at times
assert made == 400, f"of 400 large blocks {made} are known"
P
# A thread that begins when few are recorded knows them, too; so little is allowed that nothing was left of the advance, and still enough
# that a thread is set up for sure.
"$LWP" collect -q --no-analyze --max-overhead 0.6 --detect layout -o thread.r -- ./mixed 1 in-thread > /dev/null 2> thread.err || { cat thread.err; exit 1; }
"$LWP" dump thread.r/p*/process.lwps > thread.dump
pool=$(sed -n 's/^pool \([0-9]*\) .* size 32000$/\1/p' thread.dump)
made=$(sed -n "s/^pool-count ${pool:-none} allocations \([0-9]*\) .*/\1/p" thread.dump)
[ "$made" = 400 ] || { echo "of 400 large blocks of a thread ${made:-none} are known"; exit 1; }
