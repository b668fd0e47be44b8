#!/bin/bash
# Communication counted by the exact engine in programs that do the same in a better and a worse way, and in ones that are
# built on OpenMP, C11 and C++ threads, that spin, or have hundreds of threads.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
echo '{"line_bytes": 64, "caches": [{"level": 1, "bytes": 2048, "ways": 4}, {"level": 2, "bytes": 65536, "ways": 8}]}' > small.json
run() { # NAME OPTION... -- COMMAND...
    local name=$1; shift
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    "$LWP" collect -q -e exact --detect communication "${options[@]}" -o "$name" -- "$@" > out 2> err || { cat err; fail "$name"; }
    [ "$(cat out)" = "$("$@")" ] || fail "output of $name"
    "$LWP" analyze -q "$name" || fail "analyze $name"
}
cat > spin.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
enum { N = 1000, ROUNDS = 10 };
static long data[N];
static _Atomic int turn;
static __attribute__((noinline)) long take(void) { long sum = 0; for (int i = 0; i < N; i++) sum += ((volatile long *)data)[i]; return sum; }
static void *work(void *to)
{
    long sum = 0;
    for (int r = 0; r < ROUNDS; r++) {
        while (atomic_load(&turn) != 2 * r + 1) ;
        sum += take();
        atomic_store(&turn, 2 * r + 2);
    }
    *(long *)to = sum;
    return NULL;
}
int main(void)
{
    pthread_t thread;
    long sum;
    pthread_create(&thread, NULL, work, &sum);
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < N; i++) data[i] = r + i;
        atomic_store(&turn, 2 * r + 1);
        while (atomic_load(&turn) != 2 * r + 2) ;
    }
    pthread_join(thread, NULL);
    return printf("%ld\n", sum) < 0;
}
C
cat > omp.c <<'C'
#include <stdio.h>
enum { N = 4096, ROUNDS = 5 };
static double a[N], b[N];
int main(void)
{
    for (int r = 0; r < ROUNDS; r++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < N; i++) a[i] = i + r;
#pragma omp parallel for schedule(static)
        for (int i = 0; i < N; i++) b[i] += a[(i + 1) % N] + a[(i + N - 1) % N];
    }
    return printf("%g\n", b[7]) < 0;
}
C
cat > pool.cc <<'C'
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
static volatile long in[32000], sums[32];
static __attribute__((noinline)) void add(int k) { for (int i = 0; i < 1000; i++) sums[k] += in[k * 1000 + i]; }
int main()
{
    std::queue<std::function<void()>> tasks;
    std::mutex mutex;
    std::condition_variable more;
    bool done = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 32000; i++) in[i] = i;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            for (;;) {
                std::function<void()> task;
                {
                    std::unique_lock<std::mutex> lock(mutex);
                    more.wait(lock, [&] { return done || !tasks.empty(); });
                    if (tasks.empty()) return;
                    task = tasks.front();
                    tasks.pop();
                }
                task();
            }
        });
    for (int k = 0; k < 32; k++) {
        std::lock_guard<std::mutex> lock(mutex);
        tasks.push([k] { add(k); });
        more.notify_one();
    }
    { std::lock_guard<std::mutex> lock(mutex); done = true; }
    more.notify_all();
    for (auto &thread : threads) thread.join();
    long sum = 0;
    for (long one : sums) sum += one;
    return std::printf("%ld\n", sum) < 0;
}
C
cat > many.c <<'C'
#include <stdio.h>
#include <threads.h>
static volatile long box[400], back[400];
static int work(void *given) { long i = (long)given; back[i] = box[i] * 2; return 0; }
int main(void)
{
    long sum = 0;
    for (long k = 0; k < 400; k += 100) {
        thrd_t threads[100];
        for (long i = 0; i < 100; i++) { box[k + i] = i; thrd_create(&threads[i], work, (void *)(k + i)); }
        for (int i = 0; i < 100; i++) thrd_join(threads[i], NULL);
    }
    for (int i = 0; i < 400; i++) sum += back[i];
    return printf("%ld\n", sum) < 0;
}
C
cat > twice.c <<'C'
#include <pthread.h>
#include <stdio.h>
#ifndef PAIRS
enum { THREADS = 2, N = 4000 };
#else
enum { THREADS = 6, N = 500 }; /* threads 0 and 3, 1 and 4, 2 and 5 work together, each with a little of the next one's */
#endif
static volatile double part[THREADS][N];
static double sums[THREADS];
static pthread_barrier_t all;
static __attribute__((noinline)) double take(int from)
{
    double sum = 0, least = 1e9;
    for (int i = 0; i < N; i++)
        sum += part[from][i];
#ifndef FUSED
    for (int i = 0; i < N; i++)
        least = part[from][i] < least ? part[from][i] : least;
#endif
    return sum + least;
}
static void *work(void *given)
{
    int self = (int)(long)given, other = (self + THREADS / 2) % THREADS;
    for (int r = 0; r < 4; r++) {
        for (int i = 0; i < N; i++) part[self][i] = self + i + r;
        pthread_barrier_wait(&all);
        sums[self] += take(other);
        for (int i = 0; i < N / 50; i++) sums[self] += part[(self + 1) % THREADS][i];
        pthread_barrier_wait(&all);
    }
    return NULL;
}
int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return printf("%g\n", sums[0]) < 0;
}
C
# two regions that want other neighbours; one in which some threads read again what others read once
cat > regions.c <<'C'
#include <pthread.h>
#include <stdio.h>
enum { THREADS = 4, N = 1000, ROUNDS = 6 };
static double part[THREADS][N], sums[THREADS];
static pthread_barrier_t all;
static __attribute__((noinline)) double next_to(int from)
{
    double sum = 0;
    for (int i = 0; i < 2 * N; i++)
        sum += part[from][i % N];
    return sum;
}
static __attribute__((noinline)) double opposite(int from)
{
    double sum = 0;
    for (int i = 0; i < 2 * N; i++)
        sum += part[from][i % N];
    return sum;
}
static __attribute__((noinline)) double from_one(int times)
{
    double sum = 0;
    for (int k = 0; k < times; k++)
        for (int i = 0; i < N; i++)
            sum += part[0][i];
    return sum;
}
static void *work(void *given)
{
    int self = (int)(long)given;
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < N; i++) part[self][i] = self + i + r;
        pthread_barrier_wait(&all);
