#!/bin/bash
# Alone: it compares times of two patterns of accesses
# Measures: it is what the test is about
# A gain is one number in its interval. It is measured on the machine that ran the program, where that is asked for and can be: not
# with --no-measure, and not when the samples come from another machine. Additions that wait for each other are no memory stall: where
# they take all of the time, no layout is advised.
set -u
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
cat > walk.c << 'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct cell { double t; long id; double flux[6]; };
enum { CELLS = 1 << 20 };
/* LATE: each sum waits for three additions of the one before, some 12 cycles and more than a line takes to come. */
__attribute__((noipa)) static double sweep(const struct cell *cells)
{
    double sum = 0;
    for (long i = 0; i < CELLS; i++) {
        sum += cells[i].t;
#ifdef LATE
        sum = (((((sum * 0.5 + 1) * 0.5 + 1) * 0.5 + 1) * 0.5 + 1) * 0.5 + 1) * 0.5 + 1;
#endif
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct cell *cells = malloc(CELLS * sizeof *cells);
    double sum = 0;
    memset(cells, 1, CELLS * sizeof *cells); /* real pages, not one empty page for all */
    for (int i = 0; i < atoi(argv[argc - 1]); i++)
        sum += sweep(cells);
    return printf("%g\n", sum) < 0;
}
C
${CC:-cc} -std=gnu11 -O2 -g -o walk walk.c && ${CC:-cc} -std=gnu11 -O2 -g -DLATE -o late walk.c || fail "compile"
collect_samples 200 walk.r 300 -F 1000 --max-overhead 25 -- ./walk @ || fail "walk"
collect_samples 200 late.r 60 -F 1000 --max-overhead 25 -- ./late @ || fail "late"
cp -r walk.r elsewhere.r
sed -i 's/"host": *"[^"]*"/"host": "another"/' elsewhere.r/run.json
"$LWP" analyze -q walk.r && "$LWP" analyze -q late.r && "$LWP" analyze -q elsewhere.r || fail "analyze"
cp -r walk.r estimated.r
"$LWP" analyze -q -f --no-measure estimated.r || fail "analyze --no-measure"
"$LWP" report walk.r > walk.txt || fail "report"
/usr/bin/python3 - << 'PY' || fail "gains"
import json
def splits(name):
    return json.load(open(name + ".r/analysis.json"))["splits"]
def finding(name):
    return json.load(open(name + ".r/analysis.json"))["findings"][0]
for name in ("walk", "estimated", "elsewhere"):
    split, = splits(name)
    low, high = split["expected_speedup"]
    assert split["groups"][0]["fields"] == ["t"], (name, split["groups"])
    assert 1.02 <= low <= split["speedup"] <= high, (name, low, split["speedup"], high)
    assert finding(name)["speedup"] == split["speedup"], name
    if name != "walk":
        assert split["speedup_from"] == "estimate", (name, split["speedup_from"])
    text = "%.*fx (" % (2 if split["speedup"] < 9.995 else 1, split["speedup"])
    assert name != "walk" or text in open("walk.txt").read(), text
late = splits("late")
assert all(split["speedup"] < 1.3 for split in late), [(split["speedup"], split["expected_speedup"]) for split in late]
PY
# Searches in hash chains of two: samples show that they end after a visit or two, so many are under way at one time. One after the other
# they would take the memory's whole latency a visit.
${CC:-cc} -std=gnu11 -O2 -g -DFAMILY=3 -DSIZE=128 -DLENGTH=2 -DKIB=65536 -o chains "$SRC/tests/truth/gain_families.c" || fail "compile chains"
collect_samples 200 chains.r 40 -F 1000 --max-overhead 25 -- ./chains @ || fail "chains"
"$LWP" analyze -q chains.r || fail "analyze chains"
/usr/bin/python3 - << 'PY' || fail "chains"
import json
split, = json.load(open("chains.r/analysis.json"))["splits"]
visit = split.get("visit_ns")
assert not visit or visit["run"] < 80, visit
PY
# Two cursors through sorted lists: loads behind a jump that was guessed wrong seem to stall.
cat > merge.c << 'C'
#include <stdio.h>
#include <stdlib.h>
struct item { int key; double value; };
enum { ROWS = 4096, ITEMS = 61 };
__attribute__((noipa)) static double product(const struct item *a, const struct item *b)
{
    double sum = 0;
    while (a->key != -1 && b->key != -1) {
        if (a->key == b->key) {
            sum += a->value * b->value;
            a++;
            b++;
        } else {
            if (a->key > b->key)
                b++;
            else
                a++;
        }
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct item *items = malloc(ROWS * ITEMS * sizeof *items);
    double sum = 0;
    srandom(7);
    for (int i = 0, key = 0; i < ROWS * ITEMS; i++) {
        key = i % ITEMS ? key + 1 + (int)(random() % 12) : 0;
        items[i] = (struct item){i % ITEMS == ITEMS - 1 ? -1 : key, 1};
    }
    for (int i = 0; i < atoi(argv[argc - 1]); i++)
        for (int row = 0; row < ROWS; row++)
            sum += product(items + i % ROWS * ITEMS, items + row * ITEMS);
    return printf("%g\n", sum) < 0;
}
C
${CC:-cc} -std=gnu11 -O3 -g -o merge merge.c || fail "compile merge"
collect_samples 200 merge.r 250 -F 1000 --max-overhead 25 -- ./merge @ || fail "merge"
"$LWP" analyze -q merge.r || fail "analyze merge"
/usr/bin/python3 - << 'PY' || fail "merge"
import json
splits = json.load(open("merge.r/analysis.json"))["splits"]
assert not splits, [(split["speedup"], split["expected_speedup"]) for split in splits]
PY
