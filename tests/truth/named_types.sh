# Sourced: named_types SOURCE COMPILER FLAGS... holds the types in analysis.json against the comments in SOURCE, a file of
# tests/truth/types. Skips compilers that are missing. Needs LWP, SRC, TMP; counts in `done` and `failures` (0 or 1).
. "$SRC/tests/sampled.sh"
done=0 failures=0
# LOOSE=1: which fields a loop uses is not checked; vectors load more than the source names.
named_types() {
    source=$1 compiler=$2 types=$SRC/tests/truth/types
    shift 2
    command -v "$compiler" > /dev/null || { echo "skipped: no $compiler"; return; }
    files=$types/$source rounds=6
    case $source in
    *.f90) files="$types/$source $types/derived_main.f90" rounds=150 ;;
    slices.rs) rounds=150 ;;
    tricks.c) rounds=200 ;;
    tricks.cc) rounds=10 ;;
    esac
    # shellcheck disable=SC2086
    (cd "$TMP" && "$compiler" "$@" -o program $files) || { echo "$compiler cannot compile $source"; failures=1; return; }
    collect_samples 1000 "$TMP/result" $rounds -F 1500 --max-overhead 50 -- "$TMP/program" @ &&
        "$LWP" analyze --no-measure "$TMP/result" 2> "$TMP/log" || { cat "$TMP/log"; failures=1; return; }
    done=$((done + 1))
    /usr/bin/python3 "$SRC/tests/truth/named_types.py" "$types/$source" "$TMP/result/analysis.json" 0.95 ${LOOSE:+loose} \
        > "$TMP/differences" || failures=1
    echo "$compiler $* $source: $(cat "$TMP/differences")"
}
