# A compressor: hash chains, binary trees in arrays, tables of match finders carved out of one workspace.
packages=libzstd
sampled=150 traced=20
build() {
    nice make -j2 -C programs zstd-release CFLAGS="$CFLAGS" DEBUGFLAGS= HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0
    test -x programs/zstd
}
run() {
    LC_ALL=C awk -v n=$((SIZE * 700)) 'BEGIN {
        srand(1)
        while (i++ < n) { s = ""; for (k = 0; k < 8; k++) s = s sprintf("%x ", int(rand() * rand() * 9999)); print s }
    }' > input
    $WITH "$TREE/programs/zstd" -q -f -T1 --single-thread -16 input -o output
    status=$?
    sha256sum < output
    return $status
}
