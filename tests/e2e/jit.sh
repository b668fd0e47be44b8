#!/bin/bash
# Code that a program makes has the names that the program gives it: by /tmp/perf-PID.map and jit-PID.dump, from inside and from outside.
set -u
cd "$TMP" || exit 1
. "$SRC/tests/sampled.sh"
failed=0
fail() { echo "FAILED: $*"; failed=1; }
$CC -O2 -o jitted "$SRC/tests/programs/jitted.c" || exit 1

judge() { # DIR
    "$LWP" analyze -q --no-measure "$1" && /usr/bin/python3 - "$1" <<'P' || failed=1
import json, sys
result = json.load(open(sys.argv[1] + "/analysis.json"))
shares = {}
for loop in result["loops"]:
    shares[loop["function"]] = shares.get(loop["function"], 0) + loop["share"]
samples = result["run"]["samples"]
hot, cold = shares.get("hot <b>&", 0), shares.get("cold", 0)
if samples > 50 and not hot > .6 > .3 > cold: # nine to one
    sys.exit("FAILED: %s: of %d samples hot has %g, cold %g" % (sys.argv[1], samples, hot, cold))
P
}
for kind in map dump; do
    "$LWP" collect --no-analyze -q -o $kind ./jitted $kind 0.5 || fail "$kind"
    judge $kind
    ./jitted $kind 60 &
    program=$!
    names=/tmp/perf-$program.map
    [ $kind = map ] || names=jit-$program.dump
    until grep -aq cold "$names" 2> none; do kill -0 $program || { fail "$kind alone"; break; }; sleep 0.05; done
    sleep 0.1
    if "$LWP" collect --no-analyze -q --duration 0.7 -o $kind.outside -p $program 2> err; then
        judge $kind.outside
    else
        sampling_is_forbidden err || { fail "$kind from outside"; cat err; }
    fi
    kill $program
    rm -f /tmp/perf-$program.map
done
rm -f /tmp/perf-"$(ls map | sed -n 's/^p\([0-9]*\)$/\1/p')".map

# What is no file is left alone.
"$LWP" collect --no-analyze -q -o fifo timeout 20 ./jitted fifo 0.1 || fail "a FIFO in the place of the map"
for folder in fifo/p*; do
    [ -e "$folder/perf.map" ] && fail "a map of a FIFO"
    process=${folder#fifo/p}
    rm -f "/tmp/perf-${process%%.*}.map"
done

# A result with copies can be replaced.
"$LWP" collect --force --no-analyze -q -o map true 2> err
[ -z "$(ls map/p*/perf.map 2> /dev/null)" ] || fail "--force keeps a map"
exit $failed
