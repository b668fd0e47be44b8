#!/usr/bin/env bash
# A program's own malloc() hands out blocks of a structure of bytes: what is in them is what the pointers to it say.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"
cat > blocks.c << 'END'
#include <stdio.h>
#include <stdlib.h>
struct block { char data[8]; };
struct cell { struct cell *next; long value; };
static struct cell **heads;
static __attribute__((noinline)) void *take(size_t size)
{
    struct block *block = malloc(size);
    if (!block)
        exit(1);
    return block->data;
}
static __attribute__((noinline)) long walk(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += heads[i * 7919 % n] != NULL;
    return sum;
}
int main(int argc, char **argv)
{
    enum { N = 1 << 20 };
    long sum = 0;
    heads = take(N * sizeof *heads);
    for (long i = 0; i < N; i++)
        heads[i] = i % 3 ? (struct cell *)heads : NULL;
    for (int r = 0; r < 4 * atoi(argv[argc - 1]); r++)
        sum += walk(N);
    printf("%ld\n", sum);
    return 0;
}
END
"$CC" -O2 -g -o blocks blocks.c
collect_samples 100 result 60 --max-overhead 25 -- ./blocks @
"$LWP" analyze -q --no-measure result
"$LWP" report --json result | python3 -c '
import json, sys
most = json.load(sys.stdin)["objects"][0]
if most["name"] != "heads" or "cell *" not in (most["type"] or ""):
    sys.exit("%s is of %s" % (most["name"], most["type"]))
'
