#!/bin/bash
# Communication counted by the exact engine: patterns whose every cell is known, with 4 threads (LONG: 2 and 16, too).
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O1 -g -pthread -o patterns "$SRC/tests/programs/patterns.c" || fail "compile"
run() { # NAME OPTION... -- PATTERN THREADS
    local name=$1; shift
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    "$LWP" collect -q -e exact --detect communication "${options[@]}" -o "$name" -- ./patterns "$@" > out 2> err || { cat err; fail "$name"; }
    [ "$(cat out)" = "$(./patterns "$@")" ] || fail "output of $name"
    [ ! -s err ] || { cat err; fail "$name says something"; }
    "$LWP" analyze -q "$name" || fail "analyze $name"
}
# swaps that fail read, those that succeed store, too
cat > swaps.c <<'C'
#include <pthread.h>
#include <stdio.h>
enum { N = 1000 };
static volatile long words[N], pairs[N][2] __attribute__((aligned(16)));
static int swapped;
static __attribute__((noinline)) int swap_words(long by)
{
    int done = 0;
    for (int i = 0; i < N; i++) done += __sync_bool_compare_and_swap(&words[i], i + by, -1);
    return done;
}
static __attribute__((noinline)) int swap_pairs(long by)
{
    int done = 0;
    for (int i = 0; i < N; i++) done += __sync_bool_compare_and_swap((__int128 *)pairs[i], (__int128)(i + by) << 64 | i, -1);
    return done;
}
static __attribute__((noinline)) long check_words(void) { long sum = 0; for (int i = 0; i < N; i++) sum += words[i]; return sum; }
static __attribute__((noinline)) long check_pairs(void) { long sum = 0; for (int i = 0; i < N; i++) sum += pairs[i][0] + pairs[i][1]; return sum; }
static void *work(void *by) { swapped = swap_words((long)by) + swap_pairs((long)by); return NULL; }
int main(void)
{
    long sum = 0;
    for (int i = 0; i < N; i++) words[i] = pairs[i][0] = pairs[i][1] = i;
    for (long by = 1; by >= 0; by--) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)by);
        pthread_join(thread, NULL);
        sum += check_words() + check_pairs();
        printf("%d %ld\n", swapped, sum);
    }
    return 0;
}
C
$CC -O1 -g -pthread -mcx16 -o swaps swaps.c || fail "compile swaps.c"
"$LWP" collect -q -e exact --detect communication -o swaps.r -- ./swaps > out 2> err || { cat err; fail "swaps"; }
[ "$(cat out)" = "$(./swaps)" ] && "$LWP" analyze -q swaps.r || fail "output of swaps"
# two loops of one function read the same data one after the other, and loops of a nest share a line
cat > loops.c <<'C'
#include <pthread.h>
#include <stdio.h>
enum { N = 500, SIDE = 10, ROUNDS = 3 };
static volatile long data[N], cube[SIDE][SIDE][SIDE], times = 2;
static __attribute__((noinline)) long both(void)
{
    long sum = 0;
    for (int k = 0; k < times; k++)
        for (int i = 0; i < N; i++)
            sum += data[i];
    for (int i = 0; i < N; i++)
        sum -= data[i];
    return sum;
}
static __attribute__((noinline)) long nest(void)
{
    long sum = 0;
    for (int i = 0; i < SIDE; i++) for (int k = 0; k < SIDE; k++) for (int l = 0; l < SIDE; l++) sum += cube[i][k][l];
    return sum;
}
static void *work(void *to) { for (int r = 0; r < ROUNDS; r++) *(long *)to += both() + nest(); return NULL; }
int main(void)
{
    pthread_t thread;
    long sum = 0;
    for (int i = 0; i < N; i++) data[i] = i;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) (&cube[0][0][0])[i] = i;
    pthread_create(&thread, NULL, work, &sum);
    pthread_join(thread, NULL);
    return printf("%ld\n", sum) < 0;
}
C
$CC -O1 -g -pthread -o loops loops.c || fail "compile loops.c"
"$LWP" collect -q -e exact --detect communication -o loops.r -- ./loops > out 2> err || { cat err; fail "loops"; }
[ "$(cat out)" = "$(./loops)" ] && "$LWP" analyze -q loops.r || fail "output of loops"
# what the program marks, and nothing before it
cat > part.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include "collector/lwp.h"
enum { N = 1000 };
static volatile long data[N];
static __attribute__((noinline)) long take(void) { long sum = 0; for (int i = 0; i < N; i++) sum += data[i]; return sum; }
static void *work(void *to)
{
    long sum = take();
    LWP_BEGIN();
    sum += take() + take();
    LWP_END();
    *(long *)to = sum + take();
    return NULL;
}
int main(void)
{
    pthread_t thread;
    long sum = 0;
    for (int i = 0; i < N; i++) data[i] = i;
    pthread_create(&thread, NULL, work, &sum);
    pthread_join(thread, NULL);
    return printf("%ld\n", sum) < 0;
}
C
$CC -O1 -g -pthread -I"$SRC" -o part part.c || fail "compile part.c"
for region in take LWP_BEGIN; do
    "$LWP" collect -q -e exact --detect communication --region $region -o part.$region -- ./part > out 2> err || { cat err; fail "part"; }
    [ "$(cat out)" = "$(./part)" ] && "$LWP" analyze -q part.$region || fail "output of part"
done
for pattern in ring pipeline neighbours master reduction all; do
    for threads in 4 ${LONG:+2 16}; do
        run $pattern.$threads -- $pattern $threads
    done
