#!/usr/bin/env bash
# A block is called after what keeps it for good: not after the variable of the function that makes it and returns it, inlined or
# not. Where only wrappers are left, its site is the first function above them.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > vec.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct header { long bytes; };
struct grid { double *height, *speed; };
double *depth;
static HOW void *checked(size_t bytes)
{
    struct header *h = (struct header *)malloc(bytes + sizeof *h);
    if (!h) {
        perror("vec");
        exit(1);
    }
    h->bytes = (long)bytes;
    return h + 1;
}
static HOW double *vec(long n)
{
    double *p = (double *)RAW((size_t)n * sizeof *p);
    memset(p, 1, (size_t)n * sizeof *p);
    return p;
}
static __attribute__((noinline)) double sum(const double *of, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += of[(i * 4099) % n];
    return s;
}
int main(int c, char **v)
{
    long n = 1 << 17;
    struct grid *s = (struct grid *)calloc(1, sizeof *s);
    __asm__ volatile("" : : "r"(s) : "memory");
    double *u = vec(n), *w = vec(n + 8), *x = vec(n + 16), *y = vec(n + 24), *z = vec(n + 32), t = 0;
    s->height = vec(n + 40);
    s->speed = vec(n + 48);
    depth = vec(n + 56);
    for (int r = 0; r < atoi(v[c - 1]); r++)
        t += sum(u, n) + sum(w, n) + sum(x, n) + sum(y, n) + sum(z, n) + sum(s->height, n) + sum(s->speed, n) + sum(depth, n);
    printf("%g\n", t);
    return 0;
}
END
cp vec.c vec.cpp
check() { # WHAT SITE
    collect_samples 120 result 20 -- ./vec @
    "$LWP" report --json result > result.json
    python3 - "$1" "$2" << 'END'
import json, sys
names = ["u", "w", "x", "y", "z", "s->height", "s->speed", "depth"]
arrays = [thing for thing in json.load(open("result.json"))["objects"] if thing["kind"] == "heap" and thing["bytes"] > 1 << 20]
if len(arrays) < 6:
    sys.exit(f"{sys.argv[1]}: {len(arrays)} arrays")
for array in arrays:
    wanted = names[(array["bytes"] - (8 << 17)) // 64]
    if array["name"] != wanted:
        sys.exit(f"{sys.argv[1]}: {array['name']} is {wanted}")
    if array["site"]["function"] != sys.argv[2]:
        sys.exit(f"{sys.argv[1]}: made in {array['site']['function']}, not {sys.argv[2]}")
END
}
for how in noinline always_inline; do
    for raw in malloc checked; do
        $CC -g -O2 -DRAW=$raw -DHOW="inline __attribute__(($how))" -o vec vec.c
        check "$raw $how" vec
    done
done
$CC -g -O0 -DRAW=checked -DHOW= -o vec vec.c
check "not optimised" vec
"${CXX:-g++}" -g -O2 -DRAW=checked -DHOW="inline __attribute__((noinline))" -o vec vec.cpp
check "C++" vec

# What uses a part of each record calls that as it likes; the block is kept as bytes.
cat > records.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct index { long bytes; char *level; };
static __attribute__((noinline)) float product(const float *vector, const float *other)
{
    float s = 0;
    for (int i = 0; i < 16; i++)
        s += vector[i] * other[i];
    return s;
}
int main(int c, char **v)
{
    const long n = 1 << 16;
    const float other[16] = {1, 2, 3};
    struct index *of = calloc(1, sizeof *of);
    of->bytes = 140 + 16 * sizeof(float);
    of->level = malloc(n * of->bytes);
    __asm__ volatile("" : : "r"(of) : "memory");
    memset(of->level, 0, n * of->bytes);
    float t = 0;
    for (int r = 0; r < atoi(v[c - 1]); r++)
        for (long i = 0; i < n; i++)
            t += product((const float *)(of->level + i * 4099 % n * of->bytes + 140), other);
    printf("%g\n", (double)t);
    return 0;
}
END
$CC -g -O2 -o records records.c
collect_samples 120 result 20 -- ./records @
"$LWP" report --json result > result.json
python3 - << 'END'
import json, sys
name = [thing["name"] for thing in json.load(open("result.json"))["objects"] if thing["kind"] == "heap" and thing["bytes"] > 1 << 20]
if name != ["of->level"]:
    sys.exit(f"records: {name}")
END
