#!/bin/bash
# The papers' examples, written afresh: the loops of Wen's thesis whose redundancies are known in closed form (Sweep3D, zeusmp, Caffe,
# imagick, the search of listing 4.5), each gone where it is mended; LWPTool's case studies MSER, CLOMP, SRAD and IRSmk: fields, affinities,
# classes of arrays, and what to split.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O2 -g -Wall -Wextra -o papers_values "$SRC/tests/programs/papers_values.c" || fail "compile papers_values"
$CC -O2 -g -Wall -Wextra -pthread -o papers_layout "$SRC/tests/programs/papers_layout.c" || fail "compile papers_layout"
values() { # NAME DETECTORS CASE...
    local name=$1 detect=$2; shift 2
    "$LWP" collect -q -e exact --detect "$detect" --window all --value-history 64 --approx off -o "$name" -- ./papers_values "$@" > "$name.truth" 2> err ||
        { cat err; fail "$name"; }
    "$LWP" analyze -q "$name" || fail "analyze $name"
}
values computed values zeusmp sweep3d
values computed_fixed values sweep3d_fixed zeusmp_fixed
values accessed redundancy caffe imagick binutils
values accessed_fixed redundancy caffe_fixed imagick_fixed
for case in mser clomp srad irsmk; do
    "$LWP" collect -q -e exact --detect layout --window all -o $case -- ./papers_layout $case > out 2> err || { cat err; fail "$case"; }
    "$LWP" analyze -q --no-measure $case || fail "analyze $case"
done
cat > check.py <<'PY'
import collections, json
def load(name): return json.load(open(name + "/analysis.json"))
def frame(d, context): return (d["contexts"][context]["frames"] or [{}])[0] if context is not None else {}
def line(d, context):
    at = frame(d, context)
    return at["line"] if (at.get("file") or "").endswith("/papers_values.c") else None
bad = []
for name in "computed", "computed_fixed", "accessed", "accessed_fixed":
    d, pairs = load(name), collections.Counter()
    for p in d["redundancies"]:
        if p["cause"] != "spill":  # of the compiler's own
            pairs[p["kind"], line(d, p["first"]), line(d, p["second"])] += p["amount"]
    for want in open(name + ".truth"):
        *limit, kind, amount, first, second = want.split()
        if limit:
            got = sum(n for (k, a, b), n in pairs.items() if k == kind and b and int(first) <= b <= int(second))
        else:
            got = sum(n for (k, a, b), n in pairs.items() if k == kind and b == int(second) and first in ("-", str(a)))
        if got > int(amount) or (not limit and got != int(amount)):
            bad.append(f"{name}: {want.strip()}: {got}")
assert not bad, "\n".join(bad)

# in the order of what they are worth: Sweep3D's additions, then zeusmp's loop, whichever runs first
d = load("computed")
order = [frame(d, p["second"])["function"] for p in d["redundancies"][:2]]
assert order == ["sweep", "lorentz"], order
d = load("accessed")
total = d["redundancy_totals"]["silent_load"]
assert total["share"] > 0.8, total  # "96 % of the loads" of objdump, "more than 99 %" of imagick
low = int(open("accessed.truth").read().split("\n")[-3].split()[-1])  # the line of the comparison
found = [p for p in d["redundancies"] if p["kind"] == "silent_load" and line(d, p["second"]) == low]
assert found and found[0]["cause"] == "full_search", found
first = next(p for p in d["redundancies"] if p["kind"] == "silent_store" and frame(d, p["second"])["function"] == "convolve")
assert first["meaning"] and first["remedy"], first

def split_of(d, object):
    [split] = [s for s in d["splits"] if s["object"] == object]
    affinity = {frozenset((p["a"], p["b"])): p["value"] for p in split["affinity"]}
    return [set(g["fields"]) for g in split["groups"]], set(split["cold"]), lambda a, b: affinity[frozenset((a, b))]
# MSER (7.4): parent alone in the hot loop, at offset 0 with stride 16
d = load("mser")
nodes = d["objects"][0]
fields = {f["name"]: f for f in nodes["fields"]}
assert nodes["name"] == "nodes" and nodes["element_bytes"] == 16 and fields["parent"]["offset"] == 0, nodes
assert fields["parent"]["share"] == max(f["share"] for f in fields.values()), fields
groups, cold, affinity = split_of(d, 0)
assert {"parent"} in groups and affinity("parent", "region") == affinity("parent", "shortcut") == affinity("parent", "area") == 0, groups
# CLOMP (7.5): value and nextZone together, zoneId and partId apart; one object, allocated by one thread, used by all
d = load("clomp")
zones = d["objects"][0]
groups, cold, affinity = split_of(d, 0)
assert zones["type"] == "struct zone" and zones["element_bytes"] == 32 and zones["allocations"] == 1, zones
assert affinity("value", "nextZone") > 0.99 and affinity("value", "zoneId") < 0.01 and affinity("nextZone", "partId") < 0.01
assert groups[0] == {"value", "nextZone"} and not {"zoneId", "partId"} & groups[0], groups
loop = next(l for l in zones["loops"] if d["loops"][l["loop"]]["function"] == "update_part")
used = set(loop["fields"])
assert used == {"value", "nextZone"}, loop
assert len([t for t in zones["threads"] or [] if t["accesses"]]) in (0, 5), zones["threads"]
# SRAD (7.8, tables 7-9): six arrays of one class, all used together; the four of indices are not among them
d = load("srad")
arrays, six = d["arrays"]["arrays"], {"J", "c", "dN", "dS", "dW", "dE"}
assert {a["name"] for a in arrays if a["class"] == arrays[0]["class"]} == six, arrays
pairs = [p for p in d["arrays"]["pairs"] if {arrays[p["a"]]["name"], arrays[p["b"]]["name"]} <= six]
assert len(pairs) == 15 and all(p["affinity"] >= 0.85 and not p["conflict"] for p in pairs), pairs  # table 9: 0.85 to 1
share = {o["name"]: o["share"] for o in d["objects"]}
assert min(share[name] for name in six) > max(share.get(name, 0) for name in ("iN", "iS", "jW", "jE")), share  # table 7
# IRSmk (7.10): 27 arrays with an affinity of 1
d = load("irsmk")
names = {x + y + z for x in "dcu" for y in "bcf" for z in "lcr"}
arrays = d["arrays"]["arrays"]
assert names <= {a["name"] for a in arrays} and len({a["class"] for a in arrays if a["name"] in names}) == 1, arrays
pairs = [p for p in d["arrays"]["pairs"] if {arrays[p["a"]]["name"], arrays[p["b"]]["name"]} <= names]
assert len(pairs) == 27 * 26 // 2 and all(p["affinity"] > 0.999 and not p["conflict"] for p in pairs), [p for p in pairs if p["affinity"] < 1 or p["conflict"]]
PY
/usr/bin/python3 check.py || fail "what was found"
exit 0
