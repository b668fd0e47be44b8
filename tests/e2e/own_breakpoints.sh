#!/bin/bash
# A program that opens hardware breakpoints of its own, for itself, its threads and its heirs, gets all four and sees with
# them what it sees without lwp, which watches until then and says that it did without from then on. LONG: three times.
set -u
cd "$TMP" || exit 1
${CC:-cc} -std=gnu11 -O1 -g -pthread -o own "$SRC/tests/programs/own_breakpoints.c" || exit 1
./own > plain
status=$?
grep -q '^own: 1000 1000 1000 1000$' plain || { cat plain; echo "hardware breakpoints do not work here"; exit 77; }
for run in 1 ${LONG:+2 3}; do
    "$LWP" collect -q --force -F 4000 --max-overhead 30 -o result -- ./own > with 2> err
    [ $? = $status ] || { echo "another exit status than $status"; cat err; exit 1; }
    diff plain with || { echo "run $run: it saw something else"; exit 1; }
    "$LWP" dump result/p*/t*.lwps > dump || exit 1
    decided=$(grep -c '^watch .*decided' dump)
    [ "$decided" -gt 20 ] || { echo "run $run: only $decided watches before"; exit 1; }
    "$LWP" analyze -q result && "$LWP" report result | grep -q 'hardware breakpoints of its own' ||
        { echo "run $run: the report does not say that it did without"; exit 1; }
done
echo "$decided watches decided before the program came"
