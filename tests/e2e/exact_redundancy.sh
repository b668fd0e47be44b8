#!/bin/bash
# Redundant accesses counted by the exact engine: the thesis' examples to the byte, the right pair of lines on top, gone
# where they are mended, the same in every run; what is loaded by the kernel, freed or popped is not wasted.
set -u
. "$SRC/tests/library_path.sh"
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O2 -g -o redundancies "$SRC/tests/programs/redundancies.c" || fail "compile"
run() { # NAME CASE...
    local name=$1; shift
    "$LWP" collect -q -e exact --detect redundancy -o "$name" -- ./redundancies "$@" > "$name.truth" 2> err || { cat err; fail "$name"; }
    "$LWP" analyze -q "$name" || fail "analyze $name"
}
run all all
run fixed fixed
run zeroed zeroed
cat > check.py <<'PY'
import collections, json, sys
name, top = sys.argv[1], len(sys.argv) > 2
d = json.load(open(name + "/analysis.json"))
def line(context):
    frame = d["contexts"][context]["frames"][0] if context is not None and d["contexts"][context]["frames"] else {}
    return frame["line"] if (frame.get("file") or "").endswith("/redundancies.c") else None
pairs = collections.Counter()
for p in d["redundancies"]:
    assert p["share_ci"] == [p["share"], p["share"]], p
    pairs[p["kind"], line(p["first"]), line(p["second"])] += p["amount"]
bad = []
for want in open(name + ".truth"):
    *limit, kind, amount, first, second = want.split()
    amount, first, second = int(amount), int(first), int(second)
    if limit:
        got = sum(n for (k, a, b), n in pairs.items() if k == kind and a and b and first <= a <= second and first <= b <= second)
        if got > amount:
            bad.append(f"{want.strip()}: {got}")
    elif pairs[kind, first, second] != amount:
        bad.append(f"{want.strip()}: {pairs[kind, first, second]}")
for kind, total in d["redundancy_totals"].items():
    assert total is None or (total["exact"] and total["unit"] == "bytes" and total["share_ci"] == [total["share"]] * 2), total
if top:
    wanted = collections.defaultdict(list)
    for want in open(name + ".truth"):
        kind, amount, *lines = want.split()
        wanted[kind].append((int(amount), tuple(map(int, lines))))
    for kind, rows in wanted.items():
        best = next(p for p in d["redundancies"] if p["kind"] == kind)
        at = line(best["first"]), line(best["second"])
        assert at in [lines for amount, lines in rows if amount == max(rows)[0]], (kind, at, rows)
    assert set(wanted) == {"silent_load"} or d["findings"][0]["kind"] == "redundancy", d["findings"]
sys.exit("\n".join(bad) or 0)
PY
for name in all fixed; do /usr/bin/python3 check.py $name || fail "$name"; done
# each example alone (LONG: all of them): its largest pair is the first that is shown
for name in zeroed mixed ${LONG:+last_set same_value twice pooling identity aliases by_pointer adjust}; do
    [ $name = zeroed ] || run $name $name
    /usr/bin/python3 check.py $name top || fail "$name"
