#!/bin/sh
# Totals stored for every value because they could not stay in registers: lwp names the stores, and what the fix does about it.
set -u
. "$SRC/tests/watchpoints.sh"
run() { # NAME ROUNDS
    "$LWP" collect -q -F 2000 --max-overhead 10 -o "$TMP/$1" -- "$BUILD/examples-bin/$1" 1 "$2" > "$TMP/$1.out" || exit 1
    "$LWP" report --json "$TMP/$1" > "$TMP/$1.json" || exit 1
}
run registers 4000
run registers_fixed 16000
python3 - "$TMP/registers.json" "$TMP/registers_fixed.json" <<'END'
import json, sys
before, after = (json.load(open(path)) for path in sys.argv[1:])


def place(analysis, context):
    frame = analysis["contexts"][context]["frames"][0]
    return frame["function"], frame["file"].split("/")[-1], frame["line"]


def findings(analysis):
    """The pairs of dead stores that are findings."""
    pairs = [analysis["redundancies"][f["refs"]["redundancy"]] for f in analysis["findings"] if f["kind"] == "redundancy"]
    return [(place(analysis, p["first"]), place(analysis, p["second"])) for p in pairs if p["kind"] == "dead_store"]


dead = before["redundancy_totals"]["dead_store"]
print("before:", dead["share"], findings(before), "CPU", before["run"]["cpu_s"])
assert dead["share"] > 0.95 and dead["share_ci"][0] > 0.8
assert findings(before), "no finding"
for first, second in findings(before):
    assert first == second and first[:2] == ("add_up", "registers.c"), (first, second)
print("after:", after["redundancy_totals"]["dead_store"], findings(after), "CPU for four times the work", after["run"]["cpu_s"])
assert not findings(after)
assert not [p for p in after["redundancies"] if p["kind"] == "dead_store" and place(after, p["first"])[0] == "add_up" and p["share"] > 0.05]
END
