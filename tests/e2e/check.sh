#!/bin/bash
# lwp check: the same program passes or fails run after run; a baseline tells new, known and gone; budgets; wrong use. LONG: a run more.
set -u
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
export LWP_NO_MEASURE=1 # what the accesses gain when they are run depends on what else the machine does just then

cat > app.c <<'C'
#include <stdlib.h>
struct particle { double x, y, z, mass, vx, vy, vz, age; };
#ifdef MOVED /* lines move, names stay */


#endif
__attribute__((noipa)) static double sum(struct particle *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i].x; return s; }
int main(void)
{
    int n = 1000000;
    struct particle *all = calloc(n, sizeof *all);
    double s = 0;
    for (int i = 0; i < n; i++) all[i].x = i;
    for (int r = 0; r < 150; r++) s += sum(all, n);
    return s < 0;
}
C
$CC -O2 -g -o app app.c && $CC -O2 -g -DMOVED -o moved app.c || fail "cannot compile"
for run in 1 ${LONG:+2} 3; do
    program=./app; [ $run -lt 3 ] || program=./moved
    "$LWP" collect -q -F 2000 --max-overhead 25 -o run$run $program 2> err || { cat err; fail "collect"; }
    "$LWP" check run$run > out 2> err; status=$?
    [ $status = 1 ] && grep -q '^FAILS *split: struct particle' out || { cat out err; fail "run $run: status $status"; }
    [ $run != 1 ] || "$LWP" check --baseline base.json --write-baseline run1 > out 2> err || { cat out err; fail "--write-baseline"; }
    "$LWP" check --baseline base.json run$run > out 2> err || { cat out err; fail "run $run against the baseline of the first"; }
    grep -q '^passes  known   split: struct particle' out || { cat out; fail "run $run: not known"; }
    cp base.json before && "$LWP" check --baseline base.json --write-baseline run$run > out 2> err || fail "writing again"
    cmp before base.json || fail "run $run changes the baseline though nothing is new"
done

# the rest from runs made by hand
/usr/bin/python3 - "$SRC/tests/web/analysis.json" <<'P' || fail "making the input"
import copy, json, sys
base = json.load(open(sys.argv[1]))
def save(name, change):
    data = copy.deepcopy(base)
    change(data)
    json.dump(data, open(name + ".json", "w"))
def gain(data, low, high, confidence="high"):
    data["findings"][0]["expected_speedup"] = data["splits"][0]["expected_speedup"] = [low, high]
    data["splits"][0]["confidence"] = confidence
    del data["findings"][1:]
def stores(data, low, high):
    gain(data, 1.0, 1.0)
    data["findings"] = [{"id": "dead-store-1", "kind": "redundancy", "title": "t", "severity": "low", "share": 0.3, "expected_speedup": None, "refs": {"redundancy": 0}, "next_step": "n"}]
    data["redundancy_totals"] = {"dead_store": {"share": (low + high) / 2, "share_ci": [low, high]}}
    data["redundancies"] = [{"kind": "dead_store", "share": (low + high) / 2, "share_ci": [low, high], "first": 0, "second": 0, "samples": 9, "cause": "unknown"}]
def group(names):
    def change(data):
        gain(data, 1.2, 1.4)
        data["regroups"] = [{"objects": [0, 1], "names": names, "confidence": "high", "traffic": {"before": 2, "after": 1}, "declaration": "struct g;"}]
        data["findings"] = [{"id": "regroup-1", "kind": "regroup", "title": "t", "severity": "low", "share": 0.3, "expected_speedup": [1.2, 1.4], "refs": {"regroup": 0}, "next_step": "n"}]
    return change
save("certain", lambda d: gain(d, 1.2, 1.9))
save("unsure", lambda d: gain(d, 1.04, 1.9))
save("low", lambda d: gain(d, 1.2, 1.9, "low"))
save("worse", lambda d: gain(d, 2.0, 3.0))
save("few", lambda d: (gain(d, 1.01, 1.2), d["run"].update(samples_with_address=50)))
save("few_certain", lambda d: (gain(d, 1.2, 1.9), d["run"].update(samples_with_address=50)))
save("few_exact", lambda d: (gain(d, 1.01, 1.2), d["run"].update(samples_with_address=50, engine="exact")))
save("clean", lambda d: d["findings"].clear())
save("stores", lambda d: stores(d, 0.2, 0.4))
save("many_stores", lambda d: stores(d, 0.95, 0.99))
save("four", group(["d", "a", "b", "c"]))
save("three", group(["b", "a", "d"]))
save("other", group(["x", "y", "a"]))
json.dump({"max_gain": 1.3, "rules": {"split": {"max_gain": 1.1}}}, open("rule.budget", "w"))
json.dump({"totals_percent": {"dead_store": 10}}, open("total.budget", "w"))
json.dump({"max_gian": 1.3}, open("typo.budget", "w"))
json.dump({"rules": {"spilt": {"max_gain": 2}}}, open("rule_typo.budget", "w"))
json.dump({"max_gain": "1.3"}, open("type.budget", "w"))
P

