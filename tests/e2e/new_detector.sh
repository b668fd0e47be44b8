#!/bin/bash
# The worked example of docs/HOWTO-detector.md builds as it stands there and counts what a program does.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "no exact engine"; exit 77; }
mkdir "$TMP/build" && cd "$TMP/build" || exit 1
cp -a "$SRC" "$TMP/source" || exit 1
for part in Makefile config.h obj lwp liblwp-light.so exact; do cp -a "$BUILD/$part" . || exit 1; done
rm -rf obj/unit
exact=$TMP/source/collector/exact
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$SRC/docs/HOWTO-detector.md" > "$exact/detect/redundancy/zeros.c"
sed -i -e 's/^extern const struct lwp_detector /&lwp_zeros_detector, /' \
    -e 's/^static const struct lwp_detector \*const table\[\] = {/&\&lwp_zeros_detector,/' "$exact/detectors.c"
make srcdir="$TMP/source" CFLAGS='-O2 -Werror' exact/lwp-amd64-linux > log 2>&1 || { tail -n 30 log; fail "make"; }

cat > app.c <<'X'
enum { N = 1000000 };
static volatile long zero, one = 1;
int main(void)
{
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += zero + zero + zero + one;
    return sum != N;
}
X
$CC -O1 -g -o app app.c || exit 1
./lwp collect -q -e exact --window all -o result ./app || fail "lwp collect"
./lwp report result > report || fail "lwp report"
note=$(grep -o '[0-9]* of [0-9]* loads of 8 bytes loaded zero' report) || { cat report; fail "no note"; }
echo "$note" | awk '{ bad = $1 < 3000000 || $1 > 3100000 || $3 < 4000000 || $3 > 4200000 } END { exit bad }' || fail "$note"
exit 0
