#!/bin/bash
# mpirun lwp analyze: with any number of ranks the same bytes as without, and a sentence where it cannot work.
set -u
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; cat err; exit 1; }
[ -e "$(dirname "$LWP")/liblwp-mpi.so" ] || { echo "configure found no MPI"; exit 77; }
command -v mpirun > path || { echo "there is no mpirun"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# Open MPI wants a short path for its files
TMPDIR=$(mktemp -d /tmp/lwp-mpi.XXXX) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

for run in 1 2 3; do
    "$LWP" collect -q --no-analyze -F 2000 --max-overhead 20 --detect layout,redundancy -o $run -- seq $((1000000 * run)) > out 2> err || fail "collect"
done
"$LWP" analyze -q -o alone 1 2 3 2> err || fail "analyze"
for ranks in 2 3 4; do
    timeout 60 mpirun -n $ranks "$LWP" analyze -q -o with-$ranks 1 2 3 > out 2> err || fail "mpirun -n $ranks"
    cmp alone/analysis.json with-$ranks/analysis.json > out || fail "$ranks ranks: $(cat out)"
    for one in alone with-$ranks; do grep -v written_s "$one/run.json" > "$one.run"; done
    cmp alone.run with-$ranks.run > out || fail "$ranks ranks: $(cat out)"
done

# traces: each gives its own strides, and one is kept to be replayed
traces=
for run in 1 2 3; do
    "$LWP" collect -q --no-analyze -e exact --detect locality -o t$run -- ls -l "/usr/lib/$run" /usr/lib > out 2> err
    [ -d t$run ] && traces="$traces t$run"
done
if [ -n "$traces" ]; then # with Valgrind
    # shellcheck disable=SC2086
    for jobs in 1 2 4; do "$LWP" analyze -q -j $jobs -o traces-$jobs $traces 2> err || fail "traces, $jobs threads"; done
    # shellcheck disable=SC2086
    timeout 60 mpirun -n 3 "$LWP" analyze -q -o traces-3 $traces > out 2> err || fail "traces, 3 ranks"
    for other in 2 3 4; do cmp traces-1/analysis.json traces-$other/analysis.json > out || fail "traces: $(cat out)"; done
fi
timeout 60 mpirun -n 2 "$LWP" analyze -f 1 > out 2> err || fail "each on its own, without -o"
[ "$(grep -c 'wrote 1/analysis.json' err)" = 2 ] || fail "not each on its own"
timeout 60 mpirun -n 2 "$LWP" collect -o 7 -- seq 1000000 > out 2> err || fail "collect under mpirun"
grep -q 'next: lwp report 7' err || fail "collect does not close"
timeout 60 mpirun -n 2 "$LWP" analyze -o 5 1 nowhere > out 2> err && fail "a folder that is not there"
grep -q "there is no 'nowhere'" err || fail "no sentence"
[ ! -e 5 ] || fail "left a folder"

cp "$LWP" lwp # alone
timeout 60 mpirun -n 2 ./lwp analyze -o 6 1 2 > out 2> err && fail "without the library"
grep -q "start it once, without mpirun" err || fail "no sentence"
exit 0
