#!/bin/bash
# The exact engine and programs that end badly, or do what Valgrind cannot: a clear sentence, the program's own status, and
# what was gathered is kept. LONG: more ends.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
ulimit -c 0
$CC -O2 -g -pthread -o ends "$SRC/tests/programs/ends.c" || fail "compile"

collect() { # STATUS NAME COMMAND...
    local want=$1 name=$2
    shift 2
    "$LWP" collect -q --detect redundancy -e exact -o "$name" -- "$@" > out 2> err
    local status=$?
    [ $status = "$want" ] || { cat out err; fail "$name: exit status $status, not $want"; }
}
cat > wasted.py <<'PY'
import json, sys
name, function, least = sys.argv[1], sys.argv[2], (20 - 1) * (1 << 14) * 8
d = json.load(open(name + "/analysis.json"))
top = lambda c: d["contexts"][c]["frames"][0]["function"] if c is not None and d["contexts"][c]["frames"] else None
got = sum(p["amount"] for p in d["redundancies"] if p["kind"] == "dead_store" and top(p["first"]) == top(p["second"]) == function)
exact = len(sys.argv) < 4
sys.exit(f"{name}: {got} bytes, not {least}" if got < least or (exact and got != least) else 0)
PY
kept() { # NAME FUNCTION [more]: the counts are there
    "$LWP" analyze -q "$1" || fail "analyze $1"
    /usr/bin/python3 wasted.py "$@" || fail "$1: counts"
}
noted() { # NAME WORDS: in the report
    "$LWP" report "$1" | tr -s '\n ' ' ' | grep -q -- "$2" || { "$LWP" report "$1"; fail "the report of $1 does not say '$2'"; }
}
said() { grep -q -- "$1" err || { cat err; fail "no '$1'"; }; } # ... and at once

if grep -qw avx2 /proc/cpuinfo; then
    collect 0 avx2 ./ends avx2
    kept avx2 work_avx2
fi
collect 132 avx512 ./ends avx512
said 'AVX-512 instruction.*-mno-avx512f'
kept avx512 work
noted avx512 'AVX-512 instruction'
collect 3 syscall ./ends syscall
said 'does not know system call 999'
# older versions of Valgrind end where they cannot read debug information
if $CC -O2 -g -gdwarf-5 -gsplit-dwarf -pthread -o split_ends "$SRC/tests/programs/ends.c"; then
    "$LWP" collect -q --detect redundancy -e exact -o split -- ./split_ends syscall > out 2> err
    case $? in
        3) ;;
        125) said 'cannot read the debug information.*-gsplit-dwarf' ;;
        *) cat out err; fail "split" ;;
    esac
fi
collect 139 segv ./ends segv
kept segv work
noted segv 'ended by SIGSEGV in main (ends.c:'
collect 139 made ./ends made
said 'ended by SIGSEGV in code that it had made itself.*-e timer'
collect 139 overflow ./ends overflow
noted overflow 'ended by SIGSEGV in deep (ends.c:'
[ -z "${LONG:-}" ] || { collect 7 leave ./ends _exit && kept leave work; }
collect 9 group ./ends group
kept group work more

# killed: all but the last moments; again where it was killed while it wrote, as on a busy machine
for again in 1 2 3 4 5; do
    "$LWP" collect -q --force --detect redundancy -e exact -o killed -- ./ends spin > out 2> err &
    lwp=$!
    for ((i = 0; i < 300; i++)); do
        [ -s out ] && [ -n "$(find killed -name t0.lwps -newer out 2> /dev/null)" ] && break
        sleep 0.1
    done
    kill -KILL "$(pgrep -P $lwp)"
    wait $lwp
    [ $? = 137 ] || fail "killed: $?"
    "$LWP" analyze -q killed && /usr/bin/python3 wasted.py killed work more && break
    [ $again -lt 5 ] || fail "killed: counts"
done

# no memory: for tracing, or only for the program, which one as the limit and the tables fall: never without a sentence
limited=0
for megabytes in 60 100 130 ${LONG:+80 120 140 150}; do
    "$LWP" collect -q --detect redundancy -e exact -o memory$megabytes -- sh -c "ulimit -v ${megabytes}000; exec ./ends memory" > out 2> err
    case $? in
    4) [ ! -s err ] || { cat err; fail "$megabytes MB sufficed, but something was said"; } ;;
    125)
        said 'no memory left for tracing'
        limited=$((limited + 1)) ;;
    127) grep -q 'shared libraries' err || { cat err; fail "$megabytes MB: the program was not found"; } ;;
    *) cat out err; fail "$megabytes MB: another exit status" ;;
    esac
    grep -q 'aspacem' err && fail "Valgrind's map of memory is on stderr"
