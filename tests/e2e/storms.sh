#!/bin/bash
# Thousands of short threads and hundreds of children run as they do without lwp and leave no files open. Where file descriptors
# are few they stay the program's: threads are sampled without.
set -u
cd "$TMP" || exit 1
${CC:-cc} -std=gnu11 -O1 -g -pthread -o storms "$SRC/tests/programs/storms.c" || exit 1
failed=0
check() { # NAME ARGUMENT...
    name=$1; shift
    ./storms "$@" > plain
    status=$?
    "$LWP" collect -q --no-analyze -o "$name" -- ./storms "$@" > with 2> err
    [ $? = $status ] || { echo "FAILED: $name: another status than $status"; cat err; failed=1; }
    diff plain with || { echo "FAILED: $name: another output"; failed=1; }
}
check many 1000 8 40 30
# the children end before anything is set up in them
[ "$(ls many | grep -c '^p[0-9]')" = 1 ] || { echo "FAILED: $(ls many | grep -c '^p[0-9]') processes instead of 1"; failed=1; }
ulimit -S -n 64
check few 200 100 3 1000 # files: as many as there are
for file in few/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -q '^sample' || { echo "FAILED: no thread was sampled"; failed=1; }
exit $failed
