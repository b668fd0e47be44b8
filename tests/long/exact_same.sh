#!/bin/bash
# Two runs of one program under the exact engine give the same analysis.json, but for times and process ids; also where lwp
# is installed under a longer path; with one thread and with four. Programs that do the same each time, that is: the examples
# get a clock of their own, and no names are drawn at random. Gains are not measured: times differ. only="neuron.4 sort": these alone.
set -u
fail() { echo "FAILED: $*"; failed=1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
only=${only-}
failed=0 far=a/much/longer/path/than/that/of/the/other/one
mkdir -p $far && cp -r "$BUILD/lwp" "$BUILD/exact" $far || exit 1
cat > same.py <<'PY'
import json, re, sys
def load(name):
    d = json.load(open(name + "/analysis.json"))
    for key in "started", "wall_s", "cpu_s", "kernel_ns":
        d["run"][key] = None
    d["run"]["notes"] = [re.sub(r"[\d.]+ (%|ms|us|s)\b", r"N \1", note) for note in d["run"]["notes"]] # of what the kernel took
    for i, process in enumerate(d["run"]["processes"]):
        process["pid"] = i
    for part in d["objects"] + [d["communication"] or {}]:
        for thread in part.get("threads", []):
            thread["tid"] = None
    return json.dumps(d)
sys.exit(load("one") != load("two"))
PY
all=layout,redundancy,values,registers,spatial detect=$all ids='s/^[0-9]* [0-9]* //' # threads', of the programs that hand over words
same() { # NAME PROGRAM...
    local name=$1; shift
    [ -z "$only" ] || [[ " $only " == *" $name "* ]] || return
    for _ in 1 2 3; do # a program that prints ids does more where they have more digits
        rm -rf one two
        "$LWP" collect -q --no-analyze -e exact --detect $detect -o one -- "$@" > out.one 2> err &&
            $far/lwp collect -q --no-analyze -e exact --detect $detect -o two -- "$@" > out.two 2> err ||
            { cat err; fail "$name"; return; }
        [ $(wc -c < out.one) != $(wc -c < out.two) ] || break
    done
    "$LWP" analyze -q --no-measure one && "$LWP" analyze -q --no-measure two && /usr/bin/python3 same.py || fail "two runs of $name differ"
    cmp -s <(sed "$ids" out.one) <(sed "$ids" out.two) || fail "two outputs of $name differ"
}
for example in boxes diffusion neighbours neuron nochange readings registers rows stencil tree; do
    $CC -std=gnu11 -O2 -g -pthread -o $example "$SRC/examples/$example.c" "$SRC/tests/programs/own_clock.c" -lm || fail "$example"
    for threads in 1 4; do
        same $example.$threads ./$example $threads 1
    done
done
detect=communication
for program in ring master_worker; do # they end by the clock
    $CC -std=gnu11 -O1 -g -pthread -o $program "$SRC/tests/programs/$program.c" "$SRC/tests/programs/own_clock.c" || fail "$program"
    same $program ./$program 0.01
done
for example in neuron tree; do
    same $example.shared ./$example 4 1
done
detect=$all
command -v sqlite3 > /dev/null && same sqlite3 sqlite3 :memory: "create table t(a integer primary key, b text);
    with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000) insert into t select x, 'text' || x from c;
    select count(*), sum(length(b)) from t where b like '%9%';"
same compiler ${CC##* } -O1 -frandom-seed=1 -S -o /dev/null "$SRC/examples/rows.c" # else it draws names by the clock, and looks for its output; without ccache, which keeps what it made
same sort sort -r "$SRC/Makefile.in"
exit $failed
