#!/bin/bash
# Values written to registers that have them, counted by the exact engine: known pairs of lines to the byte (general
# registers and their parts, numbers and integers in vectors, x87), none where they change; lavaMD's exp() on top.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O1 -fno-tree-vectorize -g -Wall -Wextra -o register_values "$SRC/tests/programs/register_values.c" -lm || fail "compile"
run() { # NAME CASE OPTION...
    local name=$1 case=$2; shift 2
    "$LWP" collect -q -e exact --detect registers "$@" -o "$name" -- ./register_values "$case" > "$name.truth" 2> err || { cat err; fail "$name"; }
    "$LWP" analyze -q "$name" || fail "analyze $name"
}
run parts parts --region write_parts
for name in bad fixed; do run $name $name --region write_registers; done
for name in exp exp_fixed; do run $name $name; done
run part exp --region lava
$CC -O1 -g -Wall -Wextra -o register_fault "$SRC/tests/programs/register_fault.c" || fail "compile"
for name in fault fault_window; do
    [ $name = fault ] && window= || window="--window 1000000000:1"
    "$LWP" collect -q -e exact --detect registers $window -o $name -- ./register_fault > fault.truth 2> err && "$LWP" analyze -q $name || { cat err; fail "$name"; }
done
run window exp --window 1000000000:1
cat > check.py <<'PY'
import collections, json, sys
def load(name): return json.load(open(name + "/analysis.json"))
def lines(d, context):
    return [f["line"] for f in d["contexts"][context]["frames"] if f.get("line") and (f.get("file") or "").endswith(("/register_values.c", "/register_fault.c"))] if context is not None else []
for name in "bad", "fixed", "parts":
    d, pairs, bad, low, high = load(name), collections.Counter(), [], 0, -1
    for p in d["redundancies"]:
        ends = lines(d, p["first"]), lines(d, p["second"])
        if all(ends): pairs[ends[0][0], ends[1][0]] += p["amount"]
    for want in open(name + ".truth"):
        what, *numbers = want.split()
        if what == "none": low, high = map(int, numbers)
        else:
            amount, first, second = map(int, numbers)
            if pairs[first, second] != amount: bad.append(f"{name}: {want.strip()}: {pairs[first, second]}")
            pairs[first, second] = 0
    bad += [f"{name}: {pair} has {n}" for pair, n in pairs.items() if n and all(low <= line <= high for line in pair)]
    total = d["redundancy_totals"]["register"]
    classes = total["classes"]
    assert total["exact"] and sum(c["bytes"] for c in classes) == total["decided"], total
    assert sum(c["same"] for c in classes) == total["wasted"], total
    assert abs(sum(c["close"] for c in classes) / total["decided"] - total["approximate"]) < 1e-5, total
    assert not bad, "\n".join(bad)
assert {(c["loaded"], c["floating_point"]) for c in load("bad")["redundancy_totals"]["register"]["classes"]} == {(a, b) for a in (False, True) for b in (False, True)}
d, fixed = load("exp"), load("exp_fixed")
line = int(open("exp.truth").read().split()[1])
top = next(p for p in d["redundancies"] if p["kind"] == "register")
assert line in lines(d, top["first"]) and line in lines(d, top["second"]), (line, lines(d, top["first"]), lines(d, top["second"]))
assert top["cause"] == "same_arguments", top
def through(d): return sum(p["amount"] for p in d["redundancies"] if line in lines(d, p["second"]))
assert through(d) > 30 * through(fixed), (through(d), through(fixed))
# superblocks looked at when they have run, in one window over all of it, tell what they tell as they run
def pairs_of(d): return sorted((p["amount"], lines(d, p["first"]), lines(d, p["second"])) for p in d["redundancies"])
window = load("window")
assert window["redundancy_totals"] == d["redundancy_totals"] and pairs_of(window) == pairs_of(d), (window["redundancy_totals"], d["redundancy_totals"])
# of a superblock that a fault ends all that was written before counts, in windows, too
first, second, good, rounds = map(int, open("fault.truth").read().split())
for name, writes in ("fault", good + 1), ("fault_window", good + 1):
    amounts = {(a[0], b[0]): amount for amount, a, b in pairs_of(load(name)) if a and b}
    want = {(first, second): 4 * writes * rounds, (second, first): 4 * (writes - 1) * rounds}
    assert all(amounts.get(pair) == amount for pair, amount in want.items()), (name, amounts, want)
