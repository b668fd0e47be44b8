#!/bin/bash
# Pages that were never written are one page of zeros, which is in the nearest cache: loads from them wait for no memory.
# The same walk over memory that was written waits.
set -u
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
cat > zeros.c << 'C'
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { CELLS = 1 << 18 };
struct cell { long t, rest[7]; };
static struct cell fixed[CELLS];
__attribute__((noipa)) static long sum_of(const struct cell *cells)
{
    long sum = 0;
    for (long i = 0; i < CELLS; i++)
        sum += cells[i].t;
    return sum;
}
int main(int argc, char **argv)
{
    struct cell *empty = calloc(CELLS, sizeof *empty), *filled = calloc(CELLS, sizeof *filled);
    void *page = (void *)((unsigned long)&fixed[CELLS / 2] & -4096ul);
    long sum = fixed[CELLS / 2].t;
    int where;
    if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &where, 0) || where != -EFAULT) /* some systems do not say which pages these are, or have none */
        return 77;
    memset(filled, 1, CELLS * sizeof *filled);
    for (int i = 0; i < atoi(argv[argc - 1]); i++) {
        sum += sum_of(empty) + sum_of(fixed);
        sum += sum_of(filled);
    }
    return printf("%ld\n", sum) < 0;
}
C
${CC:-cc} -std=gnu11 -O2 -g -o zeros zeros.c || fail "compile"
./zeros 1 > zeros.out
[ $? -ne 77 ] || { echo "move_pages is not permitted, or pages that were never written are not one page of zeros"; exit 77; }
collect_samples 200 zeros.r 60 -F 1000 --max-overhead 25 -- ./zeros @ || fail "collect"
"$LWP" analyze -q --no-measure zeros.r || fail "analyze"
/usr/bin/python3 - << 'PY' || fail "zeros"
import json
result = json.load(open("zeros.r/analysis.json"))
of = {entry["name"]: entry for entry in result["objects"]}
for name in ("empty", "fixed"):
    # a sample may be at the first load of all from a page, which is none yet
    assert of[name]["accesses"] > 0 and of[name]["share"] < 0.03, (name, of[name]["accesses"], of[name]["share"])
assert of["filled"]["share"] > 0.1, of["filled"]["share"]
PY
