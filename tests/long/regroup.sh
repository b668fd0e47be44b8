#!/bin/sh
# tests/e2e/regroup.sh with four threads.
LONG=1 THREADS=4 exec "$SRC/tests/e2e/regroup.sh"
