# A solver of logic formulas in C++: clauses in one region that are named by their offset, vectors of watches, a heap of variables.
packages=minisat2
language=c++
sampled=140 traced=90
needs=python3
build() {
    nice $CXX $CFLAGS -std=gnu++11 -fpermissive -w -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS -DNDEBUG -I. -o solver \
        minisat/core/*.cc minisat/utils/*.cc -lz
}
run() {
    python3 - "$SIZE" > input.cnf <<'P'
import random, sys
random.seed(3)
n = 120 + int(sys.argv[1]) * 8 // 10
clauses = int(n * 4.26)
print("p cnf", n, clauses)
for _ in range(clauses):
    print(*(random.choice((-1, 1)) * v for v in random.sample(range(1, n + 1), 3)), 0)
P
    $WITH "$TREE/solver" -verb=0 input.cnf > output
    status=$?
    grep SATISFIABLE output
    return $status
}
