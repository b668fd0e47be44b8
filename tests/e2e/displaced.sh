#!/bin/bash
# What a split gains where other loops go through other data between two rounds of the loop: a hot part that would fit into a core's own
# caches does not stay there. What is said holds what the split program gains.
# Alone: it measures time.
set -u
fail() { echo "$*"; exit 1; }
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
for split in "" -DSPLIT; do
    $CC -O2 -g $split -o displaced$split "$SRC/tests/programs/displaced.c" || fail "compile"
done
/usr/bin/python3 - <<'PY' > measured || fail "run"
import os, statistics
def seconds(program):
    pid = os.posix_spawn(program, [program, "300", "other"], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    return os.wait4(pid, 0)[2].ru_utime
print(statistics.median(seconds("./displaced") / seconds("./displaced-DSPLIT") for _ in range(5)))
PY
collect_samples 300 here 1000 -F 500 -- ./displaced @ other || fail "collect"
"$LWP" analyze -q here || fail "analyze"
/usr/bin/python3 - <<'PY' || { cat measured; "$LWP" report here; fail "gains"; }
import json
measured = float(open("measured").read())
splits = json.load(open("here/analysis.json"))["splits"]
print(measured, [split["expected_speedup"] for split in splits])
assert all(split["expected_speedup"][0] < 1.15 * measured for split in splits), (measured, splits[0]["expected_speedup"])
PY
