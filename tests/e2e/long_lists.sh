#!/bin/bash
# Hash tables with fewer entries than nodes: that the table needs more entries is said, with how many there are of both and with a gain that the
# program with as many entries has at least; of that one nothing is said, nor of one list whose keys come out of an array in any order.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > table.c <<'C'
#include <stdio.h>
#include <stdlib.h>
typedef struct entry {
    struct entry *link;
    unsigned long id;
    double data[3];
} entry_t;
typedef struct {
    long lock;
    entry_t *head;
} bucket_t;
struct map {
    bucket_t *buckets;
    unsigned long count;
};
static bucket_t *bucket(const struct map *map, unsigned long id)
{
    return &map->buckets[(id * 0x9E3779B97F4A7C15ul >> 32) % map->count];
}
static __attribute__((noinline)) entry_t *find(const struct map *map, unsigned long id)
{
    for (entry_t *entry = bucket(map, id)->head; entry; entry = entry->link)
        if (entry->id == id)
            return entry;
    return NULL;
}
int main(int argc, char **argv)
{
    enum { KEYS = 40000 };
    unsigned long count = argc > 2 ? 65536 : 2048, x = 1;
    struct map map = {calloc(count, sizeof(bucket_t)), count};
    double sum = 0;
    for (unsigned long id = 0; id < KEYS; id++) {
        entry_t *entry = id % 2 ? calloc(1, sizeof *entry) : malloc(sizeof *entry); /* two data objects */
        entry->data[1] = 0;
        entry->id = id;
        entry->link = bucket(&map, id)->head;
        bucket(&map, id)->head = entry;
    }
    for (long i = atol(argv[argc - 1]) * 10000; i > 0; i--) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        sum += find(&map, (x >> 33) % KEYS)->data[1];
    }
    return printf("%g\n", sum) < 0;
}
C
cat > one.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct item {
    struct item *next;
    long key;
    double value[4];
};
int main(int argc, char **argv)
{
    enum { ITEMS = 300, KEYS = 1 << 16 };
    struct item *head = NULL;
    long *keys = malloc(KEYS * sizeof *keys);
    for (int i = 0; i < ITEMS; i++) {
        struct item *item = calloc(1, sizeof *item);
        *item = (struct item){.next = head, .key = i};
        head = item;
    }
    for (int i = 0; i < KEYS; i++)
        keys[i] = rand() % ITEMS;
    unsigned x = 1;
    double sum = 0;
    for (long i = atol(argv[argc - 1]) * 1000; i > 0; i--) {
        x = x * 1664525 + 1013904223;
        const long key = keys[(x >> 8) % KEYS];
        const struct item *item = head;
        while (item && item->key != key)
            item = item->next;
        sum += item ? item->value[1] : 0;
    }
    return printf("%g\n", sum) < 0;
}
C
$CC -O2 -g -o table table.c && $CC -O2 -g -o one one.c || fail "compile"
collect_samples 150 small.r 150 -F 997 --max-overhead 50 -- ./table @ || fail "small"
collect_samples 150 large.r 150 -F 997 --max-overhead 50 -- ./table large @ || fail "large"
collect_samples 150 one.r 150 -F 997 --max-overhead 50 -- ./one @ || fail "one"
for name in small large one; do
    "$LWP" analyze -q -f --no-measure $name.r || fail "analyze"
done
/usr/bin/python3 - << 'PY' || exit 1
import json, re, sys
def found(name):
    return [f for f in json.load(open(f"{name}.r/analysis.json"))["findings"] if f["id"].startswith("lists")]
small = found("small")
if len(small) != 1:
    sys.exit(f"FAILED: {small}")
said = re.search(r"it has (2048 entries|4096 entries at most) for some (\d+) nodes, so that a search at table.c:2\d.* goes through some (\d+) of them( or more)?", small[0]["title"])
if not said or not 38000 <= int(said[2]) <= 42000 or not (10 <= int(said[3]) <= 11 if said[1] == "2048 entries" else 5 <= int(said[3]) <= 6 and said[4]):
    sys.exit(f"FAILED: {small[0]['title']}")
if not 1.02 < small[0]["expected_speedup"][0] <= small[0]["speedup"] <= small[0]["expected_speedup"][1]:
    sys.exit(f"FAILED: {small[0]['speedup']} {small[0]['expected_speedup']}")
others = [f["title"] for f in json.load(open("small.r/analysis.json"))["findings"] if f["title"].startswith("Do not search")]
if others or found("large") or found("one"):
    sys.exit(f"FAILED: {others}, {found('large')}, {found('one')}")
print(small[0]["title"], small[0]["speedup"], small[0]["expected_speedup"])
PY
