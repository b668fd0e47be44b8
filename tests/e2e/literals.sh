#!/bin/bash
# Constants that have no symbol, as string literals, are told from variables without one.
set -u
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
. "$SRC/tests/sampled.sh"
cat > words.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEN(s) s "0" s "1" s "2" s "3" s "4" s "5" s "6" s "7" s "8" s "9"
#define THOUSAND(s) TEN(TEN(TEN(s)))
static unsigned long large[1 << 16];
int main(int argc, char **argv)
{
    const char *text = argc > 5 ? "" : THOUSAND("some words ");
    size_t length = strlen(text), at = 0;
    unsigned long sum = 0;
    for (long i = atol(argv[1]) * 1000; i > 0; i--) {
        at = (at * 1664525 + 1013904223) % length;
        sum += (unsigned char)text[at];
        large[at % (1 << 16)] += sum;
        at += sum & 1;
    }
    printf("%lu\n", sum);
    return 0;
}
C
$CC -O2 -g -o words words.c || fail "compile"
cp words stripped && strip stripped || fail "strip"
for program in words stripped; do
    collect_samples 150 result-$program 4000 -F 2000 --max-overhead 50 --detect layout -- ./$program @ || fail "collect $program"
    "$LWP" analyze -q --no-measure result-$program && "$LWP" report --json result-$program > $program.json || fail "analyze $program"
    grep -q "\"literals and constants of $program\"" $program.json || fail "$program: no literals"
done
grep -q '"static data of words without a symbol"' words.json && fail "a literal is said to be a variable without a symbol"
grep -q '"static data of stripped without a symbol"' stripped.json || fail "a variable without a symbol is missing"
exit 0
