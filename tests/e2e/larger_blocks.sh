#!/usr/bin/env bash
# Where so many small blocks are allocated that only some are recorded, larger ones are known all the same: they are few.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > mixed.c << 'END'
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
int main(int c, char **v)
{
    int rounds = c > 1 ? atoi(v[1]) : 1;
    double sum = 0;
    small(20000000);
    for (int i = 0; i < LARGE; i++, small(SMALL))
        large[i] = large_new();
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
made = sum(o["allocations"] for o in result["objects"] if o["name"] == "large")
assert made == 400, f"of 400 large blocks {made} are known"
P
