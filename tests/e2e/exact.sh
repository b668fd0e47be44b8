#!/bin/bash
# The exact engine: the program is not changed, the advice is the timer's, two runs write the same.
set -u
. "$SRC/tests/library_path.sh"
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
collect() { "$LWP" collect -q --force -e exact "$@"; }

# input, output, exit status, signals; nothing of Valgrind's on stderr
printf 'b\na\n' | collect -o status -- sh -c 'sort; echo to stderr >&2; exit 3' > out 2> err
[ $? = 3 ] || fail "exit status"
[ "$(cat out)" = "$(printf 'a\nb')" ] || fail "output"
[ "$(cat err)" = "to stderr" ] || { cat err; fail "stderr"; }
[ "$(ls status | tr '\n' ' ' | sed 's/p[0-9.]*/P/g')" = "P P P run.json " ] || { ls status; fail "sh, its fork and sort are to have a folder each"; }
collect --window all -o signal -- sh -c 'kill -SEGV $$' > out 2> err
[ $? = 139 ] && ! grep -q == err || { cat err; fail "a signal"; }
"$LWP" collect -e exact -o none --window 0:1 true 2> err && fail "window 0:1"
grep -q -- '--window takes' err || fail "window 0:1 says $(cat err)"
[ ! -e none ] || fail "a result directory stays behind"

# neuron: the split that is known to be right, by the same records twice. What it prints of the time must not differ.
mkdir clocked && $CC -std=gnu11 -O2 -g -pthread -o clocked/neuron "$SRC/examples/neuron.c" "$SRC/tests/programs/own_clock.c" || fail "neuron with a clock of its own"
library_path clocked/neuron
for run in one two; do
    collect --no-analyze --detect layout,redundancy -o $run clocked/neuron 1 2 > out 2> err || { cat err; fail "neuron"; }
    "$LWP" analyze -q --no-measure $run || fail "analyze"
    "$LWP" dump $run/p*/t*.lwps | grep -v '^file\|^thread' > $run.dump
done
cmp one.dump two.dump || fail "two runs differ"
/usr/bin/python3 - one/analysis.json <<'PY' || fail "the advice"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["run"]["engine"] == "exact" and d["run"]["weight_unit"] == "simulated cycles", d["run"]
split = d["splits"][0]
groups = sorted("".join(sorted(f for f in g["fields"])) for g in split["groups"])
assert split["type"] == "struct neuron" and groups == ["IU", "P", "QX", "V", "W"], groups
assert split["cold"]["fields"] == ["R"], split["cold"]
PY

# sampling beside it, of ten times the rounds, as seldom loops decide the advice, too: both engines' shares, the same
# advice, and what both confirm
"$LWP" collect -q --no-measure -e timer -F 5000 --max-overhead 50 -o sampled -- "$BUILD/examples-bin/neuron" 1 20 > out 2> err || { cat err; fail "timer"; }
"$LWP" report sampled > sampled.text || fail "report"
! grep -q "measured here" sampled.text || fail "collected with --no-measure, and measured for the report"
"$LWP" diff sampled one > agreement || fail "lwp diff of a timer result and an exact one"
tr -s '\n ' ' ' < agreement > told
grep -q 'struct neuron [0-9.]* % .* sampled, [0-9.]* % exact; the same advice' told && grep -q 'both Split struct neuron' told || { cat agreement; fail "the agreement is not shown"; }
"$LWP" diff --json one sampled > agreement.json || fail "lwp diff --json"
/usr/bin/python3 - agreement.json "$SRC/docs/diff.schema.json" <<'PY' || fail "the agreement"
import json, sys
import jsonschema
diff = json.load(open(sys.argv[1]))
jsonschema.validate(diff, json.load(open(sys.argv[2])))
both = diff["agreement"]
assert (both["sampled"], both["exact"]) == ("after", "before"), both
neuron = [s for s in both["structures"] if s["type"] == "struct neuron"]
assert len(neuron) == 1 and neuron[0]["advice"] == "same", both["structures"]
low, high = neuron[0]["sampled_ci"]
assert low <= neuron[0]["sampled"] <= high and neuron[0]["within"] == (low <= neuron[0]["exact"] <= high), neuron
assert abs(neuron[0]["sampled"] - neuron[0]["exact"]) < 0.25 and 0 <= both["weight_apart"] <= 1, both
dead = [r for r in both["redundancies"] if r["kind"] == "dead_store" and r["exact"]]
assert all(0 < r["exact"] <= 1 for r in dead), dead
PY
"$LWP" diff --json one two | grep -q '"agreement": null' || fail "two exact results have no agreement to show"
exit 0
