#!/usr/bin/env bash
# Where few of many small blocks are recorded, it is estimated how many there were at a time, and in all.
set -euo pipefail
cd "$TMP"
$CC -O2 -g -o lists "$SRC/tests/programs/left_out_blocks.c"
"$LWP" collect -q --no-analyze --max-overhead 0.5 --detect layout -o lists.r -- ./lists > /dev/null 2> err || { cat err; exit 1; }
"$LWP" dump lists.r/p*/process.lwps > dump
python3 - << 'P'
import re
text = open("dump").read()
left_out = int(re.search(r"^totals .* unrecorded (\d+)", text, re.M).group(1))
assert left_out > 100000, f"{left_out} allocations were left out: the test needs more"
pool = re.search(r"^pool (\d+) .* size 40$", text, re.M).group(1)
made, most = map(int, re.findall(rf"^pool-count {pool} allocations (\d+) .* peak (\d+)", text, re.M)[-1])
assert 500000 < made < 700000, f"of 600000 allocations {made} are reported"
assert 250000 < most < 350000, f"of 300000 nodes at a time {most} are reported"
P
"$LWP" analyze -q --no-measure lists.r
python3 - << 'P'
import json
result = json.load(open("lists.r/analysis.json"))
nodes = [o["elements"] for o in result["objects"] if o["type"] == "struct node"]
assert all(250000 < n < 350000 for n in nodes), nodes
P
