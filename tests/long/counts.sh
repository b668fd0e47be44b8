#!/bin/sh
# Shares of bytes stored, estimated from samples, of programs whose loops cost unequally: intervals hold the truth, and the exact engine
# counts it. RUNS=4 KEEP=FOLDER: some 230 runs, which go on where they were stopped.
set -u
${CC:-cc} -std=gnu11 -O2 -g -pthread -o "$TMP/known_counts" "$SRC/tests/programs/known_counts.c" || exit 1
exec "$SRC/tests/truth/count_runs.py" "$LWP" "$TMP/known_counts" "$TMP/runs" --seconds 0.7 --threads 1,4 --exact \
    --runs "${RUNS:-1}" --log "${KEEP:-$TMP}/counts.log"
