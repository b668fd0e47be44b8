#!/bin/sh
# What another loop order gains where numbers become sums: a compiler keeps one in a register where the loop stores nowhere else. Where it
# does, each sum has to be loaded again, and the new order gains less (1.46x instead of 6.6x where a large cache has all of it), or is slower
# (0.4x elsewhere): it is not advised, or less is predicted.
# Measures: the gain is that of a run.
set -u
. "$SRC/tests/sampled.sh"
for kind in ONE TWO; do
    ${CC:-cc} -std=gnu11 -O2 -g -fno-tree-vectorize -D$kind -o "$TMP/$kind" "$SRC/tests/programs/begun_sums.c" || exit 1
    collect_samples 400 "$TMP/$kind.result" 40 -q -F 2000 --max-overhead 50 -- "$TMP/$kind" @ || exit 1
done
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
