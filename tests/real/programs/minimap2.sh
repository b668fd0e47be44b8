# An aligner of DNA: sorted arrays of seeds, hash tables made by macros, an allocator of its own for each thread.
packages=minimap2
needs=python3
sampled=400 traced=60
build() {
    sed -i -e 's,#include "simde/x86/sse4.1.h",#include <smmintrin.h>,' -e 's,#include <simde/x86/sse2.h>,#include <emmintrin.h>,' ksw2_*.c
    nice $CC $CFLAGS -msse4.1 -DHAVE_KALLOC -o minimap2 $(ls *.c | grep -v -e example.c -e ksw2_dispatch.c) -lm -lz -lpthread
}
run() {
    python3 - "$SIZE" <<'P'
import random, sys
random.seed(1)
size = int(sys.argv[1])
genome = "".join(random.choices("ACGT", k=20000 * size))
open("genome.fa", "w").write(">g\n" + genome + "\n")
with open("reads.fa", "w") as out:
    for i in range(4 * size):
        at = random.randrange(len(genome) - 5000)
        read = list(genome[at:at + 3000])
        for _ in range(200):
            read[random.randrange(len(read))] = random.choice("ACGT")
        out.write(">r%d\n%s\n" % (i, "".join(read)))
P
    $WITH "$TREE/minimap2" -t 1 -x map-ont genome.fa reads.fa 2> log > output
    status=$?
    sha256sum < output
    return $status
}
