#!/bin/sh
# The same advice in 10 of 10 runs, with 1, 2 and 4 threads.
set -u
. "$SRC/tests/truth/advice_runs.sh"
examples='neuron neighbours tree nochange readings rows' advice_runs 10 1 2 4
