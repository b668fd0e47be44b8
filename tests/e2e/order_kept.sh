#!/bin/bash
# Elements that a loop goes to in the same order each time, which is not that of memory: lay them down in it. Not where they lie in it
# already, nor where the order changes. Elements that are longer than their type are copied with all that they have; where they follow each
# other in chunks, nobody knows how long each is, and nothing is said.
# Measures: what the other order brings.
# Alone: it measures time.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
$CC -O2 -g -o orders "$SRC/tests/programs/orders.c" || fail "compile"
for kind in list:12 pointers:60 indices:40 moves:6 tails:12 chunks:60; do
    name=${kind%:*}
    collect_samples 200 "$name" "${kind#*:}" --max-overhead 10 --detect layout -- ./orders "$name" @ || fail "collect"
done
analyze_until split-track list
analyze_until split-place pointers
analyze_until split-line tails
analyze_until split-part indices
for name in moves chunks; do "$LWP" analyze -q $name || fail "analyze"; done
/usr/bin/python3 - <<'PY' || { for name in list pointers indices moves tails chunks; do "$LWP" report $name; done; fail "orders"; }
import json
def result(name): return json.load(open(f"{name}/analysis.json"))
for name, type, order, copies in (("list", "struct track", "their links", "copy[copied].next = at->next ?"),
                                  ("tails", "struct line", "their links", "*at = (struct line *)memcpy(to, *at, size);"),
                                  ("pointers", "struct place (*places[])", "the pointers in places", "places[i] = &copy[i]"),
                                  ("indices", "struct part (parts)", "the indices in order", "copy[i] = parts[order[i]]")):
    (split,) = result(name)["splits"]
    assert split["type"] == type.split(" (")[0] and split["kind"] == "order" and split["expected_speedup"][0] > 1.1, split
    assert copies in split["declaration"], split["declaration"]
    titles = [f["title"] for f in result(name)["findings"]]
    assert any(type in t and f"in the order of {order}" in t for t in titles), titles
for name in ("moves", "chunks"):
    splits = result(name)["splits"]
    assert not [s for s in splits if s["kind"] == "order"], splits
PY
