#!/usr/bin/env bash
# An allocator that maps chunks of a few pages: what lies in them is data of the program's, with both engines; and no more once they are
# unmapped, several at once, though something else is mapped there.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > chunks.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { CHUNK = 8192, WORDS = 100000 };
struct word { struct word *next; long count, first, last; };
static char *now, *end;
__attribute__((noinline)) static void *chunk_map(size_t bytes)
{
    void *chunk = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED)
        exit(1);
    return chunk;
}
__attribute__((noinline)) static void *take(size_t size)
{
    if (now + size > end) {
        now = chunk_map(CHUNK);
        end = now + CHUNK;
    }
    void *block = now;
    now += size;
    return block;
}
__attribute__((noinline)) static long counts(const struct word *first)
{
    long sum = 0;
    for (const struct word *word = first; word; word = word->next)
        sum += word->count + word->last;
    return sum;
}
__attribute__((noinline)) static double total(const double *samples, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i += 8)
        sum += samples[i];
    return sum;
}
int main(int c, char **v)
{
    struct word *first = NULL, **all = malloc(WORDS * sizeof *all);
    const long rounds = atol(v[c - 1]);
    double sum = 0;
    char *gone[64];
    for (size_t i = 0; i < 64; i++)
        gone[i] = chunk_map(CHUNK);
    for (size_t i = 0; i < 64; i++)
        munmap(gone[i], CHUNK);
    double *samples = chunk_map(64 * CHUNK); /* where they were, most likely */
    for (size_t i = 0; i < WORDS; i++) {
        all[i] = take(sizeof **all);
        *all[i] = (struct word){.count = (long)i};
    }
    for (size_t i = 0, k; i < WORDS; i++) {
        k = (i * 7919 + 1) % WORDS;
        struct word *word = all[k];
        word->next = first;
        first = word;
    }
    for (long r = 0; r < rounds; r++)
        sum += (double)counts(first) + 100 * total(samples, 64 * CHUNK / sizeof *samples);
    return printf("%g\n", sum) < 0;
}
END
gcc -O2 -g -o chunks chunks.c
collect_samples 150 sampled 60 --max-overhead 10 --detect layout -- ./chunks @
"$LWP" collect -q -e exact --detect layout --window 200k:800k --no-measure -o traced ./chunks 3 > traced.out
for result in sampled traced; do
    "$LWP" analyze -q -f --no-measure "$result"
    /usr/bin/python3 - "$result" << 'END' || { "$LWP" report "$result"; exit 1; }
import json, sys
result = json.load(open(sys.argv[1] + "/analysis.json"))
words = [o for o in result["objects"] if o["type"] == "struct word"]
assert words and sum(o["share"] for o in words) > 0.4, [(o["name"], o["type"], o["share"]) for o in result["objects"]]
unknown = sum(o["share"] for o in result["objects"] if o["kind"] == "unknown")
assert unknown < 0.15, unknown
site = words[0]["site"]
assert site and site["function"] == "main", site
for other in result["objects"]:
    assert other["type"] != "double" or other["kind"] == "mmap", other
END
done

# What a runtime reserves and gives back, terabytes at a time, is not gone through page by page (8 TiB: 2 s each time).
cat > reserves.c << 'END'
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
int main(void)
{
    const size_t size = (size_t)1 << 43;
    for (int i = 0; i < 20; i++) {
        void *reserve = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserve == MAP_FAILED || munmap(reserve, size))
            return 77;
    }
    return clock() > 10 * CLOCKS_PER_SEC;
}
END
gcc -O2 -o reserves reserves.c
./reserves || { echo "no terabytes can be reserved here"; exit 0; }
"$LWP" collect -q --no-analyze -o reserved ./reserves 2> reserved.err || { cat reserved.err; echo "FAILED: reserves take seconds"; exit 1; }
