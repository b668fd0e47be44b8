#!/bin/bash
# A library without a table of its frames, as Mono's compiled images are, is among the callers of what is sampled: no file is opened for
# one, which libunwind would do, in the handler, and take the program's for it. The program has gaps between its segments, as if
# for large pages: its types are known all the same. A program without such a table, which another one starts, runs a while before it is
# set up: what was allocated until then is unwound later.
set -u
cd "$TMP" || exit 1
cat > rounds.c <<'END'
long rounds(long (*walk)(void *), void *list, int count);
long rounds(long (*walk)(void *), void *list, int count)
{
    long sum = 0;
    while (count--)
        sum += walk(list);
    return sum;
}
END
cat > main.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>
struct node { struct node *next; long value, rest[6]; };
long rounds(long (*walk)(void *), void *list, int count);
static long walk(void *list)
{
    long sum = 0;
    for (struct node *node = list; node; node = node->next)
        sum += node->value;
    return sum;
}
int main(void)
{
    enum { NODES = 100000 };
    struct node *nodes = calloc(NODES, sizeof *nodes);
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct node){i + 1 < NODES ? &nodes[i + 1] : NULL, i};
    char event[4096];
    int opened = inotify_init1(IN_NONBLOCK);
    inotify_add_watch(opened, "/proc/self/exe", IN_OPEN);
    long sum = rounds(walk, nodes, 2000);
    printf("%ld, %s\n", sum, read(opened, event, sizeof event) > 0 ? "opened" : "not opened");
    return 0;
}
END
$CC -O2 -g -fno-omit-frame-pointer -fPIC -shared -Wl,--no-eh-frame-hdr -o librounds.so rounds.c &&
    $CC -O2 -g -fno-omit-frame-pointer -Wl,-z,max-page-size=0x4000000 -o walks main.c -L. -lrounds -Wl,-rpath,"$PWD" || exit 1
readelf -lW librounds.so | grep -q GNU_EH_FRAME && { echo "the library has a table"; exit 1; }
./walks > expected
"$LWP" collect --no-measure -F 2000 --max-overhead 20 -o r -- ./walks > out 2> err || { echo "status $?"; cat err; exit 1; }
cmp expected <(head -1 out) || { echo "another output"; cat out; exit 1; }
/usr/bin/python3 - <<'P' || exit 1
import json
result = json.load(open("r/analysis.json"))
nodes = [o for o in result["objects"] if o["type"] == "struct node"]
assert nodes and nodes[0]["share"] > 0.5, result["objects"][:1]
P
$CC -O2 -g -fno-omit-frame-pointer -Wl,--no-eh-frame-hdr -o started main.c rounds.c || exit 1
"$LWP" collect --no-analyze -F 2000 --max-overhead 20 -o r2 -- sh -c './started; exit 5' > out 2> err
[ $? = 5 ] && cmp expected out || { echo "a program without a table: another output or status"; cat out err; exit 1; }
for file in r2/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -q '^sample' || { echo "no samples of it"; exit 1; }
if command -v tcc > /dev/null && tcc -o compiled -x c - <<'C' 2> tcc.err && ./compiled > expected
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    long sum = 0;
    for (int i = 0; i < 300000; i++) {
        char *block = malloc(i % 900 + 1);
        block[0] = i;
        sum += block[0];
        free(block);
    }
    for (long i = 0; i < 50000000; i++)
        sum += i & 3;
    printf("%ld\n", sum);
    return 0;
}
C
then
    "$LWP" collect --no-analyze -F 10000 --max-overhead 60 -o r3 -- sh -c './compiled; exit $?' > out 2> err
    [ $? = 0 ] && cmp expected out || { echo "a program that tcc compiled: another output or status"; cat out err; exit 1; }
fi