done
[ $limited -gt 0 ] || fail "there was always memory for tracing"
collect 4 memory1000 sh -c "ulimit -v 1000000; exec ./ends memory"

# a program that executes itself again: /proc/self/exe is its own file, not Valgrind's tool
collect 0 again ./ends exec /proc/self/exe
[ "$(cat out)" = "$(printf 'worked\nworked')" ] || { cat out err; fail "a program did not execute itself"; }
[ "$(ls -d again/p* | wc -l)" = 2 ] || { ls again; fail "two images were not recorded"; }

# programs that Valgrind does not run: refused, or run as usual by those that are traced
cp ends marked && chmod u+s marked || fail "chmod"
collect 125 refused ./marked
said 'is setuid, and Valgrind'
[ ! -e refused ] || fail "a result was left"
collect 0 gains ./ends exec ./marked
[ "$(cat out)" = "$(printf 'worked\nworked')" ] || { cat out err; fail "a setuid program was not run"; }
noted gains './marked, which the program started, is setuid'
printf '.globl _start\n_start: mov $1, %%eax\n mov $42, %%ebx\n int $0x80\n' > old.S
if $CC -m32 -nostdlib -static -o old old.S 2> /dev/null && (./old; [ $? = 42 ]); then
    collect 42 older ./ends exec ./old
    noted older './old, which the program started, is a 32-bit program'
fi
if [ "${LONG:-}" ] && $CC -O2 -g -pthread -static -o fixed "$SRC/tests/programs/ends.c" 2> /dev/null; then
    collect 7 static ./fixed _exit
    kept static work
fi

# Valgrind was there when lwp was built, and now it is not
mkdir -p gone/exact && cp "$LWP" gone/lwp && cp "$BUILD/exact/lwp-amd64-linux" gone/exact || fail "cp"
ln -s /nowhere/launcher /nowhere/vgpreload_core-amd64-linux.so /nowhere/default.supp gone/exact
gone/lwp collect -e exact -o none ./ends > out 2> err
[ $? = 125 ] && grep -q 'apt install valgrind' err || { cat err; fail "without Valgrind"; }
# limits of open files, as servers set them: both lowered to what is needed, and inherited by what is executed
cat > files.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
static void say(int status, const struct rlimit *limit)
{
    printf("%d %lu %lu\n", status, (long)limit->rlim_cur, (long)limit->rlim_max);
    fflush(stdout);
}
int main(int argc, char **argv)
{
    struct rlimit limit = {0, 0}, want = {900, 1500};
    if (argc > 1)
        return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur != 1400;
    int status = prlimit(0, RLIMIT_NOFILE, &want, &limit);
    say(status, &limit);
    want.rlim_cur = 1400;
    say(setrlimit(RLIMIT_NOFILE, &want), &want);
    say(getrlimit(RLIMIT_NOFILE, &limit), &limit);
    want.rlim_max = 4000;
    say(geteuid() ? setrlimit(RLIMIT_NOFILE, &want) : -1, &want);
    execl("./no-such-program", "none", NULL);
    say(dup2(1, 1399) != 1399 || dup2(1, 1400) >= 0, &limit);
    for (int fd = 3; fd < 1400; fd++)
        close(fd);
    return execl(argv[0], argv[0], "again", NULL);
}
C
$CC -Wall -Wextra -o files files.c || fail "compile files.c"
for follow in --follow-fork --no-follow-fork; do
    (ulimit -S -n 1024 && "$LWP" collect -q -e exact $follow -o files$follow -- ./files > out 2> err) || { cat out err; fail "files: status $?"; }
    [ "$(cut -d ' ' -f 1,2 out | tr '\n' ' ')" = "0 1024 0 1400 0 1400 -1 1400 0 1400 " ] || { cat out; fail "limits of files"; }
done
# a forked child that cannot make files in the result goes on without
cat > moved.c <<'C'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int status = 1;
    if (rename("moved", "away"))
        return 1;
    if (!fork())
        _exit(puts("from the child") < 0 || fflush(stdout));
    wait(&status);
    return rename("away", "moved") || status;
}
C
$CC -Wall -Wextra -o moving moved.c && "$LWP" collect -q -e exact -o moved -- ./moving > out 2> err || { cat err; fail "moved: status $?"; }
grep -qx "from the child" out || { cat out err; fail "moved: the child"; }
exit 0
