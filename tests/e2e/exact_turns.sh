#!/bin/bash
# Under the exact engine threads run in the same order each time, also where other programs take the processors; natively
# the order of this program's differs nearly always. LONG: once more.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O1 -g -pthread -Wall -Wextra -Werror -o turns "$SRC/tests/programs/turns.c" || fail "compile"
run() {
    timeout 60 "$LWP" collect -q -e exact --detect layout -o "$1" -- ./turns > "$1.out" 2> err || { cat err; fail "run $1"; }
    cmp -s one.out "$1.out" || fail "run $1: the threads ran in another order"
}
run one
run two
for i in 1 2 3 4; do timeout 60 sh -c 'while :; do :; done' & busy="${busy:-} $!"; done
[ -z "${LONG:-}" ] || run three
run four
kill $busy
for name in one four; do
    "$LWP" analyze -q $name && /usr/bin/python3 - $name > $name.txt <<'PY' || fail "analyze $name"
import json, sys
d = json.load(open(sys.argv[1] + "/analysis.json"))
d.pop("run")
for row in d["objects"]:
    for thread in row["threads"]:
        thread.pop("tid") # the system's
print(json.dumps(d))
PY
done
cmp -s one.txt four.txt || fail "the same order, but other results"
