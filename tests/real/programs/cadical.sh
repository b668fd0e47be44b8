# A solver of logic formulas in C++: vectors of watches and literals, clauses with a flexible array, an arena that moves them.
packages=cadical
language=c++
needs=python3
build() {
    ./configure CXXFLAGS="$CFLAGS -DNDEBUG -std=c++11" > configure.out
    sed -i -e 's/-O3/-O2/' build/makefile
    nice make -j2 -C build cadical
}
run() {
    formula $((130 + SIZE * 7 / 10)) > input.cnf
    $WITH "$TREE/build/cadical" -q --seed=1 input.cnf
}
