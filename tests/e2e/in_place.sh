#!/bin/bash
# Elements that a loop comes to anywhere, by an array of pointers with one for each: keep them in the array itself. Not where pointers are
# exchanged meanwhile.
# Measures: what a visit takes without the pointer.
# Alone: it measures time.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
$CC -O2 -g -o slots "$SRC/tests/programs/slots.c" || fail "compile"
for kind in stays moves; do
    collect_samples 200 "$kind" 15 --max-overhead 10 --detect layout -- ./slots "$kind" @ || fail "collect"
done
"$LWP" analyze -q moves || fail "analyze"
analyze_until split-account stays
/usr/bin/python3 - <<'PY' || { for name in stays moves; do "$LWP" report $name; done; fail "in place"; }
import json
def splits(name): return json.load(open(f"{name}/analysis.json"))["splits"]
(split,) = splits("stays")
assert split["kind"] == "in-place" and split["type"] == "struct account" and split["expected_speedup"][0] > 1.02, split
assert "struct account *elements = calloc(" in split["declaration"], split["declaration"]
(finding,) = [f for f in json.load(open("stays/analysis.json"))["findings"] if f["kind"] == "split"]
assert "in the place of the pointers in" in finding["title"], finding["title"]
assert not [s for s in splits("moves") if s["kind"] == "in-place"], splits("moves")
PY
