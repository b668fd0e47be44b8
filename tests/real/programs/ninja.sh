# A build tool in C++: a graph of nodes and edges held in vectors, hash tables of string pieces, sets, a parser.
packages=ninja-build
language=c++
needs=python3
sampled=100 traced=20
build() {
    for file in $(ls src/*.cc | grep -v -e _test -e win32 -e msvc -e perftest -e test.cc -e browse -e minidump -e bench -e '\.in\.cc'); do
        nice $CXX $CFLAGS -std=c++11 -DNINJA_HAVE_PPOLL -c -o "$(basename "$file" .cc).o" "$file"
    done
    $CXX -o ninja ./*.o -lpthread
}
run() {
    python3 - "$SIZE" <<'P'
import random, sys
random.seed(1)
n = 1200 * int(sys.argv[1])
with open("build.ninja", "w") as out:
    out.write("flags = -O2\nrule cc\n  command = cc $flags -c $in -o $out\nrule link\n  command = ld $in -o $out\n")
    for i in range(n):
        inputs = " ".join("out/dir%d/file%d.o" % (k % 97, k) for k in sorted(random.sample(range(i), min(i, 4))))
        out.write("build out/dir%d/file%d.o: cc %s | header%d.h\n" % (i % 97, i, inputs or "start", i % 50))
    out.write("build all: link out/dir%d/file%d.o\ndefault all\n" % ((n - 1) % 97, n - 1))
open("start", "w").close()
for i in range(50):
    open("header%d.h" % i, "w").close()
P
    $WITH "$TREE/ninja" -n > output
    status=$?
    tail -n 3 output
    LC_ALL=C sort output | cut -d' ' -f2- | sha256sum
    return $status
}
