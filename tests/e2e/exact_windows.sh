#!/bin/bash
# Windows and gaps have translations of their own in the exact engine: a program runs as it does by itself where they change
# all the time, whatever else becomes of translations, and twice the same windows are the same. What is looked at when a
# superblock has run is the same as what is looked at on the way: a window of the whole run has all of its redundant accesses.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O1 -g -Wall -Wextra -o translations "$SRC/tests/programs/translations.c" || fail "compile"
./translations > out && grep -qx right out || fail "the program"
run() { # NAME WINDOW WHAT
    "$LWP" collect -q --no-analyze -e exact --detect "$3" --window "$2" -o "$1" -- ./translations > out 2> err || { cat out err; fail "$*"; }
    grep -qx right out || { cat out; fail "$*"; }
}
all=layout,redundancy,values,registers,spatial
for window in 1:100 200:2000 2000:200 50:fibonacci; do
    for what in layout $all; do run few $window $what; rm -r few; done
done
samples() { "$LWP" dump "$1"/p*/t[1-9]*.lwps | sed -n 's/^sample time [0-9]* //p; s/^  access/access/p'; }
for name in one two; do run $name 200:2000 $all; done
[ "$(samples one | wc -l)" -gt 1000 ] && cmp <(samples one) <(samples two) || fail "two runs differ"

# loads and stores of one instruction in a loop that VEX unrolls, of all widths, of numbers, conditional, locked, on the stack and
# beyond words; and a bit test of a register, for which VEX makes up accesses
cat > accesses.c <<'C'
#include <alloca.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
enum { N = 1 << 12 };
static uint64_t table[N], state = 88172645463325252;
static double numbers[N];
static float singles[N];
static int wide[N], mask[N];
static int counter;
static unsigned char saved[4096] __attribute__((aligned(64)));
__attribute__((noinline)) static void add(void)
{
    for (int i = 0; i < 8 * N; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        table[state % N] += state >> 40;
    }
}
__attribute__((noinline)) static int bits(unsigned value, unsigned bit)
{
    int set;
    __asm__ volatile("bt %1, %2; sbb %0, %0" : "=r"(set) : "r"(bit), "r"(value) : "cc");
    return set & 1;
}
__attribute__((noinline)) static int on_stack(int n)
{
    char *copy = alloca(64 + n);
    memset(copy, n, 64);
    __asm__ volatile("" : : "r"(copy) : "memory");
    return copy[n & 31];
}
__attribute__((noinline, target("avx2"))) static void vectors(int r)
{
    for (int i = 0; i < N; i += 8) {
        __m256i some = _mm256_loadu_si256((const __m256i *)&mask[i]);
        _mm256_maskstore_epi32(&wide[i], some, _mm256_set1_epi32(r & 3));
        _mm256_storeu_ps(&singles[i], _mm256_set1_ps((float)(r & 3)));
    }
}
int main(void)
{
    int sum = 0, avx2 = __builtin_cpu_supports("avx2");
    for (int i = 0; i < N; i++) mask[i] = i % 3 ? -1 : 0;
    add();
    for (int r = 0; r < 20; r++) {
        for (int i = 0; i < N; i++) numbers[i] = numbers[i] * 0.5 + 1;
        if (avx2) vectors(r);
        for (unsigned i = 0; i < 500; i++) sum += bits(0xfffffb98, i & 15) + on_stack((int)i & 7);
        for (int i = 0; i < 100; i++) __atomic_fetch_or(&counter, i, __ATOMIC_SEQ_CST);
        __asm__ volatile("fxsave64 %0" : "=m"(saved));
    }
    return printf("%d %g %d\n", sum, numbers[5], wide[7]) < 0;
}
C
$CC -O2 -g -o accesses accesses.c || fail "compile accesses.c"
pairs() { "$LWP" dump "$1"/p*/t0.lwps | sed '/^file/d; s/^pair time [0-9]*/pair/'; }
"$LWP" collect -q -e exact --detect redundancy -o whole -- ./accesses > /dev/null || fail "the whole run"
"$LWP" collect -q --no-analyze -e exact --detect redundancy --window 1000000000:1 -o windowed -- ./accesses > /dev/null || fail "a window"
[ "$(pairs whole | grep -c '^pair')" -gt 100 ] || fail "no pairs"
diff <(pairs whole) <(pairs windowed) > different || { head -40 different; fail "a window of the whole run has other pairs"; }
"$LWP" report whole > report || fail "report"
/usr/bin/python3 - <<'PY' || fail "a bit test is told to access memory"
import json
d = json.load(open("whole/analysis.json"))
where = [d["contexts"][p[e]]["frames"][0]["function"] for p in d["redundancies"] for e in ("first", "second")]
assert "bits" not in where and "main" in where, where
PY
exit 0
