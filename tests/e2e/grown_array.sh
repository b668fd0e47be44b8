#!/usr/bin/env bash
# An array that grows, as std::vector does: its old block, there until it is copied, does not count as another one, and what the last one
# has room for does not count as elements. Its length, kept before the elements and read in each iteration, says nothing of how they are walked.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > grown.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct cell { long key; double weight; char name[48]; };
struct cells { long count, room; struct cell item[]; };
double total;
static struct cells *cells_grow(struct cells *cells)
{
    const long room = cells ? 2 * cells->room : 16;
    struct cells *grown = malloc(sizeof *grown + (unsigned long)room * sizeof *grown->item);
    if (!grown)
        exit(1);
    grown->room = room;
    grown->count = cells ? cells->count : 0;
    if (cells)
        memcpy(grown->item, cells->item, (unsigned long)cells->count * sizeof *cells->item);
    free(cells);
    return grown;
}
__attribute__((noinline)) static void add(const struct cells *cells)
{
    for (long i = 0; i < cells->count; i++)
        total += cells->item[i].weight;
}
int main(int c, char **v)
{
    struct cells *cells = NULL;
    for (long i = 0; i < 300000; i++) {
        if (!cells || cells->count == cells->room)
            cells = cells_grow(cells);
        cells->item[cells->count++] = (struct cell){i, i / 3.0, "cell"};
    }
    for (int turns = c > 1 ? atoi(v[1]) : 1; turns > 0; turns--)
        add(cells);
    printf("%.0f\n", total);
    free(cells);
    return 0;
}
END
${CC:-cc} -O2 -g -o grown grown.c
collect_samples 300 r 500 -F 2000 --max-overhead 50 -- ./grown @
"$LWP" analyze -q r
python3 - << 'END'
import json
analysis = json.load(open("r/analysis.json"))
cells = [o for o in analysis["objects"] if o["element_bytes"] == 64][0]
assert cells["allocated_bytes"] == 16 + 524288 * 64, cells["allocated_bytes"]
assert 0.9 * 300000 < cells["elements"] < 1.05 * 300000, cells["elements"]
split = [s for s in analysis["splits"] if s["element_bytes"] == 64][0]
traffic = split["traffic"]
assert 0.95 < traffic["before"] < 1.1 and min(loop["after"] for loop in traffic["loops"]) < 0.3, traffic # those that build it take as many as they did
END
"$LWP" report r > report
grep -q 'about [0-9]* elements of 64 bytes' report
