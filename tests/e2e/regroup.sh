#!/bin/sh
# Which arrays to regroup, and why not others, is exactly right. tests/rounds/regroup.sh has four threads and many runs.
set -u
. "$SRC/tests/truth/regroup_runs.sh"
dense=1 regroup_runs 1 ${THREADS:-1}
