#!/bin/bash
# The pmu engine. Its whole path with an event that knows addresses on every machine: page faults, of which it is known how
# many there are and where. Loads and stores where there is PEBS or IBS; else what is said of it.
set -u
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
$CC -O1 -g -o touch "$SRC/tests/programs/first_touch.c" -lpthread || exit 1
./touch > expected || exit 1
"$LWP" doctor --json > doctor.json
samples_of() { /usr/bin/python3 -c 'import json, sys
print(next(c["good"] for c in json.load(open("doctor.json"))["checks"] if c["name"] == sys.argv[1]))' "$1"; }
[ "$(samples_of 'page faults')" = True ] || { echo "page faults cannot be sampled here"; exit 77; }

# every fault is a sample: each page of the program's data once
"$LWP" collect -e pmu --event page-faults -c 1 --max-overhead 100 -o every ./touch > out 2> err || { cat err; fail "status"; }
cmp -s out expected || fail "the program's output changed"
"$LWP" report --json every > every.json || fail "report"
/usr/bin/python3 - <<'PY' || fail "what every fault tells"
import json
data = json.load(open("every.json"))
run = data["run"]
assert run["engine"] == "pmu" and run["event"] == "page-faults" and run["weight_unit"] == "events", run
assert len(run["processes"]) == 2, run["processes"]
objects = {o["name"]: o for o in data["objects"]}
for name, pages in (("table", 600), ("heap", 400), ("later", 300)):
    found = objects[name]
    assert pages * 0.98 <= found["samples"] <= pages, (name, found["samples"])
    assert found["element_bytes"] == 8192 and found["type"] == "struct item", found
    assert [f["name"] for f in found["fields"] if f["samples"] > 5] == ["count"], found["fields"]
    assert found["loads"] == found["stores"] >= found["samples"], found  # += : decoded
assert objects["heap"]["kind"] == "heap" and objects["table"]["kind"] == "static"
def inside(name, functions):
    return {data["loops"][l["loop"]]["function"] for l in objects[name]["loops"]} <= functions
assert inside("table", {"touch", "main"}) and inside("heap", {"touch", "touch_heap"})
frames = [f["function"] for f in data["contexts"][objects["heap"]["common_context"]]["frames"]]
assert "touch_heap" in frames, frames  # the way to the accesses
assert not data["splits"] and any("Events were counted" in n for n in run["notes"]), run["notes"]
PY

# thinned out: the weights still add up to the faults there were
"$LWP" collect --event page-faults -c 7 --max-overhead 100 -o seventh ./touch > out 2> err || { cat err; fail "status of -c 7"; }
cmp -s out expected || fail "the program's output changed with -c 7"
for f in seventh/p*/t*.lwps; do "$LWP" dump "$f"; done | awk '/^sample/ { n++; all += $5; if ($5 % 7) odd++ }
    END { print n " samples weigh " all; exit !(n > 120 && n < 260 && all > 1200 && all < 1700) }' || fail "weights of -c 7"
./touch 0 > expected
"$LWP" collect --event page-faults -o thin ./touch 0 > out 2> err || { cat err; fail "status when thinned"; }
cmp -s out expected || fail "the program's output changed when thinned"

# loads and stores
if [ "$(samples_of 'PEBS or IBS')" = True ]; then
    "$LWP" collect -e pmu -o mem ./touch > out || fail "loads and stores"
    for f in mem/p*/t*.lwps; do "$LWP" dump "$f"; done | grep -q ' source 5 .* level ' || fail "no levels"
else
    "$LWP" collect -e pmu -o mem ./touch > out 2> err
    [ $? = 125 ] || fail "status where there is no PMU"
    grep -q "use -e timer, or see 'lwp doctor'" err || { cat err; fail "does not say what to do"; }
    [ -s out ] && fail "ran the program"
    [ -e mem ] && fail "left a folder"
    "$LWP" collect -q --no-analyze -o auto true || fail "auto"
    grep -q '"engine": "timer"' auto/run.json || fail "auto is not the timer"
fi

# wrong use
for wrong in "-e timer -c 5" "-e timer --event mem" "--event nonsense" "-c 0" "-c 5 -F 100" "-e nonsense"; do
    "$LWP" collect $wrong -o wrong true 2> err
    [ $? = 125 ] && [ -s err ] && [ ! -e wrong ] || fail "$wrong"
done
exit 0
