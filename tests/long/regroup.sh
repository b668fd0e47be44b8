#!/bin/sh
# tests/e2e/regroup.sh with four threads.
# Measures: only a run of both shows what it gains to move arrays apart where their first fetches cost as much as all others
LONG=1 THREADS=4 exec "$SRC/tests/e2e/regroup.sh"
