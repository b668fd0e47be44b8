#!/bin/sh
# Usage: demo.sh LWP EXAMPLES_BIN OUT
# Profiles each example, prints the advice, then measures what following it gains: before and after in turns, median. Holds
# the profiles of the two against each other, too. Ends with a table of what was promised and what came.
set -u
lwp=$1 bin=$2 out=$3
pairs=5 few=3 enough=30 # pairs; where they take more than `enough` seconds, a few do
mkdir -p "$out" || exit 1

# The wall seconds of one run; its output goes to a file.
seconds_of() {
    start=$(date +%s%N)
    "$@" > "$out/output" || { echo "demo: $* failed" >&2; exit 1; }
    end=$(date +%s%N)
    awk -v ns=$((end - start)) 'BEGIN { printf "%.4f\n", ns / 1e9 }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# The range lwp promises for the whole program, of the finding that promises most.
promised() {
    "$lwp" report --json "$1" | python3 -c 'import json, sys
ranges = [f["expected_speedup"] for f in json.load(sys.stdin)["findings"] if f["expected_speedup"]]
print("%.2f to %.2f" % tuple(max(ranges, key=lambda r: r[1])) if ranges else "nothing")'
}

: > "$out/table"
# Each with about half of its own rounds, some five seconds before the change.
for case in neuron:20 neighbours:200 tree:40 readings:100 diffusion:8 boxes:3 stencil:75 nochange:80 rows:100; do
    example=${case%:*} rounds=${case#*:}
    echo
    echo "=== $example"
    "$lwp" collect --force -o "$out/$example" -- "$bin/$example" 1 "$rounds" > "$out/output" 2> "$out/$example.log" ||
        { cat "$out/$example.log" >&2; echo "demo: lwp collect failed on $example" >&2; exit 1; }
    "$lwp" report "$out/$example" || exit 1
    "$lwp" export --force -o "$out/$example.html" "$out/$example" > "$out/$example.log" 2>&1 ||
        { cat "$out/$example.log" >&2; exit 1; }
    promise=$(promised "$out/$example")
    if [ ! -x "$bin/${example}_fixed" ]; then
        echo "promised: $promise; there is no fixed version, because there is nothing to fix"
        printf '%-12s %-14s %s\n' "$example" "$promise" "nothing to fix" >> "$out/table"
    else
        : > "$out/before"; : > "$out/after"; : > "$out/ratios"
        pair=0 begin=$(date +%s)
        while [ $pair -lt $pairs ] && { [ $pair -lt $few ] || [ $(($(date +%s) - begin)) -lt $enough ]; }; do
            before=$(seconds_of "$bin/$example" 1 "$rounds") || exit 1
            cp "$out/output" "$out/output.before"
            after=$(seconds_of "$bin/${example}_fixed" 1 "$rounds") || exit 1
            cmp -s "$out/output" "$out/output.before" || { echo "demo: the fixed $example prints another checksum" >&2; exit 1; }
            echo "$before" >> "$out/before"; echo "$after" >> "$out/after"
            awk -v b="$before" -v a="$after" 'BEGIN { print b / a }' >> "$out/ratios"
            pair=$((pair + 1))
        done
        "$lwp" collect --force --no-measure -o "$out/${example}_fixed" -- "$bin/${example}_fixed" 1 "$rounds" > "$out/output" 2> "$out/$example.log" ||
            { cat "$out/$example.log" >&2; echo "demo: lwp collect failed on ${example}_fixed" >&2; exit 1; }
        echo
        echo "--- lwp diff $out/$example $out/${example}_fixed"
        "$lwp" diff "$out/$example" "$out/${example}_fixed" > "$out/output" || exit 1
        sed '/^$/q' "$out/output"
        [ "$promise" = nothing ] && echo "promised: nothing" || echo "promised: faster by a factor of $promise"
        awk -v b="$(median < "$out/before")" -v a="$(median < "$out/after")" -v r="$(median < "$out/ratios")" -v n=$pair \
            'BEGIN { printf "measured: %.2f (median of %d pairs without lwp; %.2f s before, %.2f s after)\n", r, n, b, a }'
        printf '%-12s %-14s %.2f\n' "$example" "$promise" "$(median < "$out/ratios")" >> "$out/table"
    fi
    echo "report:   $out/$example.html"
done
echo
printf '%-12s %-14s %s\n' example promised measured
cat "$out/table"
rm -f "$out/output" "$out/output.before" "$out/before" "$out/after" "$out/ratios" "$out/table"
echo
echo "Open one of the .html files in a browser, or: $lwp serve $out/neuron"
