#!/bin/sh
# Ten times each: every way of using a cache line together told right; in a ring, an uneven ring and a master with three
# workers each pair's share within 15 % of what was handed over and the pairs in the right order. Waiting threads sleep or yield.
set -u
programs=$SRC/tests/programs
compile() { out=$1 program=$2; shift 2; ${CC:-cc} -std=gnu11 -O2 -g -pthread "$@" -o "$TMP/$out" "$programs/$program.c" || exit 1; }
compile lines lines_shared
compile ring ring -DSLEEP
compile ring_yielding ring
compile uneven_ring ring -DSLEEP -DWEIGHTS
compile master_worker master_worker -DSLEEP
compile master_worker_yielding master_worker
status=0
"$SRC/tests/truth/lines_runs.py" "$LWP" "$TMP/lines" "$TMP/scratch" --runs 10 || status=$?
cd "$TMP" && "$SRC/tests/truth/sharing_runs.py" "$LWP" "$TMP/scratch" ./ring ./ring_yielding ./uneven_ring ./master_worker \
    ./master_worker_yielding --runs 10 || status=$?
exit $status
