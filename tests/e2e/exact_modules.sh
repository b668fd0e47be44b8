#!/bin/bash
# Libraries that come and go under the exact engine, one in the other's place: data, call paths and counts are those of
# the one that was there; nothing is looked for in memory that is gone.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
cat > library.c <<'C'
#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
#define APART static __attribute__((noinline))
enum { N = 4096, ROUNDS = 50 };
double NAMED(NAME, _data)[N];
APART void NAMED(NAME, _fill)(volatile double *to) { for (int i = 0; i < N; i++) to[i] = 1; __asm__ volatile(""); }
APART void NAMED(NAME, _rounds)(void) { for (int r = 0; r < ROUNDS; r++) NAMED(NAME, _fill)(NAMED(NAME, _data)); __asm__ volatile(""); }
void work(void) { NAMED(NAME, _rounds)(); __asm__ volatile(""); }
C
cat > program.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **libraries)
{
    void *where[2] = {NULL, NULL};
    for (int round = 0; round < 4; round++) {
        void *library = count == 3 ? dlopen(libraries[1 + round % 2], RTLD_NOW) : NULL;
        void (*work)(void) = library ? (void (*)(void))dlsym(library, "work") : NULL;
        if (!work)
            return 1;
        work();
        where[round % 2] = (void *)work;
        dlclose(library);
    }
    puts(where[0] == where[1] ? "in one place" : "in two places");
    return 0;
}
C
for name in one two; do $CC -O1 -g -fPIC -shared -DNAME=$name -o lib$name.so library.c || fail "compile $name"; done
$CC -O1 -g -o program program.c -ldl || fail "compile"
"$LWP" collect -q -e exact --window all --detect layout,redundancy,values,registers,spatial -o result -- ./program ./libone.so ./libtwo.so > out 2> err || { cat err; fail "collect"; }
[ "$(cat out)" = "in one place" ] || { cat out; fail "the libraries are to be loaded in one place"; }
"$LWP" analyze -q result || fail "analyze"
/usr/bin/python3 - <<'PY' || fail "whose data, whose calls"
import collections, json
d = json.load(open("result/analysis.json"))
shares = {o["name"]: o["share"] for o in d["objects"] if o["name"] in ("one_data", "two_data")}
assert len(shares) == 2 and max(shares.values()) < 1.1 * min(shares.values()), shares
amounts = collections.Counter()
def path(context): return [f["function"] for f in d["contexts"][context]["frames"]][:4]
for r in d["redundancies"]:
    if r["first"] is not None and path(r["first"])[0] in ("one_fill", "two_fill"):
        assert path(r["first"]) == path(r["second"]), (path(r["first"]), path(r["second"]))
        amounts[r["kind"], *path(r["first"])] += r["amount"]
stored = 2 * 49 * 4096 * 8 # of 50 rounds of each of two times all but the first
for name in "one", "two":
    for kind in "dead_store", "silent_store":
        assert amounts.pop((kind, name + "_fill", name + "_rounds", "work", "main")) == stored, amounts
assert not [a for a in amounts if a[0].endswith("_store")], amounts
PY
exit 0
