#!/bin/bash
# The ranks of a parallel job write one result. Launchers are told by their environment; where Open MPI is installed, for real.
# Waits: its ranks wait for each other
set -u
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }

cat > app.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct item { double x, y[6]; long id; };
int main(int argc, char **argv)
{
    long count = 200000, rounds = argc > 1 ? atol(argv[1]) : 150;
    struct item *items = calloc(count, sizeof *items);
    double sum = 0;
    for (long r = 0; r < rounds; r++)
        for (long i = 0; i < count; i++)
            sum += items[i].x += 1;
    printf("%g\n", sum);
    return argc > 2 ? atoi(argv[2]) : 0;
}
C
$CC -O2 -g -o app app.c || exit 1

# as_rank RANK JOB ARGUMENTS: what MPICH's hydra, or any launcher with PMI, sets
as_rank() { PMI_RANK=$1 PMI_SIZE=4 PMI_JOBID=$2 "$LWP" collect "${@:3}" > "out.$1" 2> "err.$1"; echo $? > "status.$1"; }
job() { # JOB ARGUMENTS
    for rank in 0 1 2 3; do as_rank $rank "$@" & done
    wait
}
check() { # DIR
    [ "$(ls -d "$1"/p* | wc -l)" = 4 ] || fail "$1 holds $(ls "$1") instead of four process folders"
    for rank in 0 1 2 3; do
        [ "$(cat status.$rank)" = "$2" ] || { cat err.$rank; fail "rank $rank ended with $(cat status.$rank)"; }
        /usr/bin/python3 - "$1" $rank <<'PY' || fail "run.$rank.json"
import json, os, sys
run = json.load(open(f"{sys.argv[1]}/run.{sys.argv[2]}.json"))
assert run["rank"] == int(sys.argv[2]) and run["ranks"] == 4 and len(run["folders"]) == 1, run
assert os.path.exists(f"{sys.argv[1]}/{run['folders'][0]}/process.lwps")
PY
    done
    ls -d "$1"/r[0-9]* 2> /dev/null && fail "a rank's folder was left"
    "$LWP" report "$1" > report 2>&1 || { cat report; fail "report of $1"; }
    grep -q 'app' report || { cat report; fail "nothing about the program"; }
}

job first -o one -- ./app 150
check one 0
cat err.1 err.2 err.3 > others
[ -s others ] && { cat others; fail "ranks other than 0 talk"; }
grep -q 'next: lwp report one' err.0 || { cat err.0; fail "rank 0 does not close"; }

job first -- ./app 40 5 # a default folder of the job's name, and the program's own status
check lwp-app.first 5

job second -o one -- ./app 20
for rank in 0 1 2 3; do
    [ "$(cat status.$rank)" = 125 ] || fail "joined the result of another job"
    grep -q 'not of this job' err.$rank || { cat err.$rank; fail "no clear sentence"; }
done
job second --force -o one -- ./app 20
check one 0

job third -o none -- ./nowhere
[ "$(cat status.2)" = 127 ] || fail "a program that is not there: $(cat status.2)"
[ -e none ] && fail "a folder was left although nothing ran"

# A rank that is killed leaves what it had; the others' result stands.
for rank in 0 1 2; do as_rank $rank fourth -o cut -- ./app 100 & done
PMI_RANK=3 PMI_SIZE=4 PMI_JOBID=fourth "$LWP" collect -o cut -- ./app 100000 2> err.3 &
for tenth in $(seq 100); do ls cut/r3/p*/t*.lwps > /dev/null 2>&1 && break; sleep 0.1; done
sleep 0.5
pkill -KILL -f -- "collect -o cut -- ./app 100000"
pkill -KILL -f -- '^./app 100000'
wait
[ -d cut/r3 ] || { ls cut; cat err.3; fail "the killed rank's samples are gone"; }
"$LWP" report cut > report 2>&1 || { cat report; fail "report beside a killed rank"; }

# started by mpirun, but built without MPI (or the library is not beside it): which packages are missing, and what works without
mkdir alone && cp "$LWP" alone/lwp || fail "cp"
for launcher in OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS; do
    env $launcher=2 alone/lwp analyze -o alone/all one cut > out 2> err && fail "analyzes without MPI under $launcher"
    tr -s '\n ' ' ' < err > said
    grep -q 'built without MPI: install libopenmpi-dev or libmpich-dev and build lwp again, or start it once, without mpirun' said || { cat err; fail "no sentence"; }
    [ -e alone/all ] && fail "left a folder"
done
alone/lwp doctor > out; tr -s '\n ' ' ' < out | grep -q 'MPI .*lwp was built without.*apt install libopenmpi-dev or libmpich-dev' || { cat out; fail "doctor does not name the packages"; }

command -v mpirun > /dev/null || exit 0
mpirun --version 2> /dev/null | grep -q 'Open MPI' || exit 0
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 4 "$LWP" collect -o mpi ./app 150 > out 2> err || { cat err; fail "mpirun"; }
[ "$(wc -l < out)" = 4 ] || fail "the program's output under mpirun"
[ "$(ls -d mpi/p* | wc -l)" = 4 ] || fail "mpirun's result holds $(ls mpi)"
exit 0
