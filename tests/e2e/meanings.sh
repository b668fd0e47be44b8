#!/bin/bash
# Real programs whose redundant accesses have a known reason: the pair is found, and the reason is told, or "unknown".
set -e
command -v gcc >/dev/null || { echo "which accesses there are depends on the compiler: gcc is not installed"; exit 77; }
gcc -std=gnu11 -g -O2 -o "$TMP/meanings" "$SRC/tests/programs/meanings.c"
cd "$TMP"
for case in initialised filled cleared overwritten kept twice searched walked reloaded called arguments spilled zeroes elsewhere; do
    seconds=0.5
    [ $case = filled ] && seconds=1.2 # stores come fast in memset(): few of the samples are in it
    "$LWP" collect -q --no-analyze -F 2000 --max-overhead 20 -o "r.$case" ./meanings $case $seconds >"$case.out"
    "$LWP" analyze -q "r.$case"
    "$LWP" report "r.$case" >"$case.report"
done
exec /usr/bin/python3 - *.out <<'END'
import json, sys
bad = []
for name in sys.argv[1:]:
    case = name[:-4]
    kind, cause, first, second = open(name).read().split()
    analysis = json.load(open(f"r.{case}/analysis.json"))
    if analysis["redundancies"] is None:
        print("no watchpoints here")
        sys.exit(77)

    def lines(context): # of the program's own frame, and of those inlined into it
        frames = [f for f in analysis["contexts"][context]["frames"] if (f["file"] or "").endswith("meanings.c")]
        return [f["line"] for f in frames[:2]]
    seen = [r for r in analysis["redundancies"] if r["kind"] == kind and
            int(first) in lines(r["first"]) and (second == "0" or int(second) in lines(r["second"]))]
    if not seen:
        bad.append(f"{case}: no {kind} {first}>{second}: " + str([(r["kind"], lines(r["first"]), lines(r["second"]), r["share"]) for r in analysis["redundancies"]]))
    for pair in seen: # of which there is little it may not be known
        if pair["cause"] != cause and (pair is seen[0] or pair["cause"] != "unknown"):
            bad.append(f"{case}: {pair['cause']}, not {cause}: {pair}")
    told = [(r["kind"], r["object"], tuple(lines(r["first"])), tuple(lines(r["second"]))) for r in analysis["redundancies"] if r["object"] is not None]
    if len(told) != len(set(told)):
        bad.append(f"{case}: the same lines are told twice: {told}")
    report = " ".join(open(f"{case}.report").read().split())
    if seen and seen[0]["share"] > 0.5 and f"(meanings.c:{first})" not in report or cause.replace("_", " ") not in report:
        bad.append(f"{case}: the report does not tell: {report}")
print("\n".join(bad))
sys.exit(bool(bad))
END
