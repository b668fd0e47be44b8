#!/bin/sh
# Runs tests/programs/not_dead.c for each CASE (CASE-unseen: as where breakpoints do not see the kernel's accesses): none of its
# honest stores may be called dead, and the store that is dead must be found.
set -u
. "$SRC/tests/watchpoints.sh"
program=$SRC/tests/programs/not_dead
${CXX:-c++} -O2 -g -c -o "$TMP/throw.o" "${program}_throw.cc" &&
    ${CC:-cc} -std=gnu11 -O2 -g -shared -fPIC -o "$TMP/not_dead.so" "${program}_library.c" &&
    ${CC:-cc} -std=gnu11 -O2 -g -o "$TMP/not_dead" "$program.c" "$TMP/throw.o" -ldl -lstdc++ || exit 1
status=0
for case; do
    export LWP_WATCH_KERNEL=1
    case $case in *-unseen) LWP_WATCH_KERNEL=0 ;; esac
    seconds=0.5
    case $case in calls*) seconds=3 ;; esac # it sleeps thousands of times a second: few samples
    rm -rf "$TMP/result"
    "$LWP" collect -q --no-analyze -F 4000 --max-overhead 30 --no-follow-fork -o "$TMP/result" -- "$TMP/not_dead" ${case%-unseen} $seconds \
        > "$TMP/truth" 2> "$TMP/log" && "$LWP" analyze -q --no-measure "$TMP/result" 2>> "$TMP/log" || { echo "$case:"; cat "$TMP/log"; exit 1; }
    /usr/bin/python3 - $case "$TMP/truth" "$TMP/result/analysis.json" << 'CHECK' || status=1
import json, sys
case, truth, path = sys.argv[1:]
lines = {what: (int(a), int(b)) for what, a, b in (line.split() for line in open(truth))}
analysis = json.load(open(path))
if analysis["redundancy_totals"] is None:
    sys.exit(f"{case}: nothing was watched: {analysis['run']['notes']}")
def line_of(context):
    for frame in analysis["contexts"][context]["frames"]:
        if frame["file"] and frame["file"].endswith("not_dead.c"):
            return frame["line"]
dead = [r for r in analysis["redundancies"] if r["kind"] == "dead_store"]
def own(context): # what the allocator and the loader do with their own words is not the program's
    frames = analysis["contexts"][context]["frames"]
    by = frames[1:] if "mem" in (frames[0]["function"] or "") else frames
    return bool(by) and (by[0]["file"] or "").endswith("not_dead.c")
def parts(context): # files that are of use as a whole
    return "not_dead_" in (analysis["contexts"][context]["frames"][0]["file"] or "")
wrong = [r for r in dead if parts(r["first"])]
wrong += [r for r in dead if own(r["first"]) and lines["honest"][0] <= (line_of(r["first"]) or 0) <= lines["honest"][1]]
found = [r for r in dead if (line_of(r["first"]), line_of(r["second"])) == lines["control"]]
for r in wrong:
    print(f"{case}: {100 * r['share']:.1f} % ({r['samples']} pairs) of line {line_of(r['first'])} called dead by line {line_of(r['second'])}")
if not found:
    print(f"{case}: the dead store was not found; {analysis['redundancy_totals']['dead_store']}")
sys.exit(bool(wrong) or not found)
CHECK
done
exit $status
