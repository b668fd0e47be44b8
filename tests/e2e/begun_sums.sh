#!/bin/sh
# What another loop order gains where numbers become sums: a compiler keeps one in a register where the loop stores nowhere else. Where it
# does, each sum has to be loaded again, and the new order gains less (1.46x instead of 6.6x where a large cache has all of it), or is slower
# (0.4x elsewhere): it is not advised, or less is predicted.
# Measures: the gain is that of a run.
set -u
. "$SRC/tests/sampled.sh"
collect_kinds begun_sums.c 400 40 ONE TWO || exit 1
"$LWP" analyze -q "$TMP/TWO.result" && analyze_until interchange "$TMP/ONE.result" || exit 1
python3 - "$TMP/ONE.result/analysis.json" "$TMP/TWO.result/analysis.json" << 'EOF'
import json, sys
gains = []
for path in sys.argv[1:]:
    with open(path) as file:
        gains.append([f["speedup"] for f in json.load(file)["findings"] if f["kind"] == "locality" and f["expected_speedup"]])
if not gains[0]:
    print("one store: no gain of another order was run")
    sys.exit(77)
if gains[1] and gains[1][0] >= gains[0][0]:
    print(f"two stores: {gains[1]}, one: {gains[0]}")
    sys.exit(1)
EOF
