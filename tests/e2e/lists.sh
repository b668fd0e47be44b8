#!/bin/bash
# What a std::list keeps is better in a std::vector, where its links stay while loops go along them.
# Measures: what an array brings.
# Alone: it measures time.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
${CXX:-c++} -O2 -g -o walked "$SRC/tests/programs/walked.cpp" || fail "compile"
for kind in lists:12 moved:8; do
    IFS=: read -r name rounds <<< "$kind"
    collect_samples 200 "$name" "$rounds" --max-overhead 10 --detect layout -- ./walked "$name" @ || fail "collect"
done
analyze_until split-std-_List_node lists
"$LWP" analyze -q moved || fail "analyze"
/usr/bin/python3 - <<'PY' || { for name in lists moved; do "$LWP" report $name; done; fail "lists"; }
import json
def result(name): return json.load(open(f"{name}/analysis.json"))
(split,) = [s for s in result("lists")["splits"] if s["kind"] == "order"]
assert split["container"] == "std::list" and split["speedup"] > 1, split
assert split["declaration"].startswith("std::vector<account> name;"), split["declaration"]
titles = [f["title"] for f in result("lists")["findings"]]
assert any("in a std::vector" in t for t in titles), titles
splits = result("moved")["splits"]
assert not [s for s in splits if s["kind"] == "order"], splits
PY
