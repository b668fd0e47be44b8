#!/bin/bash
# Alone: it compares times of two orders of loops
# Measures: for a sum that is waited for, only a run of both orders shows what there is to gain
# Loop order from samples: loops that go over arrays column by column are named, with their strides, and their twins in the other
# order are not; nor are gathers through an index array, walks that leave elements out on purpose, and loops that have to stay as they
# are.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > flat.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double *a, *b;
static __attribute__((noinline)) void relax(long n, long m)
{
#ifdef FIXED
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < m - 1; j++)
            b[i * m + j] = a[i * m + j] + 0.5 * (a[(i - 1) * m + j] + a[(i + 1) * m + j]);
#else
    for (long j = 1; j < m - 1; j++)
        for (long i = 1; i < n - 1; i++)
            b[i * m + j] = a[i * m + j] + 0.5 * (a[(i - 1) * m + j] + a[(i + 1) * m + j]);
#endif
}
int main(int argc, char **argv)
{
    long n = 2048, m = 2048;
    a = calloc(n * m, sizeof *a), b = calloc(n * m, sizeof *b);
    memset(a, 1, n * m * sizeof *a); /* real pages, not one empty page for all */
    for (int r = atoi(argv[argc - 1]); r > 0; r--)
        relax(n, m);
    return printf("%g\n", b[77]) < 0;
}
C
cat > rows.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static double **w, *x, *y;
static __attribute__((noinline)) void forward(long n, long m)
{
#ifdef FIXED
    for (long k = 0; k < n; k++)
        for (long j = 0; j < m; j++)
            y[j] += w[k][j] * x[k];
#else
    for (long j = 0; j < m; j++) {
        double sum = 0;
        for (long k = 0; k < n; k++)
            sum += w[k][j] * x[k];
        y[j] = sum;
    }
#endif
}
int main(int argc, char **argv)
{
    long n = 4000, m = 700;
    w = malloc(n * sizeof *w), x = calloc(n, sizeof *x), y = calloc(m, sizeof *y);
    for (long k = 0; k < n; k++)
        w[k] = calloc(m, sizeof **w);
    for (int r = atoi(argv[argc - 1]); r > 0; r--)
        forward(n, m);
    return printf("%g\n", y[7]) < 0;
}
C
cat > other.c <<'C'
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 22 };
static double *a;
static int *at;
static __attribute__((noinline)) double gather(void)
{
    double sum = 0;
    for (long i = 0; i < N; i++)
        sum += a[at[i]];
    return sum;
}
static __attribute__((noinline)) double sparse(long n, long m)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j += 16)
            sum += a[i * m + j];
    return sum;
}
int main(int argc, char **argv)
{
    double sum = 0;
    unsigned random = 1;
    a = malloc(N * sizeof *a), at = malloc(N * sizeof *at);
    for (long i = 0; i < N; i++)
        a[i] = 1, at[i] = (random = random * 1664525 + 1013904223) % N;
    for (int r = atoi(argv[argc - 1]); r > 0; r--) {
        sum += gather();
        for (int k = 0; k < 30; k++) {
            sum += sparse(2047, 2049);
            __asm__ volatile("" ::: "memory"); /* else it may be computed once for all rounds */
        }
    }
    return printf("%g\n", sum) < 0;
}
C
# Interchanged they would compute something else: an element below and to the left, and a check sum over both loops.
cat > kept.c <<'C'
#include <stdio.h>
#include <stdlib.h>
enum { N = 1500 };
static double a[N][N];
static unsigned b[N][N];
static __attribute__((noinline)) void wave(void)
{
    for (long j = 0; j < N - 1; j++)
        for (long i = 1; i < N; i++)
            a[i][j] = 0.5 * a[i][j] + 0.25 * a[i - 1][j + 1];
}
static __attribute__((noinline)) unsigned check(void)
{
    unsigned h = 1;
    for (long j = 0; j < N; j++)
        for (long i = 0; i < N; i++)
            h = h * 31 + b[i][j];
    return h;
}
int main(int argc, char **argv)
{
    unsigned sum = 0;
    for (int r = atoi(argv[argc - 1]); r > 0; r--)
        wave(), b[r % N][r % N]++, sum += check();
    return printf("%g %u\n", a[7][7], sum) < 0;
}
C
# The sum is waited for, not the column: only a run of both orders shows what there is to gain. Pages that were never written are one page,
# for which nothing waits (zeros: of more than the caches hold, for which a run waits); FILLED: as programs do.
cat > product.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#ifndef N
enum { N = 400, ROWS = N };
#endif
static double a[ROWS][N], b[N][N], c[ROWS][N];
static __attribute__((noinline)) void multiply(void)
{
    for (long i = 0; i < ROWS; i++)
        for (long j = 0; j < N; j++) {
            double sum = 0;
            for (long k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}
int main(int argc, char **argv)
{
#ifdef FILLED
    for (long i = 0; i < N; i++)
        for (long j = 0; j < N; j++)
            a[i][j] = b[i][j] = 1;
#endif
    for (int r = atoi(argv[argc - 1]); r > 0; r--)
        multiply(), a[r % ROWS][0]++, b[0][r % N]++;
    return printf("%g\n", c[ROWS - 1][7]) < 0;
}
C
# Not optimized: counters and addresses are in memory.
sed -e 's/for (long i = 1; i < N; i++)/for (long i = 0; i < N; i++)/' -e 's/a\[i - 1\]\[j + 1\]/1/' -e 's/, sum += check()//' kept.c > plain.c
# Three times the last level; as many rows as make 4e9 products, so that it takes as long with any cache. A matrix of more than some hundred
# MiB has a page for each element of a column, and it is the page table that is waited for, in the program too.
last=$(cat /sys/devices/system/cpu/cpu0/cache/index*/size 2> /dev/null | sed -n 's/K$//p' | sort -n | tail -n 1)
last=$((${last:-32768} * 1024)) zeros=zeros
n=$(awk -v bytes="$last" 'BEGIN { n = int(sqrt(3 * bytes / 8)); print n < 1600 ? 1600 : n }')
[ "$last" -le $((64 << 20)) ] || { echo "skip zeros: the last level of $((last >> 20)) MiB is too large" && zeros=; }
$CC -O2 -g -o kept kept.c && $CC -O2 -g -o product product.c && $CC -O2 -g -DFILLED -o filled product.c &&
    $CC -O2 -g -DN="$n" -DROWS="$((4000000000 / (n * n) + 1))" -o zeros product.c && $CC -O0 -g -o plain plain.c || fail "compile"
for name in flat rows other; do
    $CC -O1 -g -o $name $name.c && { [ $name = other ] || $CC -O1 -g -DFIXED -o ${name}_fixed $name.c; } || fail "compile"
done
collect_samples 250 flat.r 6 -F 1997 --max-overhead 50 -- ./flat @ || fail "flat"
collect_samples 250 flat_fixed.r 40 -F 1997 --max-overhead 50 -- ./flat_fixed @ || fail "flat_fixed"
collect_samples 250 rows.r 20 -F 1997 --max-overhead 50 -- ./rows @ || fail "rows"
collect_samples 250 rows_fixed.r 80 -F 1997 --max-overhead 50 -- ./rows_fixed @ || fail "rows_fixed"
collect_samples 250 other.r 2 -F 1997 --max-overhead 50 -- ./other @ || fail "other"
collect_samples 200 kept.r 10 -F 1997 --max-overhead 50 -- ./kept @ || fail "kept"
collect_samples 200 plain.r 4 -F 1997 --max-overhead 50 -- ./plain @ || fail "plain"
collect_samples 200 product.r 8 -F 1997 --max-overhead 50 -- ./product @ || fail "product"
collect_samples 200 filled.r 8 -F 1997 --max-overhead 50 -- ./filled @ || fail "filled"
[ -z "$zeros" ] || collect_samples 200 zeros.r 1 -F 1997 --max-overhead 50 -- ./zeros @ || fail "zeros"
for name in flat flat_fixed rows rows_fixed other kept plain; do
    "$LWP" analyze $name.r > $name.log 2>&1 || { cat $name.log; fail "analyze"; }
done
# Whether this gets a processor to itself: at least 9 of 10 seconds that it could use.
is_calm() {
    python3 -c 'import time
wall, cpu = time.monotonic(), time.process_time()
while time.monotonic() < wall + 0.5: pass
raise SystemExit(time.process_time() - cpu < 0.45)'
}
for name in product filled $zeros; do
    analyze_until interchange $name.r || fail "analyze"
done
if [ "$zeros" ] && ! grep -q '"id": *"interchange' zeros.r/analysis.json && ! is_calm; then
    echo "skip zeros: other work disturbs the runs of both orders"
    zeros=
fi
line() { grep -n "$2" "$1" | sed -n "${3:-1}s/:.*//p"; }
python3 - "$SRC/docs/analysis.schema.json" "$(line flat.c 'for (long j = 1' 2)" "$(line rows.c 'for (long j = 0' 2)" $zeros << 'PY' || exit 1
import json, sys
try:
    import jsonschema
    schema = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
except ImportError:
    schema = None
bad = []
def orders(name):
    result = json.load(open(f"{name}.r/analysis.json"))
    if schema:
        schema.validate(result)
    return result, [f for f in result["findings"] if f["id"].startswith(("interchange", "blocking"))]
for name, arrays, step, by, outer in (("flat", ("a", "b"), 2048 * 8, 8, int(sys.argv[2])), ("rows", ("w",), None, 8, int(sys.argv[3]))):
    result, found = orders(name)
    if len(found) != 1 or not found[0]["id"].startswith("interchange"):
        bad.append(f"{name}: {[f['title'] for f in found]} instead of one interchange")
        continue
    finding = found[0]
    row = result["locality"][finding["refs"]["locality"]]
    if result["objects"][row["object"]]["name"] not in arrays or result["findings"][0]["id"] != finding["id"]:
        bad.append(f"{name}: {finding} is about other data, or not first")
    where = f"{name}.c:{outer}-"
    if where not in finding["title"] or f"by {by} bytes" not in finding["title"] or (step and f"stride of {step} bytes" not in finding["title"]):
        bad.append(f"{name}: {where}, {step} or {by} is not in '{finding['title']}'")
    low, high = finding["expected_speedup"]
    share = result["loops"][row["loop"]]["share"]
    if not low < finding["speedup"] < high:
        bad.append(f"{name}: {finding['speedup']} is not between {low} and {high}")
    if not 1.1 < low <= high < 1 / (1 - min(0.995, share + 0.1)):
        bad.append(f"{name}: {low} to {high} for a loop that takes {share} of the time")
for name in ["plain", "product", "filled"] + sys.argv[4:]:
    found = orders(name)[1]
    if len(found) != 1 or not found[0]["id"].startswith("interchange"):
        bad.append(f"{name}: {[f['title'] for f in found]} instead of one interchange")
for name in ("flat_fixed", "rows_fixed", "other", "kept"):
    found = orders(name)[1]
    if found:
        bad.append(f"{name}: {[f['title'] for f in found]}")
for text in bad:
    print("FAILED:", text)
sys.exit(bool(bad))
PY
