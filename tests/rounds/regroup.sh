#!/bin/sh
# The same ten times, with one, two and four threads.
# Measures: only a run of both shows what it gains to move arrays apart where their first fetches cost as much as all others
set -u
. "$SRC/tests/truth/regroup_runs.sh"
regroup_runs 10 1 2 4
