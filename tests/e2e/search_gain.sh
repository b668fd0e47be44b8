#!/bin/bash
# What a search gains in a trace: it may have no more of the time than of the instructions, and the kernel's part of the run, which is not
# traced, stays.
set -u
fail() { echo "$*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O2 -g -o far_search "$SRC/tests/programs/far_search.c" || fail "compile"
"$LWP" collect -q -e exact --detect redundancy --window all -o here -- ./far_search > out || fail "collect"
"$LWP" dump here/p*/process.lwps > here.dump || fail "dump"
/usr/bin/python3 - "$LWP" <<'PY' || { "$LWP" report here; fail "gains"; }
import json, os, re, subprocess, sys
lwp = sys.argv[1]

def search(run):
    json.dump(run, open("here/run.json", "w"))
    subprocess.run([lwp, "analyze", "-q", "here"], check=True)
    report = json.load(open("here/analysis.json"))
    (finding,) = [f for f in report["findings"] if f["title"].startswith("Do not search ")]
    text = subprocess.run([lwp, "report", "here"], check=True, capture_output=True, text=True).stdout
    notes = [n for n in report["run"]["notes"] if "is not traced" in n]
    print(finding["speedup"], finding["expected_speedup"], finding["share"], report["run"].get("kernel_ns"), notes)
    return finding, report["run"].get("kernel_ns"), " ".join(text.split()), notes

run = json.load(open("here/run.json"))
machine = run["machine"]
costs = [machine.pop(key) for key in ("start_ns", "page_fault_ns", "cycle_ps")]
assert all(costs), costs
assert 50 < costs[2] < 2000, costs # 0.5 to 20 GHz

without, kernel, text, notes = search(run)
assert kernel is None and "for the program without what the kernel does for it" in text, text
assert len(notes) == 1 and "it then gains less than is predicted" in notes[0], notes
low, high = without["expected_speedup"]
assert without["share"] > 0.8, without # all misses in turn
assert 1.1 < low < 1 / (1 - 0.4), without # a third of the instructions
assert low < without["speedup"] < high, without

machine.update(start_ns=3000000, page_fault_ns=1000, cycle_ps=300)
faults = int(re.findall(r"page-faults (\d+)", open("here.dump").read())[-1])
whole, kernel, text, notes = search(run)
assert kernel == 3000000 + 1000 * faults, (kernel, faults)
assert "for the whole program" in text and "without what the kernel" not in text, text
assert len(notes) == 1 and f"{faults} page faults of 1 us" in notes[0], notes
assert whole["speedup"] < without["speedup"] and all(a < b for a, b in zip(whole["expected_speedup"], without["expected_speedup"])), whole

if "[always]" not in open("/sys/kernel/mm/transparent_hugepage/enabled").read():
    pid = os.posix_spawn("./far_search", ["far_search"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    alone = os.wait4(pid, 0)[2].ru_minflt
    print(faults, "page faults; alone", alone)
    assert faults >= 1000 and abs(faults - alone) < 0.1 * alone, (faults, alone)
PY
