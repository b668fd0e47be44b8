#!/bin/bash
# Measures: only a run of a chain on both kinds of pages shows what huge pages are worth here
# A chain that goes anywhere in 260 MiB, each node on a page of its own, on small pages: huge pages are advised where the program is faster with them, as a run of its
# accesses shows that, too;
# arrays that a loop goes through at the same random index are one finding; of the same program with huge pages nothing is said of them; nor (LONG) where the program's pages were looked at before it filled its memory.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
grep -qs '\[madvise\]' /sys/kernel/mm/transparent_hugepage/enabled || { echo "the system gives huge pages to all programs, or to none"; exit 77; }
cat > chase.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
enum { N = 1 << 16, BYTES = N * 4160 };
struct node {
    struct node *next;
    long value[519];
};
static __attribute__((noinline)) long chase(const struct node *node)
{
    long sum = 0;
    for (long i = 0; i < N; i++, node = node->next)
        sum += node->value[0];
    return sum;
}
int main(int argc, char **argv)
{
    if (argc > 3)
        usleep(700000); /* lwp looks at 0.2, 0.6 and 1.8 s */
    struct node *nodes = aligned_alloc(1 << 21, BYTES);
    unsigned random = 1, at = 1;
    madvise(nodes, BYTES, argc > 2 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    for (long i = 0; i < N; i++, at = random % N) { /* a full cycle: the modulus is a power of two */
        random = random * 1664525 + 1013904223;
        nodes[at] = (struct node){.next = &nodes[random % N], .value = {i}};
    }
    long sum = 0;
    clock_t begun = clock();
    for (int r = atoi(argv[argc - 1]); r > 0; r--) {
        __asm__ volatile("" : "+r"(nodes) : : "memory"); /* each time anew */
        sum += chase(nodes);
    }
    double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    char line[200];
    long huge = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "AnonHugePages: %ld", &huge);
    return printf("%ld %ld %f\n", huge, sum, seconds) < 0;
}
C
$CC -O2 -g -o chase chase.c || fail "compile"
cat > two.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { N = 1 << 23 };
static long *made(void)
{
    long *array = aligned_alloc(1 << 21, N * sizeof *array);
    madvise(array, N * sizeof *array, MADV_NOHUGEPAGE);
    for (long i = 0; i < N; i++)
        array[i] = i;
    return array;
}
int main(int argc, char **argv)
{
    long *first = made(), *second = made(), sum = 0;
    unsigned at = 1;
    for (long i = atol(argv[argc - 1]) * 100000; i > 0; i--) {
        at = at * 1664525 + 1013904223;
        sum += first[at >> 9] + second[at >> 9];
    }
    return printf("%ld\n", sum) < 0;
}
C
$CC -O2 -g -o two two.c || fail "compile"
collect_samples 150 two.r 200 -F 997 --max-overhead 50 -- ./two @ || fail "two"
analyze_until pages two.r || fail "analyze"
collect_samples 150 small.r 200 -F 997 --max-overhead 50 -- ./chase @ || fail "small"
collect_samples 150 huge.r 200 -F 997 --max-overhead 50 -- ./chase huge @ || fail "huge"
[ -z "${LONG:-}" ] || "$LWP" collect -q --no-analyze -F 997 --max-overhead 50 -o late.r ./chase huge late 200 > late.r.out || fail "late"
for pair in 1 2 3; do # what they bring
    echo $(./chase 40) $(./chase huge 40)
done > pairs
awk '$3 < 1.15 * $6 { little = 1 } END { exit little }' pairs && small=small # in each pair
# A run of the chain on huge pages says nothing where the system has none left.
without() { /usr/bin/python3 -c 'import ctypes, os, sys; ctypes.CDLL(None).prctl(41, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])' "$@"; } # PR_SET_THP_DISABLE
said() { grep -q -e '"id": *"pages' -e 'uge pages.*is not known' -e 'uge pages.*not advised' -e 'were not timed' "$1/analysis.json"; }
if [ -n "${small:-}" ]; then
    analyze_until pages small.r || fail "analyze"
    for again in 1 2 3; do said small.r || "$LWP" analyze -q -f small.r || fail "analyze"; done
    cp -r small.r none.r
    without "$LWP" analyze -q -f none.r || fail "analyze without huge pages"
fi
for name in huge ${LONG:+late}; do
    granted=$(cut -d ' ' -f 1 $name.r.out)
    [ "$granted" -ge 100000 ] || { echo "skip $name: the kernel gave $granted KiB of huge pages"; continue; }
    "$LWP" analyze $name.r > $name.log 2>&1 || { cat $name.log; fail "analyze"; }
done
python3 - << 'PY' || exit 1
import json, os, sys
def found(name):
    return [f for f in json.load(open(f"{name}.r/analysis.json"))["findings"] if f["id"].startswith("pages")]
gains = sorted(float(pair.split()[2]) / float(pair.split()[5]) for pair in open("pairs"))
if not os.path.exists("small.r/analysis.json"):
    print(f"skip small pages: huge ones bring {gains[0]:.2f} to {gains[2]:.2f} here")
else:
    unknown = [n for n in json.load(open("small.r/analysis.json"))["run"]["notes"] if "uge pages" in n and ("is not known" in n or "not advised" in n) or "were not timed" in n]
    small = found("small")
    if not small and unknown:
        print(f"skip small pages: {unknown[0]}")
    elif len(small) != 1 or "nodes" not in small[0]["title"] or not 1.02 <= small[0]["expected_speedup"][0] <= small[0]["speedup"]:
        sys.exit(f"FAILED: small pages: {small}, and huge ones bring {gains[1]:.2f}; {json.load(open('small.r/analysis.json'))['run']['notes']}")
if os.path.exists("none.r/analysis.json"):
    notes = json.load(open("none.r/analysis.json"))["run"]["notes"]
    if found("none") or small and not any("too few huge pages" in n or "were not timed" in n for n in notes):
        sys.exit(f"FAILED: without huge pages: {found('none')}, {notes}")
two = [f["title"] for f in found("two")]
if len(two) > 1 or two and not ("first" in two[0] and "second" in two[0]):
    sys.exit(f"FAILED: two arrays: {two}")
print("two arrays:", two)
for name in "huge", "late":
    if os.path.exists(name + ".r/analysis.json") and found(name):
        sys.exit(f"FAILED: {name}: {found(name)}")
PY
