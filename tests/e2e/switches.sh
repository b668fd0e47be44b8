#!/bin/bash
# Threads that leave the processor all the time: what a debug register and perf's files cost them each time is measured, charged, and
# watches are given up where it is too much.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -o switches "$SRC/tests/programs/switches.c" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }
decided() { for file in "$1"/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -c '^watch.* decided'; }
said() { sed -n 's/.*"overhead_percent": *\([0-9]*\).*/\1/p' "$1/run.json"; }

"$LWP" collect --no-analyze -o measured -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; env' > env 2> err || { cat err; exit 1; }
costs=$(sed -n 's/^LWP_COSTS=//p' env)
[ "$costs" ] || { echo "perf's synchronous clock does not work here"; exit 77; }
IFS=, read -r _ tick _ open running soon soon_for armed fault rest <<< "$costs"
[[ $rest =~ ^[01],[01],[01]$ ]] && ((0 < tick && tick < 10000000 && open < 1000000 && 0 <= running && running <= soon && 0 < soon && soon < 1000000 && soon_for <= 4000000 && armed < 1000000 && fault < 10000000)) || fail "measured: $costs"

# the same with what it might cost elsewhere, ns: with a file open, with the clock running, with each register armed
with() { # NAME OPEN RUNNING ARMED [SECONDS]
    for _ in 1 2 3 4 5 6 7 8; do # with costs given a process is set up when a tick finds it outside of the kernel, where it seldom is: late, or never
        LWP_COSTS=20000,33000,1500,$2,$3,$3,2000000,$4,0,0,0,0 "$LWP" collect --force --no-analyze --max-overhead 10 -o "$1" -- ./switches "${5:-1}" > "$1.turns" 2> err || { cat err; fail "$1"; }
        ls "$1"/p*/t[1-9]*.lwps > /dev/null 2>&1 && return
    done
    fail "$1: no process was set up"
}
with cheap 0 0 0
with armed 0 0 1000000
with open 2000 0 0
with closed 5000 20000 1000000 4
cheap=$(decided cheap)
echo "measured $costs; watches decided: $cheap, where they cost 1 ms a switch $(decided armed); overhead $(said cheap) %, with 2 us a switch $(said open) %"
if ((cheap < 20)); then
    echo "no watches here" # taken by a debugger, or not permitted
elif (($(decided armed) * 5 > cheap)); then
    fail "watches are not given up where they cost too much"
fi
# 40 % of 2 us a turn in 1.6 s, or about as much as is allowed: where both processes are on one processor there are 250,000 turns. Switches
# after the last sample are not charged, and there may be many: up to eight runs.
charged() {
    open=$(said open) cheap=$(said cheap)
    read -r turns without < open.turns
    least=$((turns < 160000 ? turns / 20000 : 8))
    ((${open:-0} - ${cheap:-0} + 1 > least))
}
for _ in 1 2 3 4 5 6 7; do charged || with open 2000 0 0; done
charged || fail "what switches cost is not charged"
# between samples even that is too much, where it is dearer than to open the file again
echo "at $without % of looks no file of perf's is open, with a clock that costs 20 us a switch at $(cut -d' ' -f2 closed.turns) %"
(($(cut -d' ' -f2 closed.turns) > 50)) || fail "perf's files stay open between samples"
# a file that cannot be opened again, as the program has no room for it any more: a timer of the kernel's stands in
LWP_COSTS=20000,33000,1500,2000,5000,5000,2000000,1000000,0,0,0,0 "$LWP" collect -q --no-analyze --max-overhead 60 -o refused -- ./switches 4 > refused.turns &
collector=$!
sleep 1
for program in $(cat /proc/$collector/task/*/children); do prlimit --nofile=100:100 --pid "$program" || fail "prlimit"; done
limited=$(python3 -c 'import time; print(time.monotonic_ns())')
wait $collector || fail "refused"
later=$(for file in refused/p*/t*.lwps; do "$LWP" dump "$file"; done | awk -v limited="$limited" '/^sample / && $3 > limited + 5e8' | wc -l)
echo "$later samples after there was no room for files"
((later > 4)) || fail "a thread is not sampled any more whose event could not be opened again"
# where each sample takes milliseconds there are few from the start, not a fixed number of them first (more can be paid where others have
# the processors and the thread hardly switches, and some are never set up, as above)
for _ in 1 2 3 4 5 6 7 8; do
    LWP_COSTS=20000,33000,1500,0,200000,200000,2000000,0,0,0,0,0 "$LWP" collect -q --force --no-analyze -o dear -- ./switches 1 > dear.turns || fail "dear"
    samples=$(for file in dear/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -c '^sample')
    echo "$samples samples where each takes milliseconds"
    ((0 < samples && samples < 24)) && break
done
((0 < samples && samples < 24)) || fail "samples are taken that cannot be paid"
exit $failed
