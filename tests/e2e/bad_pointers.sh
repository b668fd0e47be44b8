#!/bin/bash
# System calls that are given bad pointers fail as they do without lwp, whether or not lwp has to look at what they are given.
set -u
cd "$TMP" || exit 1
${CC:-cc} -std=gnu11 -O1 -g -w -o bad "$SRC/tests/programs/bad_pointers.c" || exit 1
./bad > plain
status=$?
[ $status = 5 ] && [ "$(grep -c 'Bad address' plain)" -gt 15 ] || { echo "status $status without lwp"; cat plain; exit 1; }
for seen in 0 1; do
    LWP_WATCH_KERNEL=$seen "$LWP" collect -q --no-analyze -F 2000 --max-overhead 30 -o r-$seen -- ./bad > with 2> err
    [ $? = $status ] || { echo "another exit status than $status (kernel seen: $seen)"; cat with err; exit 1; }
    diff plain with || { echo "another answer (kernel seen: $seen)"; exit 1; }
done
. "$SRC/tests/watchpoints.sh"
for seen in 0 1; do
    "$LWP" dump r-$seen/p*/t*.lwps > dump || exit 1
    grep -q '^watch .*decided' dump || { echo "nothing was watched (kernel seen: $seen)"; exit 1; }
done
