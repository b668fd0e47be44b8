#!/bin/sh
# No store is called dead in frames and stacks that are left, nor in the data of a library that goes and comes back.
exec "$SRC/tests/truth/not_dead.sh" context alternate throw library
