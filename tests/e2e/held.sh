#!/bin/bash
# Priority queues of pointers or of large elements, and objects of several classes behind one array, are named; small elements and one class
# are not.
# Measures: what containers wait for.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
${CXX:-c++} -std=c++17 -O2 -g -o held "$SRC/tests/programs/held.cpp" || fail "compile"
for kind in pointers:6 large:12 small:15 classes:40 alike:40; do
    IFS=: read -r name rounds <<< "$kind"
    collect_samples 150 "$name" "$rounds" --max-overhead 10 --detect layout -- ./held "$name" @ || fail "collect"
    "$LWP" analyze -q --no-measure "$name" || fail "analyze"
done
/usr/bin/python3 - <<'PY' || { for name in pointers large small classes alike; do "$LWP" report $name; done; fail "held"; }
import json
for name, text in (("pointers", "compares its keys by pointers"), ("large", "elements of 96 bytes are moved within a priority queue's heap"),
                   ("small", None), ("classes", "on objects of 2 classes ("), ("alike", None)):
    data = json.load(open(f"{name}/analysis.json"))
    said = data["run"]["notes"] + ([data["silence"]["sentence"]] if data["silence"] else [])
    found = [s for s in said if "priority queue" in s or " classes (" in s]
    assert [text in s for s in found] == ([True] if text else []), (name, found)
PY
