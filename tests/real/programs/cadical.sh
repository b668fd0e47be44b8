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
    python3 - "$SIZE" > input.cnf <<'P'
import random, sys
random.seed(3)
n = 130 + int(sys.argv[1]) * 7 // 10
clauses = int(n * 4.26)
print("p cnf", n, clauses)
for _ in range(clauses):
    print(*(random.choice((-1, 1)) * v for v in random.sample(range(1, n + 1), 3)), 0)
P
    $WITH "$TREE/build/cadical" -q --seed=1 input.cnf
}
