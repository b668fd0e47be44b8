#!/bin/sh
# The advice for each example is exactly right, with one thread and with four.
set -u
. "$SRC/tests/truth/advice_runs.sh"
# Within 3 % a busy virtual machine, on which watchpoints and switches cost most, takes a hundred samples of four threads: too few.
options="--max-overhead 20"
advice_runs 1 1 4 || exit 1
examples="readings rows" advice_runs 1 2
