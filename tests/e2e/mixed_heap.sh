#!/bin/bash
# From outside a heap is one object. Blocks of one size of which some are of one type and some of another are told by their types, and
# how much there is of each by the stretches of memory in which nothing but it is seen.
set -u
cd "$TMP" || exit 1
. "$SRC/tests/sampled.sh"
needs_attaching
cat > mixed.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct place { struct place *next; long height, rest[6]; };
struct path { struct path *after; long length, rest[6]; };
enum { TURNS = 4, EACH = 40000 };
__attribute__((noinline)) static long heights(const struct place *place)
{
    long sum = 0;
    for (; place; place = place->next)
        sum += place->height;
    return sum;
}
__attribute__((noinline)) static long lengths(const struct path *path)
{
    long sum = 0;
    for (; path; path = path->after)
        sum += path->length;
    return sum;
}
int main(void)
{
    struct place *places = NULL;
    struct path *paths = NULL;
    long sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < EACH; i++) {
            struct place *place = malloc(sizeof *place);
            *place = (struct place){places, i};
            places = place;
        }
        for (int i = 0; i < EACH / 2; i++) {
            struct path *path = malloc(sizeof *path);
            *path = (struct path){paths, i};
            paths = path;
        }
    }
    for (int i = 0; i < 2500; i++)
        sum += heights(places) + lengths(paths);
    printf("%ld\n", sum);
    return 0;
}
END
$CC -O2 -g -static -o mixed mixed.c || exit 1
# A heap that grows while it is sampled counts as several: so not from the start.
"$LWP" collect --no-measure --delay 0.3 -F 2000 --max-overhead 20 -o r -- ./mixed > out 2> err || { cat err; exit 1; }
/usr/bin/python3 - <<'P'
import json
objects = {o["type"]: o for o in json.load(open("r/analysis.json"))["objects"] if o["share"] > 0.1}
for name, count in ("struct place", 160000), ("struct path", 80000):
    found = objects.get(name)
    assert found and found["elements"] and 0.7 * count < found["elements"] < 1.3 * count, (name, found and found["elements"], list(objects))
P
