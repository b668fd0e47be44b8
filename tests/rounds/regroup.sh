#!/bin/sh
# The same ten times, with one, two and four threads.
set -u
. "$SRC/tests/truth/regroup_runs.sh"
regroup_runs 10 1 2 4
