#!/bin/sh
# Every element size from 8 to 136 bytes, with debug information and from addresses alone.
set -u
. "$SRC/tests/truth/size_runs.sh"
size_runs $(seq 8 4 136) && DEBUG= size_runs $(seq 8 4 136)
