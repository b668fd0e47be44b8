#!/usr/bin/env bash
# Blocks of lwp_split.h, which lwp patch adds to a program, are data objects as malloc's are: hot and cold parts two of them.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cp "$SRC/patch/rewrite/lwp_split.h" .
cat > pool.c << 'END'
#include "lwp_split.h"
#include <stdio.h>
#include <stdlib.h>
enum { COUNT = 200000 };
struct node { double weight; struct node *next; };
struct node_cold { char name[80]; };
LWP_SPLIT_POOL(node, struct node, sizeof(struct node), sizeof(struct node_cold))
LWP_SPLIT_PART(node_cold, struct node, struct node_cold, 1)
static double total;
__attribute__((noinline)) static void add(const struct node *node)
{
    for (; node; node = node->next)
        total += node->weight;
}
int main(int c, char **v)
{
    struct node *list = NULL;
    for (int i = 0; i < COUNT; i++) {
        struct node *node = node_malloc(sizeof *node);
        if (!node)
            return 1;
        node->weight = i;
        node_cold(node)->name[0] = 'x';
        node->next = list;
        list = node;
    }
    for (int turns = c > 1 ? atoi(v[1]) : 1; turns > 0; turns--)
        add(list);
    printf("%.0f\n", total);
    while (list) {
        struct node *next = list->next;
        node_free(list);
        list = next;
    }
    return 0;
}
END
${CC:-cc} -O2 -g -Wall -Wextra -Werror -o pool pool.c
check() {
    python3 - "$1" << 'END'
import json, sys
objects = json.load(open(sys.argv[1] + "/analysis.json"))["objects"]
hot = max((o for o in objects if o["kind"] == "heap"), key=lambda o: o["share"])
assert hot["type"] == "struct node" and hot["element_bytes"] == 16, hot
assert 0.9 < hot["allocations"] / 200000 < 1.1 and 0.9 < hot["bytes"] / 3.2e6 < 1.1, hot
unknown = sum(o["share"] for o in objects if o["kind"] == "unknown")
assert unknown < 0.2, unknown
END
}
collect_samples 200 sampled 100 -F 2000 --max-overhead 50 -- ./pool @
"$LWP" analyze -q sampled
check sampled
if [ -x "$BUILD/exact/lwp-amd64-linux" ]; then
    "$LWP" collect -q -e exact --detect layout -o exact ./pool 20
    "$LWP" analyze -q --no-measure exact
    check exact
fi
