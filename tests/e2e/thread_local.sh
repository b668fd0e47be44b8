#!/bin/bash
# Thread-local variables of the program are named, with their types, in its first thread and in others; threads do not share them. Those of
# a library, which lie below the program's, are no variable of the program, and are not taken for a part of a thread's stack.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > local.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { CELLS = 20000 };
struct cell {
    double value, gradient[7];
};
static __thread struct cell cells[CELLS];
static __thread long rounds;
static __attribute__((noinline)) double total(void)
{
    double sum = 0;
    for (int i = 0; i < CELLS; i++)
        sum += cells[i].value;
    return sum;
}
static void *run(void *times)
{
    double sum = 0;
    for (int i = 0; i < CELLS; i++)
        cells[i].value = i;
    for (rounds = 0; rounds < *(long *)times; rounds++) {
        __asm__ volatile("" : : : "memory"); /* each time anew */
        sum += total();
    }
    return sum < 0 ? times : NULL;
}
int main(int argc, char **argv)
{
    long times = atol(argv[argc - 1]) * 10;
    pthread_t other;
    if (pthread_create(&other, NULL, run, &times))
        return 1;
    void *first = run(&times), *second;
    pthread_join(other, &second);
    return first || second;
}
C
$CC -O2 -g -pthread -o local local.c || fail "compile"
collect_samples 100 local.r 50 -F 997 --max-overhead 50 -- ./local @ || fail "collect"
"$LWP" analyze -q -f --no-measure local.r || fail "analyze"
/usr/bin/python3 - << 'PY' || exit 1
import json, sys
analysis = json.load(open("local.r/analysis.json"))
cells = [o for o in analysis["objects"] if o["name"] == "cells"]
if len(cells) != 1 or cells[0]["kind"] != "static" or "struct cell" not in str(cells[0]["type"]) or cells[0]["elements"] != 20000:
    sys.exit(f"FAILED: {[(o['name'], o['kind'], o['type'], o['elements']) for o in analysis['objects']]}")
others = [(o["name"], o["share"]) for o in analysis["objects"] if o is not cells[0] and (o["share"] or 0) > 0.2 * (cells[0]["share"] or 0)]
if others:
    sys.exit(f"FAILED: {cells[0]['share']} of the cost, and {others}")
if any("False sharing" in f["title"] for f in analysis["findings"]):
    sys.exit(f"FAILED: {[f['title'] for f in analysis['findings']]}")
PY

cat > theirs.c <<'C'
enum { CELLS = 160000 };
static __thread long theirs[CELLS];
double theirs_total(void)
{
    double sum = 0;
    for (int i = 0; i < CELLS; i++)
        sum += (double)theirs[i]++;
    return sum;
}
C
cat > user.c <<'C'
#include <pthread.h>
#include <stdlib.h>
double theirs_total(void);
static __thread long mine[64];
static void *run(void *times)
{
    double sum = 0;
    for (long i = 0; i < *(long *)times; i++)
        sum += theirs_total() + (double)mine[i % 64]++;
    return sum < 0 ? times : NULL;
}
int main(int argc, char **argv)
{
    long times = atol(argv[argc - 1]) * 10;
    pthread_t other;
    if (pthread_create(&other, NULL, run, &times))
        return 1;
    return pthread_join(other, NULL);
}
C
$CC -O2 -g -shared -fPIC -o libtheirs.so theirs.c && $CC -O2 -g -pthread -o user user.c -L. -ltheirs -Wl,-rpath,"$TMP" || fail "compile"
collect_samples 100 user.r 50 -F 997 --max-overhead 50 -- ./user @ || fail "collect"
"$LWP" analyze -q -f --no-measure user.r || fail "analyze"
/usr/bin/python3 - << 'PY' || exit 1
import json, sys
objects = [o for o in json.load(open("user.r/analysis.json"))["objects"] if (o["share"] or 0) > 0.1]
wrong = [(o["name"], o["kind"], o["share"]) for o in objects if o["kind"] == "stack" or o["name"] == "mine"]
if wrong:
    sys.exit(f"FAILED: {wrong}")
PY
