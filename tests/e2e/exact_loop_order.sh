#!/bin/bash
# Loop order from full traces where rows were allocated one by one: evenly apart but for some, as backprop's are, or everywhere else;
# with an access in the outer loop, which shows where a walk begins, and without. Twins in the other order get no such advice.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
cat > machine.json <<'J'
{"line_bytes": 64, "caches": [{"level": 1, "bytes": 16384, "ways": 8, "shared_by": 1}, {"level": 2, "bytes": 131072, "ways": 8, "shared_by": 1}]}
J
cat > rows.c <<'C'
#include <stdio.h>
#include <stdlib.h>
enum { N = 3000, M = 16 };
static float *w[N], y[M];
static __attribute__((noinline)) void walk(long n, long m)
{
#ifdef FIXED
    for (long k = 0; k < n; k++)
        for (long j = 0; j < m; j++)
#else
    for (long j = 0; j < m; j++)
        for (long k = 0; k < n; k++)
#endif
#ifdef SUMS
            y[j] += w[k][j];
#else
            w[k][j] *= 1.5f;
#endif
}
int main(void)
{
    unsigned random = 7;
    float sum = 0;
    for (int k = 0; k < N; k++) {
        w[k] = malloc((M + 1) * sizeof **w);
        for (int j = 0; j < M; j++)
            w[k][j] = k % 13;
        random = random * 1664525u + 1013904223u;
        void *between = UNEVEN ? malloc(64 + (random >> 24) * 8) : k % 400 ? NULL : malloc(40000);
        sum += between != NULL;
    }
    if (UNEVEN)
        for (int k = N - 1; k > 0; k--) { /* in any order, too */
            random = random * 1664525u + 1013904223u;
            int with = (int)((random >> 8) % (unsigned)(k + 1));
            float *row = w[k];
            w[k] = w[with], w[with] = row;
        }
    walk(N, M);
    return printf("%g\n", sum + w[7][3] + y[3]) < 0;
}
C
for shape in even sums uneven; do
    case $shape in even) flags=-DUNEVEN=0 ;; sums) flags="-DUNEVEN=0 -DSUMS" ;; uneven) flags="-DUNEVEN=1 -DSUMS" ;; esac
    for twin in "" FIXED; do
        name=$shape$twin
        $CC -O1 -g $flags ${twin:+-D$twin} -o $name rows.c || fail "compile $name"
        "$LWP" collect -q -e exact --detect layout,locality --window all --machine machine.json -o $name.r -- ./$name > out 2> err || { cat err; fail "$name"; }
        "$LWP" analyze -q $name.r || fail "analyze $name"
    done
done
python3 - << 'PY' || exit 1
import json, sys
bad = []
for shape, length in (("even", "80 bytes"), ("sums", "80 bytes"), ("uneven", "different lengths")):
    found = [f["title"] for f in json.load(open(f"{shape}.r/analysis.json"))["findings"] if f["id"].startswith("interchange")]
    if len(found) != 1 or f"a stride of {length}" not in found[0] or "a stride of 4:" not in found[0]:
        bad.append(f"{shape}: {found}")
    found = [f["title"] for f in json.load(open(f"{shape}FIXED.r/analysis.json"))["findings"] if f["id"].startswith("interchange")]
    if found:
        bad.append(f"{shape} in the other order: {found}")
for text in bad:
    print("FAILED:", text)
sys.exit(bool(bad))
PY
