#!/bin/bash
# Cells that are allocated as large as the member of their union needs that they use are not said to be as large as they are declared.
set -u
fail() { echo "$*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O2 -g -o short_cells "$SRC/tests/programs/short_cells.c" || fail "compile"
"$LWP" collect -q -e exact --detect layout -o result ./short_cells > out || fail "collect"
"$LWP" analyze -q result || fail "analyze"
/usr/bin/python3 - <<'PY' || { "$LWP" report result; fail "cells"; }
import json
result = json.load(open("result/analysis.json"))
cells = [o for o in result["objects"] if o["type"] == "struct cell" and o["samples"] > 100]
assert cells and all("begin closer to each other" in (o["fields_unknown"] or "") for o in cells), cells
assert not result["splits"], result["splits"]
PY
