#!/bin/bash
# Every check says yes or no; what is no has a remedy. What it says samples here is what lwp collect takes.
set -u
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; cat out 2> /dev/null; exit 1; }
"$LWP" doctor > out; status=$?
[ $status = 0 ] || [ $status = 1 ] || fail "status $status"
grep -Eq '^(yes|no) +task-clock' out || fail "no task-clock"
"$LWP" doctor --json > doctor.json
/usr/bin/python3 - "$status" <<'PY' || fail "the JSON"
import json, sys
d = json.load(open("doctor.json"))
assert d["schema"] == "lwp-doctor" and len(d["checks"]) >= 14
for c in d["checks"]:
    assert c["found"], c
    assert c["good"] or c["remedy"], c
order = [c["engine"] for c in d["checks"] if c["engine"]]
assert order == ["pmu", "timer", "timer", "timer"], order
assert d["able"] == (sys.argv[1] == "0")
if d["able"]:
    assert d["engine"] == next(c["engine"] for c in d["checks"] if c["engine"] and c["good"])
PY
if [ $status = 0 ]; then
    "$LWP" collect -q --no-analyze -o plain true || fail "collect"
    engine=$(/usr/bin/python3 -c 'import json; print(json.load(open("doctor.json"))["engine"])')
    grep -q "\"engine\": \"$engine\"" plain/run.json || fail "collect takes another engine than $engine"
fi
# loops whose samples are known: of the PMU where there is one, of page faults everywhere; else it says that it cannot be tested
"$LWP" doctor --self-test > out; status=$?
"$LWP" doctor --self-test --json > self.json
/usr/bin/python3 - "$status" <<'PY' || fail "--self-test"
import json, sys
doctor, d = json.load(open("doctor.json")), json.load(open("self.json"))
answers = {a["name"]: a for a in d["answers"]}
assert d["schema"] == "lwp-self-test" and all(a["found"] and a["verdict"] in ("right", "wrong", "unknown") for a in d["answers"]), d
pmu = next(c["good"] for c in doctor["checks"] if c["name"] == "PEBS or IBS")
if pmu:
    assert len(answers) == 8 and all(a["verdict"] != "wrong" for a in d["answers"]), d
    assert (sys.argv[1] == "0") == all(a["verdict"] == "right" for a in d["answers"][:-1]), d
else:
    assert sys.argv[1] == "1" and "cannot be tested" in answers["PEBS or IBS"]["found"], d
if next(c["good"] for c in doctor["checks"] if c["name"] == "page faults"):
    faults = answers["addresses of page faults"]
    assert faults["verdict"] == "right" and faults["found"] == "512 of 512 pages that were touched", faults
PY
grep -Eq '^(right|wrong|unknown) ' out || fail "--self-test says nothing"
"$LWP" doctor nonsense 2> err
[ $? = 125 ] && grep -q nonsense err || fail "an argument"

# as in a container: perf_event_open is refused by a filter, thread CPU timers remain
$CC -O1 -o forbid "$SRC/tests/programs/forbid.c" || exit 1
./forbid true || exit 77
./forbid "$LWP" doctor > out || fail "nothing samples under a filter"
tr -s '\n ' ' ' < out | grep -q "seccomp filter refuses perf_event_open" || fail "does not blame the filter"
grep -A3 '^no *task-clock, synchronous' out | grep -q 'seccomp=unconfined' || fail "does not say how to allow it"
grep -q 'the timer engine samples (thread CPU timers)' out || fail "not the last fall-back"
./forbid "$LWP" collect -q --no-analyze -o filtered sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' || fail "collect under a filter"
"$LWP" dump filtered/p*/process.lwps | grep -q '^note.*thread CPU timers' || fail "the fall-back is not told"
./forbid "$LWP" collect -e pmu --event page-faults -o none true 2> err && fail "samples page faults under a filter"
grep -q 'does not permit perf_event_open' err || { cat err; fail "does not say why"; }
[ -e none ] && fail "left a folder"
exit 0
