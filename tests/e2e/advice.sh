#!/bin/sh
# The advice for each example is exactly right, with one thread and with four.
set -u
. "$SRC/tests/truth/advice_runs.sh"
advice_runs 2 1 4
