#!/bin/bash
# A class with virtual bases is named, with its own members; it is not advised to be taken apart.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > bases.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Base {
    virtual ~Base() {}
    long shared = 1, other = 2;
};
struct Left : virtual Base {
    long left = 3;
};
struct Right : virtual Base {
    long right = 4;
};
struct Both : Left, Right {
    long own = 5, more = 6;
};
static __attribute__((noinline)) long total(const std::vector<Both> &all)
{
    long sum = 0;
    for (const Both &one : all)
        sum += one.own + one.shared;
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<Both> all(300000);
    long sum = 0;
    for (long times = atol(argv[argc - 1]); times > 0; times--) {
        __asm__ volatile("" : : : "memory"); // each time anew
        sum += total(all);
    }
    return printf("%ld\n", sum) < 0;
}
C
${CXX:-c++} -std=c++17 -O2 -g -o bases bases.cc || fail "compile"
collect_samples 150 bases.r 300 -F 997 --max-overhead 50 -- ./bases @ || fail "collect"
"$LWP" analyze -q -f --no-measure bases.r || fail "analyze"
/usr/bin/python3 - << 'PY' || exit 1
import json, sys
analysis = json.load(open("bases.r/analysis.json"))
both = [o for o in analysis["objects"] if o["type"] == "Both"]
if not both:
    sys.exit(f"FAILED: {[(o['name'], o['type']) for o in analysis['objects']]}")
fields = {f["name"]: f["offset"] for f in both[0]["fields"]}
if fields.get("own") != 32 or fields.get("virtual_bases") != 48:
    sys.exit(f"FAILED: {fields}")
said = [f["title"] for f in analysis["findings"] if f["id"].startswith("split")]
if said:
    sys.exit(f"FAILED: {said}")
PY
