#!/bin/bash
# The worked example of docs/new_analysis.md builds as it stands there, is found by make, and answers its question.
set -u
fail() { echo "FAILED: $*"; exit 1; }
mkdir "$TMP/build" && cd "$TMP/build" || exit 1
cp -a "$SRC" "$TMP/source" && cp -a "$BUILD/Makefile" "$BUILD/config.h" "$BUILD/obj" "$BUILD/liblwp-light.so" . || exit 1
rm -rf obj/unit

blocks() { awk -v wanted="$1" '/^```c$/ { inside = ++n; next } /^```$/ { inside = 0 } inside == wanted' "$SRC/docs/new_analysis.md"; }
[ -z "$(blocks 3)" ] || fail "the page has more code than this test knows"
blocks 1 > ../source/analysis/findings/read_only.h
blocks 2 > ../source/analysis/findings/read_only.c
sed -n '/^## Asking it/,/^## What/{s/^    \(#include .*\)/\1/p}' "$SRC/docs/new_analysis.md" > include
sed -n '/^## Asking it/,/^## What/{s/^    \(lwp_.*;\)/    \1/p}' "$SRC/docs/new_analysis.md" > call
[ "$(wc -l < include)" = 1 ] && [ "$(wc -l < call)" = 1 ] || fail "the page does not say what to add"
sed -i -e '/^#include "analysis\/profile\/regions.h"/r include' -e '/^    lwp_elements_notes(&profile);/r call' ../source/analysis/json/analyze.c
make srcdir="$TMP/source" CFLAGS='-O1 -Werror' lwp > log 2>&1 || { tail -n 30 log; fail "make"; }

cat > app.c <<'X'
#include <stdlib.h>
enum { N = 1 << 22 };
static unsigned table[N], sums[N];
int main(void)
{
    unsigned at = 1, sum = 0;
    for (int i = 0; i < N; i++)
        table[i] = i * 2654435761u;
    for (int i = 0; i < 200000000; i++) /* for long after the delay, however fast the machine is */
        at = at * 1664525 + 1013904223, sum += table[(at >> 8) % N];
    for (int i = 0; i < 30000000; i++)
        at = at * 1664525 + 1013904223, sums[(at >> 8) % N] += at;
    return sum == sums[7];
}
X
$CC -O1 -g -o app app.c || exit 1
"$LWP" collect -q --no-analyze --detect layout --delay 0.1 -F 2000 --max-overhead 20 -o result ./app
./lwp report result > report || fail "lwp report"
grep 'was only read' report || { cat report; fail "nothing is said of the table"; }
grep 'was only read' report | grep -q 'table takes' || fail "not of the table"
! grep 'was only read' report | grep -q sums || fail "of what is written, too"
exit 0