done
# few keys in each node, a skip list, a hash table, a tree and the compiler's constants are no findings; two results of one loop that stay
# as they were are one, and so is a linear search
$CC -O2 -g -o not_searches "$SRC/tests/programs/not_searches.c" || fail "compile not_searches"
"$LWP" collect -q -e exact --detect layout,redundancy --window all -o searches -- ./not_searches > out || fail "not_searches"
"$LWP" analyze -q searches && "$LWP" report searches > report || fail "report of not_searches"
/usr/bin/python3 - <<'PY' || { cat report; fail "findings of not_searches"; }
import json
titles = [f["title"] for f in json.load(open("searches/analysis.json"))["findings"] if f["kind"] == "redundancy"]
assert len(titles) == 2 and any(t.startswith("update (not_searches.c:") for t in titles), titles
assert any(t.startswith("Do not search ") and "by_name (not_searches.c:" in t for t in titles), titles
PY
# a search's length goes by how often its function was entered, not by how often the loop that calls it at times went round
$CC -O2 -g -o called_search "$SRC/tests/programs/called_search.c" || fail "compile called_search"
"$LWP" collect -q -e exact --detect redundancy --window all -o called -- ./called_search > out || fail "called_search"
sed -i 's/\("start_ns": *\|"page_fault_ns": *\)[0-9]*/\11/' called/run.json # on a busy machine this short a run is mostly the kernel's
"$LWP" analyze -q called || fail "called_search"
/usr/bin/python3 - <<'PY' || fail "length of a search that is called"
import json, re
titles = [f["title"] for f in json.load(open("called/analysis.json"))["findings"] if f["kind"] == "redundancy"]
length = [int(n) for t in titles for n in re.findall(r"each time some (\d+) elements", t)]
assert len(length) == 1 and 90 <= length[0] <= 110, titles
PY
# what is volatile is stored because the program asks for it
$CC -O2 -g -o volatiles "$SRC/tests/programs/volatiles.c" || fail "compile volatiles"
"$LWP" collect -q -e exact --detect redundancy -o volatile -- ./volatiles > out || fail "volatiles"
"$LWP" analyze -q volatile || fail "volatiles"
/usr/bin/python3 - <<'PY' || fail "stores to volatile variables"
import json
a = json.load(open("volatile/analysis.json"))
assert not a["findings"], [f["title"] for f in a["findings"]]
causes = {(r["kind"], r["cause"]) for r in a["redundancies"] if r["share"] > 0.05}
assert {k for k, c in causes if c == "volatile"} >= {"dead_store", "silent_store"} and all(c == "volatile" for k, c in causes if k.endswith("store")), causes
PY
"$LWP" report zeroed > report || fail "report"
grep -q 'Redundant accesses (exact' report && grep -q 'exact: [0-9]* bytes' report || { cat report; fail "the report does not say that it is exact"; }

# what exec replaces has its counts written, as a program that a signal ends has
"$LWP" collect -q -e exact --detect redundancy -o replaced -- sh -c 'for i in 1 2 3; do :; done; exec true' || fail "exec"
[ "$(ls replaced/p*/t0.lwps | wc -l)" = 2 ] || fail "exec: $(ls replaced/p*)"
"$LWP" collect -q -e exact --detect redundancy -o killed -- sh -c 'kill -SEGV $$' 2> err
[ $? = 139 ] && "$LWP" dump killed/p*/t0.lwps | grep -q '^pair' || fail "a signal"

# the same again, byte by byte
library_path ./redundancies
rm -r zeroed
run first zeroed
run zeroed zeroed
for one in first zeroed; do "$LWP" dump $one/p*/t0.lwps | grep -v '^file' > $one.dump; done
cmp first.dump zeroed.dump || fail "two runs differ"
[ "$(grep -c '^pair' zeroed.dump)" -gt 10 ] || fail "no pairs"

# written out by the kernel, freed, on a dead frame: no waste
cat > used.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { N = 1 << 16 };
static volatile char text[N];
__attribute__((noinline)) static void locals(long x) { volatile long a[64]; for (int i = 0; i < 64; i++) a[i] = x; }
int main(void)
{
    for (int r = 0; r < 20; r++) {
        for (int i = 0; i < N; i++) text[i] = (char)(r + 1);
        if (write(1, (const void *)text, N) != N) return 1;
        volatile long *block = malloc(64 * sizeof *block);
        for (int i = 0; i < 64; i++) block[i] = 7;
        free((void *)block);
        locals(r);
        if (read(0, (void *)text, 100) != 100) return 1;
    }
    return 0;
}
C
$CC -O2 -g -o used used.c || fail "compile used.c"
"$LWP" collect -q -e exact --detect redundancy -o used.lwp -- ./used < /dev/zero > out || fail "used"
[ "$(stat -c %s out)" = 1310720 ] || fail "its output"
"$LWP" analyze -q used.lwp || fail "analyze used"
/usr/bin/python3 - <<'PY' || fail "used"
import json
d = json.load(open("used.lwp/analysis.json"))
total = d["redundancy_totals"]["dead_store"]
own = [p for p in d["redundancies"] if p["kind"] == "dead_store" and all(d["contexts"][p[e]]["frames"][0].get("file", "").endswith("used.c") for e in ("first", "second"))]
assert not own, own
assert total["decided"] >= 20 << 16 and total["share"] < 0.1, total
PY

