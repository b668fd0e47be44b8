# Sourced: size_runs SIZES... holds the element size against the truth at -O2 and -O3 -march=native. Needs LWP, SRC, TMP, CC.
# Without debug information (DEBUG=) loops whose accesses are all vectors over several elements may leave it unknown.
size_runs() {
    failures=0 total=0 what=size
    [ -n "${DEBUG--g}" ] || what=size-or-unknown
    for size; do
        for level in -O2 "-O3 -march=native"; do
            # shellcheck disable=SC2086
            ${CC:-cc} $level ${DEBUG--g} -DSIZE="$size" -o "$TMP/sized" "$SRC/tests/truth/sized.c" || return 1
            rm -rf "$TMP/result"
            "$LWP" collect --no-analyze ${options:--F 1000} -o "$TMP/result" -- "$TMP/sized" "${ROUNDS:-300}" > /dev/null 2> "$TMP/log" &&
                "$LWP" analyze --no-measure "$TMP/result" 2>> "$TMP/log" || { cat "$TMP/log"; return 1; }
            total=$((total + 1))
            /usr/bin/python3 "$SRC/tests/truth/analysis.py" $what "$size" "$TMP/result/analysis.json" > "$TMP/differences" ||
                { echo "$size bytes at $level ${DEBUG--g}:"; cat "$TMP/differences"; failures=$((failures + 1)); }
        done
    done
    echo "$failures of $total element sizes wrong"
    [ $failures = 0 ]
}
