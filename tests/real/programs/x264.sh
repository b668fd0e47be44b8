# An encoder of video: large structures with arrays and tables of functions, frames in planes, one allocator for all.
packages=x264
needs=python3
sampled=400 traced=20
build() {
    ./configure --disable-asm --disable-opencl --disable-avs --disable-swscale --disable-lavf --disable-ffms --disable-gpac \
        --disable-lsmash --extra-cflags="$CFLAGS" > configure.out
    sed -i -e 's/-O3 -ffast-math/-O2/' -e 's/-O3/-O2/' config.mak
    nice make -j2 x264
}
run() {
    python3 - "$SIZE" > input.yuv <<'P'
import sys
width, height, frames = 176, 144, max(1, 30 * int(sys.argv[1]) // 100)
out = sys.stdout.buffer
for t in range(frames):
    luma = lambda x, y: x * 3 + y * 2 + t * 5 + (x * y >> 4) + ((x + t * 2) // 16 * 37 ^ (y + t) // 16 * 53)
    out.write(bytes(luma(x, y) & 255 for y in range(height) for x in range(width)))
    out.write(bytes((x + t * 3 + y) & 127 for y in range(height // 2) for x in range(width // 2)) * 2)
P
    $WITH "$TREE/x264" --threads 1 --lookahead-threads 1 --preset medium --no-progress --input-res 176x144 -o output.264 input.yuv 2> log
    status=$?
    sha256sum < output.264
    return $status
}
