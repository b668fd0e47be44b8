#!/bin/sh
# tests/e2e/shares.sh with every example, on one thread and on four, and neuron at three rates.
examples="neuron neighbours tree nochange" threads_of="1 4" LONG=1 exec "$SRC/tests/e2e/shares.sh"
