#!/usr/bin/env bash
# Plain programs as people write them, and what must not be said of them: that channels which lie in turns are traversed sequentially,
# that a structure whose first member is a std::vector is one of many that begin so, or that nothing is to be gained where a list's nodes
# are arrays of structures of which few bytes are used.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > channels.c << 'END'
#include <stdio.h>
#include <stdlib.h>
enum { CHANNELS = 8, FRAMES = 1000000 };
__attribute__((noinline)) static long loud(const int *sound, int channel)
{
    long loud = 0;
    for (int i = 0; i < FRAMES; i++)
        loud += sound[i * CHANNELS + channel];
    return loud;
}
int main(int c, char **v)
{
    int *sound = malloc(sizeof *sound * CHANNELS * FRAMES);
    long sum = 0;
    if (!sound)
        return 1;
    for (int i = 0; i < CHANNELS * FRAMES; i++)
        sound[i] = i % 1000;
    for (int turns = c > 1 ? atoi(v[1]) : 1; turns > 0; turns--)
        for (int channel = 0; channel < CHANNELS; channel++)
            sum += loud(sound, channel);
    printf("%ld\n", sum);
    return 0;
}
END
cat > nodes.cc << 'END'
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Edge { int to, length; };
struct Node { std::vector<Edge> out; long distance = 0; int before = -1; bool done = false; double north = 0, east = 0; char street[24] = ""; };
int main(int c, char **v)
{
    const int count = 100000;
    std::vector<Node> nodes(count);
    unsigned drawn = 1;
    long sum = 0;
    for (auto &node : nodes)
        for (int i = 0; i < 4; i++) {
            drawn = drawn * 1664525 + 1013904223;
            node.out.push_back({(int)((drawn >> 8) % count), 1});
        }
    for (int turns = c > 1 ? atoi(v[1]) : 1; turns > 0; turns--)
        for (auto &node : nodes)
            for (auto &edge : node.out)
                if (!nodes[edge.to].done) {
                    nodes[edge.to].distance += edge.length;
                    sum += nodes[edge.to].distance;
                }
    printf("%ld\n", sum);
    return 0;
}
END
cat > chunks.c << 'END'
#include <stdio.h>
#include <stdlib.h>
struct record { int key, flags; double value; char text[16]; };
struct chunk { struct chunk *next; int count; struct record record[30]; };
int main(int c, char **v)
{
    struct chunk *list = NULL;
    double sum = 0;
    for (int i = 0; i < 20000; i++) {
        struct chunk *chunk = malloc(sizeof *chunk);
        if (!chunk)
            return 1;
        *chunk = (struct chunk){.next = list, .count = 30};
        for (int k = 0; k < 30; k++)
            chunk->record[k] = (struct record){.key = k, .flags = k & 3, .value = 1};
        list = chunk;
    }
    for (int turns = c > 1 ? atoi(v[1]) : 1; turns > 0; turns--)
        for (struct chunk *chunk = list; chunk; chunk = chunk->next)
            for (int k = 0; k < chunk->count; k++)
                if (chunk->record[k].flags == (turns & 3))
                    sum += chunk->record[k].value;
    printf("%f\n", sum);
    return 0;
}
END
${CC:-cc} -O2 -g -o chunks chunks.c
${CC:-cc} -O1 -g -o channels channels.c
${CXX:-c++} -std=c++17 -O2 -g -o nodes nodes.cc
collect_samples 400 sound 100 -F 2000 --max-overhead 50 -- ./channels @
collect_samples 400 graph 50 -F 2000 --max-overhead 50 -- ./nodes @
"$LWP" analyze -q --no-measure sound
collect_samples 400 list 100 -F 2000 --max-overhead 50 -- ./chunks @
"$LWP" analyze -q --no-measure graph
"$LWP" analyze -q --no-measure list
python3 - << 'END'
import json
sound = json.load(open("sound/analysis.json"))
for reason in sound["left_alone"]:
    if sound["objects"][reason["object"]]["allocated_bytes"] == 8 * 1000000 * 4:
        assert reason["code"] not in ("sequential", "too_few_samples"), reason
        assert reason["code"] != "single_values" or "one in 8" in reason["sentence"], reason
graph = json.load(open("graph/analysis.json"))
for split in graph["splits"]:
    assert split["type"] != "Node" or not split["caution"], split["caution"]
chunks = json.load(open("list/analysis.json"))
for reason in chunks["left_alone"]:
    if chunks["objects"][reason["object"]]["type"] == "struct chunk":
        assert reason["code"] == "unknown_fields" and "of record, which is one field here" in reason["sentence"], reason
END
