#!/usr/bin/env bash
# Blocks of a program's own allocator, which nobody can recognise: by LWP_ALLOC and LWP_FREE of lwp.h with both engines, and by
# --allocator with the exact one. Two kinds of elements in one chunk are two objects, each made by its own function.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > pool.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef TOLD
#include "lwp.h"
#else
#define LWP_ALLOC(pool, pointer, size)
#define LWP_FREE(pool, pointer)
#endif
struct pool { char *at; };
struct particle { struct particle *next; double mass, speed[6]; };
struct event { struct event *next; long kind, time[10]; };
static __attribute__((noinline)) void *take(struct pool *pool, size_t size)
{
    void *block = pool->at;
    pool->at += (size + 15) & ~(size_t)15;
    LWP_ALLOC(pool, block, size);
    return block;
}
__attribute__((noinline)) struct particle *particle_new(struct pool *pool)
{
    struct particle *one = (struct particle *)take(pool, sizeof *one);
    memset(one, 0, sizeof *one);
    return one;
}
__attribute__((noinline)) struct event *event_new(struct pool *pool)
{
    struct event *one = (struct event *)take(pool, sizeof *one);
    memset(one, 0, sizeof *one);
    return one;
}
int main(int c, char **v)
{
    enum { N = 40000 };
    struct pool pool = {(char *)malloc(N * 200)};
    struct particle *particles = NULL;
    struct event *events = NULL;
    for (int i = 0; i < N; i++) {
        struct particle *p = particle_new(&pool);
        p->mass = i, p->next = particles, particles = p;
        struct event *e = event_new(&pool);
        e->kind = i, e->next = events, events = e;
    }
    double mass = 0;
    long kinds = 0;
    for (int r = 0; r < atoi(v[c - 1]); r++) {
        for (struct particle *p = particles; p; p = p->next)
            mass += p->mass;
        for (struct event *e = events; e; e = e->next)
            kinds += e->kind;
    }
    for (struct event *e = events, *next; e; e = next) {
        next = e->next;
        LWP_FREE(&pool, e);
    }
    printf("%g %ld\n", mass, kinds);
    return 0;
}
END
cat > check.py << 'END'
import json, sys
result = json.load(open("result.json"))
made = {(thing["site"] or {}).get("function", "").split("(")[0]: thing for thing in result["objects"] if thing["kind"] == "heap" and thing["allocations"] == 40000}
for function, kind, size in (("particle_new", "particle", 64), ("event_new", "event", 96)):
    if function not in made:
        sys.exit(f"{sys.argv[1]}: nothing made in {function}: {[(t['name'], t['allocations']) for t in result['objects'][:6]]}")
    if made[function]["element_bytes"] != size or kind not in (made[function]["type"] or ""):
        sys.exit(f"{sys.argv[1]}: {function} makes {made[function]['type']} of {made[function]['element_bytes']} bytes")
END
sampled() { # WHAT
    collect_samples 100 result 60 --max-overhead 25 -- ./pool @
    "$LWP" analyze -q --no-measure result
    "$LWP" report --json result > result.json
    python3 check.py "$1"
}
exact() { # WHAT OPTION...
    local what=$1
    shift
    rm -rf result
    "$LWP" collect -q --no-measure -e exact --window all "$@" -o result ./pool 2 > out 2> err || { cat err; exit 1; }
    "$LWP" report --json result > result.json
    python3 check.py "$what"
}
for compiler in "$CC" "${CXX:-g++} -x c++"; do
    # shellcheck disable=SC2086
    $compiler -O2 -g -Wall -Wextra -Wpedantic -Werror -DTOLD -I"$SRC/collector" -o pool pool.c
    sampled "$compiler"
    exact "$compiler, exact"
done
$CC -O2 -g -no-pie -fno-pie -DTOLD -I"$SRC/collector" -o pool pool.c
sampled "at fixed addresses"
$CC -O2 -g -static -DTOLD -I"$SRC/collector" -o pool pool.c 2> /dev/null
./pool 1 > out
$CC -O2 -g -DTOLD -I"$SRC/collector" -o pool pool.c
./pool 1 | cmp - out

# Without a word in the program.
$CC -O2 -g -o pool pool.c
exact "--allocator" --allocator take:2
rm -rf result
"$LWP" collect -q --no-measure -e exact --allocator nobody,take:2 -o result ./pool 1 > out 2> err
"$LWP" report --json result > result.json
grep -q "no function nobody was entered" result.json
for wrong in "" take:4 take: :2 take:2,; do
    ! "$LWP" collect -e exact --allocator "$wrong" -o wrong ./pool 1 > out 2> err
    grep -q -- --allocator err
done
! "$LWP" collect --allocator take:2 -o wrong ./pool 1 > out 2> err
grep -q "LWP_ALLOC" err
