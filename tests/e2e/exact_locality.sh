#!/bin/bash
# Locality from full traces: loops that go across the lines are told to be exchanged with those around them, their mended
# twins are left alone and have shorter distances and strides; the same trace on another machine's caches. LONG: more of each.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
cat > machine.json <<'J'
{"line_bytes": 64, "caches": [{"level": 1, "bytes": 32768, "ways": 8, "shared_by": 1}, {"level": 2, "bytes": 1048576, "ways": 16, "shared_by": 1},
 {"level": 3, "bytes": 16777216, "ways": 16, "shared_by": 8}]}
J
sed 's/32768, "ways": 8/4194304, "ways": 16/; s/1048576/8388608/' machine.json > large.json
for name in layer layer_fixed ${LONG:+speckle speckle_fixed}; do
    "$LWP" collect -q --no-analyze -e exact --detect layout,locality --window all --machine machine.json -o "$name" -- "$BUILD/examples-bin/$name" 1 3 > "$name.out" 2> err || { cat err; fail "$name"; }
    "$LWP" analyze -q --no-measure --machine large.json "$name" || fail "analyze $name"
done
cmp layer.out layer_fixed.out && { [ -z "${LONG:-}" ] || cmp speckle.out speckle_fixed.out; } || fail "the twins print different sums"
"$LWP" analyze --machine layer.out layer 2> err && fail "a machine that is none was taken"
grep -q 'layer.out' err || fail "what is wrong with the machine: $(cat err)"
cat > check.py <<'PY'
import json, os
def load(name):
    d = json.load(open(name + "/analysis.json"))
    rows = {(d["objects"][r["object"]]["name"], d["loops"][r["loop"]]["function"]): r for r in reversed(d["locality"]) if r["object"] is not None and r["loop"] is not None}
    return d, rows
def advice(d): return [f["title"] for f in d["findings"] if f["kind"] == "locality"]
for name, data, function, row in [("layer", "weights", "forward", 512), ("speckle", "change", "diffuse", 600)][:2 if "LONG" in os.environ else 1]:
    bad, rows = load(name)
    good, mended = load(name + "_fixed")
    before, after = rows[data, function], mended[data, function]
    assert before["stride_lines"]["dominant"] == row * 8 / 64 and before["stride_lines"]["outer"] == 1 / 8, before
    assert after["stride_lines"]["dominant"] in (1 / 8, 1 / 4), after
    assert before["reuse_distance"]["median"] > 10 * after["reuse_distance"]["median"], (before, after)
    assert before["misses"]["L1"] > 5 * after["misses"]["L1"], (before, after)
    assert before["accesses"] in (after["accesses"], 2 * after["accesses"]), (before, after)
    assert before["elsewhere"]["misses"]["L1"] < before["misses"]["L1"] / 5, before   # it all fits there
    assert any("%s.c" % name in t and "exchange" in t for t in advice(bad)), bad["findings"]
    assert not advice(good), good["findings"]
    assert not any(f["kind"] in ("regroup", "split") for f in bad["findings"]), bad["findings"]  # first the loops
bad, rows = load("layer")
assert rows["weights", "forward"]["accesses"] == 3 * 1024 * 512, rows  # each of them, of all rounds
assert sum(b["count"] for b in rows["weights", "forward"]["reuse_distance"]["buckets"]) + rows["weights", "forward"]["reuse_distance"]["beyond"] == 3 * 1024 * 512
assert any("machine asked about" in n for n in bad["run"]["notes"]), bad["run"]["notes"]
PY
/usr/bin/python3 check.py || fail "what was found"
for name in layer ${LONG:+speckle}; do
    /usr/bin/python3 -m jsonschema -i "$name/analysis.json" "$SRC/docs/analysis.schema.json" || fail "the schema is not obeyed"
done
"$LWP" export layer -o layer.html > out 2>&1 || { cat out; fail "export"; }
# lines visited in turn: the distance is their number less one, to the last digit (MACPO's 15 and 11 were one number before)
cat > turn.c <<'C'
static volatile long a[6000 * 8] __attribute__((aligned(64)));
__attribute__((noinline)) static void turn(int lines, int rounds) { for (int r = 0; r < rounds; r++) for (int i = 0; i < lines; i++) a[i * 8] = r; }
int main(void) { turn(LINES, LINES < 100 ? 1000 : 5); return 0; }
C
for lines in 9 ${LONG:+12 16} 5278; do
    $CC -O2 -g -DLINES=$lines turn.c -o turn && "$LWP" collect -q --no-analyze -e exact --detect locality --window all -o turn.$lines -- ./turn && "$LWP" analyze -q turn.$lines || fail "turn $lines"
