#!/bin/sh
# Lines of many arrays, or of many rows, in one set of the cache: named with what to move, by samples and by a trace; nothing where they
# lie apart, are fewer than the ways, or (LONG) are used at random.
set -u
. "$SRC/tests/sampled.sh"
program=$TMP/conflicts
${CC:-cc} -std=gnu11 -O2 -g -fno-tree-vectorize -o "$program" "$SRC/tests/programs/conflicts.c" || exit 1
failures=0
expect() { # WHAT RESULT
    /usr/bin/python3 - "$1" "$2/analysis.json" << 'EOF' || failures=$((failures + 1))
import json, sys
what, data = sys.argv[1], json.load(open(sys.argv[2]))
conflicts, first = data["conflicts"], next((f for f in data["findings"] if f["expected_speedup"]), None)
def check(holds, text):
    if not holds:
        print(f"{sys.argv[2]}: {text}: {json.dumps(conflicts)[:600]}")
        sys.exit(1)
check(conflicts is not None, "not looked for")
if what in ("column", "padded"):
    steps = " ".join(f["next_step"] for f in data["findings"] if f["kind"] == "locality" and "matrix" in f["title"] + f["next_step"])
    check(("make each row of matrix 64 bytes longer (8192 + 64)" in steps) == (what == "column"), f"rows are to be longer: {steps}")
    sys.exit(0)
if what == "silent":
    check(conflicts == [], "is no conflict")
    sys.exit(0)
check(len(conflicts) == 1, "one was to be found")
conflict = conflicts[0]
check(first and first["kind"] == "conflict" and first["refs"]["conflict"] == 0, "is not said first")
check(20 <= conflict["lines"] <= 26, "24 lines are in one set, or 25 with the result")
check(abs(conflict["step"]) == 8, "goes on by a double")
low, high = conflict["expected_speedup"]
check(1.02 < low <= high, "gains nothing")
if what == "arrays":
    check(conflict["remedy"] == "apart" and len(conflict["arrays"]) >= 20, "moves the arrays")
    moves = [array["move"] for array in conflict["arrays"]]
    check(len(set(moves)) == len(moves) and all(move % 64 == 0 for move in moves), "moves each by another number of lines")
else:
    check(conflict["remedy"] == "rows" and conflict["row_bytes"] == 8192 and conflict["pad_bytes"] == 64, "makes rows longer")
if what == "arrays" and data["run"]["engine"] == "exact":
    replay = conflict["replay"]
    check(replay and replay["after"]["L1"] * 2 < replay["before"]["L1"], "the trace says otherwise")
EOF
}

sampled() { # EXPECTED ROUNDS ARGUMENT...
    expected=$1 rounds=$2 what=$3
    shift 3
    collect_samples 400 "$TMP/$what$*" "$rounds" -q -F 2000 --max-overhead 50 -- "$program" "$what" @ "$@" &&
        "$LWP" analyze -q "$TMP/$what$*" || { failures=$((failures + 1)); return; }
    expect "$expected" "$TMP/$what$*"
}

traced() { # EXPECTED ARGUMENT...
    expected=$1
    shift
    "$LWP" collect -q -e exact --detect layout,locality --window all -o "$TMP/exact.$1.$3" -- "$program" "$@" > "$TMP/out" 2>&1 &&
        "$LWP" analyze -q "$TMP/exact.$1.$3" || { cat "$TMP/out"; failures=$((failures + 1)); return; }
    expect "$expected" "$TMP/exact.$1.$3"
}

ways=$(cat /sys/devices/system/cpu/cpu0/cache/index0/ways_of_associativity 2> "$TMP/err" || getconf LEVEL1_DCACHE_ASSOC)
[ "${ways:-0}" -gt 0 ] && [ "$ways" -lt 20 ] || { echo "the first-level cache has ${ways:-unknown} ways: this takes 1 to 19"; exit 77; }
sampled arrays 8000 arrays 0
sampled silent 40000 arrays 64
sampled rows 8000 rows 0
sampled silent 40000 few
[ -z "${LONG:-}" ] || sampled silent 8000 random
sampled column 60 column 0
[ -z "${LONG:-}" ] || sampled padded 150 column 64
if [ -x "$BUILD/exact/lwp-amd64-linux" ]; then
    traced arrays arrays 60 0
    traced silent arrays 60 64
fi
exit $((failures > 0))
