#!/bin/bash
# What the exact engine is told to leave out: --region, the marks of lwp.h, windows with growing gaps; the caches of another
# machine; when numbers count as the same.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
cat > part.c <<'C'
#include <stdio.h>
#include "lwp.h"
enum { N = 1 << 12 };
static volatile double setup[N], work[N], marked[N];
__attribute__((noinline)) static void fill(volatile double *to, double factor) { for (int i = 0; i < N; i++) to[i] = factor * i; }
__attribute__((noinline)) static void worker(int n) { if (n) worker(n - 1); else for (int r = 0; r < 10; r++) fill(work, 1 + r * 0.005); }
int main(void)
{
    for (int r = 0; r < 10; r++) fill(setup, 2);
    worker(3);
    LWP_BEGIN();
    for (int r = 0; r < 10; r++) fill(marked, 3);
    LWP_END();
    for (int r = 0; r < 10; r++) fill(setup, 4);
    return printf("%d\n", (int)work[1]) != 2;
}
C
for cc in "$CC -std=c99 -Wall -Wextra -Werror -pedantic" "g++ -x c++ -fpermissive -Wall -Werror"; do
    $cc -fsyntax-only -I "$SRC/collector" part.c || fail "lwp.h with $cc"
done
$CC -O2 -g -I "$SRC/collector" -o part part.c || fail "compile"
[ "$(./part)" = 1 ] || fail "the program alone"
run() { # NAME OPTION...
    local name=$1; shift
    "$LWP" collect -q -e exact "$@" -o "$name" -- ./part > out 2> err || { cat err; fail "$name"; }
    [ "$(cat out)" = 1 ] || fail "output of $name"
    "$LWP" analyze -q "$name" || fail "analyze $name"
}
run all --window all --detect layout,redundancy,registers
run long --window 100G:1 --detect redundancy,registers
run narrow --window 5k:5k --detect redundancy,registers
run function --window all --region worker --detect layout,redundancy
run marks --window all --region LWP_BEGIN --detect layout,redundancy
run nobody --region nobody
run exactly --region worker --approx off --detect redundancy
run wide --region worker --approx 4% --detect redundancy
run grown --window 1k:fibonacci --detect layout
run even --window 1k:1k --detect layout
cat > small.json <<'J'
{"line_bytes": 32, "caches": [{"level": 1, "bytes": 4096, "ways": 2}, {"level": 2, "bytes": 65536, "ways": 4}]}
J
run small --machine small.json --window all --detect layout
run again --machine small/run.json --window all --detect layout
/usr/bin/python3 - <<'PY' || fail "the results"
import json
def load(name): return json.load(open(name + "/analysis.json"))
def data(name): return {o["name"] for o in load(name)["objects"] if o["share"] > 0.001}
def total(name, kind): return load(name)["redundancy_totals"][kind]
arrays = {"setup", "work", "marked"}
assert arrays <= data("all"), data("all")
assert data("function") & arrays == {"work"}, data("function")
assert data("marks") & arrays == {"marked"}, data("marks")
bytes = 10 * 4096 * 8
stored = total("function", "silent_store")
assert bytes <= stored["total"] <= bytes + 4096, stored      # fill's stores, and a few frames of worker
assert bytes <= total("marks", "silent_store")["total"] <= bytes + 4096
assert 3 * bytes < total("all", "silent_store")["total"] < 3.6 * bytes # LWP_END() counts without --region, too
assert total("marks", "silent_store")["wasted"] == 9 * 4096 * 8, total("marks", "silent_store")
# nine rounds change all but the first number, by 0.5 % each time
near = 9 * 4095 * 8
assert near <= stored["approximate"] * stored["decided"] <= near + 4096 and stored["wasted"] < 4096, stored
assert total("exactly", "silent_store")["wasted"] < 4096 and total("exactly", "silent_store")["approximate"] == 0, total("exactly", "silent_store")
assert total("wide", "silent_store")["approximate"] == stored["approximate"]
# windows that were asked for hold for redundancies and registers, too: one that never ends tells all; and a round is longer
# than a short one, so that none of the arrays' stores is known to be dead; whether they change anything memory says, of a window's first ones, too
assert load("long")["redundancy_totals"] == load("all")["redundancy_totals"], load("long")["redundancy_totals"]
narrow = load("narrow")
def of_arrays(d): return sum(r["amount"] for r in d["redundancies"] if r["kind"] == "dead_store" and
                             r["second"] is not None and (d["contexts"][r["second"]]["frames"] or [{}])[0].get("function") == "fill")
assert of_arrays(narrow) == 0 and of_arrays(load("all")) > bytes, (of_arrays(narrow), of_arrays(load("all")))
for what in "share", "approximate":
    seen, truth = total("narrow", "silent_store")[what], total("all", "silent_store")[what]
    assert abs(seen - truth) < 0.1, (what, seen, truth)
for kind in "silent_store", "register":
    assert 0.4 < total("narrow", kind)["total"] / total("all", kind)["total"] < 0.6, (total("narrow", kind), total("all", kind))
assert any("in windows of the run" in n for n in narrow["run"]["notes"]), narrow["run"]["notes"]
notes = load("nobody")["run"]["notes"]
assert any("no function nobody was entered" in n for n in notes), notes
assert load("nobody")["run"]["samples"] == 0
assert 0 < load("grown")["run"]["samples"] < load("even")["run"]["samples"] / 4, (load("grown")["run"]["samples"], load("even")["run"]["samples"])
for name in "small", "again":
    machine = load(name)["run"]["machine"]
    assert machine["line_bytes"] == 32 and [c["bytes"] for c in machine["caches"]] == [4096, 65536], machine
PY
"$LWP" dump small/p*/t*.lwps | grep -v '^file\|^thread' > one; "$LWP" dump again/p*/t*.lwps | grep -v '^file\|^thread' | cmp one - || fail "run.json as a machine"
cmp -s one <("$LWP" dump all/p*/t*.lwps | grep -v '^file\|^thread') && fail "smaller caches changed nothing"

# what cannot be is said
refuse() { # TEXT OPTION...
    local text=$1; shift
    "$LWP" collect -o none "$@" ./part > out 2> err; [ $? = 125 ] && grep -q -- "$text" err && [ ! -e none ] || { cat err; fail "$* should say $text"; }
}
refuse 'add -e exact' --region worker
refuse 'add -e exact' --machine small.json
refuse '--approx takes on' --approx 70
refuse '--approx takes on' -e exact --approx 70
refuse '--window takes ON:OFF' -e exact --window 1k:fibo
refuse 'No such file' -e exact --machine nothing.json
echo '{"line_bytes": 64, "caches": [}' > bad.json; refuse 'no JSON at line 1' -e exact --machine bad.json
echo '{"line_bytes": 48, "caches": []}' > bad.json; refuse 'power of two' -e exact --machine bad.json
echo '{"line_bytes": 64, "caches": [{"level": 1, "bytes": 1000, "ways": 3}]}' > bad.json; refuse 'no multiple' -e exact --machine bad.json
echo '{"line_bytes": 64, "caches": [{"level": 1, "bytes": "32K", "ways": 8}]}' > bad.json; refuse 'as whole numbers' -e exact --machine bad.json
exit 0
