#!/bin/bash
# lwp collect -p samples a process that runs: threads old and new, a static program, a program that becomes another one. Addresses are
# right, structures and fields are found, the process goes on as if nothing had been.
set -u
cd "$TMP" || exit 1
. "$SRC/tests/sampled.sh"
failed=0
fail() { echo "FAILED: $*"; failed=1; }
collect() { "$LWP" collect --no-measure "$@"; }

# Nobody to attach to: one sentence, and no result.
"$LWP" collect -p 999999999 -o none > out 2>&1 && fail "a number that is no process's"
"$LWP" collect -p 2147483 -o none > out 2>&1
[ $? = 125 ] && [ "$(wc -l < out)" = 1 ] && grep -q 'no process 2147483' out || { fail "no such process"; cat out; }
"$LWP" collect --children -o none true > out 2>&1 && fail "--children without -p"
"$LWP" collect -p $$ --detect layout -o none > out 2>&1 && fail "--detect with -p"
[ ! -e none ] || fail "a result of nothing"

needs_attaching

# The labelled loops, whose truth is known: a shell that becomes them while it is sampled.
build() { $CC -std=gnu11 -D_GNU_SOURCE= -O2 -I"$SRC" -I"$BUILD" "$@" || exit 1; }
build -o loops "$SRC/tests/skid/loops.c" "$SRC/tests/skid/loops.S"
bash -c 'kill -STOP $$; exec ./loops truth 0.04' > loops.out 2>&1 &
process=$!
until grep -q '^State:.T' /proc/$process/status; do sleep 0.01; done
collect -F 4000 --max-overhead 50 --no-analyze -o skid -p $process 2> skid.err &
collector=$!
until [ -e skid/p$process/process.lwps ]; do kill -0 $collector || { cat skid.err; exit 1; }; sleep 0.01; done
kill -CONT $process
wait $process
wait $collector || fail "the process's end is no error"
for file in skid/p$process.1/t*.lwps; do "$LWP" dump "$file"; done > dump
"$SRC/tests/skid/addresses.py" truth dump 1000 || { fail "addresses"; cat skid.err; }

# A multi-threaded program, whose threads come and go; LONG: then the same one linked statically.
for kind in "" ${LONG:+-static}; do
    $CC -O2 -g -pthread $kind -o attached "$SRC/tests/programs/attached.c" || exit 1
    for seconds in 0.3 2 5; do
        rm -rf r
        ./attached $seconds 2 > answers &
        process=$!
        sleep $seconds
        taken=0
        collect --duration $seconds -o r -p $process > out 2> err &&
            taken=$(for file in r/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -c '^sample ')
        wait $process || fail "the program ended otherwise"
        grep -q '^wrong answers: 0$' answers || { fail "answers"; cat answers; }
        [ "$taken" -lt 200 ] || break # a busy machine: longer
    done
    [ "$taken" -gt 0 ] || { fail "no samples"; cat err; continue; }
    [ "$(ls r/p*/t*.lwps | wc -l)" -ge 2 ] || fail "threads"
    python3 - "$kind" <<'P' || failed=1
import json, sys
result = json.load(open("r/analysis.json"))
found = {o["type"]: o for o in result["objects"] if o["share"] > 0.02}
bad = 0
for name, size, kind, used in (("struct node", 32, "heap", {"next", "value"}), ("struct cell", 24, "mmap", {"c"})):
    o = found.get(name)
    fields = {f["name"] for f in o["fields"] if f["share"] > 0.001} if o and o["fields"] else None
    if not o or o["element_bytes"] != size or o["kind"] != kind or not fields or not fields <= used:
        bad = 1
        print("FAILED:", sys.argv[1], name, o and (o["kind"], o["element_bytes"], fields), sorted(found, key=str))
if result["run"]["exit"] != {"code": None, "signal": None}:
    bad = 1
    print("FAILED: an exit status that nobody saw")
sys.exit(bad)
P
done

# SIGTERM to lwp ends the sampling, not the process; nothing is left in it.
./attached 0.3 enough > answers &
process=$!
signals() { grep -E '^Sig(Blk|Ign|Cgt)' /proc/$process/status; }
until [ "$(ls /proc/$process/task | wc -l)" -gt 1 ] && signals > signals && grep -q '^SigBlk:.0*$' signals; do sleep 0.01; done # it starts no thread just now
kill -STOP $process
ls /proc/$process/fd > files
"$LWP" collect --no-analyze -q -o detached -p $process 2> err &
collector=$!
until [ -e detached/p$process/process.lwps ]; do kill -0 $collector || { cat err; exit 1; }; sleep 0.01; done
kill -CONT $process
begun=$SECONDS
for _ in {1..20}; do
    [ $((SECONDS - begun)) -lt 2 ] || break # a busy machine
    "$LWP" stop -q detached && "$LWP" start -q detached || fail "stop and start"
done
kill -TERM $collector
wait $collector || { fail "SIGTERM"; cat err; }
ls /proc/$process/fd | diff files - || fail "descriptors"
for _ in {1..100}; do signals > signals.now; cmp -s signals signals.now && break; sleep 0.01; done
diff signals signals.now || fail "signals"
grep -q "detached\|liblwp" /proc/$process/maps && fail "something of lwp is mapped"
touch enough
wait $process && grep -q '^wrong answers: 0$' answers || fail "the process did not go on"
"$LWP" analyze -q detached || fail "the result of a short time"
# Threads that end before their first sample: the report says how much of the time that was.
cat > short.c <<'C'
#include <pthread.h>
#include <time.h>
static volatile unsigned long sink;
static double used(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static void *run(void *unused)
{
    while (used(CLOCK_THREAD_CPUTIME_ID) < 0.0005)
        for (int i = 0; i < 2000; i++)
            sink += (unsigned long)i;
    return unused;
}
int main(void)
{
    pthread_t thread;
    while (used(CLOCK_PROCESS_CPUTIME_ID) < 1.5 && !pthread_create(&thread, NULL, run, NULL))
        pthread_join(thread, NULL);
    return 0;
}
C
$CC -O1 -pthread -o short short.c || exit 1
for try in 1 2 3; do # beside others it may be looked at too rarely
    ./short &
    collect --no-analyze -q -o unseen$try -p $! 2> err || cat err
    "$LWP" dump unseen$try/p*/process.lwps | grep -q 'note The samples stand for [0-9]* % of the time' && break
    [ $try != 3 ] || fail "no note of threads that nothing is seen of"
done

# Until a delay is over lwp sleeps.
sleep 60 &
process=$!
python3 - "$LWP" $process << 'P' || fail "lwp was busy during --delay"
import os, subprocess, sys
subprocess.run([sys.argv[1], "collect", "--no-analyze", "-q", "-o", "delayed", "-p", sys.argv[2], "--delay", "3", "--duration", "0.1"])
sys.exit(sum(os.times()[2:4]) > 1.5)
P
kill $process
exit $failed
