#!/bin/bash
# Elements that equal their neighbours, found by the exact engine at window ends and where the program asks: the thesis'
# listing 3.3, hotspot and particlefilter, in heap and static data and in a field of structures; gone where they are mended.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O2 -g -Wall -Wextra -I "$SRC/collector" -o neighbours "$SRC/tests/programs/neighbours.c" || fail "compile"
run() { # NAME CASE OPTION...
    local name=$1 case=$2; shift 2
    "$LWP" collect -q -e exact "$@" -o "$name" -- ./neighbours "$case" > out 2> err || { cat err; fail "$name"; }
    "$LWP" analyze -q "$name" || fail "analyze $name"
}
run all bad --window all --detect spatial
run windows bad --window 20k:50k --detect layout,spatial
run off bad --window all --detect spatial --approx off
run fixed fixed --window all --detect spatial
run asked asked --detect layout
run blocks blocked --window 5k:50k --detect spatial
run blocks_all blocked --window all --detect spatial
cat > check.py <<'PY'
import json, sys
def load(name): return json.load(open(name + "/analysis.json"))
causes = {}
def found(name):
    d, all = load(name), {}
    for p in d["redundancies"] or []:
        frame = next((f for f in d["contexts"][p["second"]]["frames"][:2] if (f.get("file") or "").endswith("/neighbours.c")), None)
        assert p["kind"] == "spatial" and p["first"] == p["second"]
        if frame:
            name = d["objects"][p["object"]]["name"] if p["object"] is not None else None
            best = all.get(frame["function"])
            if best is None or p["amount"] > best[3]:
                all[frame["function"]] = p["own_share"], p["approximate"], name, p["amount"], p["neighbour_share"]
                causes[frame["function"]] = p["cause"]
    return all, d
for name in "all", "windows":
    spots, d = found(name)
    share, close, object, amount, same = spots["pairs"]
    assert 0.49 < share <= 0.5 and 0.49 < same <= 0.5 and close == 0 and object, (name, spots)
    share, close, object, amount, same = spots["hotspot"]
    assert share > 0.9 and close == 1 and same > 0.9 and object == "result", (name, spots)
    share, close, object, amount, same = spots["particlefilter"]
    assert share > 0.9 and same > 0.9 and close == 0 and object, (name, spots)
assert causes["hotspot"] == "converged" and causes["particlefilter"] == causes["pairs"] == "redundant_computation", causes
# each at the line that stores, before whatever else there is
source = [line.strip() for line in open(sys.argv[1])]
stores = {"pairs": {source.index("b[i] = foo(i / 2 + 1);") + 1},
          "hotspot": {i + 1 for i, line in enumerate(source) if line.startswith("result[r * SIDE + c] =")},
          "particlefilter": {source.index("particles[used].x = xs[i];") + 1, source.index("particles[used++].steps = j;") + 1}}
d, left = load("all"), dict(stores)
for p in d["redundancies"]:
    if not left:
        break
    frame = next(f for f in d["contexts"][p["second"]]["frames"] if f["function"] in stores)
    assert frame["line"] in stores[frame["function"]], (frame, stores)
    left.pop(frame["function"], None)
assert not left, left
spots, d = found("all")
assert spots["pairs"][3] == 5 * 20000 // 2 * 4, spots   # of all rounds, all bytes
total = d["redundancy_totals"]["spatial"]
assert total["exact"] and total["unit"] == "bytes", total
spots, d = found("off")
assert spots["hotspot"][4] < 0.02 and 0.49 < spots["pairs"][0], spots
spots, d = found("fixed")
assert all(name == "main" or spot[4] < 0.2 for name, spot in spots.items()), spots  # values that others have, but not their neighbours
spots, d = found("asked")
assert 0.49 < spots["main"][0] and len([p for p in d["redundancies"]]) == 2, spots
# the window saw none of what stores there, and the arrays are known by name all the same
assert sorted(d["objects"][p["object"]]["name"] for p in d["redundancies"]) == ["b", "result"], d["redundancies"]
assert not any("(null)" in json.dumps(f) for f in d["findings"]), d["findings"]
# in blocks, of which a window sees a few: of the 15 pairs in a row of 16 the 8 of one warmth, and of the 511 of a whole row 256
for name, part, whole in ("blocks", 8 / 15, False), ("blocks_all", 256 / 511, True):
    share, close, object, amount, same = found(name)[0]["blocked"]
    assert object == "next" and close > 0.9 and share > 0.99 and abs(same - part) < 0.04, (name, found(name)[0])
