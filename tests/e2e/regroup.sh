#!/bin/sh
# Which arrays to join, and why not others, is exactly right, with one thread and with four.
set -u
. "$SRC/tests/truth/regroup_runs.sh"
dense=1 regroup_runs 1 1 4
