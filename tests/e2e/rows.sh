#!/bin/bash
# Rows of pairs, each up to a mark behind its end: the loop over rows stalls on the first index, and the loop over the row uses the values
# too, so index and value stay together. Where that is done for few of the rows, they are separated.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > rows.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct entry {
    int index;
    double value, more[2];
};
enum { ROWS = 1 << 17, LONG = 12 };
static struct entry *entries, *rows[ROWS];
static double weights[1024];
static unsigned next(unsigned *random) { return *random = *random * 1664525 + 1013904223; }
static __attribute__((noinline)) double dot(unsigned *random)
{
    double sum = 0;
    for (long i = 0; i < ROWS; i++) {
        const struct entry *e = rows[next(random) >> 15];
#ifdef RARE
        if (e->index % 64) {
            sum += e->index;
            continue;
        }
#endif
        for (; e->index >= 0; e++)
            sum += weights[e->index] * e->value * e->more[0] * e->more[1];
    }
    return sum;
}
int main(int argc, char **argv)
{
    unsigned random = 1;
    double sum = 0;
    entries = calloc((long)ROWS * LONG, sizeof *entries);
    for (long i = 0; i < (long)ROWS * LONG; i++) {
        entries[i].index = i % LONG == LONG - 1 ? -1 : (int)(next(&random) >> 22);
        entries[i].value = entries[i].more[0] = entries[i].more[1] = 1;
        if (i % LONG == 0)
            rows[i / LONG] = &entries[i];
    }
    for (int r = atoi(argv[argc - 1]); r > 0; r--)
        sum += dot(&random);
    return printf("%g\n", sum) < 0;
}
C
$CC -O2 -g -o rows rows.c && $CC -O2 -g -DRARE -o rare rows.c || fail "compile"
collect_samples 300 rows.r 20 -F 1997 --max-overhead 50 -- ./rows @ || fail "rows"
collect_samples 300 rare.r 60 -F 1997 --max-overhead 50 -- ./rare @ || fail "rare"
"$LWP" analyze -q -f rows.r && "$LWP" analyze -q -f rare.r || fail "analyze"
python3 - << 'PY' || exit 1
import json, sys
bad = []
def loop(name):
    result = json.load(open(f"{name}.r/analysis.json"))
    entries = max((o for o in result["objects"] if o["type"] == "struct entry"), key=lambda o: o["share"])
    return result, entries, [s for s in result["splits"] if s["type"] == "struct entry"]
result, entries, splits = loop("rows")
if entries["share"] < 0.2:
    bad.append(f"rows: only {entries['share']} of the time is on the entries")
if splits:
    bad.append(f"rows: split into {[g['fields'] for g in splits[0]['groups']]}, {splits[0]['speedup']}")
result, entries, splits = loop("rare")
if not splits or splits[0]["groups"][0]["fields"] != ["index"]:
    bad.append(f"rare: {[[g['fields'] for g in s['groups']] for s in splits]} instead of the index alone")
for text in bad:
    print("FAILED:", text)
sys.exit(bool(bad))
PY
