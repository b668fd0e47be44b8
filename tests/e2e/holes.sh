#!/bin/bash
# Members that are used together lie in arrays of their own where the structure has a hole, whatever their order. Not where it has none, nor
# where elements are visited at random.
# Measures: what arrays without holes bring.
# Alone: it measures time.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
${CC:-cc} -O2 -g -o holes "$SRC/tests/programs/holes.c" || fail "compile"
for kind in pairs:30 whole:30 apart:4; do
    IFS=: read -r name rounds <<< "$kind"
    collect_samples 150 "$name" "$rounds" --max-overhead 10 --detect layout -- ./holes "$name" @ || fail "collect"
done
analyze_until split-pair pairs
for name in whole apart; do
    "$LWP" analyze -q "$name" || fail "analyze"
done
/usr/bin/python3 - <<'PY' || { for name in pairs whole apart; do "$LWP" report $name; done; fail "holes"; }
import json
def result(name): return json.load(open(f"{name}/analysis.json"))
(split,) = result("pairs")["splits"]
assert split["type"] == "struct pair" and sorted(g["bytes"] for g in split["groups"]) == [4, 8], split
for name in ("whole", "apart"):
    assert not result(name)["splits"], (name, result(name)["splits"])
PY