#ifdef ONE
        if (self) sums[self] += from_one(self == 1 ? 1 : self == 2 ? 160 : 80);
#else
        sums[self] += r < 4 ? opposite(self ^ 2) : next_to(self ^ NEXT);
#endif
        pthread_barrier_wait(&all);
    }
    return NULL;
}
int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (long i = 1; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    work(NULL);
    for (int i = 1; i < THREADS; i++) pthread_join(threads[i], NULL);
    return printf("%g\n", sums[0] + sums[1]) < 0;
}
C
# two sockets, whose processors are numbered in turns
cat > sockets.json <<'J'
{"line_bytes": 64, "caches": [{"level": 1, "bytes": 32768, "ways": 8, "shared_by": 1, "groups": ["0", "1", "2", "3"]},
 {"level": 3, "bytes": 16777216, "ways": 16, "shared_by": 2, "groups": ["0,2", "1,3"]}]}
J
$CC -O1 -g -pthread -DNEXT=1 -o regions regions.c && $CC -O1 -g -pthread -DNEXT=3 -o crossed regions.c && $CC -O1 -g -pthread -DONE -o one regions.c ||
    fail "compile regions.c"
for name in regions crossed one; do run $name.r --machine sockets.json -- ./$name; done
for name in molecules lu; do
    $CC -O1 -g -pthread -o $name "$SRC/tests/programs/$name.c" || fail "compile $name"
