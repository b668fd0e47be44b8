#!/bin/bash
# What lwp analyze shows on a terminal while it reads a long trace, and what Ctrl-C leaves behind then: nothing. LONG: it is silent
# where nobody is told.
# Waits: for a long run's word
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
cat > long.c <<'C'
#include <stdio.h>
static volatile long data[100000];
int main(void)
{
    long sum = 0;
    for (int r = 0; r < 100; r++)
        for (int i = 0; i < 100000; i++) sum += data[i * 7919L % 100000];
    return printf("%ld\n", sum) < 0;
}
C
$CC -O1 -g -o long long.c || fail "compile"
"$LWP" collect -q -e exact --detect layout,locality --window all -o long.r -- ./long > out || fail "collect"
/usr/bin/python3 - "$LWP" <<'PY' || fail "progress"
import fcntl, os, pty, re, signal, struct, sys, termios
lwp = sys.argv[1]
def names(folder): return sorted(os.path.join(at, name) for at, _, files in os.walk(folder) for name in files)
def run(*arguments, until=None):
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
        os.execv(lwp, [lwp, "analyze", "--force", *arguments])
    shown = b""
    while True:
        try: more = os.read(terminal, 4096)
        except OSError: break
        if not more: break
        shown += more
        if until and re.search(until, shown):
            os.write(terminal, b"\x03")
            until = None
    return shown.decode(errors="replace"), os.waitpid(pid, 0)[1]
before = names(".")
shown, status = run("long.r", until=rb"reading long.r.*: \d+ %")
assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, (status, shown)
assert names(".") == before, set(names(".")) - set(before)
shown, status = run("long.r", "-o", "merged", until=rb"reading long.r.*: \d+ %")
assert os.WIFSIGNALED(status) and not os.path.exists("merged"), (status, shown)
shown, status = run("long.r")
assert status == 0 and re.search(r"reading long.r.*: \d+ %", shown) and shown.rstrip().endswith("wrote long.r/analysis.json"), shown
assert all(len(part) < 40 for part in re.split("\r(?:\033\\[K)?", shown) if part.startswith("reading")), shown  # a line that wraps stays
if "LONG" in os.environ:
    shown, status = run("-q", "long.r")
    assert status == 0 and not shown, shown
PY
# a long run of the exact engine says at a terminal what to expect, and nothing elsewhere
"$LWP" collect -e exact --no-analyze -o slow2.r -- sleep 6 > quiet 2>&1 &
quiet=$!
/usr/bin/python3 - "$LWP" <<'PY' || fail "no word in a long run"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], [sys.argv[1], "collect", "-e", "exact", "--no-analyze", "-o", "slow.r", "--", "sleep", "6"])
shown = b""
while True:
    try: more = os.read(terminal, 4096)
    except OSError: break
    shown += more
_, status = os.waitpid(pid, 0)
assert status == 0 and b"times slower; Ctrl-C ends the program" in shown, (status, shown)
PY
wait "$quiet" || fail "collect"
grep slower quiet && fail "a word to nobody"
if [ "${LONG:-}" ]; then
    "$LWP" analyze --force long.r > out 2>&1 && ! grep -q reading out || { cat out; fail "progress without a terminal"; }
fi
exit 0
