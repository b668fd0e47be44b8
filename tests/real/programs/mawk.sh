# An interpreter: cells of several types, arrays that are hash tables and lists at once, a small-block allocator of its own.
packages=mawk
sampled=500 traced=50
build() {
    ./configure CFLAGS="$CFLAGS" > configure.out
    nice make mawk
}
run() {
    cat > input.awk <<'A'
BEGIN {
    n = size * 5000
    for (i = 0; i < n; i++) { k = i * 7919 % 200003; t[k] += i % 17; if (i % 5 == 0) w[k % 1009 "," i % 7]++ }
    for (r = 0; r < 3; r++) for (k in t) s += t[k]
    for (k in w) { split(k, part, ","); c += part[1] * w[k] }
    for (i = 0; i < n / 10; i++) {
        line = "a b c " i " d e"; m = split(line, f, " "); u += f[4] + m
        gsub(/[bd]/, "x", line); if (line ~ /x c [0-9]*7 x/) v++
    }
    print s, c, u, v
}
A
    $WITH "$TREE/mawk" -v size="$SIZE" -f input.awk
}
