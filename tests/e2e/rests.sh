#!/bin/sh
# A thread that leaves the processor all the time is sampled after rests of its timer: its samples stand for its time, also once the
# program has closed all files, lwp's too; and its accesses are still watched.
set -u
${CC:-cc} -std=gnu11 -O2 -g -o "$TMP/rests" "$SRC/tests/programs/rests.c" || exit 1
"$LWP" collect -q --no-analyze -F 2000 --max-overhead 30 -o "$TMP/result" -- "$TMP/rests" 4 > "$TMP/truth" && "$LWP" analyze -q "$TMP/result" || exit 1
watched=$("$LWP" doctor | grep -c '^yes *hardware breakpoints')
"$LWP" dump "$TMP"/result/p*/t*.lwps > "$TMP/dump" || exit 1
exec /usr/bin/python3 - "$TMP/truth" "$TMP/result/analysis.json" "$TMP/dump" "$watched" << 'CHECK'
import json, re, sys
truth = dict(zip(("before", "after"), map(float, open(sys.argv[1]).read().split())))
analysis = json.load(open(sys.argv[2]))
seconds = dict.fromkeys(truth, 0.0)
for loop in analysis["loops"]:
    if loop["function"] in seconds:
        seconds[loop["function"]] += loop["share"] * analysis["run"]["weight"] / 1e9
dump = open(sys.argv[3]).read()
samples, watches = ([int(time) for time in re.findall(f"^{what} time ([0-9]+)", dump, re.M)] for what in ("sample", "watch"))
late = sum(time > samples[len(samples) * 9 // 10] for time in watches)
print(f"seconds: {truth}, by {len(samples)} samples {seconds}; {len(watches)} watches, {late} of them after nine tenths of the samples")
apart = seconds["after"] / seconds["before"] if seconds["before"] else 0
sys.exit(any(not 0.6 * truth[half] < seconds[half] < 1.5 * truth[half] for half in truth) or not 0.75 < apart < 1.33 or (sys.argv[4] != "0" and not late))
CHECK
