#!/bin/bash
# Redundant pairs that read the same, as of two instructions of a line, are one row of the report, with the share of all of them. A row
# names the function of a library that the program calls there.
set -euo pipefail
cd "$TMP"
mkdir result
/usr/bin/python3 - "$SRC/tests/web/analysis.json" > result/analysis.json <<'P'
import json, sys
data = json.load(open(sys.argv[1]))
data["redundancy_totals"] = {"dead_store": {"share": 0.5, "share_ci": [0.4, 0.6], "wasted": 5, "total": 10, "unit": "bytes", "approximate": 0, "candidates": 90,
                                            "decided": 90, "undecided": 0.1}}
for kind, decided in ("silent_store", 1), ("silent_load", 2):
    data["redundancy_totals"][kind] = {**data["redundancy_totals"]["dead_store"], "decided": decided}
def pair(share, first, second):
    return {"kind": "dead_store", "approximate": 0, "share": share, "share_ci": [0, 1], "amount": 3, "samples": 12, "first": first, "second": second, "others": [],
            "object": 0, "bytes": 8, "cause": "unknown", "meaning": "m", "remedy": "r"}
data["redundancies"] = [pair(0.2, 0, 0), pair(0.1, 1, 1), pair(0.08, 1, 1), pair(0.07, 1, 1), pair(0.004, 2, 2), pair(0.003, 2, 2)]
frames = data["contexts"][0]["frames"]
frames.insert(0, {**frames[0], "function": "g_list_append", "file": None, "line": None, "inlined": False})
json.dump(data, sys.stdout)
P
NO_COLOR=1 "$LWP" report result > report
sed -n '/dead stores/,/^Notes/p' report | grep -E '^ +[0-9.]+ %  ' > rows || true
grep -Eq '^ +25\.0 %' rows && grep -Eq '^ +20\.0 %' rows && [ "$(wc -l < rows)" = 2 ] || { cat report; exit 1; }
[ "$(head -n 1 rows | grep -c '25\.0 %')" = 1 ] || { cat rows; exit 1; }
grep -q '20\.0 %  g_list_append, called by ' rows || { cat rows; exit 1; }
grep -q 'silent stores  unknown  only 1 watchpoint was decided' report && grep -q 'silent loads   unknown  only 2 watchpoints were decided' report ||
    { cat report; exit 1; }
