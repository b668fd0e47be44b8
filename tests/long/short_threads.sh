#!/bin/bash
# Threads that are over soon have their share of the time, also where most of them are not set up, as that costs more than they run
# for; and one that runs long, made after those, is.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -pthread -o short "$SRC/tests/programs/short_threads.c" || exit 1
failed=0
judge() { # RESULT LEAST MOST: of the true share of the short threads, and of what was found
    "$LWP" report --json "$1" > json 2> err
    /usr/bin/python3 - "$1" "$2" "$3" <<'P' || failed=1
import json, sys
short, long = map(float, open(sys.argv[1] + ".out").read().split())
share = {"work_short": 0, "work_long": 0}
for loop in json.load(open("json"))["loops"]:
    if loop["function"] in share and (loop["parent"] is None or loop["parent"] < 0):
        share[loop["function"]] += loop["share"]
found, true = share["work_short"] / max(sum(share.values()), 1e-9), short / (short + long)
print("%s: %.2f of the time in short threads, found %.2f" % (sys.argv[1], true, found))
if not float(sys.argv[2]) <= found / true <= float(sys.argv[3]) or share["work_long"] < 0.05:
    print("FAILED: %s" % share)
    sys.exit(1)
P
}

# each is set up: their first samples stand for no less than what is true
"$LWP" collect -F 200 --max-overhead 90 -o all -- ./short 5000 > all.out 2> err || { cat err; failed=1; }
judge all 0.7 1.3

# only some are: they stand for the others
"$LWP" collect -o some -- ./short 12000 > some.out 2> err || { cat err; failed=1; }
"$LWP" dump some/p*/process.lwps > process 2> err
left=$(sed -n 's/^note \([0-9]*\) threads were not sampled.*/\1/p' process)
[ "${left:-0}" -gt 6000 ] || { echo "FAILED: ${left:-0} threads were left out"; failed=1; }
judge some 0.4 1.5
"$LWP" report some 2> err | tr -s '\n ' ' ' > text
grep -q '[1-9][0-9] % of the CPU time: [^.]*of threads that were not sampled\.' text || { echo "FAILED: whose time was not sampled"; failed=1; }
! grep -q 'mmap MAP_SHARED' text || grep -q 'or threads that were not sampled' text || { echo "FAILED: memory that only threads use"; failed=1; }
exit $failed
