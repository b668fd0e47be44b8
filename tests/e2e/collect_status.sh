#!/bin/bash
# The program's exit status, signals, input and output are its own.
set -u
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }

for status in 0 1 7 125 126 255; do
    "$LWP" collect --no-analyze -o r-$status -- sh -c "exit $status" 2> err
    [ $? = $status ] || fail "exit status $status"
done
for signal in TERM KILL SEGV ABRT TRAP; do
    "$LWP" collect --no-analyze -o r-$signal -- bash -c "kill -$signal \$\$" 2> err
    [ $? = $((128 + $(kill -l $signal))) ] || fail "signal $signal"
    grep -q '"signal"' r-$signal/run.json || fail "run.json without the signal"
done

# A report says so, as the program may not have done its work.
for ending in 7:"with status 7" SEGV:"by signal 11"; do
    "$LWP" report r-${ending%%:*} > report 2> err || { cat err; fail "a report of ${ending%%:*}"; }
    grep -qx "Ended     ${ending#*:}" report || { cat report; fail "a report without the ending"; }
done
"$LWP" report r-0 | grep '^Ended' && fail "an ending that is as usual"

# What a signal killed does not say how long it ran: its parent's own time is not the run's.
cat > killed.c <<'C'
#include <signal.h>
#include <time.h>
int main(void)
{
    while (clock() < CLOCKS_PER_SEC / 3)
        ;
    raise(SIGKILL);
}
C
$CC -O1 -g -o killed killed.c || exit 1
# Nor does one that is never set up, as all but the first process of this second run, which may cost hardly anything.
for most in 3 0.1; do
    "$LWP" collect -q --max-overhead $most -o r-killed-$most -- sh -c './killed; true' 2> err || { cat err; fail "a child that is killed"; }
    "$LWP" report --json r-killed-$most | /usr/bin/python3 -c '
import json, sys
run = json.load(sys.stdin)["run"]
sys.exit(not 0.3 <= run["cpu_s"] < 30)' || fail "CPU time of a child that was killed, at $most %"
done

head -c 3000000 /dev/urandom > input
"$LWP" collect --no-analyze -o r-cat -- cat < input > output 2> err || fail "cat"
cmp input output || fail "bytes through stdin and stdout changed"
"$LWP" collect --no-analyze -o r-err -- sh -c 'echo to-stderr >&2' 2> err
grep -qx to-stderr err || fail "stderr lost"

# Ctrl-C goes to the whole group: the program ends by it, lwp waits and writes the result.
cat > spin.c <<'C'
int main(void) { volatile unsigned long n = 0; for (;;) n++; }
C
$CC -O1 -g -o spin spin.c || exit 1
/usr/bin/python3 - "$LWP" <<'PY' || fail "Ctrl-C"
import glob, os, signal, subprocess, sys, time
# A background job of a script ignores SIGINT; a job at a terminal does not.
job = subprocess.Popen([sys.argv[1], "collect", "--no-analyze", "-o", "r-int", "--", "./spin"], start_new_session=True,
                       stderr=open("err", "w"), preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while job.poll() is None and not glob.glob("r-int/p*/t*.lwps"):
    time.sleep(0.05)
time.sleep(0.5)
os.killpg(job.pid, signal.SIGINT)
status = job.wait(timeout=20)
sys.exit(status != 130)
PY
grep -q '"signal": *2' r-int/run.json || { cat r-int/run.json err; fail "interrupted run not described"; }
ls r-int/p*/t*.lwps > list || fail "no samples after Ctrl-C"

"$LWP" collect --no-analyze -o r-term -- ./spin 2> err &
lwp=$!
until compgen -G 'r-term/p*/t*.lwps' > list || ! kill -0 $lwp 2> err; do sleep 0.05; done # a busy machine
sleep 0.5
kill -TERM $lwp
wait $lwp
[ $? = 143 ] || fail "SIGTERM was not passed on"
"$LWP" report r-term > out 2> err || { cat err; fail "report of a terminated run"; }

# A killed program leaves what was recorded.
"$LWP" collect --no-analyze --max-overhead 20 -o r-kill -- ./spin 2> err &
lwp=$!
sleep 1.5
pkill -KILL -P $lwp
wait $lwp
[ $? = 137 ] || fail "SIGKILL's status"
samples=$("$LWP" dump r-kill/p*/t*.lwps 2> err | grep -c '^sample')
[ "$samples" -gt 20 ] || fail "only $samples samples survived SIGKILL"

# How a program ended is said as far as it is known: exec and an end without exit handlers are no killing.
cat > ends.c <<'C'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **argv)
{
    (void)argv;
    volatile double *x = calloc(1 << 22, 8), sum = 0;
    for (int k = 0; k < 40; k++) /* far longer than what is not recorded */
        for (int i = 0; i < 1 << 22; i += 8) sum += x[i] += k;
    if (count > 1) syscall(SYS_exit_group, 0);
    return 0;
}
C
$CC -O1 -g -o ends ends.c || exit 1
notes() { "$LWP" collect -q -o "$@" 2> err; "$LWP" report --json "$1" 2> err | grep -E 'killed|has no end'; }
[ -z "$(notes r-exec -- env ./ends)" ] || fail "exec looks like a killing: $(notes r-exec2 -- env ./ends)"
notes r-syscall -- ./ends now | grep -q 'the program ended without its exit handlers' || fail "an end without exit handlers"
notes r-syscall2 -- ./ends now | grep -q killed && fail "an end without exit handlers looks like a killing"
exit 0
