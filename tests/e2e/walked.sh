#!/bin/bash
# A std::map or std::sets that a program only goes through are better a sorted array. Not where something is put in, taken out or looked up
# meanwhile.
# Measures: what an array brings.
# Alone: it measures time.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
${CXX:-c++} -O2 -g -o walked "$SRC/tests/programs/walked.cpp" || fail "compile"
# Of the sets most blocks are left out: which sets they are of, what other instructions of the walk go to says.
for kind in map:15:10 sets:10:3 changed:6:10 found:8:10; do
    IFS=: read -r name rounds overhead <<< "$kind"
    collect_samples 200 "$name" "$rounds" --max-overhead "$overhead" --detect layout -- ./walked "$name" @ || fail "collect"
done
collect_samples 200 names 8 --max-overhead 10 --detect layout -- ./walked names @ || fail "collect"
analyze_until split-std-_Rb_tree map
analyze_until split-std-_Rb_tree sets
analyze_until split-std-_Rb_tree names
for name in changed found; do
    "$LWP" analyze -q "$name" || fail "analyze"
done
/usr/bin/python3 - <<'PY' || { for name in map sets names changed found; do "$LWP" report $name; done; fail "walked"; }
import json
def result(name): return json.load(open(f"{name}/analysis.json"))
for name, container in (("map", "std::map"), ("sets", "std::set"), ("names", "std::map")):
    (split,) = [s for s in result(name)["splits"] if s["kind"] == "order"]
    assert split["container"] == container and split["expected_speedup"][0] > 1.1, split
    assert "sorted(name.begin(), name.end())" in split["declaration"], split["declaration"]
    titles = [f["title"] for f in result(name)["findings"]]
    assert any("to a sorted std::vector" in t for t in titles), titles
unknown = sum(o["share"] for o in result("sets")["objects"] if o["kind"] == "unknown")
assert unknown < 0.45, unknown
for name in ("changed", "found"):
    splits = result(name)["splits"]
    assert not [s for s in splits if s["kind"] == "order"], splits
PY
