#!/bin/sh
# Redundancy of programs whose redundancy is known, with 1 and 4 threads: the share and the pair on top. tests/rounds/watch.sh does
# all cases ten times, tests/long/ratios.sh more of them and within 5 points; here runs are short.
set -u
. "$SRC/tests/watchpoints.sh"
${CC:-cc} -std=gnu11 -O2 -g -pthread -o "$TMP/known_ratios" "$SRC/tests/programs/known_ratios.c" || exit 1
check() { "$SRC/tests/truth/watch_runs.py" "$LWP" "$TMP/known_ratios" "$TMP" "$@" \
    --seconds 1.5 --points 13 --options "-F 2000 --max-overhead 15" || exit 1; }
# From time to bytes, where one loop has several callers; tests/long/counts.sh has many loops.
${CC:-cc} -std=gnu11 -O2 -g -pthread -o "$TMP/known_counts" "$SRC/tests/programs/known_counts.c" || exit 1
"$SRC/tests/truth/count_runs.py" "$LWP" "$TMP/known_counts" "$TMP/counts" near_callers --seconds 0.7 --runs 4 || exit 1
if [ "${LONG:-}" ]; then
    check dead0 silent75 load75 close50 callers half chase widths --threads 1
    check dead33 dead100 --threads 4
else
    check dead33 silent75 load75 --threads 1
    check dead33 --threads 4
fi
