#!/bin/bash
# Redundant computations counted by the exact engine: the thesis' examples to the last one, the right pair of lines on
# top, gone where they are mended, the same in every run; totals in closed form; windows; the program is not changed.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O2 -g -pthread -o recomputed "$SRC/tests/programs/recomputed.c" || fail "compile"
run() { # NAME CASE...
    local name=$1; shift
    "$LWP" collect -q -e exact --detect values --window "${WINDOW:-all}" --value-history 64 --force -o "$name" -- ./recomputed "$@" > "$name.truth" 2> err ||
        { cat err; fail "$name"; }
    [ ! -s err ] || fail "$name: it says $(cat err)"
    "$LWP" analyze -q "$name" || fail "analyze $name"
}
cat > check.py <<'PY'
import collections, json, sys
name, top = sys.argv[1], len(sys.argv) > 2
d = json.load(open(name + "/analysis.json"))
def line(context):
    frame = d["contexts"][context]["frames"][0] if context is not None and d["contexts"][context]["frames"] else {}
    return frame["line"] if (frame.get("file") or "").endswith("/recomputed.c") else None
pairs = collections.Counter()
for p in d["redundancies"]:
    assert p["kind"] == "computation" and p["share_ci"] == [p["share"], p["share"]], p
    pairs[line(p["first"]), line(p["second"])] += p["amount"]
bad = []
for want in open(name + ".truth"):
    *limit, count, first, second = want.split()
    count, first, second = int(count), int(first), int(second)
    got = pairs[first, second]
    if limit:
        got = sum(n for (a, b), n in pairs.items() if a and b and first <= a <= second and first <= b <= second)
    if got > count or (not limit and got != count):
        bad.append(f"{want.strip()}: {got}")
total = d["redundancy_totals"]["computation"]
assert total["exact"] and total["wasted"] <= total["decided"] and abs(total["share"] - total["wasted"] / total["decided"]) < 1e-5, total
if top:
    _, first, second = open(name + ".truth").readline().split()
    best = d["redundancies"][0]
    assert (line(best["first"]), line(best["second"])) == (int(first), int(second)), best
    why = "computed_elsewhere" if name == "modules" else "common_expression"
    assert best["cause"] == why and best["meaning"] and best["remedy"], best
sys.exit("\n".join(bad) or 0)
PY
run all all
run fixed fixed
for name in all fixed; do /usr/bin/python3 check.py $name || { cat $name.truth; fail "$name"; }; done
for name in aliases path modules input stencil; do
    run $name $name
    /usr/bin/python3 check.py $name top || fail "$name is not on top"
done
"$LWP" report aliases > report || fail "report"
grep -q 'computations .*made again from the same values' report && grep -q 'alias (recomputed.c:' report || { cat report; fail "the report"; }

# what each thread contributes: two that compute alike
run threads threads
/usr/bin/python3 - <<'PY' || fail "threads"
import json
total = json.load(open("threads/analysis.json"))["redundancy_totals"]["computation"]
threads = {t["thread"]: t for t in total["threads"]}
assert sum(t["wasted"] for t in threads.values()) == total["wasted"] and abs(sum(t["share"] for t in threads.values()) - 1) < 1e-3, total
assert threads[2]["wasted"] >= 20000 and abs(threads[2]["wasted"] - threads[3]["wasted"]) <= 100, threads
PY

# a history that memory has no room for is made shorter, and that is said; it does not leave out what comes later
cat > history.c <<'C'
__attribute__((noinline)) static unsigned long square(unsigned long x) { return x * x + 7 * x; }
int main(void)
{
    static unsigned long values[3000];
    volatile unsigned long sum = 0;
    for (int i = 0; i < 3000; i++)
        values[i] = (unsigned long)i * 2654435761;
    static volatile unsigned long kept;
    for (int i = 0; i < 3000; i++)
        kept = 77; /* moved, but not computed */
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < 3000; i++)
            sum += square(values[i]);
    return 0;
}
C
$CC -O1 -g -o history history.c || fail "compile history"
for numbers in 3000 65536; do
    "$LWP" collect -q -e exact --detect values --window all --value-history $numbers -o history.$numbers -- ./history && "$LWP" analyze -q history.$numbers || fail "history"
done
/usr/bin/python3 - <<'PY' || fail "a long history"
import json
a, b = (json.load(open("history.%d/analysis.json" % n)) for n in (3000, 65536))
share = [d["redundancy_totals"]["computation"]["wasted"] for d in (a, b)]
r = a["redundancy_totals"]["computation"]["of_instructions"]  # RVN's R
assert abs(r["computations_share"] - share[0] / r["instructions"]) < 1e-5 and r["instructions"] > 10 * 3000 * 4, r
assert abs(r["share"] - (share[0] + r["loads_again"] + r["stores_again"]) / r["instructions"]) < 1e-5, r
assert 9 * 3000 <= r["loads_again"] < 9 * 3000 + 15000 and 2999 <= r["stores_again"] < 2999 + 5000, r # and those of the program's start
assert share[0] >= 9 * 3000 and abs(share[1] / share[0] - 1) < 0.01, share
said = [[n for n in d["run"]["notes"] if "--value-history" in n] for d in (a, b)]
assert not said[0] and said[1], said
PY

# the same again, byte by byte
mv aliases before && run aliases aliases
for one in before aliases; do "$LWP" dump $one/p*/t0.1.lwps | grep -v '^file' > $one.dump; done
cmp before.dump aliases.dump || fail "two runs differ"

# windows see the same in proportion, and nothing across their borders
WINDOW=2k:20k run windows aliases
/usr/bin/python3 - <<'PY' || fail "windows"
import json
whole, part = (json.load(open(f"{n}/analysis.json"))["redundancy_totals"]["computation"] for n in ("aliases", "windows"))
assert 0 < part["decided"] < whole["decided"] / 5 and abs(part["share"] - whole["share"]) < 0.1, (whole, part)
PY

# totals: all but the first two of a loop's are redundant, unrolled or not (as gcc does from version 13 on with -O2)
for flags in -funroll-loops ${LONG:+-fno-unroll-loops}; do
    $CC -O2 -g -pthread $flags -o recomputed "$SRC/tests/programs/recomputed.c" || fail "compile $flags"
    for times in 11000 31000; do run counted.$times counted:$times; done
    /usr/bin/python3 - <<'PY' || fail "totals $flags"
import json
one, other = (json.load(open(f"counted.{n}/analysis.json"))["redundancy_totals"]["computation"] for n in (11000, 31000))
first = json.load(open("counted.31000/analysis.json"))["redundancies"][0]
assert first["cause"] == "loop_invariant", first
assert other["decided"] - one["decided"] == 40000 and other["wasted"] - one["wasted"] == 40000, (one, other)
PY
done

"$LWP" collect -q -o none --detect values true 2> err && fail "values without the exact engine"
grep -q 'belongs to the exact engine' err || fail "it says $(cat err)"
exit 0
