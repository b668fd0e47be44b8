#!/bin/bash
# Values that lie in larger nodes, and an array of them in the same block: they are not one array of all, which could be split.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > spread.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct point {
    long x, y, z, unused[2];
};
enum { POINTS = 500000, HEADER = 16 };
static char *rest;
static unsigned long state = 1;
static unsigned long any(void)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (state >> 33) % POINTS;
}
static struct point *place(size_t header, size_t count)
{
    struct point *points = (struct point *)(rest + header);
    rest += header + count * sizeof *points;
    return points;
}
static __attribute__((noinline)) long of_nodes(struct point **nodes)
{
    long sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += nodes[any()]->x;
    return sum;
}
static __attribute__((noinline)) long of_array(const struct point *points)
{
    long sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += points[any()].y;
    return sum;
}
int main(int argc, char **argv)
{
    struct point **nodes = malloc(POINTS * sizeof *nodes);
    long sum = 0;
    const size_t bytes = POINTS * (2 * sizeof(struct point) + HEADER);
    rest = memset(malloc(bytes), 1, bytes);
    for (int i = 0; i < POINTS; i++)
        nodes[i] = place(HEADER, 1);
    const struct point *points = place(0, POINTS);
    for (long times = atol(argv[argc - 1]); times > 0; times--) {
        __asm__ volatile("" : : : "memory"); /* each time anew */
        sum += of_nodes(nodes) + of_array(points);
    }
    return printf("%ld\n", sum) < 0;
}
C
$CC -O2 -g -o spread spread.c || fail "compile"
collect_samples 300 spread.r 60 -F 997 --max-overhead 50 -- ./spread @ || fail "collect"
"$LWP" analyze -q -f --no-measure spread.r || fail "analyze"
/usr/bin/python3 - << 'PY' || exit 1
import json, sys
analysis = json.load(open("spread.r/analysis.json"))
said = [f["title"] for f in analysis["findings"] if f["id"].startswith("split")]
if said:
    sys.exit(f"FAILED: {said}, {[(o['name'], o['type'], o['elements']) for o in analysis['objects']]}")
PY
