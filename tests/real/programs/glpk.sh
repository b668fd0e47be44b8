# A solver of linear programs: sparse matrices in one growing area, rows and columns from pools, an LU factorisation.
packages=glpk
needs=python3
sampled=400 traced=40
build() {
    ./configure --disable-shared CFLAGS="$CFLAGS" > configure.out
    nice make -j2
}
run() {
    python3 - "$SIZE" > problem.lp <<'P'
import random, sys
random.seed(7)
n = 4 * int(sys.argv[1])
print("Maximize\n obj:", " + ".join("%d x%d" % (random.randint(1, 40), i) for i in range(n)), "\nSubject To")
for row in range(n):
    print(" c%d:" % row, " + ".join("%d x%d" % (random.randint(1, 9), i) for i in random.sample(range(n), 12)), "<=", random.randint(100, 900))
print("End")
P
    $WITH "$TREE/examples/glpsol" --lp problem.lp -o answer > log
    status=$?
    grep -e Objective -e Status answer
    return $status
}
