# A compressor: a match finder's hash tables and trees in two large blocks, the range coder's states within one large structure.
packages=xz-utils
sampled=170 traced=20
build() {
    ./configure --disable-shared --disable-nls --disable-doc --disable-scripts CFLAGS="$CFLAGS" > configure.out
    nice make -j2 -C src/liblzma && nice make -j2 -C src/xz
}
run() {
    LC_ALL=C awk -v n=$((SIZE * 500)) 'BEGIN {
        srand(1)
        while (i++ < n) { s = ""; for (k = 0; k < 8; k++) s = s sprintf("%x ", int(rand() * rand() * 9999)); print s }
    }' > input
    $WITH "$TREE/src/xz/xz" -T1 -6 -k -c input > output
    status=$?
    sha256sum < output
    return $status
}
