#!/bin/sh
# Which arrays to regroup, and why not others, is exactly right. tests/rounds/regroup.sh has four threads and many runs; LONG: every case.
set -u
. "$SRC/tests/truth/regroup_runs.sh"
[ "${LONG:-}" ] || few=1
dense=1 regroup_runs 1 ${THREADS:-1}
