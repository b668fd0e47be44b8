# A compressor: hash tables of positions, a tree of matches, histograms and their clusters, all from one memory manager.
packages=brotli
needs=python3
sampled=100 traced=8
build() {
    nice $CC $CFLAGS -DOS_LINUX -Ic/include -o brotli-real c/common/*.c c/dec/*.c c/enc/*.c c/tools/*.c -lm
}
run() {
    python3 - "$SIZE" > input <<'P'
import random, sys
random.seed(13)
words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 9))) for _ in range(5000)]
for _ in range(80 * int(sys.argv[1])):
    print(" ".join(random.choices(words, k=11)))
P
    $WITH "$TREE/brotli-real" -q 10 -f -o output input && sha256sum < output
}
