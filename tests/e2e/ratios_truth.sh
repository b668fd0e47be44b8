#!/bin/sh
# The shares that the programs of known redundancy claim are what they do, instruction by instruction.
set -u
${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -o "$TMP/oracle" "$SRC/tests/truth/watch_oracle.c" -lZydis -lm || exit 1
${CC:-cc} -std=gnu11 -O2 -g -no-pie -Wl,-z,now -pthread -DSMALL=24 -DLARGE=48 -o "$TMP/known_ratios" "$SRC/tests/programs/known_ratios.c" || exit 1
"$SRC/tests/truth/watch_oracle.py" "$TMP/oracle" "$TMP/known_ratios"
status=$?
[ $status = 77 ] && echo "ptrace is not permitted here"
exit $status