notes = [n for n in load("windows")["run"]["notes"] if "% of the general registers" in n]
assert len(notes) == 1 and 0 < int(notes[0].split(" %")[0].split()[-1]) < 100, notes
titles = [f["title"] for f in load("all")["findings"] if f["id"].startswith("spatial")]
assert any("result" in t for t in titles), titles
PY
/usr/bin/python3 check.py "$SRC/tests/programs/neighbours.c" || fail "what was found"
# and beside all the rest
run everything bad --detect layout,redundancy,values,registers,spatial
/usr/bin/python3 - <<'PY' || fail "everything"
import json
d = json.load(open("everything/analysis.json"))
assert not [kind for kind, total in d["redundancy_totals"].items() if total is None and kind != "overwritten"], d["redundancy_totals"]
assert d["run"]["samples"] > 100
PY
/usr/bin/python3 -c 'import jsonschema' 2> /dev/null && { /usr/bin/python3 -m jsonschema -i everything/analysis.json "$SRC/docs/analysis.schema.json" || fail "schema"; }
# one quarter of the elements are scattered fives: S is 0.25, although hardly any has its neighbour's value
cat > fives.c <<'C'
#include "lwp.h"
int main(void)
{
    static int fives[40000];
    unsigned random = 1;
    for (int i = 0; i < 40000; i++) {
        random = random * 1664525 + 1013904223;
        fives[i] = random >> 10 & 3 ? 1000 + i : 5;
    }
    LWP_ARRAY(fives, 40000, sizeof *fives);
    return fives[7] == 3;
}
C
$CC -O2 -g -I "$SRC/collector" -o fives fives.c || fail "compile fives"
"$LWP" collect -q -e exact --detect redundancy,registers -o fives.result -- ./fives && "$LWP" analyze -q fives.result && "$LWP" report fives.result > out || fail "fives"
grep -q '25.* % *of fives, stored in main.*; 6.* % equal the one before' out || { cat out; fail "the report of fives"; }
/usr/bin/python3 - <<'PY' || fail "fives"
import json
d = json.load(open("fives.result/analysis.json"))
[p] = [p for p in d["redundancies"] if p["kind"] == "spatial"]
assert 0.245 < p["own_share"] < 0.255 and 0.055 < p["neighbour_share"] < 0.07, p
assert not any(f["id"].startswith("spatial") for f in d["findings"]), d["findings"]
t = d["redundancy_totals"]["generated"]
assert 0 < t["redundant"] < t["bytes"] and abs(t["share"] - t["redundant"] / t["bytes"]) < 1e-5, t
stored = d["redundancy_totals"]["silent_store"]
assert sum(c["bytes"] for c in stored["classes"]) == stored["decided"] and sum(c["same"] for c in stored["classes"]) == stored["wasted"], stored
PY
/usr/bin/python3 -c 'import jsonschema' 2> /dev/null && { /usr/bin/python3 -m jsonschema -i fives.result/analysis.json "$SRC/docs/analysis.schema.json" || fail "schema"; }

# what is stored to last is looked at when the program ends, its last thread gone
printf 'static int a[1000];\nint main(void) { for (int i = 0; i < 1000; i++) *(volatile int *)&a[i] = 7; return 0; }\n' > last.c && $CC -O1 -g -o last last.c || fail "compile last"
"$LWP" collect -q -e exact --window all --detect spatial -o last.result -- ./last 2> err && [ ! -s err ] || { cat err; fail "last"; }
"$LWP" report last.result | grep -q 'stored in main' || fail "what was stored last"
"$LWP" report all > report || fail "report"
grep -q '50.0 %  of .*stored in pairs' report || { cat report; fail "the report"; }
exit 0
