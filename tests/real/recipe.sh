#!/bin/bash
# Usage: recipe.sh PROGRAM build|run|say VARIABLE: one step of tests/real/programs/PROGRAM.sh. A recipe sets
#
#     packages   Debian source packages; the first one is unpacked to $TREE, each other one to $TREE/../NAME
#     debs       Debian binary packages that are needed to build (headers, crates), unpacked to $TREE/../debs
#     needs      commands that must be there
#     language   c, c++, rust or fortran
#     sampled    SIZE of the runs that are sampled, some 2 s
#     traced     SIZE of the runs that see every access or unwind at every allocation
#     build      function: builds with $CFLAGS in $TREE, the current folder
#     here       the folder of client.py, which is for servers
#     run        function: in an empty folder, makes its input, runs the program as `$WITH program`, and prints what depends on
#                nothing but the program and SIZE
set -u
# formula VARIABLES: for solvers of logic formulas, with as many clauses as make it hard (3-SAT).
formula() {
    python3 - "$1" <<'P'
import random, sys
random.seed(3)
n = int(sys.argv[1])
clauses = int(n * 4.26)
print("p cnf", n, clauses)
for _ in range(clauses):
    print(*(random.choice((-1, 1)) * v for v in random.sample(range(1, n + 1), 3)), 0)
P
}

program=$1 step=$2 here=$(cd "$(dirname "$0")" && pwd)
sampled=100 traced=20 debs= needs= language=c
. "$(dirname "$0")/programs/$program.sh" || exit 1
case $step in
build) cd "$TREE" && set -e && build ;;
run) run ;;
say) eval "printf '%s\n' \"\${$3}\"" ;;
*) exit 2 ;;
esac