done
$CC -O1 -g -pthread -DCELLS -o molecules_cells "$SRC/tests/programs/molecules.c" || fail "compile molecules_cells"
$CC -O1 -g -pthread -DCONTIGUOUS -o lu_contiguous "$SRC/tests/programs/lu.c" || fail "compile lu_contiguous"
$CC -O1 -g -pthread -o spin spin.c && $CC -O1 -g -fopenmp -o omp omp.c && $CC -O1 -g -pthread -o many many.c && g++ -O1 -g -pthread -o pool pool.cc || fail "compile"
$CC -O1 -g -pthread -o twice twice.c && $CC -O1 -g -pthread -DFUSED -o fused twice.c && $CC -O1 -g -pthread -DPAIRS -o pairs twice.c || fail "compile twice.c"
for name in molecules molecules_cells twice fused; do run $name.r --machine small.json -- ./$name; done
for name in lu lu_contiguous; do run $name.r --granularity line -- ./$name; run $name.word.r -- ./$name; done
run pairs.r -- ./pairs
# a layer whose inputs' weights lie a row apart: the same lines come back after all others
for name in layer layer_fixed speckle speckle_fixed; do run $name.r --granularity line -- "$BUILD/examples-bin/$name" 4 2; done
run spin.r -- ./spin
OMP_NUM_THREADS=4 run omp.r -- ./omp
run pool.r -- ./pool
run many.r -- ./many
/usr/bin/python3 - <<'PY' || fail "the results"
import json, os
def load(name): return json.load(open(name + ".r/analysis.json"))["communication"]
def region(c, name): return next(r for r in c["regions"] if r["name"] == name or r["name"].endswith(" in " + name))
bad, good = region(load("molecules"), "forces"), region(load("molecules_cells"), "forces")
assert good["crd"]["p90"] < bad["crd"]["p90"] / 10 and good["homogeneity"] < bad["homogeneity"] / 100, (good["crd"], bad["crd"])
said = lambda name: " ".join(a for r in load(name)["regions"] for a in r["advice"])
assert "array blocking" in said("molecules") and "molecules.c:" in said("molecules"), said("molecules")
assert "High communication" not in said("molecules_cells"), said("molecules_cells")
def findings(name): return [f for f in json.load(open(name + ".r/analysis.json"))["findings"] if f["kind"] == "communication"]
assert ["molecules.c:35-37" in f["title"] and "comes after more than " in f["title"] and "cells" in f["next_step"] for f in findings("molecules")] == [True], findings("molecules")
assert not findings("molecules_cells") and not findings("lu_contiguous.word"), findings("lu_contiguous.word")
assert ["lu.c:52-55" in f["title"] and "96 bytes on average, 960 bytes apart" in f["title"] and "contiguous" in f["next_step"] for f in findings("lu.word")] == [True], findings("lu.word")
assert [True] == ["fuse it with the loop at twice.c:14-15" in f["next_step"] for f in findings("twice")], findings("twice")
assert not [f for f in findings("fused") if "fuse it" in f["next_step"]], findings("fused")
assert ["OMP_PROC_BIND" in f["next_step"] for f in findings("pairs") if f["id"].startswith("mapping")] == [True], findings("pairs")
placement = load("pairs")["regions"][0]["placement"] # groups are as large as this machine has it
assert all(any({k, k + 3} <= set(g) for g in placement["groups"]) for k in (1, 2, 3)) and placement["within"] > 0.9, placement
# thread mapping of each region, for the machine: its processors 0 and 2 share a cache, and so do 1 and 3
regions = load("regions")
whole, next_to, opposite = regions["regions"][0], region(regions, "next_to"), region(regions, "opposite")
known = {"next_to": [[0, 1], [2, 3]], "opposite": [[0, 2], [1, 3]]}
for r in whole, opposite: # the program's is that of the region that communicates most
    p = r["placement"]
    assert sorted(p["groups"]) == known["opposite"] and p["processors"] == [0, 1, 2, 3] and p["level"] == 3, p
