#!/bin/bash
# The exact engine: the program is not changed, the advice is the timer's, two runs write the same.
set -u
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

# neuron: the split that is known to be right, by the same records twice
for run in one two; do
    collect --detect layout -o $run "$BUILD/examples-bin/neuron" 1 2 > out 2> err || { cat err; fail "neuron"; }
    "$LWP" analyze -q $run || fail "analyze"
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
exit 0
