#!/bin/sh
# The weight of loops and objects against what each example measures itself, in the same run, the fields each loop uses, and the
# advice. tests/long/shares.sh has all examples and counts of threads, tests/long/advice.sh the advice from as few samples as users take.
# Sampled often, so that four standard deviations are some 3 points.
set -u
. "$SRC/tests/truth/advice_runs.sh"
status=0
rounds=80
[ -z "${LONG:-}" ] || rounds= # the example's own
for example in ${examples:-neuron}; do
    example_build $example "$TMP/$example" -g || exit 1
    for threads in ${threads_of:-4}; do
        for _ in 1 2 3; do
            rm -rf "$TMP/result"
            "$LWP" collect --no-analyze -F 2000 --max-overhead 15 -o "$TMP/result" -- "$TMP/$example" $threads $rounds --time > "$TMP/truth" 2> "$TMP/log" &&
                "$LWP" analyze --no-measure "$TMP/result" 2>> "$TMP/log" || { cat "$TMP/log"; exit 1; }
            # What else the machine does may spend the budget for allocations: then data of the example is unknown, and it is run again.
            unrecorded=$(/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["run"].get("allocations_unrecorded", 0))' "$TMP/result/analysis.json")
            # Two loops that use the same field differ by little: on a slow machine a run's samples may say which weighs more wrongly.
            [ "$unrecorded" = 0 ] && /usr/bin/python3 "$SRC/tests/truth/analysis.py" advice $example "$TMP/result/analysis.json" > "$TMP/advice" && break
        done
        echo "$example, $threads threads; $unrecorded allocations unrecorded"
        /usr/bin/python3 "$SRC/tests/truth/analysis.py" shares "$TMP/result/analysis.json" "$TMP/truth" || status=1
        /usr/bin/python3 "$SRC/tests/truth/analysis.py" advice $example "$TMP/result/analysis.json" || status=1
    done
done
[ "${LONG:-}" ] || exit $status
# LWPTool's table 11: the object's share (l_d) and its fields' are those of the example's own clock whatever the sampling period
example_build neuron "$TMP/neuron" -g || exit 1
for rate in 250 1000 4000; do
    "$LWP" collect --no-analyze -F $rate --max-overhead 60 -o "$TMP/rate.$rate" -- "$TMP/neuron" 1 8 --time > "$TMP/truth.$rate" 2> "$TMP/log" &&
        "$LWP" analyze --no-measure "$TMP/rate.$rate" 2>> "$TMP/log" || { cat "$TMP/log"; exit 1; }
done
/usr/bin/python3 - "$TMP" <<'PY' || status=1
import json, math, sys
rows, truth = {}, {}
for rate in 250, 1000, 4000:
    d = json.load(open(f"{sys.argv[1]}/rate.{rate}/analysis.json"))
    layer = next(o for o in d["objects"] if o["name"] == "layer")
    rows[rate] = d["run"]["samples"], layer["share"], {f["name"]: f["share"] for f in layer["fields"]}
    print(rate, rows[rate])
(few, *_), (many, *_) = rows[250], rows[4000]
assert many > 6 * few > 0, rows  # they are different periods
for rate, (samples, share, fields) in rows.items():
    for name, part, mean in [("layer", share, rows[4000][1])] + [(f, fields.get(f, 0), rows[4000][2][f]) for f in rows[4000][2]]:
        spread = math.sqrt(mean * (1 - mean) * (1 / samples + 1 / many)) * 1.5  # samples do not weigh the same
        assert abs(part - mean) < 4 * spread + 0.01, (rate, name, part, mean, spread)
PY
exit $status
