#!/bin/bash
# Blocks of many sizes from one place, of an allocator whose chunks lwp does not know: they stay unknown, which is found out once and not at
# each of them.
set -u
cd "$TMP" || exit 1
cat > sizes.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef OWN /* free lists by size, never given back; one thread */
enum { CLASS = 16, CLASSES = 4096 };
static struct chunk { size_t size; size_t pad; } *lists[CLASSES];
static _Alignas(16) char arena[64 << 20];
static size_t used;
void *malloc(size_t size)
{
    size_t class = (size + CLASS - 1) / CLASS, bytes = (class + 2) * CLASS;
    if (class < CLASSES && lists[class]) {
        struct chunk *chunk = lists[class];
        lists[class] = *(struct chunk **)(chunk + 1);
        return chunk + 1;
    }
    if (used + bytes > sizeof arena)
        return NULL;
    struct chunk *chunk = (struct chunk *)(arena + used);
    used += bytes;
    chunk->size = class;
    return chunk + 1;
}
void free(void *block)
{
    struct chunk *chunk = block ? (struct chunk *)block - 1 : NULL;
    if (!chunk || chunk->size >= CLASSES)
        return;
    *(struct chunk **)block = lists[chunk->size];
    lists[chunk->size] = chunk;
}
void *calloc(size_t count, size_t size)
{
    void *block = malloc(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}
void *realloc(void *block, size_t size)
{
    void *other = malloc(size);
    size_t had = block ? ((struct chunk *)block - 1)->size * CLASS : 0;
    if (other && block)
        memcpy(other, block, had < size ? had : size);
    free(block);
    return other;
}
#else
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
int main(void)
{
    static void *kept[500];
    volatile unsigned work = 0;
    unsigned long turns = 0;
    for (double end = now() + 1.2; now() < end;)
        for (int i = 0; i < 500; i++, turns++) {
            for (int k = 0; k < 200; k++)
                work += (unsigned)k;
            free(kept[i]);
            kept[i] = malloc(16 + turns % 113);
        }
    printf("%lu\n", turns);
    return 0;
}
#endif
C
$CC -O1 -g -o sizes sizes.c && $CC -O2 -DOWN -fno-builtin -shared -fPIC -o libown.so sizes.c || exit 1
overhead() { # RESULT PRELOADED
    LD_PRELOAD=$2 "$LWP" collect --no-analyze --max-overhead 90 -F 100 -o "$1" -- ./sizes > turns 2> err || { cat err >&2; exit 1; }
    sed -n 's/.*"overhead_percent": *\([0-9]*\).*/\1/p' "$1/run.json"
}
# A look at each takes 20 times as long as one at what is remembered. A busy neighbour takes that out of the caches: the least of three.
for run in 1 2 3; do
    known=$(overhead known.$run "") unknown=$(overhead own.$run "$TMP/libown.so") || exit 1
    echo "overhead ${known:-unknown} % with the C library's blocks, ${unknown:-unknown} % with the others"
    ((${unknown:-1000} >= 5 * ${known:-0} + 20)) || exit 0
done
echo "FAILED: each is looked into"
exit 1
