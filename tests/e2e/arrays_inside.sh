#!/usr/bin/env bash
# Large arrays within one structure are arrays of their own, whether the structure is a variable or a block: elements of two types that
# happen to be of one size are not taken for one array. A structure of which only the addresses tell arrays has no elements.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > game.c << 'END'
#include <stdio.h>
#include <stdlib.h>
enum { ENTITIES = 200000, BULLETS = 150000 };
struct entity { float x, y, vx, vy; int hp, team; char name[40]; };
struct bullet { float x, y, dx, dy; int owner, alive; float trail[10]; };
struct game { int frame, score; struct entity entities[ENTITIES]; struct bullet bullets[BULLETS]; int map[64][64]; };
static struct game fixed;
__attribute__((noinline)) static void move(struct game *game)
{
    for (int i = 0; i < ENTITIES; i++)
        game->entities[i].y += game->entities[i].vy;
}
__attribute__((noinline)) static int shots(struct game *game)
{
    int shots = 0;
    for (int i = 0; i < BULLETS; i++)
        shots += game->bullets[i].alive;
    return shots;
}
int main(int c, char **v)
{
    struct game *game = c > 2 ? calloc(1, sizeof *game) : &fixed;
    if (!game)
        return 1;
    for (int i = 0; i < ENTITIES; i++)
        game->entities[i].vy = 1;
    for (int i = 0; i < BULLETS; i++)
        game->bullets[i].alive = i % 3;
    long sum = 0;
    for (int turns = c > 1 ? atoi(v[1]) : 1; turns > 0; turns--) {
        move(game);
        sum += shots(game);
        game->frame++;
    }
    printf("%ld\n", sum);
    return 0;
}
END
${CC:-cc} -O2 -g -o game game.c
collect_samples 300 fixed 500 -F 2000 --max-overhead 50 -- ./game @
collect_samples 300 block 500 -F 2000 --max-overhead 50 -- ./game @ block
"$LWP" analyze -q fixed
"$LWP" analyze -q block
python3 - << 'END'
import json
for result in "fixed", "block":
    analysis = json.load(open(result + "/analysis.json"))
    for kind, used in ("struct entity", {"y", "vy"}), ("struct bullet", {"alive"}):
        found = [o for o in analysis["objects"] if o["type"] == kind and o["element_bytes"] == 64]
        assert len(found) == 1, (result, kind, [(o["name"], o["type"]) for o in analysis["objects"]])
        busiest = found[0]["loops"][0]
        assert set(busiest["fields"]) == used, (result, kind, busiest["fields"])
        if result == "fixed":
            assert found[0]["name"] == {"struct entity": "fixed.entities", "struct bullet": "fixed.bullets"}[kind], found[0]["name"]
            assert found[0]["elements"] == {"struct entity": 200000, "struct bullet": 150000}[kind], found[0]["elements"]
END
# Elements of one kind in blocks whose sizes are no multiple of theirs.
cat > world.cc << 'END'
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
struct voxel { unsigned char kind, light; short temperature; int owner; double heat; char rest[16]; };
struct chunk { int x, z; std::array<voxel, 16384> voxels; };
struct world { std::array<chunk, 40> chunks; int seed; };
int main(int c, char **v)
{
    auto all = std::make_unique<world>();
    for (auto &chunk : all->chunks)
        for (size_t i = 0; i < chunk.voxels.size(); i++)
            chunk.voxels[i].kind = (unsigned char)(i % 5);
    long sum = 0;
    for (int turns = c > 1 ? atoi(v[1]) : 1; turns > 0; turns--)
        for (auto &chunk : all->chunks)
            for (auto &voxel : chunk.voxels)
                if (voxel.kind == turns % 5)
                    sum += voxel.light + 1;
    printf("%ld\n", sum);
    return 0;
}
END
${CXX:-c++} -std=c++17 -O2 -g -o world world.cc
collect_samples 300 walked 200 -F 2000 --max-overhead 50 -- ./world @
"$LWP" analyze -q walked
python3 - << 'END'
import json
analysis = json.load(open("walked/analysis.json"))
for o in analysis["objects"]:
    assert o["element_bytes"] != 8 or o["share"] < 0.1, (o["name"], o["element_bytes"])
assert not [s for s in analysis["splits"] if s["element_bytes"] == 8], analysis["splits"]
END
