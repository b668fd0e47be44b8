#!/bin/sh
# Rows that are short blocks of their own are traversed sequentially in each, and not as a whole: lwp does not say that nothing is left to gain.
set -u
. "$SRC/tests/sampled.sh"
collect_kinds row_blocks.c 400 20 BLOCKS ONE || exit 1
for kind in BLOCKS ONE; do "$LWP" analyze -q -f --no-measure "$TMP/$kind.result" || exit 1; done
python3 - "$TMP/BLOCKS.result/analysis.json" "$TMP/ONE.result/analysis.json" << 'EOF'
import json, sys
said = []
for path in sys.argv[1:]:
    with open(path) as file:
        said.append([row["sentence"] for row in json.load(file)["left_alone"] if row["code"] == "sequential" and "(double)" in row["sentence"]])
if any("already" in text for text in said[0]) or any("blocks" in text for text in said[1]):
    print(f"of blocks: {said[0]}, of one: {said[1]}")
    sys.exit(1)
if not said[0]:
    print("its rows are hardly waited for on this machine")
    sys.exit(77)
EOF
