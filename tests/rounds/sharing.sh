#!/bin/sh
# Ten times each: every way of using a cache line together told right; in a ring each pair's share within 15 % of what was
# handed over, and with uneven shares (a ring with 1 to 4 tenths, a master with three workers), whether threads sleep or spin.
# The small ones of these rest on few samples at the default overhead: there with more of it. Half an hour.
set -u
programs=$SRC/tests/programs
compile() { out=$1 program=$2; shift 2; ${CC:-cc} -std=gnu11 -O2 -g -pthread "$@" -o "$TMP/$out" "$programs/$program.c" || exit 1; }
compile lines lines_shared
compile ring ring -DSLEEP
compile uneven_ring ring -DSLEEP -DWEIGHTS
compile master_worker master_worker -DSLEEP
compile spinning_ring ring
compile spinning_master_worker master_worker
status=0
"$SRC/tests/truth/lines_runs.py" "$LWP" "$TMP/lines" "$TMP/scratch" --runs 10 || status=$?
runs="$SRC/tests/truth/sharing_runs.py"
cd "$TMP" || exit 1
"$runs" "$LWP" scratch ./ring ./spinning_ring --runs 10 --seconds 16 || status=$?
"$runs" "$LWP" scratch ./uneven_ring ./master_worker ./spinning_master_worker --runs 10 --seconds 45 "--options=--max-overhead 25 -F 4000" || status=$?
exit $status
