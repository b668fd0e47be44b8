#!/bin/sh
# Every program of known redundancy ten times for 5 s of CPU time a core with 1 and with 4 threads, at the default overhead: each
# share within 5 points, the right pair on top each time.
#
#   watch.sh [CASE...] [--threads N]
#
# does a part of it: all of it is 27 minutes of a machine that has nothing else to do.
set -u
${CC:-cc} -std=gnu11 -O2 -g -pthread -o "$TMP/known_ratios" "$SRC/tests/programs/known_ratios.c" || exit 1
"$SRC/tests/truth/watch_runs.py" "$LWP" "$TMP/known_ratios" "$TMP" "$@" --runs 10
