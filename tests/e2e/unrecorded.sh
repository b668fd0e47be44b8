#!/usr/bin/env bash
# Accesses to small blocks that were not recorded belong to the pool whose blocks their code's pointers lead to; not where two may hold them.
set -euo pipefail
cd "$TMP"
cat > unrecorded.cc << 'C'
#include <cstdio>
#include <cstdlib>
#include <forward_list>
struct event {
    long time;
    int kind, who;
    double values[4];
};
struct node {
    node *next;
    long key, count[4];
};
enum { FEW = 1000, NODES = 600000, FIRST_PASSES = 200000 };
static std::forward_list<event> events;
static node *first, *second;
__attribute__((noinline)) static node *make_first(node *next, long key) { return new node{next, key, {0}}; }
__attribute__((noinline)) static node *make_second(node *next, long key) { return new node{next, key, {0}}; }
__attribute__((noinline)) static long walk_events()
{
    long sum = 0;
    for (const event &each : events)
        sum += each.kind ? 0 : each.time;
    return sum;
}
__attribute__((noinline)) static long walk_list(const node *list) /* one loop for both */
{
    long sum = 0;
    for (; list; list = list->next)
        sum += list->key;
    return sum;
}
__attribute__((noinline)) static long walk_nodes() { return walk_list(first) + walk_list(second); }
int main(int, char **arguments)
{
    const long passes = atol(arguments[2]);
    long sum = 0;
    if (*arguments[1] == 'e') {
        for (long i = 0; i < NODES; i++) {
            events.push_front(event{i, (int)i % 8, 0, {0}});
            for (long pass = 0; i == FEW && pass < FIRST_PASSES; pass++) /* until the call path is known */
                sum += walk_events();
        }
    } else {
        for (long i = 0; i < NODES; i++) {
            first = make_first(first, i);
            second = make_second(second, i);
            for (long pass = 0; i == FEW && pass < FIRST_PASSES; pass++)
                sum += walk_nodes();
        }
    }
    for (long pass = 0; pass < passes; pass++)
        sum += *arguments[1] == 'e' ? walk_events() : walk_nodes();
    printf("%ld\n", sum);
}
C
${CXX:-g++} -O2 -g -o unrecorded unrecorded.cc
for kind in events nodes; do
    passes=80
    [ $kind = nodes ] || passes=2000
    "$LWP" collect -q --no-analyze --max-overhead 1 --detect layout -o $kind.r -- ./unrecorded $kind $passes > /dev/null 2> err || { cat err; exit 1; }
    "$LWP" analyze -q --no-measure $kind.r
done
python3 - << 'P'
import json
def shares(result):
    root = json.load(open(result + ".r/analysis.json"))
    left_out = root["run"]["allocations_unrecorded"]
    assert left_out > 100000, f"{left_out} allocations were left out: the test needs more"
    return root["objects"]
objects = shares("events")
nodes = [o for o in objects if "_Fwd_list_node<event>" in str(o["type"])]
share, unowned = sum(o["share"] for o in nodes), sum(o["share"] for o in objects if o["kind"] == "unknown")
assert share > 0.3 and share > 4 * unowned, f"the list's nodes have {share} of the cost, unknown memory {unowned}"
assert all(450000 < o["elements"] < 750000 for o in nodes), [o["elements"] for o in nodes]
objects = shares("nodes")
heap, unowned = (sum(o["share"] for o in objects if o["kind"] == kind) for kind in ("heap", "unknown"))
assert unowned > heap, f"of nodes that two functions make {heap} were given to one of them, {unowned} are unknown"
P
