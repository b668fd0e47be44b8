#!/bin/sh
# tests/e2e/skid.sh with the kinds of timer that are only used where the best is missing.
TIMERS="async posix" exec "$SRC/tests/e2e/skid.sh"
