#!/bin/sh
# Element sizes, with debug information and from addresses alone; LONG: more of them. Every size is in tests/rounds/element_size.sh.
# Of bytes that hold arrays of several types no one type is said.
set -u
. "$SRC/tests/truth/size_runs.sh"
options="-F 2000 --max-overhead 25" ROUNDS=75 # samples as of 300 rounds
size_runs 136 ${LONG:+12 64} && DEBUG= size_runs 20 ${LONG:+96} &&
    "$SRC/tests/truth/elements.py" --only arena --seconds 0.3 --builds "c:-O2:-g"
