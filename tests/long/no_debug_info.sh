#!/bin/sh
# Without debug information the same groups come as offsets: built without -g and stripped of symbols.
set -u
. "$SRC/tests/truth/advice_runs.sh"
status=0 options="-F 2000 --max-overhead 25" # as many samples from a quarter of the rounds
example_build neuron "$TMP/stripped" -s || exit 1
example_build tree "$TMP/tree" -s || exit 1
rounds=10 advice_mostly neuron "$TMP/stripped" 1 offsets || status=1
rounds=22 advice_mostly tree "$TMP/tree" 1 offsets || status=1
exit $status