assert opposite["placement"]["within"] == 1 and opposite["placement"]["before"] == 0, opposite["placement"]
assert next_to["placement"] is None, next_to # as they start
mapping = [f for f in findings("regions") if f["id"].startswith("mapping")]
assert len(mapping) == 1 and 'OMP_PLACES="{0},{1},{2},{3}"' in mapping[0]["next_step"] and mapping[0]["refs"]["communication"] == 0, mapping
crossed = load("crossed") # regions that want different ones: each its own, and a finding where the program's does not suit it
for name in "next_to", "opposite":
    assert region(crossed, name)["placement"]["within"] == 1, (name, region(crossed, name)["placement"])
mapping = [f for f in findings("crossed") if f["id"].startswith("mapping")]
assert len(mapping) == 2 and len({f["id"] for f in mapping}) == 2 and len({f["title"] for f in mapping}) == 2, mapping
# one thread's data, read again 0 to 159 times: which threads share a cache is all the same, but they should
one, tips = region(load("one"), "from_one"), findings("one")
assert one["homogeneity"] > 600 and one["crr"][0] == [0, 0, 159, 79], one
assert any("homogeneity" in f["title"] and "Thread mapping for" in f["next_step"] and "OMP_PLACES" in f["next_step"] for f in tips), tips
for name, function in ("layer", "forward"), ("speckle", "diffuse"): # loops in the wrong order
    bad, good = region(load(name), function), region(load(name + "_fixed"), function)
    assert good["crd"]["median"] < bad["crd"]["median"] / 10, (name, bad["crd"], good["crd"])
bad, good = region(load("lu"), "bmod"), region(load("lu_contiguous"), "bmod")
assert good["crd"]["p90"] < bad["crd"]["p90"] and good["communicated"] < 0.6 * bad["communicated"], (good["crd"], bad["crd"])
take = region(load("spin"), "take")
assert take["true"] == [[0, 10000], [0, 0]], take["true"]
# the second loop reads what neighbours wrote at the borders of its part; main reads a number to print
parallel = [r for r in load("omp")["regions"] if r["kind"] == "parallel"]
assert [r["name"] for r in parallel if r["true"][0][1] == r["true"][1][2] == r["true"][1][0] == 5] == ["parallel region at omp.c:9 in main"], parallel  # the pragma
add = region(load("pool"), "add")
assert sum(add["true"][0]) == 32000 and sum(map(sum, add["true"])) == 32000, add["true"]
many = load("many")
work = region(many, "work")
assert os.path.getsize("many.r/analysis.json") < 3e6, os.path.getsize("many.r/analysis.json")
assert many["others"] == 401 - 63 and sum(map(sum, work["true"])) >= 400, work
PY
"$LWP" diff molecules_cells.r molecules.r > out || { cat out; fail "diff"; }
if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    for name in molecules many omp; do
        /usr/bin/python3 -m jsonschema -i $name.r/analysis.json "$SRC/docs/analysis.schema.json" || fail "the schema is not obeyed"
    done
    "$LWP" diff --json molecules_cells.r molecules.r > diff.json
    /usr/bin/python3 -m jsonschema -i diff.json "$SRC/docs/diff.schema.json" || fail "the schema of diff is not obeyed"
fi
grep -q 'work: .* words, read again' out && grep -q 'distances grow .*-fold' out || { cat out; fail "diff says nothing of communication"; }
"$LWP" diff --json molecules_cells.r molecules.r > diff.json && /usr/bin/python3 -c "
import json
rows = json.load(open('diff.json'))['communication']
assert rows and all(set(r) == {'name', 'kind', 'before', 'after', 'growth', 'steps_left'} for r in rows)" || fail "diff --json"
exit 0
