#!/bin/sh
# The weight of loops and objects against what each example measures itself, in the same run, the fields each loop uses, and the
# advice. tests/long/shares.sh has all examples and counts of threads, tests/long/advice.sh the advice from as few samples as users take.
# Sampled often, so that four standard deviations are some 3 points.
set -u
. "$SRC/tests/truth/advice_runs.sh"
status=0
for example in ${examples:-neuron tree}; do
    example_build $example "$TMP/$example" -g || exit 1
    for threads in ${threads_of:-4}; do
        rm -rf "$TMP/result"
        "$LWP" collect --no-analyze -F 2000 --max-overhead 30 -o "$TMP/result" -- "$TMP/$example" $threads --time > "$TMP/truth" 2> "$TMP/log" &&
            "$LWP" analyze --no-measure "$TMP/result" 2>> "$TMP/log" || { cat "$TMP/log"; exit 1; }
        echo "$example, $threads threads"
        /usr/bin/python3 "$SRC/tests/truth/analysis.py" shares "$TMP/result/analysis.json" "$TMP/truth" || status=1
        /usr/bin/python3 "$SRC/tests/truth/analysis.py" advice $example "$TMP/result/analysis.json" || status=1
    done
done
exit $status
