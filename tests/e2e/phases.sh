#!/bin/bash
# A collection in phases: lwp start, stop and status, from inside and outside; LWP_BEGIN and LWP_END; --only.
set -u
cd "$TMP" || exit 1
. "$SRC/tests/sampled.sh"
failed=0
fail() { echo "FAILED: $*"; failed=1; }
monotonic() { python3 -c 'import time; print(time.monotonic_ns())'; }
samples() { for file in "$1"/p*/t*.lwps; do "$LWP" dump "$file"; done | grep '^sample '; }

# Turns of work inside and outside of the region, until a file is called `end`; prints the CPU time inside.
cat > work.c <<'C'
#include <lwp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static long *data;
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
__attribute__((noinline)) static long sum(void) { long n = 0; for (int i = 0; i < 20000; i++) n += data[i * 64 & ((1 << 20) - 1)]; return n; }
__attribute__((noinline)) static long wanted(double s) { long n = 0; for (double end = now() + s; now() < end;) n += sum(); return n; }
__attribute__((noinline)) static long unwanted(double s) { long n = 0; for (double end = now() + s; now() < end;) n += sum() + 1; return n; }
int main(int count, char **arguments)
{
    double each = atof(arguments[1]), all = atof(arguments[2]), inside = 0;
    long n = 0;
    data = calloc(1 << 20, sizeof *data);
    while (now() < all && access("end", F_OK) != 0) {
        n += unwanted(each);
        if (count > 3)
            LWP_BEGIN();
        double from = now();
        n += wanted(each);
        inside += now() - from;
        if (count > 3)
            LWP_END();
    }
    printf("%.3f\n", inside);
    return n == 1;
}
C
$CC -O1 -fno-inline -g -I"$SRC/collector" -o work work.c || exit 1

