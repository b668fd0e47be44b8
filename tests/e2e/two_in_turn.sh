#!/bin/bash
# Threads that wait for each other all the time, with a clock of perf's that costs each switch much: samples are taken at the scheduler's
# ticks. They stand for all the time outside of the kernel, and each function has its share.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -pthread -o two_in_turn "$SRC/tests/programs/two_in_turn.c" || exit 1
"$LWP" collect -q --no-analyze -o probe -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; env' > env 2> err || { cat err; exit 1; }
costs=$(sed -n 's/^LWP_COSTS=//p' env)
[ "$costs" ] || { echo "perf's synchronous clock does not work here"; exit 77; }
IFS=, read -r trap tick call open running _ soon_for rest <<< "$costs"
for _ in 1 2 3; do # with costs given a process is set up when a tick finds it outside of the kernel
    LWP_COSTS=$trap,$tick,$call,$open,$running,40000,$soon_for,$rest "$LWP" collect -q --force --no-analyze -o result -- ./two_in_turn 3 > user || exit 1
    samples=$(for file in result/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -c '^sample')
    ((samples > 60)) && break
done
for file in result/p*/t*.lwps; do "$LWP" dump "$file"; done | awk '/^sample/ {sum += $5} END {printf "%.3f\n", sum / 1e9}' > found
"$LWP" analyze -q result || exit 1
/usr/bin/python3 - "$samples" <<'P'
import json, sys
user, found = float(open("user").read()), float(open("found").read())
share = {}
for loop in json.load(open("result/analysis.json"))["loops"]:
    if loop["parent"] is None or loop["parent"] < 0:
        share[loop["function"]] = share.get(loop["function"], 0) + loop["share"]
both = share.get("work_one", 0) + share.get("work_two", 0)
print("%s samples stand for %.2f s of %.2f, work_two has %.2f of both" % (sys.argv[1], found, user, share.get("work_two", 0) / max(both, 1e-9)))
sys.exit(not (int(sys.argv[1]) > 60 and 0.6 < found / user < 1.25 and 0.4 < share["work_two"] / both < 0.8))
P
