#!/bin/bash
# Elements that a loop goes to in the same order each time, which is not that of memory: lay them down in it. Not where they lie in it
# already, nor where the order changes.
# Measures: what the other order brings.
# Alone: it measures time.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
$CC -O2 -g -o orders "$SRC/tests/programs/orders.c" || fail "compile"
for kind in list:12 pointers:60 moves:6; do
    name=${kind%:*}
    collect_samples 200 "$name" "${kind#*:}" --max-overhead 10 --detect layout -- ./orders "$name" @ || fail "collect"
done
analyze_until split-track list
analyze_until split-place pointers
"$LWP" analyze -q moves || fail "analyze"
/usr/bin/python3 - <<'PY' || { for name in list pointers moves; do "$LWP" report $name; done; fail "orders"; }
import json
def result(name): return json.load(open(f"{name}/analysis.json"))
for name, type, order, copies in (("list", "struct track", "their links", "copy[copied].next = at->next ?"),
                                  ("pointers", "struct place", "the pointers in places", "places[i] = &copy[i]")):
    (split,) = result(name)["splits"]
    assert split["type"] == type and split["kind"] == "order" and split["expected_speedup"][0] > 1.1, split
    assert copies in split["declaration"], split["declaration"]
    titles = [f["title"] for f in result(name)["findings"]]
    assert any(type in t and f"in the order of {order}" in t for t in titles), titles
splits = result("moves")["splits"]
assert not [s for s in splits if s["kind"] == "order"], splits
PY
