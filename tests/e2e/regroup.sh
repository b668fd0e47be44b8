#!/bin/sh
# Which arrays to regroup, and why not others, is exactly right. tests/rounds/regroup.sh has four threads and many runs; LONG: every case.
# Measures: only a run of both shows what it gains to move arrays apart where their first fetches cost as much as all others
set -u
. "$SRC/tests/truth/regroup_runs.sh"
[ "${LONG:-}" ] || few=1
dense=1 regroup_runs 1 ${THREADS:-1}
