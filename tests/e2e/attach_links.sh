#!/bin/bash
# From outside a linked structure's gain is known, too: where its links lead is read from the process's memory, a little later. What is
# read so is no sample of an address.
set -u
cd "$TMP" || exit 1
. "$SRC/tests/sampled.sh"
needs_attaching
cat > chain.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value, rest[6]; };
__attribute__((noinline)) static long walk(const struct node *node)
{
    long sum = 0;
    for (; node; node = node->next)
        sum += node->value;
    return sum;
}
int main(int argc, char **argv)
{
    enum { NODES = 400000 };
    struct node *nodes = calloc(NODES, sizeof *nodes);
    long sum = 0;
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct node){i + 1 < NODES ? &nodes[i + 1] : NULL, i};
    puts("ready");
    fflush(stdout);
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
        sum += walk(nodes);
    printf("%ld\n", sum);
    return 0;
}
END
$CC -O2 -g -o chain chain.c || exit 1
./chain 10000 > answers &
process=$!
until grep -q ready answers; do sleep 0.01; done
"$LWP" collect -F 2000 --max-overhead 30 --duration 2 -o r -p $process > out 2> err
status=$?
kill $process 2> kill.err
wait $process 2>> kill.err
[ $status = 0 ] || { echo "status $status"; cat err; exit 1; }
for file in r/p*/t*.lwps; do "$LWP" dump "$file"; done > dump
grep -q 'source 7' dump || { echo "no link was followed"; exit 1; }
! grep -q 'source 7 weighted' dump || { echo "a link was charged"; exit 1; }
# How far samples are apart varies, which tells how fast the loop is; each stands for the time since the one before.
awk '/^sample time/ { if (last) { all++; near += $3 - last > 0.9 * $5 && $3 - last < 1.1 * $5 } last = $3; weights[$5] }
     END { for (weight in weights) different++; exit !(different > 5 && 2 * near > all) }' dump || { echo "periods"; grep -c '^sample' dump; exit 1; }
/usr/bin/python3 - <<'P'
import json
result = json.load(open("r/analysis.json"))
splits = [s for s in result["splits"] if s["type"] == "struct node"]
assert splits and splits[0]["groups"][0]["fields"] == ["next", "value"], (result["left_alone"], splits)
assert splits[0]["expected_speedup"][0] > 1.1, splits[0]["expected_speedup"] # else the next element might be anywhere
P