part = load("part")
assert part["redundancies"] and abs(through(part) - through(d)) < 1000, (through(part), through(d))
assert all(any(f.get("function") == "lava" for f in part["contexts"][p["second"]]["frames"]) for p in part["redundancies"])
PY
/usr/bin/python3 check.py || fail "the pairs"
"$LWP" report exp > report || fail "report"
grep -q 'registers .* written with the value they had' report && grep -q 'loaded, floating point;' report || { cat report; fail "the report"; }
# RedSpy's ratios: what one round more generates, of each class, to the byte; and what each thread contributes
$CC -O1 -g -pthread -Wall -Wextra -o generated "$SRC/tests/programs/generated.c" || fail "compile generated"
for rounds in 10000 20000; do
    "$LWP" collect -q -e exact --detect redundancy,registers --window all -o generated.$rounds -- ./generated $rounds && "$LWP" analyze -q generated.$rounds || fail "generated"
done
/usr/bin/python3 - <<'PY' || fail "what was generated"
import json
ROUNDS = 4 * 10000  # one thread's and three times as many of the other
one, other = (json.load(open(f"generated.{n}/analysis.json")) for n in (10000, 20000))
totals = one["redundancy_totals"], other["redundancy_totals"]
def more(kind, loaded, is_float):
    rows = [next(c for c in t[kind]["classes"] if c["floating_point"] == is_float and c.get("loaded") in (None, loaded)) for t in totals]
    for row in rows:
        assert abs(row["share"] - row["same"] / row["bytes"]) < 1e-5 and abs(row["approximate"] - row["close"] / row["bytes"]) < 1e-5, row
    return tuple((rows[1][key] - rows[0][key]) / ROUNDS for key in ("bytes", "same", "close"))
known = {("register", False, False): (28, 4, 0), ("register", True, False): (16, 8, 0), ("register", True, True): (24, 8, 8),
         ("silent_store", None, False): (16, 8, 0), ("silent_store", None, True): (24, 8, 8)}
for which, want in known.items():
    assert more(*which) == want, (which, more(*which), want)
r = [t["generated"] for t in totals]  # R_total: the sums of all classes
assert [(r[1][key] - r[0][key]) / ROUNDS for key in ("bytes", "redundant", "close")] == [sum(k[i] for k in known.values()) for i in range(3)], r
for t in r:
    assert abs(t["share"] - t["redundant"] / t["bytes"]) < 1e-5 and abs(t["approximate"] - t["close"] / t["bytes"]) < 1e-5, t
for kind, same in ("register", 20), ("silent_store", 16):
    threads = [{x["thread"]: (x["wasted"], x["close"]) for x in t[kind]["threads"]} for t in totals]
    for thread, times in (2, 1), (3, 3):
        grown = [b - a for a, b in zip(threads[0][thread], threads[1][thread])]
        assert grown[0] == times * same * 10000 and grown[1] == times * 8 * 10000, (kind, thread, grown)
    for t, total in zip(threads, totals):
        close = total[kind]["approximate"] * total[kind]["decided"]
        assert sum(w for w, c in t.values()) == total[kind]["wasted"] and abs(sum(c for w, c in t.values()) - close) < 1e-4 * close, (kind, t)
PY
/usr/bin/python3 -c 'import jsonschema' 2> /dev/null && { /usr/bin/python3 -m jsonschema -i generated.10000/analysis.json "$SRC/docs/analysis.schema.json" || fail "schema"; }
"$LWP" report generated.10000 | tr -s '\n ' ' ' | grep -q 'all of these .*had their value already, .* % nearly' || fail "R_total in the report"
"$LWP" collect -o none --detect registers ./register_values > out 2> err; grep -q 'add -e exact' err || { cat err; fail "registers without -e exact"; }
exit 0
