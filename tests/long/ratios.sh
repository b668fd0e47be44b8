#!/bin/sh
LONG=1 exec "$SRC/tests/e2e/ratios.sh"
