#!/bin/bash
# The analysis' threads do not disturb each other: ThreadSanitizer finds nothing in sampled results, traces and several of them
# together, and what they write is what one thread writes.
set -u
fail() { echo "FAILED: $*"; exit 1; }
echo 'int main(void) { return 0; }' > "$TMP/empty.c"
$CC -fsanitize=thread -o "$TMP/empty" "$TMP/empty.c" 2> "$TMP/err" && "$TMP/empty" || { echo "$CC has no ThreadSanitizer here"; exit 77; }
mkdir "$TMP/build" && cd "$TMP/build" || exit 1
CC=$CC CFLAGS="-O1 -g -fsanitize=thread" LDFLAGS=-fsanitize=thread "$SRC/configure" > log 2>&1 || fail "configure: $(tail -n 3 log)"
make -j2 lwp > log 2>&1 || fail "make: $(tail -n 3 log)"
cd "$TMP" || exit 1
analyzed() { # NAME RESULT...
    local name=$1
    shift
    build/lwp analyze -q --no-measure -j 4 -o "$name.threads" "$@" > err 2>&1 || { head -n 30 err; fail "$name"; }
    "$LWP" analyze -q --no-measure -j 1 -o "$name.alone" "$@" 2> err || fail "$name, one thread: $(cat err)"
    cmp "$name.threads/analysis.json" "$name.alone/analysis.json" || fail "$name differs"
}
for example in neuron tree; do
    "$LWP" collect -q --no-analyze -o $example -- "$BUILD/examples-bin/$example" 4 > out 2> err || fail "collect: $(cat err)"
    analyzed $example.analysis $example
done
"$LWP" collect -q --no-analyze --detect layout,redundancy,sharing -o sorted -- sort -r "$SRC/Makefile.in" > out 2> err || fail "collect: $(cat err)"
analyzed together neuron tree sorted
if [ -x "$BUILD/exact/lwp-amd64-linux" ]; then
    for run in 1 2 3; do
        "$LWP" collect -q --no-analyze -e exact --detect locality -o trace$run -- ls -l /usr/lib > out 2> err || fail "collect: $(cat err)"
    done
    analyzed traces trace1 trace2 trace3
    "$LWP" collect -q --no-analyze -e exact --detect layout,redundancy,values,communication -o exact -- "$BUILD/examples-bin/neuron" 4 1 > out 2> err ||
        fail "collect: $(cat err)"
    analyzed exact.analysis exact
fi
exit 0