rests() { # PID OF lwp: a timer of the kernel's stands in for perf's clock, whose file is closed
    for program in $(cat /proc/"$1"/task/*/children); do
        [ -e "/proc/$program/timers" ] || return 0
        for _ in $(seq 100); do
            grep -q '^ID' "/proc/$program/timers" && ! ls -l "/proc/$program/fd" | grep -q perf_event && return 0
            sleep 0.05
        done
    done
    return 1
}

# Before the first phase no thread ever had one: even when it is closed again it costs each switch.
"$LWP" collect --paused --no-analyze -q -o asleep sleep 3 &
until "$LWP" status asleep > status 2> /dev/null; do kill -0 $! || break; sleep 0.02; done
sleep 0.5
asleep=$(pgrep -x sleep -P $!)
grep -q liblwp-light "/proc/$asleep/maps" || fail "sleep is not recorded"
ls -l "/proc/$asleep/fd" | grep -q perf_event && fail "perf's clock is open before the first phase"
wait

# On a busy machine lwp start may not run between its connection and its question.
cat > late.c <<'C'
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
ssize_t send(int fd, const void *from, size_t bytes, int flags)
{
    static int times;
    if (!times++)
        usleep(500000);
    return syscall(SYS_sendto, fd, from, bytes, flags, (void *)0, 0);
}
C
$CC -shared -fPIC -o late.so late.c || exit 1
"$LWP" collect --paused --no-analyze -q -o late sleep 3 &
until "$LWP" status late > status 2> /dev/null; do kill -0 $! || break; sleep 0.02; done
LD_PRELOAD=$PWD/late.so "$LWP" start late > status 2>&1 || fail "a late question: $(cat status)"
grep -q 'late: recording, 1 phase, ' status || fail "a late question: $(cat status)"
wait

ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
runs() { # PID OF A PROGRAM: until it ran for .4 s more, which takes longer on a busy machine
    local until=$(($(ticks "$1") + 40))
    while (($(ticks "$1" || echo $until) < until)); do sleep 0.05; done
}

# What is recorded is what ran between start and stop.
phases() { # DIR PID OF lwp PID OF THE PROGRAM (default: lwp's child)
    local program=${3:-}
    until "$LWP" status "$1" > status 2> /dev/null; do kill -0 "$2" || return 1; sleep 0.02; done
    grep -qx "$1: paused, nothing recorded yet" status || fail "status at first: $(cat status)"
    program=${program:-$(pgrep -x work -P "$2")}
    sleep 0.2
    : > "$1.phases"
    for _ in 1 2; do
        { monotonic; "$LWP" start "$1" > status || return 1; runs "$program"; } | tr '\n' ' ' >> "$1.phases"
        grep -q "^$1: recording, [12] phases*, " status || fail "start: $(cat status)"
        "$LWP" stop -q "$1"
        monotonic >> "$1.phases"
        sleep 0.2
    done
    [ "$1" = outside ] || rests "$2" || fail "perf's clock runs on in a pause"
    "$LWP" status "$1" > status
    grep -q "^$1: paused, 2 phases, [0-9.]* s recorded$" status || fail "status at last: $(cat status)"
}
judge() { # DIR
    samples "$1" | python3 -c '
import sys
phases = [list(map(int, line.split())) for line in open(sys.argv[1])]
times = [int(line.split()[2]) for line in sys.stdin]
outside = [t for t in times if not any(a <= t <= b for a, b in phases)]
each = [sum(a <= t <= b for t in times) for a, b in phases]
if outside or min(each) < 1:
    sys.exit("FAILED: %s: %d samples outside of the phases, %s in them" % (sys.argv[1], len(outside), each))' "$1.phases" || failed=1
    grep -q "Recorded in 2 phases, [0-9.]* s in all" "$1/run.json" || fail "$1: no note"
    [ ! -e "$1/control" ] || fail "$1: the socket is still there"
}
"$LWP" collect --paused --no-analyze -q -o inside ./work 0.01 60 > inside.out 2>&1 &
phases inside $! || fail "phases inside"
touch end
wait $! || { fail "collect --paused"; cat inside.out; }
rm end
judge inside
./work 0.01 60 > outside.out &
program=$!
"$LWP" collect --paused --no-analyze -q -o outside -p $program > outside.err 2>&1 &
collector=$!
if phases outside $collector $program; then
    kill -TERM $collector
    wait $collector || fail "collect --paused -p"
    judge outside
elif sampling_is_forbidden outside.err; then
    head -n 1 outside.err
else
    fail "phases outside"; cat outside.err
fi
kill $program

# Nothing to ask: one sentence each.
for request in start stop status; do
    for dir in inside nowhere .; do
        "$LWP" $request $dir > out 2>&1
        [ $? = 1 ] && [ "$(wc -l < out)" = 1 ] || { fail "$request $dir"; cat out; }
    done
done
"$LWP" collect --paused --duration 1 -o none true 2> /dev/null && fail "--paused --duration"
"$LWP" collect --paused -e exact -o none true 2> /dev/null && fail "--paused -e exact"
"$LWP" collect --region sum -o none true 2> /dev/null && fail "--region FUNC of an engine that samples"
"$LWP" collect --only bin/true -o none true 2> /dev/null && fail "--only with a folder"
[ ! -e none ] || fail "a result of nothing"

# LWP_BEGIN and LWP_END: the weight is the time between them, however short the turns are, and nothing else is recorded. All of the program
# would be twice as much. In short turns some 15 % is missing, and samples of a slow or busy machine are few.
for turn in 0.0005 0.1; do
    "$LWP" collect --detect layout --region LWP_BEGIN --no-analyze -q -o "marks$turn" ./work $turn 4 x > marks.out || fail "marks"
    samples "marks$turn" | awk -v inside="$(cat marks.out)" -v turn=$turn '{ weight += $5 * 1e-9 }
        END { if (weight < .5 * inside || weight > 1.5 * inside) { print "FAILED: turns of " turn " s: " weight " s recorded of " inside; exit 1 } }' || failed=1
done
# The same from outside, but for what ran before lwp came. LONG: short turns, too.
for turn in ${LONG:+0.0005} 0.1; do
    ./work $turn 1.4 x > marks.out &
    program=$!
    if "$LWP" collect --region LWP_BEGIN --no-analyze -q -o "from$turn" -p $program 2> marks.err; then
        wait $program
        if grep -q 'debug registers stop nothing' marks.err; then
            echo "skip marks from outside: there are no hardware breakpoints (lwp doctor)"
            rm -rf "from$turn"
            continue
        fi
        samples "from$turn" | awk -v inside="$(cat marks.out)" -v turn=$turn '{ weight += $5 * 1e-9 }
            END { if (weight < .5 * inside || weight > 1.5 * inside) { print "FAILED: from outside, turns of " turn " s: " weight " s recorded of " inside; exit 1 } }' || failed=1
    else
        sampling_is_forbidden marks.err || { fail "marks from outside"; cat marks.err; }
        kill $program
    fi
done
sleep 1 &
"$LWP" collect --region LWP_BEGIN --no-analyze -q -o nomarks -p $! --duration 0.1 2> marks.err
grep -q 'says LWP_BEGIN() nowhere\|forbidden\|perf_event_paranoid' marks.err || { fail "no marks"; cat marks.err; }

for marks in marks0.1 from0.1; do
    [ -e $marks ] || continue
    "$LWP" analyze -q --no-measure $marks
    python3 - $marks/analysis.json <<'P' || failed=1
import json, sys
result = json.load(open(sys.argv[1]))
for context in result["contexts"]:
    if any(frame["function"] == "unwanted" for frame in context["frames"]):
        sys.exit("FAILED: a sample outside of the region: " + sys.argv[1])
P
done

# Programs by name: of a script's children one.
cp work other
printf '#!/bin/sh\n./work 0.01 0.2\n./other 0.01 0.2\n' > both.sh
chmod +x both.sh
"$LWP" collect --only 'othe?,nobody' --no-analyze -q -o only ./both.sh > /dev/null || fail "--only"
[ "$(ls -d only/p* | wc -l)" = 1 ] || fail "--only: $(ls only)"
"$LWP" dump only/p*/process.lwps | grep -q 'other' || fail "--only: another program"
"$LWP" collect --only nobody --no-analyze -q -o nobody ./both.sh 2>&1 > /dev/null | grep -q "no program called 'nobody' ran" || fail "--only nobody"
exit $failed
