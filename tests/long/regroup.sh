#!/bin/sh
# tests/e2e/regroup.sh with four threads.
THREADS=4 exec "$SRC/tests/e2e/regroup.sh"
