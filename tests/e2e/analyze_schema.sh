#!/bin/sh
# A real run: analysis.json obeys its schema, is cached, merges; report prints it; wrong use gets one sentence.
set -u
fail() { echo "FAIL: $*"; exit 1; }
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || { echo "python3-jsonschema is not installed"; exit 77; }
cd "$TMP" || exit 1

cat > app.c <<'C'
#include <stdlib.h>
struct particle { double x, y, z, mass, vx, vy, vz, age; };
__attribute__((noinline)) static double sum(struct particle *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i].x; return s; }
int main(void)
{
    int n = 1000000;
    struct particle *all = calloc(n, sizeof *all);
    double s = 0;
    for (int i = 0; i < n; i++) all[i].x = i;
    for (int r = 0; r < 100; r++) {
        s += sum(all, n);
        __asm__ volatile("" ::: "memory"); /* else once is enough */
    }
    return s < 0;
}
C
${CC:-cc} -O2 -g -o app app.c || fail "cannot compile"
"$LWP" collect -o run -- ./app > collect.out 2>&1 || { cat collect.out; fail "collect"; }

"$LWP" analyze --quiet run > quiet.out 2>&1 || { cat quiet.out; fail "analyze"; }
[ -s quiet.out ] && { cat quiet.out; fail "--quiet speaks"; }
/usr/bin/python3 -m jsonschema -i run/analysis.json "$SRC/docs/analysis.schema.json" || fail "the schema is not obeyed"

/usr/bin/python3 - <<'P' || fail "ids do not hold together"
import json
a = json.load(open("run/analysis.json"))
def ok(array, i): return i is None or 0 <= i < len(a[array])
for o in a["objects"]:
    assert ok("contexts", o["context"]) and ok("contexts", o["common_context"]) and ok("modules", o["module"]), o
    assert o["share_ci"][0] <= o["share"] <= o["share_ci"][1], o
    assert all(ok("loops", l["loop"]) for l in o["loops"]), o
for l in a["loops"]:
    assert ok("loops", l["parent"]) and ok("modules", l["module"]), l
for s in a["splits"]:
    assert ok("objects", s["object"]), s
    assert s["expected_speedup"][0] >= 1.02 and s["expected_speedup"][0] <= s["expected_speedup"][1], s
    fields = [f for g in s["groups"] for f in g["fields"]] + s["cold"]["fields"]
    assert sorted(fields) == sorted(f["name"] for f in a["objects"][s["object"]]["fields"]), s
for f in a["findings"]:
    assert f["kind"] != "split" or f["refs"]["split"] < len(a["splits"]), f
assert sum(o["share"] for o in a["objects"]) <= 1.001
assert a["types"]["share"] >= a["types"]["share_with_field"] > 0.9, a["types"]
assert a["run"]["samples"] > 0 and a["run"]["command"] == ["./app"], a["run"]
P

"$LWP" analyze run 2>&1 | grep -q "up to date" || fail "not cached"
touch run/p*/process.lwps
"$LWP" analyze run 2>&1 | grep -q "wrote" || fail "not redone after the samples changed"
"$LWP" analyze -o both.json run run > both.out 2>&1 || { cat both.out; fail "merging"; }
/usr/bin/python3 -m jsonschema -i both.json "$SRC/docs/analysis.schema.json" || fail "merged: the schema is not obeyed"

"$LWP" report run > report.out 2>&1 || fail "report"
grep -q "Types *known for 9[0-9] %\|Types *known for 100 %" report.out || { cat report.out; fail "the report does not say how much is known by name"; }
grep -q "struct particle" report.out || { cat report.out; fail "the report does not name struct particle"; }
grep -q "$(printf '\033')" report.out && fail "colour although stdout is no terminal"
"$LWP" report --json run | cmp - run/analysis.json || fail "--json differs from the file"
[ "$("$LWP" report --brief run | wc -l)" -le 12 ] || fail "--brief is long"

one() { # status, words expected, command...
    want=$1 words=$2; shift 2
    "$@" > one.out 2>&1; got=$?
    [ $got = "$want" ] || { cat one.out; fail "$*: status $got, not $want"; }
    [ "$(wc -l < one.out)" = 1 ] || { cat one.out; fail "$*: not one line"; }
    grep -q "$words" one.out || { cat one.out; fail "$*: does not say '$words'"; }
}
/usr/bin/python3 "$SRC/tests/truth/profile_formats.py" "$LWP" run || fail "exported profiles"
"$LWP" annotate run app.c > annotate.out || fail "annotate"
# 128 B: each instruction of a loop that the compiler has unrolled twice
grep -Eq '^ +[0-9]+\.[0-9] % +(64|128) B all .*s \+= p\[i\]\.x' annotate.out || { cat annotate.out; fail "the line of the loop has no stall or stride"; }
one 1 "no line of other.c" "$LWP" annotate run other.c
one 125 "lwp annotate" "$LWP" annotate
mkdir empty
one 1 "lwp collect" "$LWP" analyze empty
one 1 "lwp collect" "$LWP" report nowhere
one 1 "is a file" "$LWP" report app.c
one 125 "lwp report DIR" "$LWP" report
one 125 "lwp analyze DIR" "$LWP" analyze
one 125 "unknown option" "$LWP" analyze --nope run
exit 0
