#!/bin/bash
# Elements that a loop comes to anywhere, by an array of pointers with one for each: keep them in the array itself. Not where pointers are
# exchanged meanwhile, nor elements that link to each other. Where a function that the loop calls comes to them it is only named.
# Measures: what a visit takes without the pointer.
# Alone: it measures time.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
$CC -O2 -g -o slots "$SRC/tests/programs/slots.c" || fail "compile"
$CC -O2 -g -DLINKED -o chains "$SRC/tests/programs/slots.c" || fail "compile"
for kind in stays moves called; do
    collect_samples 200 "$kind" 15 --max-overhead 10 --detect layout -- ./slots "$kind" @ || fail "collect"
done
collect_samples 200 linked 15 --max-overhead 10 --detect layout -- ./chains called @ || fail "collect"
"$LWP" analyze -q moves && "$LWP" analyze -q --no-measure called || fail "analyze"
"$LWP" report called > called.txt
tr -s ' \n' ' ' < called.txt | grep -q "on accounts and on .*, to each of which a pointer of the former leads" || { cat called.txt; fail "called"; }
"$LWP" analyze -q --no-measure linked && ! "$LWP" report linked | grep "to each of which" || fail "linked"
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