done
/usr/bin/python3 - <<'PY' || fail "medians"
import json, os
for lines in (9, 12, 16, 5278) if "LONG" in os.environ else (9, 5278):
    d = json.load(open("turn.%d/analysis.json" % lines))
    rows = [r for r in d["locality"] if r["object"] is not None and d["objects"][r["object"]]["name"] == "a"]
    assert rows[0]["reuse_distance"]["median"] == lines - 1, (lines, rows)
PY
# advice on layout is replayed: every element's 64 bytes were one line; the parts that loops use are a quarter of one
"$LWP" collect -q --no-analyze -e exact --detect layout,locality --machine machine.json -o neuron -- "$BUILD/examples-bin/neuron" 1 1 > out 2>&1 || { cat out; fail "neuron"; }
"$LWP" analyze -q --no-measure neuron && "$LWP" report neuron > out || fail "analyze neuron"
grep -q 'replayed .* L1 misses' out && grep -q ' layer in match ' out || { cat out; fail "report neuron"; }
/usr/bin/python3 - <<'PY' || fail "the replay of neuron"
import json
d = json.load(open("neuron/analysis.json"))
r = d["splits"][0]["replay"]
lines = d["splits"][0]["traffic"]
for level in "L1", "L2", "L3":
    saved = r["after"][level] / r["before"][level]
    assert 0.8 * lines["after"] / lines["before"] < saved < 1.3 * lines["after"] / lines["before"], (r, lines)
assert 0 < r["accesses"] <= sum(x["accesses"] for x in d["locality"]) * 1.01 and r["after"]["cycles"] < r["before"]["cycles"], r
PY
/usr/bin/python3 -m jsonschema -i neuron/analysis.json "$SRC/docs/analysis.schema.json" || fail "the schema is not obeyed"
. "$SRC/tests/sampled.sh"
# from samples: the same advice and strides, which the code tells (tests/long/loop_order.sh has other loops); what takes a trace is null
for name in layer layer_fixed; do
    [ $name = layer ] && rounds=80 || rounds=500
    collect_samples 600 sampled.$name $rounds -q -F 2000 --max-overhead 25 -- "$BUILD/examples-bin/$name" 1 @ && "$LWP" analyze -q --no-measure sampled.$name || fail "$name sampled"
    /usr/bin/python3 -m jsonschema -i sampled.$name/analysis.json "$SRC/docs/analysis.schema.json" || fail "the schema is not obeyed"
done
cat >> check.py <<'PY'
for name in "layer", "layer_fixed":
    assert len(advice(load("sampled." + name)[0])) == (name == "layer"), load("sampled." + name)[0]["findings"]
    traced, sampled = load(name)[1]["weights", "forward"], load("sampled." + name)[1].get(("weights", "forward"))
    if not sampled or (name == "layer_fixed" and sampled["seen"] < 20): # row by row some processors hardly wait for them
        weights = [o for o in load("sampled." + name)[0]["objects"] if o["name"] == "weights" and o["share"] > 0.02]
        assert name == "layer_fixed" and not weights, weights
        print("skip", name, "sampled: too few accesses were to its weights")
        continue
    assert sampled["stride_lines"]["dominant"] == traced["stride_lines"]["dominant"], (sampled, traced)
    assert sampled["share"] > 0 and sampled["seen"] > 0 and sampled["streams"] >= (name == "layer_fixed"), sampled
    assert 0 < sampled["pages"] <= 1024 * 512 * 8 / 4096 + 1, sampled
    assert all(sampled[key] is None for key in ("accesses", "stores", "reuse_distance", "misses", "reuse_factor", "cycles_per_access", "conflicts", "restarted")), sampled
PY
/usr/bin/python3 check.py || fail "what samples say"
[ "${LONG:-}" ] || { echo "passed"; exit 0; }
# with communication all is traced, but the file keeps to windows
"$LWP" collect -q --no-analyze -e exact --detect communication,locality -o windows -- "$BUILD/examples-bin/layer" 2 20 > out 2>&1 && "$LWP" analyze -q --no-measure windows || { cat out; fail "layer with communication"; }
/usr/bin/python3 - <<'PY' || fail "windows"
import json
d = json.load(open("windows/analysis.json"))
assert 0 < sum(x["accesses"] for x in d["locality"]) < d["communication"]["accesses"] / 3
PY
# a program that is fine, in windows
"$LWP" collect -q --no-analyze -e exact --detect layout,locality -o fine -- "$BUILD/examples-bin/nochange" 2 1 > out 2>&1 || { cat out; fail "nochange"; }
"$LWP" analyze -q fine || fail "analyze nochange"
/usr/bin/python3 - <<'PY' || fail "nochange"
import json
d = json.load(open("fine/analysis.json"))
assert d["locality"] and not d["findings"], d["findings"]
PY
echo "passed"
