#!/bin/sh
# No store is called dead that a system call uses, whether or not breakpoints see the kernel: every kind of call.
exec "$SRC/tests/truth/not_dead.sh" stdio stdio-unseen calls calls-unseen pipe-unseen socket-unseen tcp tcp-unseen
