#!/bin/sh
# What another loop order gains where a jump may be guessed wrong as often in both orders: how often is not known, and the gain's interval
# says so. Without the jump it is narrower.
# Measures: how wide an interval is depends on what was run.
set -u
. "$SRC/tests/sampled.sh"
for kind in JUMP STRAIGHT; do
    ${CC:-cc} -std=gnu11 -O2 -g -fno-tree-vectorize -fno-if-conversion -D$kind -o "$TMP/$kind" "$SRC/tests/programs/guessed_columns.c" || exit 1
    collect_samples 400 "$TMP/$kind.result" 8 -q -F 2000 --max-overhead 50 -- "$TMP/$kind" @ && analyze_until interchange "$TMP/$kind.result" || exit 1
done
python3 - "$TMP/JUMP.result/analysis.json" "$TMP/STRAIGHT.result/analysis.json" << 'EOF'
import json, sys
ends = []
for path in sys.argv[1:]:
    with open(path) as file:
        gains = [f["expected_speedup"] for f in json.load(file)["findings"] if f["kind"] == "locality"]
    if not gains or not gains[0]:
        print(f"{path}: no gain of another order was run")
        sys.exit(77)
    ends.append(gains[0])
wide = [high / low for low, high in ends]
if not wide[0] > wide[1] or ends[0][0] > 0.8 * ends[1][0]:
    print(f"with the jump {ends[0]}, without it {ends[1]}")
    sys.exit(1)
EOF