# a store to one place in a loop keeps a variable in memory, also where the loop is unrolled: the copies are one store
cat > unrolled.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    (void)argv;
    volatile long *last = malloc(sizeof *last);
    for (long i = 0; i < 20000L * argc; i++)
        *last = i;
    return *last == 7;
}
C
for flags in -funroll-loops ${LONG:+-fno-unroll-loops}; do
    $CC -O2 -g $flags -o unrolled unrolled.c || fail "compile unrolled.c"
    "$LWP" collect -q -e exact --detect redundancy --force -o unrolled.lwp -- ./unrolled || fail "unrolled"
    "$LWP" analyze -q unrolled.lwp || fail "analyze unrolled"
    /usr/bin/python3 - <<'PY' || fail "unrolled.c with $flags"
import json
first = next(p for p in json.load(open("unrolled.lwp/analysis.json"))["redundancies"] if p["kind"] == "dead_store")
assert first["amount"] == 19999 * 8 and first["cause"] == "kept_in_memory", first
PY
done

# what another thread overwrites is not dead within a thread: it is counted apart, both to the byte
cat > others.c <<'C'
#include <pthread.h>
enum { N = 512, ROUNDS = 10 };
static volatile long shared[N], own[2][N];
static pthread_barrier_t barrier;
static void *work(void *given)
{
    long self = (long)given;
    for (long round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N && round % 2 == self; i++)
            shared[i] = round; /* in turns */
        for (int i = 0; i < N; i++)
            own[self][i] = round;
        pthread_barrier_wait(&barrier);
    }
    return 0;
}
int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&barrier, 0, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
C
$CC -O1 -g -pthread -o others others.c || fail "compile others.c"
"$LWP" collect -q -e exact --detect redundancy -o others.lwp -- ./others && "$LWP" analyze -q others.lwp && "$LWP" report others.lwp > out || fail "others"
grep -q 'other threads .*overwritten by another thread' out || fail "the report of others: $(cat out)"
/usr/bin/python3 - <<'PY' || fail "others.c"
import json
d = json.load(open("others.lwp/analysis.json"))
def of(kind): return sum(p["amount"] for p in d["redundancies"] if p["kind"] == kind and d["contexts"][p["first"]]["frames"][0].get("file", "").endswith("others.c"))
assert of("overwritten") == 9 * 512 * 8 and of("dead_store") == 2 * 9 * 512 * 8, (of("overwritten"), of("dead_store"))
totals = d["redundancy_totals"]
for kind in ("dead_store", "silent_store", "silent_load"):
    threads = totals[kind]["threads"]
    assert abs(sum(t["wasted"] for t in threads) - totals[kind]["wasted"]) < 1 and abs(sum(t["share"] for t in threads) - 1) < 1e-3, (kind, threads)
mine = sorted(t["wasted"] for t in totals["dead_store"]["threads"])[-2:] # two threads that store alike
assert len(mine) == 2 and 9 * 512 * 8 <= mine[0] and mine[1] - mine[0] < 4096, mine
assert not any(f["id"].startswith("overwritten") for f in d["findings"]), d["findings"]
PY
/usr/bin/python3 -c 'import jsonschema' 2> /dev/null && { /usr/bin/python3 -m jsonschema -i others.lwp/analysis.json "$SRC/docs/analysis.schema.json" || fail "schema"; }
exit 0