checks() { # STATUS WORDS ARGUMENTS...
    want=$1 words=$2; shift 2
    "$LWP" check "$@" > out 2> err; got=$?
    [ $got = "$want" ] || { cat out err; fail "check $*: status $got, not $want"; }
    cat out err | tr -s '\n ' ' ' | grep -Eq -- "$words" || { cat out err; fail "check $*: does not say '$words'"; }
    [ $got -lt 2 ] || [ -s out ] || [ "$(wc -l < err)" = 1 ] || { cat err; fail "check $*: not one sentence"; }
}
checks 1 '1 of 2 checks failed' certain.json
checks 0 'within the allowed 1.05x' unsure.json
checks 0 'confidence is low' low.json
checks 0 'within the allowed 1.30x' --max-gain 1.3 certain.json
checks 1 'more than the allowed 1.10x' --budget rule.budget certain.json
checks 2 '50 samples with an address are fewer than 100' few.json
checks 1 'more than the allowed' few_certain.json # what is certain does not wait for more samples
checks 0 passed --min-samples 10 few.json
checks 0 'counted by the exact engine' few_exact.json
checks 0 'passed: nothing was found' clean.json
checks 0 'at least 20.0 % of the program, within' stores.json
checks 1 'more than the allowed 15.0 %' --max-share 15 stores.json
checks 1 'total: dead_store at least 20.0 %, more' --budget total.budget stores.json
checks 2 'total: dead_store not measured' --budget total.budget unsure.json

sed -n '/^    {$/,/^    }$/p' "$SRC/docs/ci.md" > documented.budget
checks 1 'total: dead_store.* allowed 10.0 %.*dead-store: .*allowed 5.0 %' --budget documented.budget stores.json

checks 0 'wrote known.json' --baseline known.json --write-baseline certain.json
checks 0 "known split.*within the baseline's 1.90x" --baseline known.json certain.json
checks 1 "more than the baseline's 1.90x" --baseline known.json worse.json
checks 0 'gone split' --baseline known.json clean.json
checks 1 'new dead-store' --max-share 15 --baseline known.json stores.json
checks 0 'known split' --baseline certain.json certain.json # an analysis is a baseline, too
"$LWP" check --baseline both.json --write-baseline stores.json > out 2> err && cp both.json first && "$LWP" check --baseline both.json --write-baseline certain.json > out 2> err || fail "both"
grep -q dead-store both.json && grep -q split both.json || { cat both.json; fail "what was not looked for is lost"; }
checks 0 'known dead-store.*not measured in this run' --baseline both.json certain.json
checks 0 'wrote four' --baseline four.baseline --write-baseline four.json
checks 0 'known regroup' --baseline four.baseline three.json # one array more or less is the same advice
checks 1 'new regroup' --baseline four.baseline other.json

checks 125 'lwp check DIR'
checks 125 'lwp check DIR' certain.json certain.json
checks 125 'unknown option' --nope certain.json
checks 125 'did you mean .--max-gain' --max-gian 2 certain.json
checks 125 'wants a number from 1 to 1000' --max-gain 0.5 certain.json
checks 125 'wants one of text' --format html certain.json
checks 125 'needs to know which' --write-baseline certain.json
checks 2 'max_gian. is no limit' --budget typo.budget certain.json
checks 2 "no rule 'spilt'" --budget rule_typo.budget certain.json
checks 2 'wants a number' --budget type.budget certain.json
checks 2 'cannot read the budget' --budget nowhere certain.json
checks 2 'write-baseline makes it' --baseline nowhere certain.json
checks 2 'no baseline of lwp check' --baseline app.c certain.json
checks 2 "there is no 'nowhere'" nowhere
mkdir empty && checks 2 'lwp collect' empty
checks 2 'cannot write' --baseline empty/none/base.json --write-baseline certain.json
exit 0