done
run others -- ring 100
run line --granularity line -- ring 4
/usr/bin/python3 - <<'PY' || fail "the results"
import json, os, statistics
ROUNDS, WORDS, TIMES = 3, 2000, 4
takes = {
    "ring": lambda w, r, n: r == (w + 1) % n, "pipeline": lambda w, r, n: r == w + 1,
    "neighbours": lambda w, r, n: abs(r - w) == 1, "reduction": lambda w, r, n: r == 0 and w,
    "master": lambda w, r, n: (w == 0) != (r == 0), "all": lambda w, r, n: True}
def load(name): return json.load(open(name + "/analysis.json"))["communication"]
for pattern, known in takes.items():
    for n in (2, 4, 16) if "LONG" in os.environ else (4,):
        c = load(f"{pattern}.{n}")
        assert len(c["threads"]) == n and c["unit"] == "count" and c["granularity_bytes"] == 4
        program = c["regions"][0]
        take = next(r for r in c["regions"] if r["name"] == "take")
        loops = [r for r in c["regions"] if r["kind"] == "loop" and r["name"].endswith("in take")]
        names = {"ring": "ring", "pipeline": "pipeline", "neighbours": "nearest neighbour", "reduction": "reduction", "master": "master/worker", "all": "all to all"}
        if n > 2: assert take["pattern"] == program["pattern"] == names[pattern], (pattern, n, take["pattern"], program["pattern"])
        assert program["kind"] == "program" and take["kind"] == "function" and loops
        for w in range(n):
            for r in range(n):
                first = ROUNDS * WORDS if w != r and known(w, r, n) else 0
                for region in [take] + loops:
                    assert region["true"][w][r] == first, (pattern, n, w, r, region["true"][w][r])
                    assert region["reuse"][w][r] == first * (TIMES - 1), (pattern, n, w, r)
                    assert region["crr"][w][r] == (TIMES - 1 if first else 0)
                slack = 0.01 * ROUNDS * WORDS # arguments of threads, and what is said of how many there are
                assert abs(program["true"][w][r] - first) <= slack, (pattern, n, w, r, program["true"][w][r])
                assert abs(program["reuse"][w][r] - first * (TIMES - 1)) <= slack * (TIMES - 1), (pattern, n, w, r)
        cells = sum(map(sum, take["true"])) // (ROUNDS * WORDS)
        crd = take["crd"]
        assert crd["median"] == crd["p90"] == WORDS - 1, crd
        assert crd["count"] == cells * (ROUNDS * WORDS * TIMES - WORDS), crd
        for region in c["regions"]: # equations 1 and 2 by the library
            if region["homogeneity"] is None: continue
            rows, sums = region["crr"], [sum(row) for row in region["crr"]]
            want = statistics.fmean(statistics.pvariance(row) for row in rows)
            assert abs(region["homogeneity"] - want) <= 1e-4 * (1 + want), (region["name"], want)
            want = (max(sums) / statistics.fmean(sums) - 1) * 100 if any(sums) else 0
            assert abs(region["balance_percent"] - want) <= 1e-3 * (1 + want), (region["name"], want)
c = load("others")
assert len(c["threads"]) == 64 and c["others"] == 37 and c["threads"][-1]["tid"] is None
assert sum(map(sum, next(r for r in c["regions"] if r["name"] == "take")["true"])) == 100 * ROUNDS * WORDS
c = load("swaps.r") # the first swaps fail, those of the third thread succeed
for name, times in ("words", 1), ("pairs", 2):
    swap, check = (next(r for r in c["regions"] if r["name"] == f"{what}_{name}") for what in ("swap", "check"))
    assert [swap["true"][0], swap["true"][1:]] == [[0, times * 1000, times * 1000], [[0] * 3] * 2], swap["true"]
    assert [sum(map(sum, check["true"])), check["true"][2][0]] == [times * 1000] * 2, check["true"]
regions = load("loops.r")["regions"] # of both(): three walks a round, of which one is in the second loop
N, SIDE = 500, 10
distances = {r["name"]: r["crd"] and (r["crd"]["median"], r["crd"]["p90"], r["crd"]["count"]) for r in regions}
assert distances["both"] == (N - 1, N - 1, N * (3 * ROUNDS - 1)), distances
for name, walks in ("8-10", 2), ("9-10", 2), ("11-12", 1): # the first loop's at its own last walk; the second loop's were read by the first since
    wanted = (N - 1, N - 1, N * ROUNDS) if walks == 2 else None
    assert distances[f"loop at loops.c:{name} in both"] == wanted, distances
names = [r["name"] for r in regions if " in nest" in r["name"]]
assert sorted(names) == [f"loop at loops.c:18{more} in nest" for more in (" (loop 2 of the nest)", " (loop 3 of the nest)", "")], names
for name in names: assert distances[name] == (SIDE ** 3 - 1, SIDE ** 3 - 1, SIDE ** 3 * (ROUNDS - 1)), distances
for name, first, again, distances in ("take", 1000, 2000, 2000), ("LWP_BEGIN", 0, 2000, 1000): # not the last of four, nor the first before the mark
    take = next(r for r in load("part." + name)["regions"] if r["name"] == "take")
    assert take["true"] == [[0, first], [0, 0]] and take["reuse"] == [[0, again], [0, 0]] and take["crd"]["count"] == distances, (name, take)
c = load("line") # 8 numbers to a line
true = next(r for r in c["regions"] if r["name"] == "take")["true"]
assert abs(true[0][1] - ROUNDS * WORDS / 8) <= ROUNDS, true
PY
"$LWP" report master.4 > out && grep -q "Communication between 4 threads" out && grep -q ' take$' out || { cat out; fail "report"; }
"$LWP" export -o page.html all.4 > out 2>&1 || fail "export"
"$LWP" collect -e exact --detect communication --granularity word8 -o none ./patterns ring 2 > out 2>&1
[ $? = 125 ] && grep -q 'takes byte, word or line' out || { cat out; fail "granularity word8"; }
exit 0
