#!/bin/sh
# tests/e2e/shares.sh with every example, on one thread and on four.
examples="neuron neighbours tree nochange" threads_of="1 4" exec "$SRC/tests/e2e/shares.sh"
