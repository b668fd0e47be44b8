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
    formula $((120 + SIZE * 8 / 10)) > input.cnf
    $WITH "$TREE/solver" -verb=0 input.cnf > output
    status=$?
    grep SATISFIABLE output
    return $status
}
