#!/bin/sh
# Waits: its program sleeps most of the time
# No store is called dead that a system call uses, whether or not breakpoints see the kernel. tests/long has more calls.
exec "$SRC/tests/truth/not_dead.sh" stdio calls-unseen tcp-unseen
