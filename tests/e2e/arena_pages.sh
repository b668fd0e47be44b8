#!/bin/bash
# Measures: huge pages are advised by a run only
# Clauses with as many literals as each has, one after the other in an arena: how many there are is not said, and huge pages for them and for the
# rest of the arena, which is one allocation, are one finding.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > clauses.c <<'C'
#include <stdio.h>
#include <stdlib.h>
enum { N = 800000 };
struct clause {
    int size, activity;
    long id;
    int used, glue;
    int literals[];
};
static struct clause **all;
static unsigned long drawn = 1;
static size_t draw(size_t below)
{
    drawn = drawn * 6364136223846793005 + 1442695040888963407;
    return (drawn >> 33) % below;
}
static __attribute__((noinline)) long visit(void)
{
    long sum = 0;
    for (size_t i = 0; i < N; i++) {
        const struct clause *clause = all[i];
        if (clause->used)
            sum += clause->literals[clause->size - 1] + clause->literals[0];
    }
    return sum;
}
int main(int argc, char **argv)
{
    char *arena = malloc(N * 64ul), *top = arena;
    long sum = 0;
    all = malloc(N * sizeof *all);
    for (size_t i = 0; i < N; i++) {
        all[i] = (struct clause *)top;
        *all[i] = (struct clause){.size = 2 + (int)draw(6), .id = (long)i, .used = 1};
        for (int k = 0; k < all[i]->size; k++)
            all[i]->literals[k] = k;
        top += (sizeof(struct clause) + (size_t)all[i]->size * sizeof(int) + 7) & ~7ul;
    }
    for (size_t i = N - 1; i; i--) {
        const size_t k = draw(i + 1);
        struct clause *kept = all[i];
        all[i] = all[k];
        all[k] = kept;
    }
    for (int r = atoi(argv[argc - 1]); r > 0; r--) {
        __asm__ volatile("" : : : "memory"); /* each time anew */
        sum += visit();
    }
    return printf("%ld\n", sum) < 0;
}
C
$CC -O2 -g -o clauses clauses.c || fail "compile"
collect_samples 300 result 20 -F 997 --max-overhead 50 -- ./clauses @ || fail "collect"
"$LWP" analyze -q -f result || fail "analyze"
/usr/bin/python3 - result/analysis.json <<'P' || exit 1
import json, sys
document = json.load(open(sys.argv[1]))
counted = [item["elements"] for item in document["objects"] if item["type"] == "struct clause" and item["elements"] is not None]
pages = [item["title"] for item in document["findings"] if "huge pages" in item["title"]]
print("elements %s, huge pages %s" % (counted, pages))
sys.exit(bool(counted) or len(pages) > 1)
P
