#!/bin/sh
# Sums that are made of earlier ones in the same row: in another order of the loops each has to be finished before it is used, and the
# advice says so. Of sums of another table it does not.
set -u
. "$SRC/tests/sampled.sh"
collect_kinds earlier_sums.c 300 1 EARLIER APART || exit 1
for kind in EARLIER APART; do "$LWP" analyze -q -f --no-measure "$TMP/$kind.result" || exit 1; done
python3 - "$TMP/EARLIER.result/analysis.json" "$TMP/APART.result/analysis.json" << 'EOF'
import json, sys
said = []
for path in sys.argv[1:]:
    with open(path) as file:
        steps = [f["next_step"] for f in json.load(file)["findings"] if f["kind"] == "locality" and "interchange" in f["title"]]
    if not steps:
        print(f"{path}: its columns are hardly waited for on this machine")
        sys.exit(77)
    said.append(["what it has added up there before" in step for step in steps])
if not all(said[0]) or any(said[1]):
    print(f"said of earlier sums {said[0]}, of others {said[1]}")
    sys.exit(1)
EOF
